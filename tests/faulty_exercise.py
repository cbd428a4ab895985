"""Lets each launch and each copy of an exercise's results go wrong, and looks whether its checks notice:
the ctest cases NAME/faults.

    faulty_exercise.py exercise.toml NAME_faulty

A launch that does nothing, and a bit that changes in the first, a middle or the last of the values that
come to the host, must make the check of one row WRONG (of nestedHelloWorld, of one or more), and leave all
others as they were. One run has faults in many rows; where that does not end as it must, each fault gets a
run. For any two rows, there is a run in which the first has no launch, and the second no fault. A launch that fails must end the program with its error: of the launches that a statement of
the source makes, one is tried. [faults] in exercise.toml has those that are harmless.
"""

from __future__ import annotations

import csv
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from subprocess import CompletedProcess

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "cmake")]

from case_lines import SKIPPED, CaseLines  # noqa: E402
from lab_cli import exercise_facts  # noqa: E402
from lab_cli.results.csv_file import Row  # noqa: E402
from lab_cli.verdicts import WRONG  # noqa: E402
from program import outdated, run, run_noting  # noqa: E402

REFUSED = "cudaErrorInvalidConfiguration"
# The third byte of a value of four bytes has the highest bits that a float has behind its point; the
# seventh is that of a value of eight, or of the next.
BYTES = (2, 6)


@dataclass(frozen=True)
class Fault:
    """What is to go wrong."""

    name: str  # as in exercise.toml: "copy 3 6"
    row: int  # the number of rows that are printed before
    entry: str  # of LAB_FAULTS


def faults_of(notes: str) -> list[Fault]:
    """All that may go wrong, of what a run without a fault noted."""
    launches: list[Fault] = []
    refused: dict[str, Fault] = {}  # by statement
    copies: list[Fault] = []
    row = launched = copied = copies_before = (
        0  # the latter three: launches and copies of a row, and all before
    )
    for kind, *words in map(str.split, notes.splitlines()):
        if kind == "row":
            row, launched, copied = row + 1, 0, 0
        elif kind == "launch":
            number = len(launches)
            launches.append(Fault(f"launch {number}", row, f"launch {row} {launched};"))
            refusal = Fault(f"refused {number}", row, f"refused {row} {launched};")
            refused.setdefault(words[0], refusal)
            launched += 1
        else:
            for byte in damaged(int(words[0])):
                name = f"copy {copies_before} {byte}"
                copies.append(Fault(name, row, f"copy {row} {copied} {byte};"))
            copied, copies_before = copied + 1, copies_before + 1
    return [*launches, *refused.values(), *copies]


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


def groups(faults: Sequence[Fault], of_all_pairs: bool) -> Iterator[list[Fault]]:
    """Faults that one run can have: in rows whose numbers agree in a bit, one in each. That is one bit for each
    fault of a row, or with `of_all_pairs` all: then some run has the fault of a row and none of the other,
    whatever the two rows."""
    rows: dict[int, list[Fault]] = {}
    for fault in faults:
        rows.setdefault(fault.row, []).append(fault)
    bits = range(max(1, max(rows, default=0).bit_length()))
    for number, together in enumerate(zip_longest(*rows.values())):
        for bit in bits if of_all_pairs else [number % len(bits)]:
            for value in (0, 1):
                group = [fault for fault in together if fault and fault.row >> bit & 1 == value]
                if group:
                    yield group


def just_these(before: Sequence[Row], after: Sequence[Row], wrong: set[int]) -> bool:
    """Whether just the rows of these numbers are WRONG, and all others as they were."""
    checks = [WRONG if n in wrong else row["check"] for n, row in enumerate(before)]
    return [row["check"] for row in after] == checks


class Trial:
    """The faults of an exercise."""

    def __init__(self, command: Sequence[str], harmless: Sequence[str], lines: CaseLines) -> None:
        self._command = command
        self._harmless = harmless
        self._lines = lines
        self._before: list[Row] = []

    def run(self) -> None:
        """Tries each fault that is not harmless."""
        done, notes = run_noting(self._command, "LAB_FAULT_NOTES")
        self._before = rows_of(done)
        if done.returncode != 0 or not self._before:
            said = f"exit status {done.returncode}, {len(self._before)} rows"
            self._lines.tell("without a fault", [said])
            return
        all_faults = faults_of(notes)
        for listed in self._harmless:
            if not any(is_harmless(fault.name, [listed]) for fault in all_faults):
                said = "it is not there, but exercise.toml says that it is harmless"
                self._lines.tell(listed, [said])
        faults = [each for each in all_faults if not is_harmless(each.name, self._harmless)]
        of_kind = {
            kind: [fault for fault in faults if fault.name.startswith(kind)]
            for kind in ("launch", "copy", "refused")
        }
        rows = notes.splitlines().count("row")
        alone = not self._is_launch or rows != len(self._before)
        self._try(of_kind["launch"], groups(of_kind["launch"], True), alone)
        self._try(of_kind["copy"], groups(of_kind["copy"], False), alone)
        for fault in of_kind["refused"]:
            faulty = run(self._command, {"LAB_FAULTS": fault.entry})
            self._tell(fault, unreported(faulty, self._is_launch))

    @property
    def _is_launch(self) -> bool:
        """Whether a row is that of one launch of the host."""
        return "kernel" in self._before[0]

    def _try(self, faults: list[Fault], together: Iterable[list[Fault]], alone: bool) -> None:
        """Tries faults in these groups, and alone those of a group that does not end as it must; or
        all of them alone."""
        suspected = set(faults) if alone else set()
        for group in () if alone else together:
            if not self._is_noticed(group):
                suspected |= set(group)
        for fault in faults:
            self._tell(fault, self._wrong_with(fault) if fault in suspected else "")

    def _is_noticed(self, group: Sequence[Fault]) -> bool:
        """Whether each of the faults in one run makes its row WRONG, and no other row is."""
        faulty = run(self._command, {"LAB_FAULTS": "".join(fault.entry for fault in group)})
        wrong = {fault.row for fault in group}
        return faulty.returncode == 1 and just_these(self._before, rows_of(faulty), wrong)

    def _wrong_with(self, fault: Fault) -> str:
        faulty = run(self._command, {"LAB_FAULTS": fault.entry})
        return problem(self._before, rows_of(faulty), faulty.returncode)

    def _tell(self, fault: Fault, wrong: str) -> None:
        self._lines.tell(fault.name, [wrong] if wrong else [])


def rows_of(done: CompletedProcess[str]) -> list[Row]:
    return list(csv.DictReader(done.stdout.splitlines()))


def main(arguments: list[str]) -> int:
    file, program = arguments
    folder = Path(file).parent
    reason = outdated(program, str(folder / f"{folder.name}.cu"))
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    facts = exercise_facts.load(Path(file))
    command = [program, *shlex.split(facts.tests.runs[0]), "--csv", "--profile"]
    lines = CaseLines()
    Trial(command, facts.harmless, lines).run()
    return lines.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
