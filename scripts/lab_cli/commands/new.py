"""./lab new: a first version of an exercise, which builds and passes its tests."""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path
from string import Template
from typing import Any

from .. import catalogue
from ..errors import BAD_USAGE, LabError, printable
from ..files import make_folder, write
from ..paths import SCRIPTS, shown
from ..process import say
from . import arguments as shared

TEMPLATES = SCRIPTS / "new_exercise"
NAME = re.compile(r"[a-z][A-Za-z0-9]*", re.ASCII)
LONGEST_NAME = 40
TARGETS = {"all", "clean", "exercises", "help", "install", "package", "test"}  # of CMake already


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "new",
        prog="./lab new",
        description="Writes the first version of an exercise, a folder with NAME.cu, README.md and "
        "exercise.toml. It builds and passes its tests.",
        allow_abbrev=False,
    )
    command.add_argument("place", metavar="CHAPTER/NAME", help="such as ch04_memory/stencil")
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    chapter, name = chapter_and_name(arguments.place)
    for path in write_exercise(chapter, name):
        say(f"written: {shown(path)}")
    say(f"next: ./lab test {name}; ./lab plot adds it to the list on the chapter's page")
    return 0


def chapter_and_name(place: str) -> tuple[Path, str]:
    """The folder of the chapter, and a name that is free. LabError (status 2) for any other."""
    folder, slash, name = place.partition("/")
    if not slash:
        raise LabError(
            f"{printable(place)}: expected CHAPTER/NAME, such as ch04_memory/stencil", BAD_USAGE
        )
    chapters = {path.name: path for path in catalogue.chapters()}
    if folder not in chapters:
        known = ", ".join(chapters)
        raise LabError(f"no chapter is named {printable(folder)}; there are {known}", BAD_USAGE)
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise LabError(
            f"{printable(name)}: expected a name in camelCase, of ASCII letters and digits, a small letter "
            f"first, {LONGEST_NAME} at most",
            BAD_USAGE,
        )
    if name in TARGETS:
        raise LabError(f"{name}: CMake has a target of this name", BAD_USAGE)
    for chapter in chapters.values():
        for path in sorted(chapter.iterdir()):  # of names that differ in case alone, many systems
            if path.stem.lower() == name.lower():  # have room for one
                raise LabError(f"{name}: there is {shown(path)} already", BAD_USAGE)
    return chapters[folder], name


def write_exercise(chapter: Path, name: str) -> list[Path]:
    """Returns the files. If one cannot be written, nothing is left."""
    words = {"name": name, "chapter": chapter.name, "order": next_order(chapter)}
    folder = chapter / name
    texts = {
        folder / (f"{name}.cu" if template == "exercise.cu" else template): rendered(
            template, words
        )
        for template in ("exercise.cu", "README.md", catalogue.FACTS)
    }
    make_folder(folder)
    try:
        for path, text in texts.items():
            write(path, text)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return list(texts)


def next_order(chapter: Path) -> int:
    """Behind the exercises that the chapter has."""
    orders = [exercise.facts.order for exercise in catalogue.of_chapter(chapter)]
    return max(orders, default=0) // 10 * 10 + 10


def rendered(template: str, words: dict[str, Any]) -> str:
    return Template((TEMPLATES / f"{template}.in").read_text(encoding="utf-8")).substitute(words)
