"""What the sentences of a page say in numbers, and what else of it can be computed or looked up:
tests/pages/CHAPTER/NAME.toml for CHAPTER/NAME.md.

[rows.ROW]  a row of the results; its columns and the options in its column parameters are numbers
            called ROW_column
file        where it stands, below results/ (default: h200/NAME.csv)
...         columns and values that just this row has
many        true: several rows have them; their numbers are called ROW1_column, ROW2_column ..., in the
            order of the file
[[says]]
text        what the page says, with the numbers in braces: "one warp in {32}, or {3.1} %"
values      a formula for each of them (scripts/lab_cli/formula.py). The page has it rounded, to as
            many digits as it shows.
about       by how many percent they may be off, where the page says "about"
[[given]]
text        what the page says with numbers that follow from no others: those that a task chooses, the
            limits of a generation of GPUs
by          who or what gives them: "the task", or a document and its chapter
[[holds]]
text        what the page says without numbers: which is faster, what grows, what something is called
that        formulas with < between them, such as "tiled_median_ms < naive_median_ms", all of which hold
file, has   or a file of the checkout, and a text that stands in it, words apart by one space

Each number in the sentences of a page stands in one of these texts. What is code, a table that
`./lab plot` writes, a link's target, a mark of Markdown, or the number of a task is no sentence.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lab_cli.formula import Formula
from lab_cli.paths import ROOT
from lab_cli.results import csv_file, tables
from lab_cli.results.numbers import names_of
from lab_cli.results.rows import with_parameters
from page_text import prose

NUMBERS = ROOT / "tests" / "pages"
OPTIONS = ("file", "many")  # of a row, which are no columns
IN_BRACES = re.compile(r"\{([^{}]*)\}")
NUMBER = re.compile(r"(-?[\d,]+(?:\.(\d+))?)(?:\^(-?\d+))?")
IN_A_SENTENCE = re.compile(r"(?:(?<![A-Za-z\d_.])|(?<=\dx))\d[\d,.]*")  # both of 40x2, not of H200
MARK = re.compile(r"^(\s*)(\d+\.|- Tasks? \d+(?: and \d+)?:)(?=\s)")  # of a list, or of a hint
NO_SENTENCE = re.compile(
    r"""\]\([^)]*\)                               # the target of a link
      | `[^`]*` | <code>.*?</code>
      | <!--.*?-->
      | <summary>(?:Answer|Hints?)[^<]*</summary>
      | <[a-z][^>]*>
    """,
    re.VERBOSE,
)


def file_of(page: Path) -> Path:
    return (NUMBERS / page.relative_to(ROOT)).with_suffix(".toml")


def names_in(rows: dict[str, dict[str, Any]], page: Path) -> dict[str, float]:
    """The numbers of these rows, as formulas call them. AssertionError names a row that is not there,
    or there twice, if it is not one of many."""
    names = {}
    for name, wanted in rows.items():
        path = ROOT / "results" / wanted.get("file", f"h200/{page.stem}.csv")
        found = [
            row
            for row in csv_file.parse(csv_file.read_text(path), path).rows
            if is_row(row, {column: str(value) for column, value in wanted.items()})
        ]
        many = wanted.get("many", False)
        assert (len(found) > 1) if many else (len(found) == 1), (
            f"[rows.{name}] is {len(found)} rows of {path.name}"
        )
        for number, row in enumerate(found, 1):
            called = f"{name}{number}" if many else name
            names |= {f"{called}_{column}": value for column, value in names_of(row).items()}
    return names


def is_row(row: csv_file.Row, wanted: dict[str, str]) -> bool:
    values = with_parameters(row)
    return all(values.get(name) == value for name, value in wanted.items() if name not in OPTIONS)


def shows(number: str, value: float, about: float = 0) -> bool:
    """Whether `value` rounds to this number, such as 0.25 or 1,024, or is this power, such as 2^10; or is
    near it, `about` in percent."""
    parts = NUMBER.fullmatch(number)
    assert parts, f"{number}: expected a number such as 0.25, 1,024 or 2^10"
    base, decimals, exponent = float(parts[1].replace(",", "")), parts[2] or "", parts[3]
    shown = base ** int(exponent or 1)
    half = 1e-9 * abs(shown) if exponent else 0.5 * 10 ** -len(decimals) * (1 + 1e-9)
    return abs(shown - value) <= max(half, about / 100 * abs(value))


def problems(text: str, facts: dict[str, Any], page: Path) -> list[str]:
    """What in the page's `text` is not as `facts`, the file of its numbers, has it."""
    words = " ".join(text.split())
    holds = facts.get("holds", [])
    found = [
        f"stands {words.count(entry['text'])} times in {page.name}: {entry['text']}"
        for entry in [*facts.get("given", []), *holds]
        if words.count(entry["text"]) != 1
    ]
    names = names_in(facts.get("rows", {}), page)
    for entry in facts.get("says", []):
        sentence = IN_BRACES.sub(r"\1", entry["text"])
        if words.count(sentence) != 1:
            found.append(f"stands {words.count(sentence)} times in {page.name}: {sentence}")
        numbers = IN_BRACES.findall(entry["text"])
        assert len(numbers) == len(entry["values"]) > 0, entry["text"]
        for number, formula in zip(numbers, entry["values"]):
            value = Formula(formula).value(names)
            if not shows(number, value, entry.get("about", 0)):
                found.append(f"{sentence}: {number} is {formula} = {value:g}")
    return found + [
        f"{entry['text']}: {wrong}" for entry in holds for wrong in untrue(entry, names)
    ]


def untrue(entry: dict[str, Any], names: dict[str, float]) -> list[str]:
    """What does not hold of a [[holds]]."""
    found = []
    for chain in entry.get("that", []):
        values = [Formula(part).value(names) for part in chain.split("<")]
        if len(values) < 2 or any(a >= b for a, b in zip(values, values[1:])):
            found.append(f"{chain} is {' < '.join(f'{value:g}' for value in values)}")
    if "file" in entry:
        text = " ".join((ROOT / entry["file"]).read_text(encoding="utf-8").split())
        found += [] if entry["has"] in text else [f"{entry['file']} has no {entry['has']}"]
    elif not entry.get("that"):
        found.append("nothing says that it holds")
    return found


def without_source(text: str, facts: dict[str, Any]) -> list[str]:
    """The numbers in the sentences of a page's `text` that no text of `facts` has, each with the words
    before and behind it."""
    lines = [line for _, line in prose(tables.BLOCK.sub("", text))]
    unmarked = [MARK.sub(lambda mark: mark[1] + "_" * len(mark[2]), line) for line in lines]
    words, rest = (" ".join(" ".join(each).split()) for each in (lines, unmarked))
    rest = NO_SENTENCE.sub(lambda found: "_" * len(found[0]), rest)
    for entry in [*facts.get("says", []), *facts.get("given", [])]:
        sentence = IN_BRACES.sub(r"\1", entry["text"])
        begin = words.find(sentence)
        if begin >= 0:
            rest = rest[:begin] + "_" * len(sentence) + rest[begin + len(sentence) :]
    return [
        words[max(0, found.start() - 40) : found.end() + 20]
        for found in IN_A_SENTENCE.finditer(rest)
    ]
