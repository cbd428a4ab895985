"""Elements that many threads of a block load: from global memory, where a tile would save that, or
from shared memory, where registers would."""

from __future__ import annotations

from collections.abc import Iterator

from ..lines import weights
from ..lines.model import COPY, GLOBAL, LOAD, SECTOR, SHARED, WARP, Access, Kernel
from ..words import number
from . import patterns
from .finding import Finding, percent
from .kernel_work import Work
from .source_lines import also

# stencilReadOnly loads each element for 9 threads, and L1 serves it as fast as stencilShared's tile
# does (0.315 and 0.322 ms: constantMemory/results/h200/table.csv). With 16 and 32 threads for each
# element, tiles take 0.41 of the time (matmulCoalesced, matmulTiled16, matmulTiled32:
# matmul/results/h200/table.csv).
THREADS = 16
# A sum in shared memory loads each element for two threads, a product of matrices for a row of a
# tile.
THREADS_OF_TILE = 8
# Of sectors that a block loads, since lanes that want one element take one sector together.
SECTORS = 4
OF_TRAFFIC = 0.5
OF_WORK = 0.2
# Wavefronts of shared memory for each multiply-add of a warp: granularity2x2 has 1 and takes 8.45
# ms, granularity4x4 has 0.5 and 5.00 ms (threadGranularity/results/h200/table.csv). A multiply-add
# of a warp takes a quarter of a cycle, a wavefront a whole one.
WAVEFRONTS = 1.0
# Of what the units for memory and multiply-adds do; loops are unrolled in such kernels, and
# instructions for them are none.
OF_UNITS = 0.5
AFTER = 0.5  # wavefronts for each multiply-add, with 4 x 4 results to a thread


def tiles(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    """Where no tile is in shared memory yet, and all know beforehand what belongs into one."""
    if any(access.space == SHARED or access.kind == COPY for access in kernel.accesses):
        return
    members = [
        access
        for index, access in enumerate(kernel.accesses)
        if access.space == GLOBAL and _is_shared(access) and patterns.is_regular(kernel, index)
    ]
    saved = sum(access.least * (1 - 1 / _of_sectors(access)) for access in members)
    if not members:
        return
    of_traffic, of_work = saved / of_kernel.sectors, of_kernel.share(saved * weights.SECTOR)
    of_least = saved / max(1, sum(each.least for each in kernel.accesses if each.space == GLOBAL))
    if of_least < OF_TRAFFIC or of_work < OF_WORK:
        return
    first = max(members, key=lambda access: access.least)
    uses = _of_element(first)
    yield Finding(
        "elements that many threads load",
        f"A block loads each element {number(uses)} times from global memory, and each sector "
        f"{number(_of_sectors(first))} times; once would do."
        f"{also(first.place, (each.place for each in members))}",
        f"A tile in shared memory removes {percent(of_traffic)} of the kernel's sectors (as many "
        "loads go to shared memory).",
        "Load tiles of the block's data into shared memory once, all threads together, and let "
        "all read them there.",
        ["matmul"],
        of_work,
        first.place,
    )


def _is_shared(access: Access) -> bool:
    return (
        access.kind == LOAD
        and access.sampled_elements > 0
        and _of_element(access) >= THREADS
        and _of_sectors(access) >= SECTORS
    )


def _of_element(access: Access) -> float:
    """Accesses of threads to each element, without those that a thread repeats at once."""
    return (access.sampled_lanes - access.repeats) / access.sampled_elements


def _of_sectors(access: Access) -> float:
    """How often a block loads a sector, coalesced as well as it can be."""
    least = access.least * access.sampled_lanes / access.lanes
    return least / max(1.0, access.sampled_elements * access.size / SECTOR)


def shared_loads(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    """For each multiply-add, where results are sums of products of what a tile has."""
    loads = [
        access
        for access in kernel.accesses
        if access.space == SHARED
        and access.kind == LOAD
        and access.sampled_elements
        and _of_element(access) >= THREADS_OF_TILE
    ]
    places = {
        access.place for access in loads
    }  # of later launches, accesses are not looked at closely
    loads = [
        access
        for access in kernel.accesses
        if access.space == SHARED and access.kind == LOAD and access.place in places
    ]
    multiply_adds = sum(line.operations.get("fp32", 0) / 2 / WARP for line in kernel.lines.values())
    least = sum(access.least for access in loads)
    of_units = of_kernel.sectors * weights.SECTOR + of_kernel.wavefronts * weights.WAVEFRONT
    if not multiply_adds or least < WAVEFRONTS * multiply_adds:
        return
    if least * weights.WAVEFRONT < OF_UNITS * (of_units + multiply_adds * weights.FP32):
        return
    of_work = of_kernel.share(least * weights.WAVEFRONT)
    first = max(loads, key=lambda access: access.units)
    ratio = least / multiply_adds
    yield Finding(
        "shared loads for each multiply-add",
        f"A multiply-add of a warp takes {number(ratio)} wavefronts of shared memory. An SM does "
        "one wavefront in a cycle, and four multiply-adds.",
        f"With 4 x 4 results in a thread's registers, it takes {AFTER}: that removes "
        f"{number(ratio - AFTER)} of {number(ratio)} wavefronts of each multiply-add.",
        "Compute several results in each thread, from values that it keeps in registers; then "
        "load them four at a time (float4).",
        ["threadGranularity", "registerTiles"],
        of_work * (1 - AFTER / ratio),
        first.place,
    )
