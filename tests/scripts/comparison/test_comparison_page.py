"""The page and the text of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import browser
import pytest
from browser import Browser
from lab_cli.comparison import compared, page, text, timing
from lab_cli.comparison.compared import Report
from lab_cli.lines.model import GLOBAL, STORE
from version_sample import access, kernel, line, strided_stores, values, version

HOSTILE = "</style><script>document.title = 'owned'</script><b onclick=x>&amp;{title}"
LONG = "out[" + "a_very_long_name_without_a_space_" * 6 + "] = 1;"


@pytest.fixture
def report(tmp_path: Path) -> Report:
    source = tmp_path / "k.cu"
    source.write_text(f"{LONG}\n{HOSTILE}\n")
    before = version(
        strided_stores(), name="k<1>", lines=[kernel(line(source, 1, access(STORE, GLOBAL, 32000)))]
    )
    after = version(
        values(), name=HOSTILE, lines=[kernel(line(source, 2, access(STORE, GLOBAL, 4000)))]
    )
    (times,) = timing.judged([([2.0] * 10, [1.0] * 10)])
    both = compared.of_pair(before, after, times)
    equal = compared.of_pair(replace(after, place="there"), after)
    return Report([both, equal], ["same"], "counted by hand", ["A note."])


def test_what_it_shows(report: Report) -> None:
    found = page.render(report)
    for words in (
        "sectors per store",
        "k.cu:1",
        "2 times faster",
        "counted by hand",
        "A note.",
        "same",
    ):
        assert words in found, words


def test_nothing_of_a_program_is_html(report: Report) -> None:
    found = page.render(report)
    assert "<script" not in found and "<b onclick" not in found
    assert "&lt;script&gt;" in found and "{title}" in found  # it is shown as it is


def test_the_text_fits(report: Report) -> None:
    for width in (60, 80, 120):
        lines = text.text(report, width).splitlines()
        too_long = [line for line in lines if len(line) > width and len(line.split()) > 1]
        assert not [line for line in too_long if HOSTILE not in line]


def test_colours_are_those_of_the_verdict(report: Report) -> None:
    plain, painted = text.text(report, 100), text.text(report, 100, text.coloured)
    assert "\x1b" not in plain and "\x1b[32mbetter\x1b[0m" in painted


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    program = browser.find()
    if not program:
        pytest.skip("there is no Chromium")
    found = Browser(program)
    yield found
    found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser(
    report: Report, opened: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page.render(report))
    asked = len(opened.asked)
    opened.look(width, scheme)
    opened.open(path)
    assert opened.value("document.documentElement.scrollWidth") <= width
    assert opened.value("document.title") == page.title(report)
    paper = opened.value("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(253, 253, 252)" if scheme == "light" else "rgb(21, 24, 27)")
    assert {*opened.asked[asked:]} <= {path.as_uri(), "data:,"} and opened.said == []


def test_the_longer_bar_is_that_of_the_larger_number(
    report: Report, opened: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page.render(report))
    opened.look(1280)
    opened.open(path)
    bars = "[...document.querySelectorAll('.differences .sizes')[0].querySelectorAll('.bar')]"
    wide = opened.value(f"{bars}.map((bar) => bar.firstElementChild.clientWidth / bar.clientWidth)")
    assert wide == pytest.approx([1, 4 / 32], abs=0.01)
    assert opened.value(f"{bars}.map((bar) => bar.classList.contains('worse'))") == [True, False]
