"""What the pages say in numbers is what the results say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from lab_cli import toml_file
from lab_cli.paths import ROOT
from lab_cli.results import tables
from page_numbers import NUMBERS, file_of, problems, shows, untrue, without_source

PAGE = ROOT / "ch04_memory" / "transpose.md"
ROWS = {
    "naive": {"kernel": "transposeNaiveRow", "rows": 1024},
    "copy": {"kernel": "copyRow", "rows": 1024},
}
FILES = sorted(NUMBERS.rglob("*.toml"))
HAND_WRITTEN = re.compile(r"^\|.*\n", re.MULTILINE)  # deviceQuery's table: test_pages.py holds it


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(NUMBERS)))
def test_numbers_of_a_page_come_from_its_results(file: Path) -> None:
    (page,) = [page for page in tables.pages() if file_of(page) == file]
    assert problems(page.read_text(encoding="utf-8"), toml_file.load(file), page) == []


@pytest.mark.parametrize("page", tables.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_each_number_of_a_page_has_a_source(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.stem == "deviceQuery":
        text = HAND_WRITTEN.sub("", text)
    assert without_source(text, toml_file.load(file_of(page))) == []


@pytest.mark.parametrize(
    ("number", "value", "about", "right"),
    [
        ("4,696", 4696.49, 0, True),
        ("4,696", 4696.51, 0, False),
        ("97.5", 97.4501, 0, True),
        ("97.5", 97.44, 0, False),
        ("2^25", 33554432, 0, True),
        ("2^25", 33554433, 0, False),
        ("2^-2", 0.25, 0, True),
        ("2^-2", 0.26, 0, False),
        ("30", 31.4, 5, True),
        ("30", 32.1, 5, False),
    ],
)
def test_a_number_is_shown_rounded(number: str, value: float, about: float, right: bool) -> None:
    assert shows(number, value, about) == right


def test_what_the_page_does_not_say_is_found() -> None:
    says = [{"text": "One warp of {32} lanes", "values": ["2 ** 5"]}]
    assert problems("one. One warp\nof 32 lanes.", {"says": says}, PAGE) == []
    for page, times in (("One warp of 64 lanes", 0), ("One warp of 32 lanes. " * 2, 2)):
        (problem,) = problems(page, {"says": says}, PAGE)
        assert problem == f"stands {times} times in transpose.md: One warp of 32 lanes"


def test_what_the_results_do_not_say_is_found() -> None:
    says = [{"text": "{9.9} times as long", "values": ["naive_median_ms / copy_median_ms"]}]
    (problem,) = problems("9.9 times as long", {"rows": ROWS, "says": says}, PAGE)
    assert problem.startswith("9.9 times as long: 9.9 is naive_median_ms / copy_median_ms = ")


def test_a_row_is_named_by_what_only_it_has() -> None:
    rows = {"naive": {"kernel": "transposeNaiveRow"}}
    with pytest.raises(AssertionError, match=r"\[rows.naive\] is \d+ rows of transpose.csv"):
        problems("", {"rows": rows, "says": []}, PAGE)


def test_many_rows_are_numbered_in_the_order_of_the_file() -> None:
    naive = {"kernel": "transposeNaiveRow", "many": True}
    says = [{"text": "of {512} and {1024}", "values": ["naive1_rows", "naive2_rows"]}]
    assert problems("of 512 and 1024", {"rows": {"naive": naive}, "says": says}, PAGE) == []
    with pytest.raises(AssertionError, match=r"\[rows.naive\] is 1 rows of transpose.csv"):
        problems("", {"rows": {"naive": {**naive, "rows": 1024}}, "says": []}, PAGE)


def test_a_number_that_is_given_stands_in_the_page() -> None:
    given = [{"text": "since CUDA 12", "by": "its release notes"}]
    assert problems("It is so since\nCUDA 12.", {"given": given}, PAGE) == []
    (problem,) = problems("It is so since CUDA 11.", {"given": given}, PAGE)
    assert problem == "stands 0 times in transpose.md: since CUDA 12"


def test_a_number_without_a_source_is_found() -> None:
    facts = {
        "says": [{"text": "takes {3.1} ms", "values": ["3.1"]}],
        "given": [{"text": "since CUDA 12", "by": "its release notes"}],
    }
    known = (
        "Text.\n\n1. It takes 3.1 ms since CUDA 12,\n   see [there](page2.md#3), `--size=4` and"
        " `5`.\n2. *code* A\n- Task 7: B\n\n<summary>Answer 8</summary>\n\n```\n9\n```\n"
        "<!-- table results/x.csv | a -->\n| 10 |\n<!-- end of table -->\n"
    )
    assert without_source(known, facts) == []
    for sentence in (
        "It takes 3.2 ms.",
        "Of 3.1 ms",
        "**2** B",
        "1.5 and",
        "is 64. It",
        "4x of L2",
    ):
        assert len(without_source(f"{known}\n{sentence}\n", facts)) == 1, sentence


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"that": ["naive_median_ms < copy_median_ms * 9"]}, ""),
        ({"that": ["1 < 2 < 3", "a < b"]}, ""),
        ({"that": ["b < a"]}, "b < a is 2 < 1"),
        ({"that": ["a < b < b"]}, "a < b < b is 1 < 2 < 2"),
        ({"that": ["a"]}, "a is 1"),
        ({}, "nothing says that it holds"),
        ({"file": "lab", "has": "from lab_cli.main import main # noqa: E402 sys.exit"}, ""),
        ({"file": "lab", "has": "from lab_cli.main import mine"}, "lab has no from lab_cli.main"),
    ],
)
def test_what_does_not_hold_is_found(entry: dict[str, Any], wrong: str) -> None:
    names = {"a": 1, "b": 2, "naive_median_ms": 1, "copy_median_ms": 1}
    assert "".join(untrue(entry, names)).startswith(wrong)
    assert bool(untrue(entry, names)) == bool(wrong)
    page = {"holds": [{"text": "so it is", **entry}]}
    if not wrong and "that" not in entry:
        assert problems("And so\nit is.", page, PAGE) == []
        assert problems("And so it is not.", page, PAGE) == []
        (problem,) = problems("And so it was.", page, PAGE)
        assert problem == "stands 0 times in transpose.md: so it is"
