"""Sums that a loop keeps in global memory: each step loads and stores what a register could
hold."""

from __future__ import annotations

from collections.abc import Iterator

from ..lines import weights
from ..lines.model import GLOBAL, LOAD, STORE, Access, Kernel
from ..lines.source_text import function_at, line_of
from ..words import number
from .finding import Finding, percent
from .kernel_work import Work
from .source_lines import also

# Times that a thread stores to one element in a row. Loops of fewer steps are unrolled, and their
# stores joined. In a reduction in place, half of the threads stop after each step: 2 on average
# (reduceInterleaved), and more loads to a thread are what helps there.
STEPS = 4
OF_TRAFFIC = 0.20  # as for uncoalesced accesses
OF_WORK = 0.10


def indices(kernel: Kernel) -> list[int]:
    """The stores that a loop makes to one element again and again, and the loads of the same
    lines."""
    stores = [index for index in _of(kernel, STORE) if _repeats(kernel, index)]
    places = {kernel.accesses[index].place for index in stores}
    loads = [
        index
        for index in _of(kernel, LOAD)
        if kernel.accesses[index].place in places and _repeats(kernel, index)
    ]
    return [*stores, *loads] if stores else []


def find(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    members = indices(kernel)
    if not members:
        return
    accesses = [kernel.accesses[index] for index in members]
    saved = sum(each.units * each.repeats / each.sampled_lanes for each in accesses)
    of_traffic, of_work = saved / of_kernel.sectors, of_kernel.share(saved * weights.SECTOR)
    if of_traffic < OF_TRAFFIC or of_work < OF_WORK:
        return
    first = max((each for each in accesses if each.kind == STORE), key=lambda each: each.units)
    loads = any(each.kind == LOAD and each.place == first.place for each in accesses)
    shared = any(line.barriers for line in kernel.lines.values())
    where = "shared memory" if shared else "a register"
    yield Finding(
        "accumulating in global memory",
        f"A thread {'loads and ' if loads else ''}stores the same element "
        f"{number(_in_a_row(first))} times in a row; once would do. A store cannot stay in a "
        "register where another thread or pointer might read "
        f"it.{also(first.place, (each.place for each in accesses))}",
        f"A sum in {where} removes {percent(of_traffic)} of the kernel's sectors.",
        "Copy the block's part into shared memory, work there between the barriers, and store "
        "the result once."
        if shared
        else "Add up in a local variable, and store it once behind the loop.",
        ["reduceInteger", "sharedReduction"] if shared else ["matmul", "threadGranularity"],
        of_work,
        first.place,
    )


def _of(kernel: Kernel, kind: str) -> list[int]:
    return [
        index
        for index, access in enumerate(kernel.accesses)
        if access.space == GLOBAL and access.kind == kind and access.sampled_lanes
    ]


def _repeats(kernel: Kernel, index: int) -> bool:
    access = kernel.accesses[index]
    return _in_a_row(access) >= STEPS and not _in_register(access)


def _in_a_row(access: Access) -> float:
    return access.sampled_lanes / max(1, access.sampled_lanes - access.repeats)


def _in_register(access: Access) -> bool:
    """Whether the compiler may keep it there, since no other pointer leads to it: all are
    __restrict__."""
    function = function_at(access.place.file, access.place.line)
    if function is None:
        return False
    head = " ".join(
        line_of(access.place.file, line) for line in range(function.first, access.place.line)
    )
    parameters = head.partition("{")[0]
    return 0 < parameters.count("*") <= parameters.count("restrict")
