"""The numbers of a page that have their formula beside them, in a comment that a reader does not see:

    97 % <!-- = 100 * gbps[transposeFloat4Down] / gbps[cudaMemcpy] -->

The comment stands behind the number or its unit, on the same line. (At the beginning of a line it would
end the paragraph.) The number is right if the formula's value rounds to it, to as many digits as it shows.

COLUMN[KERNEL] is what the results of the page's exercise have in this column of the row of this kernel. A
formula (scripts/lab_cli/formula.py) is of such numbers. Words with ", " between them choose the row where
the kernel has several; the formula may then also name options in the column `parameters`:

    gbps[transposeSmemPad, rows=16384]     a column or an option, and its value
    value[property=warp size]              a row of no kernel
    duration[transposeSmem, in=metrics]    a row of metrics.csv
    gbps[matmul, m=1024, in=matmulFast]    of another exercise; in=matmulFast.metrics for its metrics
    mb[command=run, in=emulator/results/set_up]  of a file that no exercise has
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab_cli import catalogue
from lab_cli.errors import LabError
from lab_cli.formula import Formula
from lab_cli.paths import ROOT, shown
from lab_cli.results import csv_file
from lab_cli.results.numbers import names_of
from lab_cli.results.rows import with_parameters
from page_files import results_file, source_of
from page_text import CODE_SPAN, prose

BEGIN = "<!-- ="
COMMENT = re.compile(r"<!-- = (.+?) -->")
EXAMPLE = re.compile(r"`<!-- = [^`]*`")  # of a page that tells how to write one
NUMBER = re.compile(r"(?<![\w.,/^])(-?\d[\d,]*(?:\.(\d+))?)(?:\^(-?\d+))?(?![\d.]*\w)")
UNIT = 24  # as many characters may stand between a number and its comment
REFERENCE = re.compile(r"\b(\w+)\[([^\]]*)\]")


@dataclass(frozen=True)
class Claim:
    line: int
    number: str
    formula: str


def file_called(name: str, page: Path) -> Path:
    """The file that in=NAME means on this page; without a name that of its own exercise."""
    if "/" in name:
        return ROOT / f"{name}.csv"
    exercise, _, kind = name.partition(".")
    if exercise in catalogue.sources():
        return results_file(exercise, kind)
    return results_file(source_of(page).stem, name)


def claims(text: str) -> Iterator[Claim | str]:
    """The numbers of a page's text with their formulas; or what is wrong with a comment."""
    lines = dict(prose(text))
    for number, whole in enumerate(text.splitlines(), 1):
        line = EXAMPLE.sub("", whole)
        if BEGIN not in line:
            continue
        if BEGIN not in CODE_SPAN.sub("", lines.get(number, "")):
            yield f"line {number}: {line.strip()}: a reader sees a comment in code"
            continue
        end = 0
        for comment in COMMENT.finditer(line):
            before = line[end : comment.start()]
            end = comment.end()
            found = [*NUMBER.finditer(before)]
            if not before.strip() or not found or len(before) - found[-1].end() > UNIT:
                yield f"line {number}: {comment[0]}: no number before it on this line"
            elif re.search(r"--|\|", comment[1]):
                yield f"line {number}: {comment[0]}: neither -- nor | may stand in a comment"
            else:
                yield Claim(number, found[-1][0], comment[1])
        if BEGIN in line[end:]:
            yield f"line {number}: {line[end:].strip()}: expected <!-- = FORMULA -->"


def value_of(formula: str, page: Path) -> float:
    """ValueError or LabError says what is wrong with the formula."""
    names: dict[str, float] = {}

    def named(reference: re.Match[str]) -> str:
        name = f"number{len(names)}"
        names[name] = number_of(reference[1], reference[2], page)
        return name

    value = Formula(REFERENCE.sub(named, formula)).value(names)
    if not names:
        raise ValueError("nothing of it is from the results")
    return value


def number_of(column: str, words: str, page: Path) -> float:
    """COLUMN[WORDS] on this page."""
    wanted = {}
    for word in words.split(", "):
        name, equals, value = word.partition("=")
        wanted.update({name: value} if equals else {"kernel": word})
    path = file_called(wanted.pop("in", ""), page)
    rows = csv_file.parse(csv_file.read_text(path), path).rows
    found = [row for row in rows if wanted.items() <= with_parameters(row).items()]
    if len(found) != 1:
        raise LabError(f"[{words}] is {len(found)} rows of {shown(path)}")
    numbers = names_of(found[0])
    if column not in numbers:
        raise LabError(f"{column}[{words}]: no number in this column of {shown(path)}")
    return numbers[column]


def shows(number: str, value: float) -> bool:
    """Whether `value` rounds to this number, such as 0.25 or 1,024, or is this power, such as 2^10."""
    parts = NUMBER.fullmatch(number)
    assert parts, number
    base, decimals, exponent = float(parts[1].replace(",", "")), parts[2] or "", parts[3]
    shown_value = base ** int(exponent or 1)
    half = 1e-9 * abs(shown_value) if exponent else 0.5 * 10 ** -len(decimals) * (1 + 1e-9)
    return abs(shown_value - value) <= half


def problems(text: str, page: Path) -> list[str]:
    """What is wrong with the numbers in the page's `text`, a line each."""
    found = []
    for claim in claims(text):
        if isinstance(claim, str):
            found.append(f"{shown(page)}, {claim}")
            continue
        place = f"{shown(page)}, line {claim.line}: {claim.number}"
        try:
            value = value_of(claim.formula, page)
        except (LabError, ValueError) as error:
            found.append(f"{place}: {claim.formula}: {error}")
            continue
        if not shows(claim.number, value):
            found.append(f"{place}, but {claim.formula} = {value:.6g}")
    return found
