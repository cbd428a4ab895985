"""Runs an instrumented exercise and compares its rows with what it launched, which the cpu profiler notes;
the ctest cases "NAME launches" of cmake/LabExercise.cmake use it.

    check_launches.py SOURCE -- COMMAND...

The command, to which this adds --csv and --profile, must end with status 0. Each row with a grid is a launch
with that grid and block, in the same order, and has no times, since nothing was timed; where the name of the
row is that of the kernel and a number, this is its last template argument. Where the program is not built, or
is older than its SOURCE, this ends with 77, which ctest shows as skipped.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from program import outdated, run_noting

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from lab_cli.counters.raw_csv import Launch, parse  # noqa: E402

NOT_BUILT = 77
TIMES = ("median_ms", "min_ms", "max_ms")


def is_called(row: str, kernel: str) -> bool:
    """False where the row says reduce4, and the kernel is reduce<64, 8>."""
    name, _, arguments = kernel.rstrip(">").partition("<")
    number = row[len(name) :]
    if not arguments or not row.startswith(name) or not number.isdigit():
        return True
    return number == arguments.rpartition(",")[2].strip()


def problem(rows: Sequence[dict[str, str]], launches: Sequence[Launch]) -> str:
    """What is wrong with the rows, or an empty string."""
    launched = [row for row in rows if row.get("grid", "-") != "-"]
    if not launched:
        return "no row has a grid"
    shapes = [(launch.grid, launch.block) for launch in launches]
    place = 0
    for row in launched:
        shape = (row["grid"], row["block"])
        if shape not in shapes[place:]:
            found = ", ".join(f"{grid} blocks of {block}" for grid, block in shapes[place:])
            return f"{row['kernel']}: {shape[0]} blocks of {shape[1]}, but launched were {found}"
        place = shapes.index(shape, place) + 1
        if not is_called(row["kernel"], launches[place - 1].kernel):
            return f"{row['kernel']}: launched was {launches[place - 1].kernel}"
        if row["reps"] != "0" or any(row[time] for time in TIMES):
            return f"{row['kernel']}: has a time with --profile"
    return ""


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    (source,) = arguments[:split]
    command = [*arguments[split + 1 :], "--csv", "--profile"]
    reason = outdated(command[0], source)
    if reason:
        print(f"skipped: {reason}")
        return NOT_BUILT
    done, profile = run_noting(command, "CUDA_EMULATOR_PROFILE")
    sys.stdout.write(done.stdout + done.stderr)
    sys.stdout.flush()
    if done.returncode != 0:
        wrong = f"exit status {done.returncode}, expected 0"
    else:
        wrong = problem(list(csv.DictReader(done.stdout.splitlines())), parse(profile).launches)
    if wrong:
        print(f"FAILED: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
