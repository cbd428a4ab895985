#!/usr/bin/env python3
"""Compares what the cpu profiler counts with what ncu read on a GPU.

    compare.py PROGRAM NAME SOURCE

runs the instrumented PROGRAM and compares it with recorded/NAME.debug.csv (of a build
with nvcc -G) and, where that is not what the source says, recorded/NAME.optimised.csv (-O3).
Grids, blocks, divergent branches, requests, sectors, wavefronts and bank conflicts must be equal,
except for what DIFFERENCES lists with its reason; a difference that is not there (any more) is an
error, too. Ends with 77 where PROGRAM is not built, or older than SOURCE: someone builds one exercise
at a time.
"""

from __future__ import annotations

import csv
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[3] / "cmake"))

from program import outdated  # noqa: E402

NOT_BUILT = 77  # ctest shows it as skipped
RECORDED = Path(__file__).parent / "recorded"

# Options with which ncu ran the exercises, too.
OPTIONS = {
    "warpLayout": ["--profile"],
    "simpleDivergence": ["--profile", "--size=256K"],
    "controlDivergence": ["--profile", "--size=1000"],
    "sumMatrix": ["--profile", "--rows=128", "--cols=128"],
    "reduceInteger": ["--profile", "--size=32K"],
    "reduceFloat": ["--profile", "--size=32K"],
    "compensatedSum": ["--profile", "--size=32K"],
    "syncHazard": ["--profile", "--size=4K", "--block=256"],
    "transpose": ["--profile", "--rows=512", "--cols=512"],
    "matmul": ["--profile", "--m=128", "--n=128", "--k=128"],
    "streamConcurrency": ["--profile"],
    "nestedHelloWorld": ["--profile"],
}

# Options for the cpu back end alone.
OPTIONS_HERE = {
    # A kernel passes the time, each thread by its own look at the clock. It takes more than a
    # microsecond to get there: all lanes of a warp leave the loop at their first look.
    "streamConcurrency": ["--microseconds=1"],
}
# The grid is half of the device's multiprocessors: counts are compared for each block.
BY_BLOCK = {"streamConcurrency"}

EXACT = {
    "divergent": "smsp__sass_branch_targets_threads_divergent.sum",
    "load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
# These depend on the instructions that nvcc makes of the source: near is enough.
NEAR = {
    "branch efficiency": ("smsp__sass_average_branch_targets_threads_uniform.pct", 17.0),  # points
    "active threads": ("smsp__thread_inst_executed_per_inst_executed.ratio", 6.0),
}

# Of the launch itself; that of debug builds is lower, since they take more registers.
OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"

OPTIMISED = "optimised"  # equal to the -O3 build
FEWER = "fewer"  # at most what ncu reads
NOISE = "noise"  # the GPU reads at most 3 % of the wavefronts more
ANY = "any"


class Difference(NamedTuple):
    """`kernels` and `counts` are regular expressions for names, `now` what is expected instead."""

    program: str
    kernels: str
    counts: str
    now: str
    reason: str


DIFFERENCES = [
    Difference("constructs", "recursion", "store .*|active threads", OPTIMISED,
               "in the -G build the lanes do not meet again after the recursion"),
    Difference("constructs", "loadFloat2|sharedFloat2", ".*", OPTIMISED,
               "-G copies a float2 member by member, -O3 (and the source) at once"),
    Difference("constructs", "castFloat4|sharedFloat4.*", ".*", OPTIMISED,
               "-G stores the result of make_float4() member by member"),
    Difference("constructs", "addTwice", "load .*", OPTIMISED,
               "g++ makes 2 * a of a + a and loads a once"),
    Difference("constructs", "useConstant", "load .*", OPTIMISED,
               "-G reads constant memory with loads for any memory"),
    Difference("constructs", "shared(HalfWarp|Same|Half|Quarter)(Double|Float4)", "shared load .*",
               OPTIMISED, "-G reads shared memory with loads for any memory, which join less"),
    Difference("textbook_kernels", "convolution", "load .*", OPTIMISED,
               "-G reads constant memory with loads for any memory"),
    Difference("textbook_kernels", "compact", "store sectors", ANY,
               "where a warp writes depends on the order in which warps add to a counter"),
    Difference("textbook_kernels", "bitonicSort", "shared store .*", OPTIMISED,
               "the counter of the GPU picked up one conflict with other traffic"),
    Difference("sumMatrix", "sumMatrixFloat4.*", "store .*", OPTIMISED,
               "-G stores the result of make_float4() member by member"),
    Difference("reduceInteger", "reduceShared|reduceShuffle|reduceOneLaunch", "shared .*", OPTIMISED,
               "the counter of the GPU picked up conflicts with other traffic"),
    Difference("reduceFloat", "reduceAtomic|reduceOneLaunch", "shared .*", OPTIMISED,
               "the counter of the GPU picked up conflicts with other traffic"),
    Difference("compensatedSum", "reduceCompensated", "shared store .*", NOISE,
               "the counter of the GPU picks up conflicts with other traffic"),
    Difference("transpose", "transposeSmem.*", "shared .*", NOISE,
               "the counter of the GPU picks up conflicts with other traffic"),
    Difference("streamConcurrency", "occupyHalf", "store .*", OPTIMISED,
               "-G stores a Span member by member"),
    Difference("streamConcurrency", "occupyHalf", "shared load .*", ANY,
               "a thread looks at the clock, and at `begin` in shared memory, until time has passed"),
    Difference("nestedHelloWorld", "nestedHelloWorld", "divergent|load .*|store .*", FEWER,
               "ncu also counts what printf and launches do inside of CUDA's device library"),
]  # fmt: skip


class Mismatch(Exception):
    """The message is for the person who reads the test's output."""


def read_table(text: str) -> list[dict[str, str]]:
    """The launches in the CSV of `ncu --csv --page raw`, whatever stands above it."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
    if not starts:
        raise Mismatch('no line begins with "ID"')
    rows = list(csv.reader(lines[starts[0] :]))
    return [dict(zip(rows[0], row)) for row in rows[2:] if len(row) == len(rows[0])]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def kernel_name(launch: dict[str, str]) -> str:
    return re.sub(r"^void ", "", launch["Kernel Name"].partition("(")[0])


def blocks_of(launch: dict[str, str]) -> int:
    return math.prod(int(size) for size in re.findall(r"\d+", launch["Grid Size"]))


def run_profiled(program: str, name: str) -> list[dict[str, str]]:
    """The launches of `program`, which is profiled with the options for `name`."""
    options = OPTIONS.get(name, []) + OPTIONS_HERE.get(name, [])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "profile.csv")
        environment = {**os.environ, "CUDA_EMULATOR_PROFILE": str(path)}
        done = subprocess.run(
            [program, *options], env=environment, stdout=subprocess.DEVNULL, timeout=300
        )
        if done.returncode != 0:
            raise Mismatch(f"{program} ended with status {done.returncode}")
        return read_table(path.read_text())


def difference_of(name: str, kernel: str, count: str) -> Difference | None:
    for difference in DIFFERENCES:
        if (
            difference.program == name
            and re.fullmatch(difference.kernels, kernel)
            and re.fullmatch(difference.counts, count)
        ):
            return difference
    return None


def holds(
    now: str, counted: float, debug: float, optimised: float | None, wavefronts: float
) -> bool:
    if now == OPTIMISED:
        return counted == optimised
    if now == FEWER:
        return counted <= debug
    if now == NOISE:
        return counted <= debug <= counted + 0.03 * wavefronts
    return True


def compare(
    name: str,
    counted: list[dict[str, str]],
    debug: list[dict[str, str]],
    optimised: list[dict[str, str]] | None,
) -> list[str]:
    """What is wrong, a line each."""
    if len(counted) != len(debug):
        return [f"{len(counted)} launches were counted, ncu read {len(debug)}"]
    problems = []
    used = set()
    for i, (mine, theirs) in enumerate(zip(counted, debug)):
        kernel = kernel_name(theirs)
        if kernel_name(mine) != kernel:
            problems.append(f"launch {i} is of {kernel_name(mine)}, ncu's of {kernel}")
            continue
        shapes = ["Block Size"] if name in BY_BLOCK else ["Block Size", "Grid Size"]
        for shape in shapes:
            if mine[shape] != theirs[shape]:
                problems.append(f"{kernel}: {shape}: {mine[shape]}, ncu {theirs[shape]}")
        blocks = blocks_of(theirs) / blocks_of(mine) if name in BY_BLOCK else 1
        for count, metric in EXACT.items():
            here, there = blocks * number(mine[metric]), number(theirs[metric])
            if here == there:
                continue
            difference = difference_of(name, kernel, count)
            fast = number(optimised[i][metric]) if optimised else None
            wavefronts = number(mine[EXACT["shared load wavefronts"]])
            if difference is None or not holds(difference.now, here, there, fast, wavefronts):
                also = "" if fast is None else f", of the -O3 build {fast:g}"
                problems.append(f"{kernel}: {count}: {here:g}; of the -G build {there:g}{also}")
            used.add(difference)
        if optimised and number(mine[OCCUPANCY]) != number(optimised[i][OCCUPANCY]):
            there = optimised[i][OCCUPANCY]
            problems.append(f"{kernel}: theoretical occupancy: {mine[OCCUPANCY]}, ncu {there}")
        for what, (metric, tolerance) in NEAR.items():
            here, there = number(mine[metric]), number(theirs[metric])
            # (ncu gives an efficiency of 0 where there is no branch.)
            if what == "branch efficiency" and 0 in (here, there):
                continue
            if abs(here - there) > tolerance and difference_of(name, kernel, what) is None:
                problems.append(f"{kernel}: {metric}: {here:g}, ncu {there:g}")
    for difference in DIFFERENCES:
        if difference.program == name and difference.now != ANY and difference not in used:
            problems.append(f"no difference any more: {difference.kernels}: {difference.reason}")
    return problems


def skipped(program: str, source: str) -> bool:
    reason = outdated(program, source)
    if reason:
        print(f"skipped: {reason}")
    return bool(reason)


def main(program: str, name: str, source: str) -> int:
    if skipped(program, source):
        return NOT_BUILT
    fast = RECORDED / f"{name}.optimised.csv"
    try:
        debug = read_table((RECORDED / f"{name}.debug.csv").read_text())
        optimised = read_table(fast.read_text()) if fast.exists() else None
        problems = compare(name, run_profiled(program, name), debug, optimised)
    except Mismatch as error:
        problems = [str(error)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
