#!/usr/bin/env python3
"""Compares the wavefronts that sharedBanks predicts with what a profiler counts.

    predicted_counts.py PROGRAM SOURCE

runs the instrumented PROGRAM, and compares each row with its launch as the cpu profiler counted it and
as ncu read it on a GPU (results/h200/). Ends with 77 where PROGRAM is not built, or
older than SOURCE.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "cmake"), str(ROOT / "tests" / "emulator" / "profiler")]

from compare import exercise, number, read_recorded, read_table  # noqa: E402
from expected_counts import OPTIMISED  # noqa: E402
from program import outdated, run_noting  # noqa: E402

NAME = "sharedBanks"
NOT_BUILT = 77
# The counter of the GPU picks up a few conflicts with other traffic.
NOISE = 0.04
# Columns of the program's CSV, and the counter that each predicts.
COUNTERS = {
    "store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
}


def problems(
    rows: Sequence[dict[str, str]],
    launches: Sequence[dict[str, str]],
    who: str,
    noise: float = 0,
) -> list[str]:
    """What `who` counted otherwise than the rows say, a line each; it may be more by `noise`."""
    if len(rows) != len(launches):
        return [f"{len(rows)} rows, but {who} counted {len(launches)} launches"]
    return [
        f"{row['kernel']}, stride {row['stride']}: {column} {row[column]}, {who} {launch[counter]}"
        for row, launch in zip(rows, launches)
        for column, counter in COUNTERS.items()
        if not 1 <= number(launch[counter]) / number(row[column]) <= 1 + noise
    ]


def main(program: str, source: str) -> int:
    reason = outdated(program, source)
    if reason:
        print(f"skipped: {reason}")
        return NOT_BUILT
    command = [program, "--profile", *exercise(NAME).facts.counts.words, "--csv"]
    done, profile = run_noting(command, "CUDA_EMULATOR_PROFILE")
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode}, expected 0\n{done.stderr}")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    found = problems(rows, read_table(profile), "the cpu back end")
    found += problems(rows, read_recorded(NAME, OPTIMISED), "ncu", NOISE)
    print("\n".join(found) or f"{len(rows)} rows predict what was counted")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
