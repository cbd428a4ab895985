"""Too few blocks for the GPU, too few warps for an SM, lanes without a thread, and a last wave of
few blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..lines.model import GLOBAL, LOAD, WARP, Kernel
from ..words import number, several
from . import kernel_work as work
from . import registers
from .device import GPU, SCHEDULERS, SMS, WARPS_PER_SM
from .finding import Finding, percent
from .source.resources import Resources

# Steps of a thread that could be those of other blocks. Each waits for memory, 0.35 us where L2
# does not have it (memoryLatency/results/h200/table.csv): 16 take twice as long as a launch, and
# the last block of a sum over a grid has fewer. Of several blocks, each may have that many steps
# because the data are few: more.
STEPS = 16
STEPS_OF_SEVERAL = 64
# From which share of its time a GPU with fewer blocks than SMs loses half.
FEW = 0.5
# A block whose threads work on the same data, as for a tile of a matrix, cannot be cut without
# loading them again: only where seven of eight SMs idle.
FEW_IN_ANY_CASE = 0.125
# 806 blocks of 1,024 threads leave places for 24 % of the blocks empty in their last wave, and the
# SMs' time for 13 %: they take 2.21 ms, and 7 % less in smaller blocks that leave 8 % of the time
# (blockScheduling/results/h200/table.csv).
LAST_WAVE = 0.20
LAST_ROUND = 0.10
# A block of 80 threads loses 17 % of its lanes, and warpLayout shows that it is worth a thought.
IDLE = 0.15

FEW_BLOCKS_REMEDY = (
    "Launch a block for each part of the data, at least one per SM, and compute the index from "
    "blockIdx.x as well; a grid-stride loop works for any number of blocks. If the data of this "
    "run are few for a test, look again with more."
)
REGISTERS = (
    "Registers can allow fewer blocks than that, which takes a GPU's compiler to know "
    "(registers_per_thread)."
)


def find(
    kernel: Kernel, small: bool = False, resources: Resources | None = None
) -> Iterator[Finding]:
    """Where the data are `small` on purpose, grids of several blocks say nothing."""
    if work.blocks(kernel) == 1 or not small:
        yield from _few_blocks(kernel, small)
        yield from _few_warps(kernel)
        yield from _tail(kernel, resources)
    yield from _idle_lanes(kernel)
    yield from _few_fit(kernel)


def steps(kernel: Kernel, any_line: bool = True) -> float:
    """How often a warp executes the most frequent of its lines, or of its accesses to global
    memory alone."""
    warps = work.block_warps(kernel) * work.blocks(kernel) * kernel.launches
    at = [access.requests for access in kernel.accesses if access.space == GLOBAL]
    if any_line:
        at += [line.executions for line in kernel.lines.values()]
    return max(at, default=0) / warps


def _few_blocks(kernel: Kernel, small: bool) -> Iterator[Finding]:
    blocks = work.blocks(kernel)
    # Exercises measure in loops, and a loop to which no data come is hardly one over the data.
    repeated = steps(kernel, not small and blocks <= FEW_IN_ANY_CASE * SMS)
    least = STEPS if blocks == 1 else STEPS_OF_SEVERAL
    few = FEW_IN_ANY_CASE if _shares_data(kernel) else FEW
    if blocks > max(1, few * SMS) or repeated < least:
        return
    what = "one block for the whole GPU" if blocks == 1 else "too few blocks for the GPU"
    used = min(SMS, blocks)
    could = min(SMS, int(blocks * repeated))
    yield Finding(
        what,
        f"The grid has {several(blocks, 'block')}, so {number(SMS - used)} of {SMS} SMs of the {GPU} "
        f"have nothing to do, while each thread takes {number(repeated)} steps.",
        f"The steps as blocks of their own keep {could} SMs busy in place of {used}.",
        FEW_BLOCKS_REMEDY,
        ["firstKernel", "blockScheduling"],
        1 - used / could,
    )


def _shares_data(kernel: Kernel) -> bool:
    """Whether threads of a block load the same elements, as in a product of matrices: its loop is
    over what a result needs, not over the data."""
    most = max((access.requests for access in kernel.accesses if access.space == GLOBAL), default=0)
    return any(
        access.sampled_elements * 2 < access.sampled_lanes - access.repeats
        for access in kernel.accesses
        if access.kind == LOAD and access.space == GLOBAL and access.requests * 2 > most
    )


def _few_warps(kernel: Kernel) -> Iterator[Finding]:
    """Fewer than one for each of an SM's schedulers, of those that fit and are there."""
    blocks, warps = work.blocks(kernel), work.block_warps(kernel)
    resident = min(kernel.blocks_per_sm, math.ceil(blocks / SMS)) * warps
    if blocks < SMS or resident >= SCHEDULERS:
        return
    if kernel.blocks_per_sm * warps < SCHEDULERS:
        why = f"shared memory lets {several(kernel.blocks_per_sm, 'block')} of {several(warps, 'warp')} fit"
        remedy = "Use less shared memory for each block, or more threads in a block."
    elif steps(kernel) >= STEPS:
        why = f"the grid has {several(blocks, 'block')} of {several(warps, 'warp')}"
        remedy = "Launch more threads: give each of them less to do."
    else:
        return
    yield Finding(
        "too few warps",
        f"An SM has {several(resident, 'warp')} at a time, because {why}; it has {SCHEDULERS} "
        f"schedulers and room for {WARPS_PER_SM} warps.",
        f"{SCHEDULERS - resident} of {SCHEDULERS} schedulers never have a warp.",
        remedy,
        ["occupancy", "latencyHiding"],
        1 - resident / SCHEDULERS,
    )


def _idle_lanes(kernel: Kernel) -> Iterator[Finding]:
    threads, warps = work.block_threads(kernel), work.block_warps(kernel)
    idle = warps * WARP - threads
    share = idle / (warps * WARP)
    if share < IDLE:
        return
    has_others = work.blocks(kernel) > 1 or kernel.launches > 1
    yield Finding(
        "blocks smaller than a warp" if threads < WARP else "lanes without a thread",
        f"A block of {several(threads, 'thread')} takes {several(warps, 'warp')}: {idle} of "
        f"{warps * WARP} lanes have no thread.",
        f"Blocks of a multiple of {WARP} threads need {percent(share)} fewer warps for as many "
        "threads.",
        f"Make the number of threads in a block a multiple of {WARP}, such as 128 or 256."
        + (" Each block then does the work of several." if has_others and warps == 1 else ""),
        ["warpLayout", "firstKernel"],
        share,
    )


def _tail(kernel: Kernel, resources: Resources | None) -> Iterator[Finding]:
    of_sm = registers.occupancy_of(kernel, resources).blocks if resources else kernel.blocks_per_sm
    blocks, fit = work.blocks(kernel), of_sm * SMS
    waves = blocks / fit if fit else 0.0
    if waves <= 1:
        return
    last_wave = 1 - waves / math.ceil(waves)
    rounds = blocks / SMS
    last_round = 1 - rounds / math.ceil(rounds)
    if last_wave < LAST_WAVE or last_round < LAST_ROUND:
        return
    full = math.floor(waves)
    left = blocks - full * fit
    yield Finding(
        "tail effect",
        f"{number(blocks)} blocks are {waves:.2f} waves of {number(fit)} blocks, {of_sm} on "
        f"each of {SMS} SMs: {several(left, 'block')} in the last wave use{'s' if left == 1 else ''} "
        f"{percent(left / fit)} of its places.{'' if resources else f' {REGISTERS}'}",
        f"If all blocks take equally long, {percent(last_wave)} of the places in {full + 1} waves "
        f"stay empty: {several(full, 'wave')} would do for {number(full * fit)} blocks.",
        "Launch a number of blocks that fills whole waves, or smaller blocks, or blocks that "
        "take the next part of the work when they are done (a grid-stride loop).",
        ["blockScheduling"],
        min(last_wave, last_round),
    )


def _few_fit(kernel: Kernel) -> Iterator[Finding]:
    """From half of an SM's warps down, as the rule "few warps for the latency" has it, where the
    grid has them."""
    warps = work.block_warps(kernel)
    resident = kernel.blocks_per_sm * warps
    fills = work.blocks(kernel) >= kernel.blocks_per_sm * SMS
    if (
        work.block_threads(kernel) < WARP
        or not fills
        or not SCHEDULERS <= resident <= WARPS_PER_SM / 2
    ):
        return
    yield Finding(
        "few warps fit",
        f"Block size and shared memory allow {resident} of the {WARPS_PER_SM} warps that an SM "
        "holds.",
        "That matters only where warps wait for memory, which takes a GPU to know "
        "(stall_memory_dependency; ncu: long_scoreboard).",
        "With little work in each thread, smaller blocks or less shared memory let more warps in.",
        ["occupancy", "occupancyCliff"],
        0.0,
        hint=True,
    )
