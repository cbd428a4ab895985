"""All causes that a profile shows, the most important of each kernel first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..counters.explanation import Launch
from ..counters.raw_csv import shape
from ..lines.model import Kernel, LineProfile
from . import (
    accumulation,
    arithmetic,
    atomics,
    banks,
    coalescing,
    constants,
    host,
    kernel_work,
    lanes,
    launch_size,
    local_memory,
    registers,
    reuse,
)
from .finding import Finding
from .source import resources
from .source.resources import Resources

MOST = 4  # of a kernel: who mends these looks again
HINTS = 2


@dataclass(frozen=True)
class Diagnosed:
    """What was found in a kernel."""

    kernel: Kernel
    findings: list[Finding]  # the most important first
    hints: list[Finding]


def of_kernels(
    profile: LineProfile,
    active: Mapping[Launch, float],
    small: bool = False,
    known: Sequence[Resources] = (),
) -> list[Diagnosed]:
    """`active`: the share of lanes in an instruction, of the kernels of which it is known. `small`:
    the program took less data than it is meant for, as exercises do to be profiled. `known`: what
    ptxas says."""
    return [
        _diagnosed(
            kernel, active.get(launch(kernel)), small, resources.of_kernel(known, kernel.name)
        )
        for kernel in profile.kernels
    ]


def launch(kernel: Kernel) -> Launch:
    return kernel.name, _size(kernel.grid), _size(kernel.block)


def _size(extent: Sequence[int]) -> str:
    return shape(str(tuple(extent)))


def of_host(profile: LineProfile) -> list[Finding]:
    return sorted(host.find(profile), key=lambda finding: -finding.weight)[:MOST]


def _diagnosed(
    kernel: Kernel, active: float | None, small: bool, of_kernel: Resources | None
) -> Diagnosed:
    found: dict[object, Finding] = {}  # two arrays in one line are one thing to look at
    for each in sorted(_all(kernel, active, small, of_kernel), key=lambda each: -each.weight):
        found.setdefault((each.symptom, each.place), each)
    findings = [finding for finding in found.values() if not finding.hint]
    hints = [finding for finding in found.values() if finding.hint]
    return Diagnosed(kernel, findings[:MOST], hints[:HINTS])


def _all(
    kernel: Kernel, active: float | None, small: bool, of_kernel: Resources | None
) -> Iterator[Finding]:
    work = kernel_work.measure(kernel)
    yield from launch_size.find(kernel, small, of_kernel)
    yield from registers.find(kernel, work, of_kernel)
    yield from atomics.find(kernel, work)
    yield from lanes.find(kernel, work, active)
    yield from banks.find(kernel, work)
    yield from constants.find(kernel, work)
    yield from arithmetic.divisions(kernel, work)
    yield from arithmetic.doubles(kernel, work)
    yield from local_memory.find(kernel, work, of_kernel)
    yield from reuse.tiles(kernel, work)
    yield from reuse.shared_loads(kernel, work)
    accumulated = list(accumulation.find(kernel, work))
    yield from accumulated
    taken = accumulation.indices(kernel) if accumulated else []
    yield from coalescing.find(kernel, work, taken)
