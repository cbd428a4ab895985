"""The page of a report in a real browser, where there is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import browser
import pytest
from browser import Browser
from report_sample import EXERCISE, REPORT

pytest.importorskip("jinja2")

from lab_course.reporting import page  # noqa: E402


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page.render(REPORT, path), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opened(written: Path) -> Iterator[Browser]:
    program = browser.find()
    if program is None:
        pytest.skip("no Chromium: apt-get install chromium")
    found = Browser(program)
    try:
        found.look(1280)
        found.open(written)
        yield found
    finally:
        found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_beyond_the_edge(opened: Browser, width: int, scheme: str) -> None:
    opened.look(width, scheme)
    assert opened.value("innerWidth") == width
    assert opened.value("document.documentElement.scrollWidth") <= width
    paper = opened.value("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(253, 253, 252)" if scheme == "light" else "rgb(21, 24, 27)")


def test_it_says_nothing_and_asks_for_nothing(opened: Browser, written: Path) -> None:
    assert opened.said == []
    assert opened.asked == [written.as_uri()]
    assert opened.value("document.title") == page.title(REPORT)


A4 = 688  # pixels of a sheet's width without its margins: 210 - 2 * 14 mm, at 96 to the inch
LANDSCAPE = 1016  # the same of one that lies: 297 - 2 * 14 mm
COLUMN = "[...document.querySelectorAll('table.sortable')[0].tBodies[0].rows].map(r => r.cells[0].textContent)"
HEAD = "document.querySelectorAll('table.sortable')[0].tHead.rows[1].cells[1]"


def test_tables_sort_by_numbers_both_ways_and_back(opened: Browser) -> None:
    original = opened.value(COLUMN)
    orders = []
    for _ in range(3):
        opened.value(f"{HEAD}.querySelector('button').click()")
        orders.append((opened.value(f"{HEAD}.getAttribute('aria-sort')"), opened.value(COLUMN)))
    hostile = original[1]
    assert orders == [
        ("ascending", ["copy", "slow", hostile, "host"]),  # 0.25, 4, 30 and no number
        ("descending", [hostile, "slow", "copy", "host"]),
        ("none", original),
    ]


def test_nothing_is_beyond_the_edge_of_the_paper(opened: Browser, tmp_path: Path) -> None:
    """Of as many metrics as a program of one's own has, in five digits and with long names."""
    metric, launch = EXERCISE.metrics.metrics[0], EXERCISE.metrics.launches[0]
    many = replace(
        EXERCISE.metrics,
        metrics=[replace(metric, name="gld_transactions_per_request")] * 20,
        launches=[replace(launch, values=[12345.0] * 20, shown=["12,345"] * 20)],
    )
    path = tmp_path / "report.html"
    report = replace(REPORT, programs=[replace(EXERCISE, metrics=many)])
    path.write_text(page.render(report, path), encoding="utf-8")
    opened.look(A4, media="print")
    opened.open(path)
    widths = opened.value("[...document.querySelectorAll('table')].map(e => e.offsetWidth)")
    wide = opened.value("document.querySelector('.wide table').offsetWidth")
    assert wide <= LANDSCAPE
    assert [width for width in widths if width > A4] in ([], [wide])
    heights = "[...document.querySelectorAll('.metrics td.number')].map(e => e.clientHeight)"
    assert max(opened.value(heights)) < 20  # one line: a number in two pieces is another number
    opened.pdf(tmp_path / "report.pdf")
    sizes = re.findall(
        rb"/MediaBox *\[0 0 (\d+)[.\d]* (\d+)", (tmp_path / "report.pdf").read_bytes()
    )
    assert {int(width) > int(height) for width, height in sizes} == {True, False}


def test_a_long_table_takes_no_more_than_a_screen_and_its_head_stays(
    opened: Browser, tmp_path: Path
) -> None:
    launches = EXERCISE.metrics.launches * 100
    program = replace(EXERCISE, metrics=replace(EXERCISE.metrics, launches=launches))
    path = tmp_path / "report.html"
    path.write_text(page.render(replace(REPORT, programs=[program]), path), encoding="utf-8")
    opened.look(1280)
    opened.open(path)
    panel = "document.querySelector('.metrics').parentElement"
    top = f"document.querySelector('.metrics thead').getBoundingClientRect().top - {panel}.getBoundingClientRect().top"
    assert opened.value(f"{panel}.offsetHeight") < 800 < opened.value(f"{panel}.scrollHeight")
    opened.value(f"{panel}.scrollTop = 1000")
    assert abs(opened.value(top)) < 2
    opened.look(A4, media="print")
    assert opened.value(f"{panel}.offsetHeight") > 1000
    button = "getComputedStyle(document.querySelector('.metrics th button')).display"
    assert opened.value(button) == "contents"  # on the next sheet, too, there are words in the head
