#!/usr/bin/env python3
"""Checks the counts of reductions.cu: check_reductions.py PROGRAM NAME SOURCE, as compare.py

EXPECTED is what ncu reads on an H200 from a -G build at 2^22 elements and blocks of 512; the
program has 2^18, and all counts are proportional to the size.
"""

from __future__ import annotations

import sys

from compare import NOT_BUILT, Mismatch, compiler_of, kernel_name, number, run_profiled, skipped
from expected_counts import COUNTS

SCALE = 2**22 // 2**18
COLUMNS = ["divergent", "load sectors", "load requests", "store sectors"]
EXPECTED = {
    "neighbored": [786432, 4186112, 1564672, 2097152],
    "neighboredLess": [49152, 4186112, 335872, 2097152],
    "interleaved": [49152, 1089536, 335872, 548864],
    "branchByThread": [131072, 0, 0, 524288],
    "branchByWarp": [0, 0, 0, 524288],
}
# [%], to the digits that ncu shows
LOAD_EFFICIENCY = COUNTS["load efficiency"].metric
STORE_EFFICIENCY = COUNTS["store efficiency"].metric
EFFICIENCIES = {
    "neighbored": (25.02, 25.00),
    "neighboredLess": (25.02, 25.00),
    "interleaved": (96.15, 95.52),
}
BRANCH_EFFICIENCY = COUNTS["branch efficiency"].metric
BRANCH_EFFICIENCIES = {
    "neighbored": 90.32,
    "neighboredLess": 99.29,
    "interleaved": 99.29,
    "branchByThread": 80.0,
    "branchByWarp": 100.0,
}
# profiler.md says why these are others there.
WITH_CLANG = {"neighbored": 90.16, "neighboredLess": 99.27, "interleaved": 99.38}


def main(program: str, source: str) -> int:
    if skipped(program, source):
        return NOT_BUILT
    wrong = []
    try:
        launches = {kernel_name(launch): launch for launch in run_profiled(program, "reductions")}
    except Mismatch as error:
        sys.exit(str(error))
    branch_efficiencies = dict(BRANCH_EFFICIENCIES)
    if compiler_of(program) == "clang++":
        branch_efficiencies.update(WITH_CLANG)
    for kernel, counts in EXPECTED.items():
        launch = launches[kernel]
        for column, count in zip(COLUMNS, counts):
            counted = launch[COUNTS[column].metric]
            if number(counted) * SCALE != count:
                wrong.append(f"{kernel}: {column}: {counted}, not {count / SCALE:g}")
        for metric, expected in zip(
            (LOAD_EFFICIENCY, STORE_EFFICIENCY), EFFICIENCIES.get(kernel, ())
        ):
            if number(launch[metric]) != expected:
                wrong.append(f"{kernel}: {metric}: {launch[metric]}, not {expected}")
        if number(launch[BRANCH_EFFICIENCY]) != branch_efficiencies[kernel]:
            wrong.append(f"{kernel}: branch efficiency {launch[BRANCH_EFFICIENCY]}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[3]))
