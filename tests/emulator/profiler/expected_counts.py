"""What the cpu profiler's counts are expected to be, beside what ncu read of two builds.

COUNTS has every metric that both have; what is otherwise, each with its reason, is in DIFFERENCES, and of
exercises in exercise.toml:
compare.py says when one of them is not there (any more).
"""

from __future__ import annotations

from typing import NamedTuple

# What a count is expected to be.
DEBUG = "debug"  # equal to the -G build
OPTIMISED = "optimised"  # equal to the -O3 build
# Equal to the -G build; or to the -O3 build, if that of -G is higher: it reads and writes by
# pointers for any memory, and counts the bytes as global ones, wherever they go.
EFFICIENCY = "efficiency"
# For the same reason: equal to the -G build, less the bytes in global memory, of shared memory.
GENERIC = "generic"
FEWER = "fewer"  # at most what ncu reads of the -G build
LOWER = "lower"  # lower than in the -O3 build
HIGHER = "higher"  # higher than in the -O3 build
NOISE = "noise"  # the GPU reads at most 3 % of the wavefronts more
ANY = "any"


ROUNDED = 0.011  # numbers with two decimals may differ by so much
COMPUTED = 0.03  # what is computed from several of these


class Count(NamedTuple):
    metric: str
    expected: str
    tolerance: float = 0


# Every metric that ncu and the profiler have in common.
COUNTS = {
    # nvcc has more of them where functions are called, and fewer where it has instructions for a
    # condition.
    "branches": Count("smsp__sass_branch_targets.sum", ANY),
    "divergent": Count("smsp__sass_branch_targets_threads_divergent.sum", DEBUG),
    "load requests": Count("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", DEBUG),
    "store requests": Count("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", DEBUG),
    "atomic requests": Count("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", DEBUG),
    "atomic sectors": Count("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", DEBUG),
    "load sectors": Count("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", DEBUG),
    "store sectors": Count("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", DEBUG),
    "load sectors per request": Count(
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", DEBUG, ROUNDED
    ),
    "store sectors per request": Count(
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", DEBUG, ROUNDED
    ),
    "load efficiency": Count(
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", EFFICIENCY, ROUNDED
    ),
    "store efficiency": Count(
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", EFFICIENCY, ROUNDED
    ),
    # (None by name in the -G build.)
    "shared load requests": Count("smsp__inst_executed_op_shared_ld.sum", OPTIMISED),
    "shared store requests": Count("smsp__inst_executed_op_shared_st.sum", OPTIMISED),
    "shared load wavefronts": Count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", DEBUG),
    "shared store wavefronts": Count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", DEBUG),
    "shared load conflicts": Count(
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", DEBUG
    ),
    "shared store conflicts": Count(
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", DEBUG
    ),
    "shared efficiency": Count(
        "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", OPTIMISED, ROUNDED
    ),
    "texture reads": Count("smsp__inst_executed_op_texture.sum", DEBUG),
    "surface reads": Count("smsp__inst_executed_op_surface_ld.sum", DEBUG),
    "surface writes": Count("smsp__inst_executed_op_surface_st.sum", DEBUG),
    "asynchronous copies": Count("smsp__inst_executed_op_ldgsts.sum", DEBUG),
    "copy efficiency": Count(
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.pct", OPTIMISED, ROUNDED
    ),
    "copy conflicts": Count(
        "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", OPTIMISED
    ),
    # These depend on the instructions that nvcc makes of the source: near is enough.
    "branch efficiency": Count(
        "smsp__sass_average_branch_targets_threads_uniform.pct", DEBUG, 17.0
    ),
    "active threads": Count("smsp__thread_inst_executed_per_inst_executed.ratio", DEBUG, 6.0),
    "active threads in percent": Count(
        "smsp__thread_inst_executed_per_inst_executed.pct", DEBUG, 100 * 6.0 / 32
    ),
    # Of the launch itself; that of debug builds is lower, since they take more registers.
    "occupancy": Count("sm__maximum_warps_per_active_cycle_pct", OPTIMISED),
}


class Difference(NamedTuple):
    """`kernels` and `counts` are regular expressions for names, `now` what is expected instead."""

    program: str
    kernels: str
    counts: str
    now: str
    reason: str
    makers: str = ".*"  # the compiler and the processor with which alone it is there


# Why several kernels differ.
MEMBERS = "-G copies or stores a struct or vector member by member, -O3 (and the source) at once"
NO_LANE = "ncu also counts the warps that have no lane to load or store"
ANY_MEMORY = "-G reads constant memory with loads for any memory"
ANY_SHARED = "-G reads shared memory with loads for any memory, which join less"

DIFFERENCES = [
    Difference("constructs", "recursion", "store .*|active threads.*", OPTIMISED,
               "in the -G build the lanes do not meet again after the recursion"),
    Difference("constructs", "loadFloat2|sharedFloat2", ".*", OPTIMISED, MEMBERS),
    Difference("constructs", "castFloat4|sharedFloat4.*", ".*", OPTIMISED, MEMBERS),
    Difference("constructs", "addTwice", "load .*", OPTIMISED,
               "g++ makes 2 * a of a + a and loads a once", r"g\+\+.*"),
    Difference("constructs", "atomicShared", "shared store requests", LOWER, NO_LANE),
    Difference("constructs", "useConstant", "load .*", OPTIMISED, ANY_MEMORY),
    Difference("constructs", "shared(HalfWarp|Same|Half|Quarter)(Double|Float4)", "shared load .*",
               OPTIMISED, ANY_SHARED),
    Difference("sharing",
               "(add|max|exchange)InEight|takeNumbers|addOddLanes|swapOwn|addOwn(Float|Long)",
               "shared efficiency", HIGHER,
               "lanes with atomics for one word take turns unless they only count, and atomicCAS "
               "takes two; sums of float and of 8 bytes are loops around that"),
    Difference("sharing", "addOwnFloat", "shared load (requests|wavefronts)", LOWER,
               "the sum of a float is a loop that loads"),
    Difference("sharing", "addOddLanes", "branch efficiency", FEWER,
               "-G calls a function for the atomic: more branches, in which nobody diverges"),
    Difference("async_copies", ".*", "shared load requests", LOWER,
               "the compiler puts three loads that no lane executes before asynchronous copies"),
    Difference("sharing", "addOwnLong", "shared load requests", LOWER,
               "the sum of 8 bytes is a loop that loads"),
]  # fmt: skip
