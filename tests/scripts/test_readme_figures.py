"""The figures under results/ are those of plots.toml, drawn from the data that are there; READMEs
show figures that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_cli.catalogue import exercises
from lab_cli.paths import ROOT
from lab_cli.results import read_text
from plots import config
from plots.config import KINDS

IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
SPECS = config.load()
FOLDERS = sorted(path for path in (ROOT / "results").iterdir() if path.is_dir())


def readmes() -> list[Path]:
    return [ROOT / "README.md", *ROOT.glob("*/README.md")]


def shown_folders() -> list[Path]:
    """Those of results/ from which READMEs show figures. What else is there is a user's own."""
    folders = set()
    for readme in readmes():
        for _, target in IMAGE.findall(readme.read_text()):
            folders.add((readme.parent / target).resolve().parent)
    return sorted(folders)


def test_readmes_show_figures_that_exist_and_say_what_is_to_be_seen() -> None:
    shown = 0
    for readme in readmes():
        for about, target in IMAGE.findall(readme.read_text()):
            shown += 1
            assert (readme.parent / target).is_file(), f"{readme}: no file {target}"
            assert len(about.split()) >= 8, f"{readme}: {target} needs a text that describes it"
    assert shown >= 8, "the figures are no longer found"


def test_every_figure_of_an_exercise_is_shown_somewhere() -> None:
    text = "".join(readme.read_text() for readme in readmes())
    for spec in SPECS:
        assert f"results/h200/{spec.exercise}.{spec.name}.svg" in text


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_figure_belongs_to_an_entry(folder: Path) -> None:
    wanted = {spec.file(folder, kind).name for spec in SPECS for kind in KINDS}
    there = {path.name for kind in KINDS for path in folder.glob(f"*.{kind}")}
    assert there <= wanted


@pytest.mark.parametrize("folder", shown_folders(), ids=lambda folder: folder.name)
def test_figures_are_drawn_from_the_data_that_are_there(folder: Path) -> None:
    for spec in SPECS:
        svg = read_text(spec.file(folder, "svg"))
        identifier = spec.identifier(read_text(spec.source(folder)))
        assert identifier in svg, f"{spec.exercise}.{spec.name} is out of date: run ./lab plot"
        assert spec.file(folder, "png").is_file()


def test_entries_are_those_of_exercises() -> None:
    assert {spec.exercise for spec in SPECS} <= {exercise.name for exercise in exercises()}
