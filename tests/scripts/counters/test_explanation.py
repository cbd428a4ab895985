"""What ./lab profile --explain says of recorded kernels, and what the guide shows of it."""

from __future__ import annotations

import re
import textwrap

from lab_cli import catalogue, metrics
from lab_cli.counters import diagnosis, explanation, metric_table, raw_csv
from lab_cli.paths import ROOT

SHOWN = re.compile(r"<!-- explained (\w+) -->\n\n((?:    .*\n)+)")


def explained(stem: str, width: int) -> list[str]:
    """The paragraphs on the kernels of an exercise's build, NAME.debug or NAME.optimised, as without a
    GPU."""
    exercise, _, build = stem.partition(".")
    path = catalogue.one(exercise).results / "h200" / f"counts.{build}.csv"
    raw = raw_csv.parse(path.read_text())
    asked = metrics.load().find(diagnosis.load().metrics("cpu"))
    text = explanation.text(metric_table.build(raw, asked, "recorded", []), "cpu", width)
    *kernels, notes = text.split("\n\n")
    assert notes.startswith("recorded\n")
    assert " ".join(notes.split()).endswith(explanation.WITHOUT_GPU)
    return kernels


def test_the_guide_shows_what_is_said() -> None:
    ((kernel, block),) = SHOWN.findall((ROOT / "GUIDE.md").read_text())
    (paragraph,) = [
        text for text in explained("transpose.optimised", 96) if text.startswith(kernel + ",")
    ]
    assert textwrap.dedent(block) == paragraph + "\n"


def test_lines_keep_to_the_width() -> None:
    for width in (60, 100):
        lines = "\n".join(explained("reduceInteger.debug", width)).splitlines()
        assert all(len(line) <= width for line in lines if len(line.split()) > 1)


def test_a_number_and_its_unit_stand_on_one_line() -> None:
    for width in range(40, 100):
        for paragraph in explained("transpose.optimised", width):
            assert not re.search(r"^ *%", paragraph, re.MULTILINE)
