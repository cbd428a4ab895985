"""Figures as parts of a page."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from exercise_sample import FACTS
from lab_cli import catalogue
from lab_course.reporting import figures
from lab_course.reporting.facts import Figure

SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt"
  viewBox="0 0 9 9" onload="alert(1)"><defs><style>*{{fill: red}}</style>
  <path id="a" d="M 0 0"/><clipPath id="c"><rect/></clipPath></defs>
  <use xlink:href="#a" clip-path="url(#c)" style="fill: url(#c)"/>{}</svg>"""


def markup(tmp_path: Path, more: str = "", prefix: str = "p-") -> str:
    (tmp_path / "x.svg").write_text(SVG.format(more))
    return figures.markup(Figure("x", "x.svg", "a GPU", "", True, 'bars "of" it'), prefix, tmp_path)


def test_identifiers_are_its_own(tmp_path: Path) -> None:
    text = markup(tmp_path)
    assert set(re.findall(r' id="([^"]*)"', text)) == {"p-a", "p-c"}
    assert 'href="#p-a"' in text and text.count("url(#p-c)") == 2
    assert "xlink" not in text


def test_it_does_nothing_but_draw(tmp_path: Path) -> None:
    text = markup(
        tmp_path,
        '<script>alert(1)</script><foreignObject><b xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>'
        '<a href="http://x"><path/></a><image href="http://x/y.png"/><path onclick="x"/>'
        '<use href="javascript:x"/><image href="data:image/png;base64,AA&#10;BB"/>',
    )
    for word in ("script", "foreign", "http://x", "onclick", "onload", "<style", "<a ", "<b"):
        assert word not in text, word
    assert 'href="data:image/png;base64,AABB"' in text


def test_it_fits_the_page_and_says_what_is_to_be_seen(tmp_path: Path) -> None:
    root = ElementTree.fromstring(markup(tmp_path))
    assert root.get("role") == "img" and root.get("aria-label") == 'bars "of" it'
    assert root.get("width") is None and root.get("viewBox") == "0 0 9 9"


def test_this_machines_come_first(exercises, monkeypatch) -> None:
    facts = FACTS + "".join(
        f'[figures.{name}]\nchart = "ladder"\ntitle = "x"\nvalue = "gbps"\n'
        for name in ("ladder", "curves")
    )
    results = catalogue.results_of(exercises("ch/transpose", facts))
    transpose = catalogue.one("transpose")
    assert figures.of(transpose, "x").problem != ""
    for folder, gpu in (("h200", "NVIDIA H200"), ("rtx", "NVIDIA RTX")):
        (results / folder).mkdir(parents=True)
        (results / folder / "table.csv").write_text(f"# gpu: {gpu}\nkernel\nx\n")
        (results / folder / "ladder.svg").touch()
    (results / "h200" / "curves.svg").touch()
    found = figures.of(transpose, "rtx").figures
    assert [(f.name, f.gpu, f.this_machine) for f in found] == [
        ("ladder", "NVIDIA RTX", True), ("curves", "NVIDIA H200", False)
    ]  # fmt: skip
