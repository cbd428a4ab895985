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


# Kernels of which the branches are those of the -G build, too: program, names, and the compiler.
SAME_BRANCHES = ("reduceInteger", "reduceNeighbored(Less)?", "g++")


class Difference(NamedTuple):
    """`kernels` and `counts` are regular expressions for names, `now` what is expected instead."""

    program: str
    kernels: str
    counts: str
    now: str
    reason: str
    makers: str = ".*"  # the compiler and the processor with which alone it is there


# Counts of several differences, and why several kernels differ.
TURNS, STORE_TURNS = (
    "shared (load|store) (wavefronts|conflicts)",
    "shared store (wavefronts|conflicts)",
)
TRAFFIC = "the counter of the GPU picks up conflicts with other traffic"
MEMBERS = "-G copies or stores a struct or vector member by member, -O3 (and the source) at once"
NO_LANE = "ncu also counts the warps that have no lane to load or store"
REGISTERS = "on the GPU registers limit it"
FOUR_WORDS = "-O3 reads four words at once"
LOCAL_SUMS = "-O3 reads four words at once; -G has the sums in local memory, and counts them, too"
HALF_OF_THEM = "-O3 stores half of the float4 word by word, -G all of them"
ANY_MEMORY = "-G reads constant memory with loads for any memory"
ANY_SHARED = "-G reads shared memory with loads for any memory, which join less"
THREE_LOADS = "the compiler puts three loads that no lane executes before asynchronous copies"
LAUNCHES = "ncu counts with a kernel what it launches, and what launches do inside of CUDA's device library"

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
    Difference("sharing", "addOwnLong", "shared load requests", LOWER,
               "the sum of 8 bytes is a loop that loads"),
    Difference("sumMatrix", "sumMatrixFloat4.*", "store .*", OPTIMISED, MEMBERS),
    Difference("reduceInteger", "reduceShared|reduceShuffle|reduceOneLaunch", "shared .*",
               OPTIMISED, TRAFFIC),
    Difference("reduceFloat", "reduceAtomic|reduceOneLaunch", "shared .*", OPTIMISED, TRAFFIC),
    Difference("compensatedSum", "reduceCompensated", "shared store .*", NOISE, TRAFFIC,
               NOT_AT_ONCE),
    Difference("compensatedSum", "reduceCompensated", "shared efficiency", LOWER,
               "-O3 reads and writes the two floats of a sum at once", NOT_AT_ONCE),
    Difference("compensatedSum", "reduceCompensated", TURNS,
               OPTIMISED,
               "-O3 reads and writes the two floats of a sum at once, and so does g++, as it "
               "knows that the array is aligned",
               AT_ONCE),
    Difference("memorySpaces", "(register|shared|device)Counter", "load .*", OPTIMISED, ANY_MEMORY),
    Difference("memoryLatency", "chaseConstant", "load .*", OPTIMISED, ANY_MEMORY),
    Difference("memoryLatency", "chaseGlobal<.>", "store .*", ANY,
               "ncu counts 36 of the 37 stores of warps in three of four kernels: not explained"),
    Difference("memorySpaces", "sharedCounter", "shared store requests", LOWER, NO_LANE),
    Difference("memorySpaces", "selectedIndex", "occupancy", HIGHER,
               "-O3 takes 37 registers, and registers are not counted here"),
    Difference("transpose", "transposeSmem(Pad|Swizzle|Diagonal|Dynamic)?", "shared .*", NOISE,
               TRAFFIC),
    Difference("transposeFast", "transposeFloat4<.*>", "shared store .*", OPTIMISED, MEMBERS),
    Difference("transposeFast", "transposeSectors", "store .*", OPTIMISED, MEMBERS),
    Difference("transposeFast", "transposeTile<64>", "occupancy", HIGHER, REGISTERS),
    Difference("stridedAccess", "readRandom<.*>", "occupancy", HIGHER,
               "-O3 has so many loads in flight that their registers fit half as often"),
    Difference("structLayouts", "allAosFloat2", "load .*", OPTIMISED, MEMBERS),
    Difference("structLayouts", "allSoaFloat4", "store .*", OPTIMISED, MEMBERS),
    Difference("sharedBanks", "strided<int2>", "shared .*", OPTIMISED, MEMBERS),
    Difference("sharedBanks", "strided<int4>", "shared load wavefronts", FEWER, ANY_SHARED),
    Difference("constantMemory", "copyFloat4", "load .*", OPTIMISED, MEMBERS),
    Difference("constantMemory", "stencilConstant|stencilShared|stencilFloat4|lookupConstant",
               "load .*", OPTIMISED, ANY_MEMORY),
    Difference("constantMemory", "stencilShared", "shared store requests", LOWER, NO_LANE),
    Difference("constantMemory", "lookupShared", "shared load (wavefronts|conflicts)", NOISE,
               TRAFFIC),
    Difference("shuffleOrShared", "sumRowsShared", STORE_TURNS, NOISE, TRAFFIC),
    Difference("matmul", "matmulTiled<.*>", "shared efficiency", GENERIC, FOUR_WORDS),
    Difference("threadGranularity", "granularity<.*>", "shared load requests", HIGHER, FOUR_WORDS),
    Difference("threadGranularity", "granularity<.*>", "shared efficiency", LOWER, LOCAL_SUMS),
    Difference("threadGranularity", "granularity<(2, 1|2, 2|4, 4)>", "occupancy", HIGHER,
               REGISTERS),
    Difference("registerTiles", "registerColumn|registerSquare", "shared load requests", HIGHER,
               FOUR_WORDS),
    Difference("registerTiles", "registerColumn|registerSquare", "shared efficiency", LOWER,
               LOCAL_SUMS),
    Difference("registerTiles", "registerSquare", TURNS, NOISE, TRAFFIC),
    Difference("registerTiles", "register(Float4|NoConflicts|WarpTiles)<1>",
               "load .*|shared load (wavefronts|conflicts)", OPTIMISED, MEMBERS),
    Difference("registerTiles", "register(Float4|NoConflicts|WarpTiles)<1>",
               "store (requests|sectors)", LOWER, HALF_OF_THEM),
    Difference("registerTiles", "register(Float4|NoConflicts|WarpTiles)<1>", "store efficiency",
               HIGHER, HALF_OF_THEM),
    Difference("registerTiles", "register.*", "occupancy", HIGHER, REGISTERS),
    Difference("matmulFast", "multiply<.*>", "shared load requests", LOWER, THREE_LOADS),
    Difference("matmulFast", "multiply<(?!.*1, 1, 1, 0>).*>", "shared load wavefronts", OPTIMISED,
               MEMBERS),
    Difference("matmulFast", "multiply<.*1, 1, 1, 0>", "shared load wavefronts", FEWER,
               "-G copies a float4 member by member; of -O3 the counter has a conflict with "
               "other traffic"),
    Difference("matmulFast", "multiply<.*>", "shared efficiency", HIGHER,
               "ncu takes more turns for it than its counter of wavefronts has: not explained"),
    Difference("matmulFast", "multiply<.*>", "occupancy", HIGHER, REGISTERS),
    Difference("cornerTurning", "tiledRowMajor|.*AsItLies|bTurned.*|aTurned",
               "shared load requests", HIGHER, FOUR_WORDS),
    Difference("cornerTurning", "tiledRowMajor|.*AsItLies|bTurned.*|aTurned", "shared efficiency",
               GENERIC, FOUR_WORDS),
    Difference("cornerTurning", "tiledRowMajor|.*AsItLies|bTurned.*|aTurned",
               STORE_TURNS, OPTIMISED, TRAFFIC),
    Difference("roofline", "readShared", "shared store requests", LOWER, NO_LANE),
    Difference("roofline", "readShared", TURNS, OPTIMISED, TRAFFIC),
    Difference("dramParallelism", "readSectors<.*>", "load .*", OPTIMISED, MEMBERS),
    Difference("memoryBound", "axpby(Loop|Float4<.>)", "store .*", OPTIMISED, MEMBERS),
    Difference("memoryBound", "axpbyFloat4<4>", "occupancy", HIGHER, REGISTERS),
    Difference("rowNormalisation", "row(Factors|Moments)|oneKernel|sharedRow",
               STORE_TURNS, OPTIMISED, TRAFFIC),
    Difference("rowNormalisation", "sharedRow", "shared (load|store) requests", LOWER, NO_LANE),
    Difference("rowNormalisation", "(register|prefetch)Row<8>", "(load|store) .*", OPTIMISED,
               MEMBERS),
    Difference("sharedReduction", "(?!wideLoads).*", "shared (load|store) requests", LOWER,
               NO_LANE),
    Difference("sharedReduction", "firstAdd<8>", STORE_TURNS, OPTIMISED, TRAFFIC),
    Difference("sharedReduction", "oneStep<Neighbored>", "branch efficiency", FEWER,
               "-G has more branches in which nobody diverges, -O3 has none"),
    Difference("occupancyCliff", "(chase|compute|walk)<.*>", "store .*", OPTIMISED, MEMBERS),
    Difference("occupancyCliff", "walk<.*>", "load .*", OPTIMISED, MEMBERS),
    Difference("occupancyCliff", "(chase|compute|walk)<(?!32>).*>", "occupancy", HIGHER,
               "on the GPU registers limit it: that is what the exercise is about"),
    Difference("spectralDerivative", "registerLines<.*>", "shared store requests", LOWER, NO_LANE),
    Difference("spectralDerivative", "registerLines<.*>", TURNS, OPTIMISED, MEMBERS),
    Difference("spectralDerivative", "registerLines<.*>", "occupancy", HIGHER, REGISTERS),
    Difference("streamConcurrency", "occupyHalf", "store .*", OPTIMISED, MEMBERS),
    Difference("streamConcurrency", "occupyHalf", "shared load .*", ANY,
               "a thread looks at the clock, and at `begin` in shared memory, until time has "
               "passed"),
    Difference("streamOrder", "stay|piece", "store .*", OPTIMISED, MEMBERS),
    Difference("streamOrder", "piece", "shared store requests", LOWER, NO_LANE),
    Difference("streamOrder", "piece|writeLate", "active threads.*", ANY,
               "one thread looks at the clock until time has passed"),
    Difference("launchCost", "loopGridBarrier", "divergent|load .*|atomic .*", ANY,
               "ncu also counts how a thread of each block waits at the barrier of the grid"),
    Difference("nestedHelloWorld", "nestedHelloWorld", "divergent|load .*|store .*", FEWER,
               "ncu also counts what printf and launches do inside of CUDA's device library"),
    Difference("nestedReduce", "nested.*", ".*", ANY, LAUNCHES),
    Difference("nestedReduce", "reduce.*", "(load|store) .*", OPTIMISED,
               "-G has the arguments of atomicAdd() in local memory, and counts them, too"),
    Difference("mandelbrot", "nestedGrids", ".*", ANY, LAUNCHES),
    Difference("mandelbrot", "workQueue", "divergent|active threads.*|atomic .*|shared .*", ANY,
               "which block takes which rectangle, and how long it waits, is another matter each "
               "time"),
    Difference("launchLimits", "launchChildren|chain", ".*", ANY, LAUNCHES),
]  # fmt: skip
