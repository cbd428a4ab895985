"""Lets each launch and each copy of an exercise's results go wrong, one after the other, and looks
whether its checks notice: the ctest cases faults/NAME.

    faulty_exercise.py exercise.toml -- NAME_faulty OPTIONS...

A launch that fails must end the program with its error. A launch that does nothing, and a bit that
changes in the first, a middle or the last of the values that come to the host, must make the check of
one row WRONG (of nestedHelloWorld, of one or more), and leave all others as they were. [faults] in
exercise.toml has those that are harmless.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "cmake")]

from lab_cli import exercise_facts  # noqa: E402
from lab_cli.results.csv_file import Row  # noqa: E402
from lab_cli.verdicts import WRONG  # noqa: E402
from program import run, run_noting  # noqa: E402

REFUSED = "cudaErrorInvalidConfiguration"
# The third byte of a value of four bytes has the highest bits that a float has behind its point; the
# seventh is that of a value of eight, or of the next.
BYTES = (2, 6)


def faults_of(notes: str) -> list[str]:
    """All that is to go wrong, of what a run without a fault noted."""
    lines = [line.split() for line in notes.splitlines()]
    launches = sum(line == ["launch"] for line in lines)
    sizes = [int(line[1]) for line in lines if line[0] == "copy"]
    return [f"{kind} {number}" for kind in ("launch", "refused") for number in range(launches)] + [
        f"copy {number} {byte}" for number, size in enumerate(sizes) for byte in damaged(size)
    ]


def damaged(size: int) -> list[int]:
    """Of the bytes of a copy, those that are to be changed."""
    middle = size // 2 // 8 * 8
    places = {begin + byte for begin in (0, middle, (size - 1) // 8 * 8) for byte in BYTES}
    return sorted(place for place in {*places, size - 2} if 0 <= place < size)


def is_harmless(fault: str, harmless: Sequence[str]) -> bool:
    """Whether it is listed: "copy 1" stands for all of its bytes."""
    return any(f"{fault} ".startswith(f"{listed} ") for listed in harmless)


def problem(before: Sequence[Row], after: Sequence[Row], status: int) -> str:
    """What is wrong with the rows of a run with a fault, or an empty string. A row is that of one launch
    where it names a kernel."""
    wrong = sum(row["check"] == WRONG for row in after)
    others = [row for row, was in zip(after, before) if row["check"] not in (WRONG, was["check"])]
    one = "kernel" in before[0]
    if wrong == 0 or (one and (wrong > 1 or others or len(after) != len(before))):
        return f"{wrong} rows are WRONG and {len(others)} others changed, expected 1 and 0"
    return "" if status == 1 else f"exit status {status}, expected 1"


def unreported(done: CompletedProcess[str], from_host: bool) -> str:
    """What is wrong with how a run ends in which a launch failed, or an empty string. (Kernels that launch
    others do not look at errors: their results are wrong then.)"""
    if done.returncode != 1:
        return f"exit status {done.returncode}, expected 1"
    named = REFUSED in done.stderr or not from_host
    return "" if named else f"expected {REFUSED} on stderr, which has {done.stderr.strip()!r}"


def problems(command: Sequence[str], harmless: Sequence[str]) -> list[str]:
    """What is wrong with the run without a fault, and with each that is not harmless."""
    done, notes = run_noting(command, "LAB_FAULT_NOTES")
    before = rows_of(done)
    if done.returncode != 0 or not before:
        return [f"without a fault: exit status {done.returncode}, {len(before)} rows"]
    faults = faults_of(notes)
    found = [
        f"{listed} is not there, but exercise.toml says that it is harmless"
        for listed in harmless
        if not any(is_harmless(fault, [listed]) for fault in faults)
    ]
    for fault in faults:
        if not is_harmless(fault, harmless):
            faulty = run(command, {"LAB_FAULT": fault})
            wrong = (
                unreported(faulty, "kernel" in before[0])
                if fault.startswith("refused ")
                else problem(before, rows_of(faulty), faulty.returncode)
            )
            found += [f"{fault}: {wrong}"] if wrong else []
    return found


def rows_of(done: CompletedProcess[str]) -> list[Row]:
    return list(csv.DictReader(done.stdout.splitlines()))


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    (facts,) = arguments[:split]
    command = [*arguments[split + 1 :], "--csv", "--profile"]
    found = problems(command, exercise_facts.load(Path(facts)).harmless)
    for line in found:
        print(f"FAILED: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
