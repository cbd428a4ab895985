"""Judges what a program of an exercise printed. Each judge says what is wrong, or returns an empty text.

exercise_cases.py says which judge looks at which run.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from program import Done

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from lab_cli.exercise_facts import Facts  # noqa: E402
from lab_cli.results import numbers, timelines  # noqa: E402
from lab_cli.verdicts import GOOD, WRONG  # noqa: E402

CHECK = "check"  # the heading of the column of verdicts
VERDICTS = GOOD | {WRONG}
LINE_LENGTH = 80
# (That a kernel takes long may say no more than that the machine is busy.)
FINDING = re.compile(r"^emulator: (?!note: |kernel .* has been running for ).*", re.MULTILINE)
OPTIONS_OF_ALL = [
    "--reps",
    "--seed",
    "--kernel",
    "--csv",
    "--profile",
    "--host-times",
    "--device",
    "--help",
]


def table_problem(done: Done) -> str:
    """The program must end with status 0 and print a table of at most 80 columns, whose rows all end in a
    good verdict: "ok", or "race" and "lucky" where a kernel shows a race. The cpu back end must have found
    nothing amiss. The program may print other lines as well."""
    wrong = _status_problem(done, 0) or _findings_problem(done)
    if wrong:
        return wrong
    table = _table_lines(done.stdout.splitlines())
    if not table:
        return 'no table: no line of stdout ends in the heading "check"'
    verdicts = [line.split()[-1] for line in table[1:]]
    if not verdicts or not set(verdicts) <= GOOD:
        return f"the rows of the table must all be ok, not {verdicts}"
    return long_line_problem(table)


def _table_lines(lines: Sequence[str]) -> list[str]:
    """The heading, whose last word is "check", and the rows, which have a verdict below that word."""
    heads = [i for i, line in enumerate(lines) if line.split()[-1:] == [CHECK]]
    for head in heads:
        column = lines[head].rindex(CHECK)
        rows = [line for line in lines[head + 1 :] if line[column:].strip() in VERDICTS]
        if rows or head == heads[-1]:
            return [lines[head], *rows]
    return []


def csv_rows(done: Done, exercise: str) -> list[list[str]]:
    """The heading of the CSV and its rows. What else the program printed is left out: such a line does not
    begin with the name of the exercise."""
    lines = done.stdout.splitlines()
    return list(csv.reader(filter(re.compile(f"(exercise|{exercise}),").match, lines), strict=True))


def csv_problem(done: Done, exercise: str) -> str:
    """The program must print CSV on stdout, with a good verdict in each row."""
    wrong = _status_problem(done, 0) or _findings_problem(done)
    if wrong:
        return wrong
    rows = csv_rows(done, exercise)
    if len(rows) < 2:
        return "stdout must be a heading and at least one row"
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        return f"the rows have different numbers of columns: {sorted(widths)}"
    if rows[0][-1] != CHECK or not {row[-1] for row in rows[1:]} <= GOOD:
        return 'the last column must be "check", and "ok" in every row'
    return ""


def numbers_problem(done: Done, exercise: str, facts: Facts) -> str:
    """The program must print such CSV. The numbers in it, and those of the file that --timeline wrote, must be
    what the formulas in exercise.toml give."""
    wrong = csv_problem(done, exercise)
    if wrong:
        return wrong
    head, *rows = csv_rows(done, exercise)
    return "\n".join(_number_problems([dict(zip(head, row)) for row in rows], done, facts))


def _number_problems(rows: list[dict[str, str]], done: Done, facts: Facts) -> list[str]:
    wrong = numbers.longer_than(rows, done.milliseconds)
    if "--host-times" not in done.command:
        wrong += numbers.emulated_times(rows, facts)
    if done.option("reps"):
        wrong += numbers.wrong_reps(rows, int(done.option("reps")))
    if done.option("timeline"):
        with open(done.option("timeline"), newline="") as file:
            spans = list(csv.DictReader(file, strict=True))
        microseconds = float(done.option("microseconds") or 0)
        wrong += timelines.problems(spans, rows, done.milliseconds, microseconds)
    return wrong or numbers.problems(rows, facts)


def help_problem(done: Done, options: Sequence[str]) -> str:
    """The text of --help must name all these options, and those that every exercise has."""
    wrong = _status_problem(done, 0)
    if wrong:
        return wrong
    wanted = [*OPTIONS_OF_ALL, *options]
    missing = [name for name in wanted if not re.search(rf"{name}\b", done.stdout)]
    return f"the text does not name {', '.join(missing)}" if missing else ""


def prints_problem(done: Done, regexes: Sequence[str]) -> str:
    """The output must match each regex; ^ and $ are those of a line."""
    return _status_problem(done, 0) or _unmatched(regexes, done.stdout)


def fails_problem(done: Done, regexes: Sequence[str]) -> str:
    """The program must end with status 1 and a last line on stderr that matches each regex."""
    return _status_problem(done, 1) or _unmatched(regexes, _last_line(done.stderr))


def rejects_problem(done: Done, regexes: Sequence[str]) -> str:
    """The program must end with status 2, no rows, and a last line on stderr that matches each regex."""
    wrong = _status_problem(done, 2)
    if wrong:
        return wrong
    if _table_lines(done.stdout.splitlines())[1:]:
        return "there must be no rows"
    return _unmatched(regexes, _last_line(done.stderr))


def hazards_problem(done: Done, report: str, regex: str) -> str:
    """The program must end with status 0, and a line of the hazard check's report must match the regex."""
    wrong = _status_problem(done, 0)
    if not wrong and not re.search(regex, report, re.MULTILINE):
        said = _last_line(report).partition(".")[0]
        wrong = f"the hazard check says: {said or 'nothing'}"
        if not regex.startswith(("^no ", "^(no)")):  # hazards on purpose
            wrong += f"; expected {regex!r}"
    return wrong


def _last_line(text: str) -> str:
    return text.rstrip("\n").rpartition("\n")[2]


def _status_problem(done: Done, expected: int) -> str:
    if done.returncode == expected:
        return ""
    return f"exit status {done.returncode}, expected {expected}"


def _findings_problem(done: Done) -> str:
    found = FINDING.findall(done.stderr)
    return f"the cpu back end says: {found[0]}" if found else ""


def long_line_problem(lines: Sequence[str]) -> str:
    """Names the first line that is longer than a terminal shows."""
    long = [line for line in lines if len(line) > LINE_LENGTH]
    return f"a line is longer than {LINE_LENGTH} characters: {long[0]}" if long else ""


def _unmatched(regexes: Sequence[str], text: str) -> str:
    """Says which of them has no match."""
    missing = [regex for regex in regexes if not re.search(regex, text, re.MULTILINE)]
    return f"nothing matches {missing[0]!r}" if missing else ""
