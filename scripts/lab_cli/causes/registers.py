"""What registers cost: values that have none, and blocks that do not fit. ptxas tells, where nvcc
is there."""

from __future__ import annotations

from collections.abc import Iterator

from ..lines import weights
from ..lines.model import Kernel
from . import kernel_work as work
from .device import WARPS_PER_SM
from .finding import Finding, percent
from .kernel_work import Work
from .source.resources import Occupancy, Resources, occupancy

# mixAtLeast with three blocks spills 176 bytes, mixAtLeast with two none
# (occupancy/results/h200/table.csv); a few bytes are saved once around a call.
SPILLED = 32  # bytes of loads
OF_SPILLS = 0.2  # how often a loop does them is not known: behind what is
# sumLoads<1> gains nearly in proportion to its warps up to 75 % of them, sumLoads<16> little beyond
# 50 % (occupancy/results/h200/metrics.csv). Kernels that compute are fast with fewer:
# registerNoConflicts has 25 %.
FEW = 0.5
VERY_FEW = 0.25
OF_MEMORY = 0.5  # sectors, of a kernel's work


def find(kernel: Kernel, of_kernel: Work, resources: Resources | None) -> Iterator[Finding]:
    if resources is None:
        return
    if resources.spill_loads >= SPILLED:
        yield _spills(kernel, resources)
    fit = occupancy_of(kernel, resources)
    if fit.is_limited_by_registers and fit.share <= FEW:
        of_memory = of_kernel.share(of_kernel.sectors * weights.SECTOR)
        few = fit.share <= VERY_FEW and of_memory >= OF_MEMORY
        yield _few_warps(resources, fit, of_memory, hint=not few)


def occupancy_of(kernel: Kernel, resources: Resources) -> Occupancy:
    return occupancy(resources.registers, work.block_threads(kernel), kernel.blocks_per_sm)


def _spills(kernel: Kernel, resources: Resources) -> Finding:
    return Finding(
        "register spills",
        f"ptxas gives a thread {resources.registers} registers and needs more: instructions that "
        f"store {resources.spill_stores} bytes of a thread to local memory and load "
        f"{resources.spill_loads} (registers_per_thread; local_load_transactions counts how often "
        "they do).",
        "With enough registers, all of them go away.",
        "Allow more registers: smaller blocks, or less in __launch_bounds__ or -maxrregcount. Or "
        "keep less at a time: fewer values in each thread, loops that are not unrolled.",
        ["occupancy"],
        OF_SPILLS,
        kernel.definition,
    )


def _few_warps(resources: Resources, fit: Occupancy, of_memory: float, hint: bool) -> Finding:
    return Finding(
        "few warps fit, because of registers",
        f"{resources.registers} registers of a thread let {fit.warps} of {WARPS_PER_SM} warps "
        f"into an SM, where block size and shared memory allow {fit.without}: an occupancy of "
        f"{percent(fit.share)}.",
        "That matters only where warps wait for memory, which takes a GPU to know "
        "(stall_memory_dependency; ncu: long_scoreboard).",
        "With little work in each thread, keep fewer values at a time, or set __launch_bounds__; "
        "with much, it can be right.",
        ["occupancy", "occupancyCliff"],
        of_memory * (1 - fit.share),
        hint=hint,
    )
