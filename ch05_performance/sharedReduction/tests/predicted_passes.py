#!/usr/bin/env python3
"""Compares the predictions of sharedReduction with the counts of the cpu profiler.

    predicted_passes.py PROGRAM SOURCE

runs the instrumented PROGRAM with blocks of several sizes and compares the predictions of each row with the
counts of its launch. The exit status is 77 if PROGRAM is not built, or if it is older than SOURCE.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "cmake"), str(ROOT / "tests" / "emulator" / "profiler")]

from compare import number, read_table  # noqa: E402
from program import outdated, run_noting  # noqa: E402

NOT_BUILT = 77
# The array ends in the middle of a block.
OPTIONS = ("--size=3000 --block=32", "--size=3000 --block=64", "--size=5000 --block=1024")
LOADS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
LOAD_REQUESTS = "smsp__inst_executed_op_shared_ld.sum"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"


def counted(row: dict[str, str], launch: dict[str, str]) -> dict[str, float]:
    """The values that the columns of the row must have, from the counts of its launch."""
    loads, stores = number(launch[LOADS]), number(launch[STORES])
    columns = {"load_wavefronts": loads, "store_wavefronts": stores}
    if not row["step"]:  # a kernel of the ladder also has other branches
        return columns
    # Each warp stores its words before the step and loads them after it. A warp that adds makes two loads.
    warps = int(re.findall(r"\d+", launch["Block Size"])[0]) / 32
    return columns | {
        "warps": (number(launch[LOAD_REQUESTS]) - warps) / 2,
        "split": number(launch[DIVERGENT]),
        "passes": warps + number(launch[DIVERGENT]),
        "wavefronts": loads + stores - 2 * warps,
    }


def problems(rows: Sequence[dict[str, str]], launches: Sequence[dict[str, str]]) -> list[str]:
    """A line for each count that differs from its row."""
    if len(rows) != len(launches):
        return [f"{len(rows)} rows, but {len(launches)} launches were counted"]
    return [
        f"{row['kernel']} {row['step']}: {column} {row[column]}, counted {count:g}"
        for row, launch in zip(rows, launches)
        for column, count in counted(row, launch).items()
        if number(row[column]) != count
    ]


def main(program: str, source: str) -> int:
    reason = outdated(program, source)
    if reason:
        print(f"skipped: {reason}")
        return NOT_BUILT
    found = []
    for options in OPTIONS:
        command = [program, *options.split(), "--profile", "--csv"]
        done, profile = run_noting(command, "CUDA_EMULATOR_PROFILE")
        if done.returncode != 0:
            sys.exit(f"{options}: exit status {done.returncode}, expected 0\n{done.stderr}")
        rows = list(csv.DictReader(done.stdout.splitlines()))
        assert any(row["step"] for row in rows) and not all(row["step"] for row in rows)
        found += [f"{options}: {problem}" for problem in problems(rows, read_table(profile))]
    print("\n".join(found) or "the profiler counts what the program predicts")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
