#!/usr/bin/env python3
"""Writes what the cpu profiler counts for each exercise beside what ncu read on an H200.

    exercise_table.py BUILD_FOLDER OUTPUT.csv

BUILD_FOLDER is that of the preset cpu. A cell is one number where both are equal, else
"counted (ncu: read)", the latter from recorded/, of builds with nvcc -G; the theoretical occupancy
of those with -O3, since debug builds take more registers.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from compare import (
    EXACT,
    NEAR,
    OCCUPANCY,
    OPTIONS,
    RECORDED,
    kernel_name,
    number,
    read_table,
    run_profiled,
)

CHAPTERS = {
    "warpLayout": "ch03_execution_model",
    "simpleDivergence": "ch03_execution_model",
    "controlDivergence": "ch03_execution_model",
    "sumMatrix": "ch03_execution_model",
    "reduceInteger": "ch03_execution_model",
    "reduceFloat": "ch03_execution_model",
    "compensatedSum": "ch03_execution_model",
    "syncHazard": "ch03_execution_model",
    "transpose": "ch04_memory",
    "matmul": "ch05_performance",
    "streamConcurrency": "streams",
    "nestedHelloWorld": "dynamic_parallelism",
}
COUNTS = {
    "divergent_branches": EXACT["divergent"],
    "load_requests": EXACT["load requests"],
    "load_sectors": EXACT["load sectors"],
    "store_sectors": EXACT["store sectors"],
    "shared_load_conflicts": EXACT["shared load conflicts"],
    "shared_store_conflicts": EXACT["shared store conflicts"],
}
RATIOS = {
    "branch_efficiency": NEAR["branch efficiency"][0],
    "active_threads": NEAR["active threads"][0],
}
FACTS = [
    "# counted by the cpu back end's profiler; where ncu differs: NVIDIA H200, CUDA 13.0, nvcc -G",
    "# written by tests/emulator/profiler/exercise_table.py",
]


def shown(here: float, there: float, form: str) -> str:
    mine, theirs = format(here, form), format(there, form)
    return mine if mine == theirs else f"{mine} (ncu: {theirs})"


def rows_of(name: str, program: Path) -> list[list[str]]:
    counted = run_profiled(str(program), name)
    debug = read_table((RECORDED / f"{name}.debug.csv").read_text())
    fast = read_table((RECORDED / f"{name}.optimised.csv").read_text())
    rows = []
    for mine, theirs, optimised in zip(counted, debug, fast):
        row = [name, " ".join(OPTIONS[name][1:]), kernel_name(theirs)]
        row += [shown(number(mine[m]), number(theirs[m]), ",.0f") for m in COUNTS.values()]
        row += [shown(number(mine[m]), number(theirs[m]), ".1f") for m in RATIOS.values()]
        row.append(shown(number(mine[OCCUPANCY]), number(optimised[OCCUPANCY]), ".1f"))
        # The same kernel again and again: once says it.
        if not rows or rows[-1][2] != row[2]:
            rows.append(row)
    return rows


def main(folder: Path, output: Path) -> None:
    with output.open("w", newline="") as file:
        file.write("\n".join(FACTS) + "\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["exercise", "parameters", "kernel", *COUNTS, *RATIOS, "occupancy"])
        for name, chapter in CHAPTERS.items():
            writer.writerows(rows_of(name, folder / chapter / f"{name}_instrumented"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
