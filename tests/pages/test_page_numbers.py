"""The numbers of the pages that have a formula beside them, and how these are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli import catalogue
from lab_cli.catalogue import page_of
from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from lab_cli.results import tables
from page_numbers import COMMENT, file_called, problems, shows

RESULTS = """\
exercise,parameters,kernel,block,median_ms,gbps
x,rows=512 order=0;1,copy,256,2.5,4000
x,rows=512,naive,32x8,5,400.4
x,rows=1024,naive,32x8,20,396.5
"""
METRICS = "kernel,gld_efficiency\nnaive<1>,12.5\n"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of an exercise with these results."""
    (tmp_path / "x.csv").write_text(RESULTS)
    (tmp_path / "x.metrics.csv").write_text(METRICS)
    monkeypatch.setattr("page_numbers.source_of", lambda page: page.with_suffix(".cu"))
    monkeypatch.setattr(
        "page_numbers.results_file",
        lambda name, kind="": tmp_path / (f"{name}.{kind}.csv" if kind else f"{name}.csv"),
    )
    return tmp_path / "x.md"


PAGES = [page for page in tables.pages() if page.name != "CONTRIBUTING.md"]  # shows the form


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_numbers_of_pages_are_those_of_the_results(page: Path) -> None:
    assert "\n".join(problems(page.read_text(encoding="utf-8"), page)) == ""


def test_there_are_such_numbers() -> None:
    texts = [page.read_text(encoding="utf-8") for page in tables.pages()]
    assert sum(len(COMMENT.findall(text)) for text in texts) > 100


@pytest.mark.parametrize(
    "text",
    [
        "It reaches 10 %<!-- = 100 * gbps[naive, rows=512] / gbps[copy] -->, and",
        "| 400 | 4,000 GB/s <!-- = gbps[copy] --> |",
        "- from 400 <!-- = gbps[naive, rows=512] --> to 396.5 <!-- = gbps[naive, rows=1024] -->",
        "It takes **5 ms** <!-- = median_ms[naive, rows=512] -->.",
        "8 warps <!-- = block[naive, rows=512] / 32 --> a block, 2^9 <!-- = rows[copy] --> rows",
        "4,000 <!-- = gbps[kernel=copy, order=0;1] --> and 12.5 <!-- = gld_efficiency[naive<1>, in=metrics] -->",
        "```\n97 %\n```\nNo <!-- remark -->, but 4 `<!-- = FORMULA -->` is an example",
    ],
)
def test_right_numbers(text: str, page: Path) -> None:
    assert problems(text, page) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("11 % <!-- = 100 * gbps[naive, rows=512] / gbps[copy] -->",
         "line 1: 11, but 100 * gbps[naive, rows=512] / gbps[copy] = 10.01"),
        ("a\n\n10.0 % and 10.1 % <!-- = 100 * gbps[naive, rows=512] / gbps[copy] -->",
         "line 3: 10.1, but 100 * gbps[naive, rows=512] / gbps[copy] = 10.01"),
        ("4 <!-- = gbps[copied] -->", "[copied] is 0 rows of "),
        ("4 <!-- = gbps[naive] -->", "[naive] is 2 rows of "),
        ("4 <!-- = gbit[copy] -->", "gbit[copy]: no number in this column of "),
        ("4 <!-- = gbps[copy, in=counts] -->", "x.counts.csv: No such file"),
        ("4 <!-- = gbps * 2 -->", "there is no number gbps"),
        ("4 <!-- = sqrt(gbps[copy]) -->", "sqrt(number0): expected"),
        ("an H200 <!-- = gbps[copy] -->", "no number before it on this line"),
        ("4,000 <!-- = gbps[copy] --> of it <!-- = gbps[copy] -->", "no number before it"),
        ("4,000 GB/s is what a copy reaches <!-- = gbps[copy] -->", "no number before it"),
        ("4,000\n<!-- = gbps[copy] --> GB/s", "line 2: <!-- = gbps[copy] -->: no number before it"),
        ("4,000 <!-- = gbps[copy]", "expected <!-- = FORMULA -->"),
        ("4,000 <!-- = 4 * 1e3 -->", "nothing of it is from the results"),
        ("4,000 <!-- = gbps[copy] --4 -->", "neither -- nor | may stand in a comment"),
        ("```\n4,000 <!-- = gbps[copy] -->\n```", "a reader sees a comment in code"),
        ("`4,000 <!-- = gbps[copy] -->`", "a reader sees a comment in code"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(text: str, problem: str, page: Path) -> None:
    (found,) = problems(text, page)
    assert problem in found
    assert str(page) in found


@pytest.mark.parametrize(
    ("number", "value", "right"),
    [
        ("4,696", 4696.49, True),
        ("4,696", 4696.51, False),
        ("97.50", 97.4501, False),
        ("-3", -3.4, True),
        ("2^25", 33554433, False),
        ("2^-2", 0.25, True),
    ],
)
def test_a_number_is_shown_rounded(number: str, value: float, right: bool) -> None:
    assert shows(number, value) == right


def test_files_that_no_exercise_has() -> None:
    page = page_of(catalogue.exercises()[0].source)
    assert file_called("emulator/results/set_up", page).is_file()
    with pytest.raises(LabError, match="README.md is not the page of an exercise"):
        file_called("", ROOT / "README.md")
