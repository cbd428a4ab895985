"""Runs one command of an exercise and judges what it printed; the ctest cases of cmake/LabExercise.cmake use it.

    check_case.py KIND [EXPECTED...] -- COMMAND...

    table    status 0, lines of at most 80 characters, and a table whose rows all end in a good verdict: "ok", or
             "race" and "lucky" where a race is what the kernel shows
    csv      status 0, and on stdout CSV alone: a heading and rows, the last column "check" all good; the
             numbers are what the facts of the exercise, the file EXPECTED, make of them; and so is
             what --timeline=FILE wrote
    help     status 0, lines of at most 80 characters, and a text that names each option EXPECTED
    prints*  status 0, and on stdout a text that matches each regex (^ and $ are those of a line)
    fails    status 1, and on stderr a last line that matches each regex
    rejects  status 2, nothing on stdout, and on stderr one line that matches each regex

The last three have one regex as EXPECTED, or the facts of an exercise and options: the regexes of these
options in [tests.KIND].

table and csv: nor may the cpu back end have found anything amiss, which it says on stderr.

A command that ends with 77 (no usable GPU) ends this one with 77, which ctest shows as skipped.
"""

from __future__ import annotations

import csv
import re
import sys
import time
from pathlib import Path
from typing import NamedTuple

import program

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from lab_cli import toml_file  # noqa: E402
from lab_cli.verdicts import GOOD, WRONG  # noqa: E402

SKIPPED = 77
LINE_LENGTH = 80
# (That a kernel takes long may say no more than that the machine is busy.)
FINDING = re.compile(r"^emulator: (?!note: |kernel .* has been running for ).*", re.MULTILINE)
OPTIONS_OF_ALL = ["--reps", "--seed", "--kernel", "--csv", "--profile", "--device", "--help"]


class Done(NamedTuple):
    """A command that has ended."""

    command: list[str]
    returncode: int
    stdout: str
    stderr: str
    milliseconds: float

    def option(self, name: str) -> str:
        """The value of --name=value, or nothing."""
        values = [word.partition("=")[2] for word in self.command if word.startswith(f"--{name}=")]
        return values[-1] if values else ""


def run(command: list[str]) -> Done:
    begin = time.monotonic()
    done = program.run(command)
    milliseconds = 1e3 * (time.monotonic() - begin)
    return Done(command, done.returncode, done.stdout, done.stderr, milliseconds)


def findings_problem(done: Done) -> str:
    found = FINDING.findall(done.stderr)
    return f"the cpu back end says: {found[0]}" if found else ""


def long_line_problem(lines: list[str]) -> str:
    long = [line for line in lines if len(line) > LINE_LENGTH]
    return f"a line is longer than {LINE_LENGTH} characters: {long[0]}" if long else ""


def table_problem(done: Done) -> str:
    rows = [line.split() for line in done.stdout.splitlines()]
    heads = [i for i, words in enumerate(rows) if words[-1:] == ["check"]]
    if done.returncode != 0:
        return f"exit status {done.returncode}, expected 0"
    if not heads:
        return 'no table: no line of stdout ends in the heading "check"'
    amiss = findings_problem(done)
    if amiss:
        return amiss
    known = GOOD | {WRONG}
    verdicts = [words[-1] for words in rows[heads[0] + 1 :] if {*words[-1:]} & known]
    if not verdicts or not set(verdicts) <= GOOD:
        return f"the rows of the table must all be ok, not {verdicts}"
    return long_line_problem(done.stdout.splitlines())


def csv_problem(done: Done, facts: str) -> str:
    if done.returncode != 0:
        return f"exit status {done.returncode}, expected 0"
    amiss = findings_problem(done)
    if amiss:
        return amiss
    rows = list(csv.reader(done.stdout.splitlines(), strict=True))
    if len(rows) < 2:
        return "stdout must be a heading and at least one row"
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        return f"the rows have different numbers of columns: {sorted(widths)}"
    if rows[0][-1] != "check" or not {row[-1] for row in rows[1:]} <= GOOD:
        return 'the last column must be "check", and "ok" in every row'
    named = [dict(zip(rows[0], row)) for row in rows[1:]]
    import csv_numbers  # here, since it is slow to load

    return "\n".join(csv_numbers.problems(named, done, facts))


def help_problem(done: Done, options: list[str]) -> str:
    if done.returncode != 0:
        return f"exit status {done.returncode}, expected 0"
    wanted = [*OPTIONS_OF_ALL, *options]
    missing = [name for name in wanted if not re.search(rf"{name}\b", done.stdout)]
    if missing:
        return f"the text does not name {', '.join(missing)}"
    return long_line_problem(done.stdout.splitlines())


def unmatched(regexes: list[str], text: str) -> str:
    """Says which of them has no match."""
    missing = [regex for regex in regexes if not re.search(regex, text, re.MULTILINE)]
    return f"nothing matches {missing[0]!r}" if missing else ""


def prints_problem(done: Done, regexes: list[str]) -> str:
    if done.returncode != 0:
        return f"exit status {done.returncode}, expected 0"
    return unmatched(regexes, done.stdout)


def fails_problem(done: Done, regexes: list[str]) -> str:
    if done.returncode != 1:
        return f"exit status {done.returncode}, expected 1"
    return unmatched(regexes, done.stderr.rstrip("\n").rpartition("\n")[2])


def rejects_problem(done: Done, regexes: list[str]) -> str:
    if done.returncode != 2:
        return f"exit status {done.returncode}, expected 2"
    if done.stdout:
        return "stdout must be empty"
    if len(done.stderr.splitlines()) != 1:
        return "stderr must be one line"
    return unmatched(regexes, done.stderr)


def regexes_of(kind: str, expected: list[str]) -> list[str]:
    """The one that is expected, or those of the facts for these options."""
    if len(expected) == 1:
        return expected
    facts, options = expected
    entry = toml_file.load(Path(facts))["tests"][kind][options]
    return [entry] if isinstance(entry, str) else entry


def problem(kind: str, expected: list[str], done: Done) -> str:
    """What is wrong, or an empty string."""
    if kind == "table":
        return table_problem(done)
    if kind == "csv":
        return csv_problem(done, expected[0])
    if kind == "help":
        return help_problem(done, expected)
    judge = {"fails": fails_problem, "rejects": rejects_problem}.get(kind, prints_problem)
    return judge(done, regexes_of(kind, expected))


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    kind, *expected = arguments[:split]
    done = run(arguments[split + 1 :])
    sys.stdout.write(done.stdout)
    sys.stdout.flush()
    sys.stderr.write(done.stderr)
    if done.returncode == SKIPPED:
        return SKIPPED
    wrong = problem(kind, expected, done)
    if wrong:
        print(f"FAILED: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
