"""What the host does between kernels: many small launches and copies, waiting after each, pageable
memory."""

from __future__ import annotations

from collections.abc import Iterator

from ..lines.model import HostCall, Kernel, LineProfile
from ..paths import ROOT
from ..words import number, several
from . import device
from . import kernel_work as work
from .finding import Finding

COMMON = ROOT / "common"  # what exercises do to check and to measure is no part of what they show
# From one line: of fewer calls, 16 * 2.9 us are less than what the start of a program takes.
CALLS = 16
# A kernel that is longer than that hides the launch of the next one, so that nothing is lost
# (launchCost: a launch takes the host 2.4 to 3.4 us, whatever the kernel does).
HIDDEN = device.LAUNCH  # us
# Waiting adds 6.3 us to each launch: a tenth of the time of a kernel of this length.
LONG = 10 * (device.LAUNCH_AND_WAIT - device.LAUNCH)  # us
# A copy of pageable memory up to this size is staged, and the call returns (CUDA's "API
# synchronization behavior").
STAGED = 64 * 1024  # bytes


def find(profile: LineProfile) -> Iterator[Finding]:
    for call in profile.host:
        if call.place is None or COMMON in call.place.file.parents:
            continue
        if call.what == "launch" and call.calls >= CALLS:
            yield from _launches(call, profile)
        elif call.what == "synchronize" and call.after_launch >= CALLS:
            yield from _waits(call, profile)
        elif call.what == "copy":
            yield from _copies(call)


def _microseconds(profile: LineProfile, name: str = "") -> float | None:
    """About, of a launch of the kernel of this name at least; of the longest one where none has
    it."""
    named = [each for each in profile.kernels if _plain(each.name) == _plain(name)]
    return max(map(_of_launch, named or profile.kernels), default=None)


def _plain(name: str) -> str:
    return name.partition("<")[0].partition("(")[0]


def _of_launch(kernel: Kernel) -> float:
    cycles = work.measure(kernel).cycles / kernel.launches
    return cycles / min(device.SMS, work.blocks(kernel)) / device.CLOCK / 1000


def _launches(call: HostCall, profile: LineProfile) -> Iterator[Finding]:
    each = _microseconds(profile, call.kernel)
    if call.place is None or each is None or each > HIDDEN:
        return
    cost, in_graph = call.calls * device.LAUNCH, call.calls * device.LAUNCH_IN_GRAPH
    yield Finding(
        "many tiny launches",
        f"{several(call.calls, 'launch', 'launches')} of {call.kernel or 'a kernel'}, each with "
        f"work for less than {number(max(each, 0.1))} us on an {device.GPU}. A launch takes about "
        f"{device.LAUNCH} us.",
        f"One launch removes {number(call.calls - 1)} of {number(call.calls)} launches, about "
        f"{number(cost)} us; as a CUDA graph, they take about {number(in_graph)} us.",
        "Do the work of several launches in one kernel (a loop in it, more blocks), or record "
        "the launches in a CUDA graph.",
        ["launchCost"],
        cost,
        call.place,
    )


def _waits(call: HostCall, profile: LineProfile) -> Iterator[Finding]:
    each = _microseconds(profile)
    if call.place is None or (each is not None and each > LONG):
        return
    extra = device.LAUNCH_AND_WAIT - device.LAUNCH
    yield Finding(
        "synchronisation after each launch",
        f"The host waits {number(call.after_launch)} times right behind a launch, so that the GPU "
        "idles until the next one arrives. Launched one behind the other, kernels take about "
        f"{device.LAUNCH} us each on an {device.GPU}; waited for, {device.LAUNCH_AND_WAIT} us.",
        f"Waiting once removes {number(call.after_launch - 1)} of {number(call.after_launch)} "
        f"waits, about {number(call.after_launch * extra)} us.",
        "Leave it out: kernels in one stream run one after the other. Wait once, before the host "
        "reads results.",
        ["launchCost", "streamOrder"],
        call.after_launch * extra,
        call.place,
    )


def _copies(call: HostCall) -> Iterator[Finding]:
    if call.place is None or not call.calls:
        return
    size = call.bytes / call.calls
    direction = f", {call.direction}" if call.direction else ""
    if call.calls >= CALLS and size < device.HALF_BANDWIDTH:
        cost = call.calls * device.COPY
        yield Finding(
            "many small copies",
            f"{several(call.calls, 'copy', 'copies')} of {number(size)} bytes each"
            f"{direction}. A copy takes about {device.COPY} us whatever its size, up to some "
            f"{device.HALF_BANDWIDTH // 1024} KiB.",
            f"One copy of {number(call.bytes)} bytes removes {number(call.calls - 1)} of "
            f"{number(call.calls)} copies, about {number(cost)} us.",
            "Copy the array as a whole, outside of the loop; what lies in rows, with cudaMemcpy2D.",
            ["hostTransfer"],
            cost,
            call.place,
        )
    elif call.asynchronous and call.pageable and size > STAGED:
        slow = call.bytes / device.PAGEABLE_GBPS / 1000
        fast = call.bytes / device.PINNED_GBPS / 1000
        yield Finding(
            "pageable memory under cudaMemcpyAsync",
            f"{several(call.calls, 'asynchronous copy', 'asynchronous copies')} of {number(size)} "
            f"bytes{direction}, of host memory that is not page-locked. The driver copies it "
            "piece by piece through a buffer of its own: the host waits, and nothing overlaps.",
            f"Page-locked, {number(call.bytes)} bytes take about {number(fast)} us in place of "
            f"{number(slow)} us ({device.PINNED_GBPS} and {device.PAGEABLE_GBPS} GB/s), and "
            "overlap with kernels.",
            "Allocate the host's memory with cudaMallocHost (or register it with "
            "cudaHostRegister), once for many copies.",
            ["hostTransfer", "copyOverlap"],
            slow - fast,
            call.place,
        )
