"""The figures of results are those of the exercises, drawn from the data that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_cli import catalogue
from lab_cli.machine.python_packages import REQUIREMENTS
from lab_cli.results import figures
from lab_cli.results.csv_file import read_text
from lab_cli.results.figures import Spec

GPU = "h200"
NUMBER = re.compile(r"(-?\d+\.?\d*)")
# Identifiers, which matplotlib makes of what is drawn.
MADE_UP = re.compile(r"(?<=[\"#])[mph][0-9a-f]{10}\b")


@pytest.fixture(scope="module")
def specs() -> list[Spec]:
    return figures.of(catalogue.exercises())


def measured(specs: list[Spec]) -> list[tuple[Spec, Path]]:
    """The figures of the GPU whose results the pages show, each with the folder that has its data."""
    found = [(spec, spec.results / GPU) for spec in specs]
    return [(spec, folder) for spec, folder in found if spec.source(folder).is_file()]


def test_every_figure_belongs_to_an_entry(specs: list[Spec]) -> None:
    known = {(spec.results, spec.name) for spec in specs}
    for exercise in catalogue.exercises():
        for path in [*exercise.results.glob("*/*.svg"), *exercise.results.glob("*.svg")]:
            assert (exercise.results, path.stem) in known, path


def test_figures_are_drawn_from_the_data_that_are_there(specs: list[Spec]) -> None:
    for spec, folder in measured(specs):
        svg = read_text(spec.file(folder))
        identifier = spec.identifier(spec.text(folder))
        assert identifier in svg, f"{spec.exercise}.{spec.name} is out of date: run ./lab plot"


def different(drawn: str, there: str) -> list[str]:
    """What stands in one of two SVG texts and not in the other, but for the last digits of numbers."""
    lines = [MADE_UP.sub("", text).splitlines() for text in (drawn, there)]
    if len(lines[0]) != len(lines[1]):
        return [f"{len(lines[0])} lines, {len(lines[1])} in the file"]
    pairs = ((one, two) for one, two in zip(*lines) if one != two and not same(one, two))
    return [f"{one.strip()} is {two.strip()} in the file" for one, two in pairs]


def same(one: str, two: str) -> bool:
    """Words and numbers in turn."""
    parts = NUMBER.split(one), NUMBER.split(two)
    numbers = zip(parts[0][1::2], parts[1][1::2])
    return parts[0][::2] == parts[1][::2] and all(
        abs(float(a) - float(b)) < 0.01 for a, b in numbers
    )


@pytest.mark.draws
def test_figures_look_as_they_did_when_somebody_last_looked(specs: list[Spec]) -> None:
    import matplotlib

    if f"matplotlib=={matplotlib.__version__};" not in REQUIREMENTS.read_text():
        pytest.skip(f"matplotlib {matplotlib.__version__} is not that of {REQUIREMENTS.name}")
    from lab_cli.results.plots import draw

    for spec, folder in measured(specs):
        text = spec.text(folder)
        svg = draw.svg_of(spec, text, spec.source(folder)).decode()
        problems = different(svg, read_text(spec.file(folder)))
        assert problems == [], f"{spec.exercise}.{spec.name}: look at what ./lab plot draws now"


@pytest.mark.parametrize(
    ("drawn", "same_as_the_file"),
    [
        ('<use x="12.5" y="3" href="#m0123456789"/>', True),
        ('<use x="12.501" y="3" href="#mabcdefabcd"/>', True),
        ('<use x="12.6" y="3" href="#m0123456789"/>', False),
        ('<use x="12.5" y="3" href="#DejaVu-41"/>', False),
        ('<use x="12.5" y="3"/>\n<g/>', False),
        ('<use x="12.5 1" y="3" href="#m0123456789"/>', False),
    ],
)
def test_a_figure_that_changed_is_noticed(drawn: str, same_as_the_file: bool) -> None:
    there = '<use x="12.5" y="3" href="#m0123456789"/>'
    assert (different(drawn, there) == []) == same_as_the_file
