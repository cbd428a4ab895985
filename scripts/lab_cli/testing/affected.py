"""Which tests can notice a change of a file: ./lab test --for FILE.

A program of the build depends on what the compiler read for it, which ninja knows. Which code a test of
pytest reaches cannot be known for certain: it is taken to reach what its files import, the commands of lab
that it names, and files whose name stands in one of these.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from ..machine.needs import find_ninja
from ..paths import ROOT, TRANSLATED
from ..process import output_of
from . import checkout, inputs
from .listing import CTest

EMULATOR = ROOT / "emulator"
# Scripts that make each program of the cpu back end.
MAKERS = (EMULATOR / "translator", EMULATOR / "driver")
LIBRARY_FOLDERS = ("common", "emulator")
NAMED = re.compile(r"\"([a-z]+)[ \"]")
DRAWS = ".draws"  # marks tests of pytest that draw
# The line of build.ninja that lists the objects and libraries of a program or a library.
LINKED = re.compile(r"^build ([^\s:]+)[^\n:]*: CXX_[A-Z_]+_LINKER__\S* ([^\n]*)", re.MULTILINE)
OBJECT = re.compile(r"(?:.*/)?([^/]+)[.]dir/")  # how its path begins: the target that compiles it
OUTPUT = re.compile(OBJECT.pattern + ".*: #deps")  # the line of `ninja -t deps` before its files
BUILD_FILES = ("CMakeLists.txt", "CMakePresets.json")


def is_build_file(path: Path) -> bool:
    return path.name in BUILD_FILES or path.suffix == ".cmake"


def tests_for(files: Sequence[Path], tests: Sequence[CTest], folder: Path) -> list[CTest]:
    """Those of the tests that can notice a change of one of the files, which all tests can that say how
    programs are built. The programs in the build folder are up to date."""
    if any(is_build_file(path) for path in files):
        return [*tests]
    wanted = set(files)
    programs = Programs(folder)
    return [
        test for test in tests if not wanted.isdisjoint(_reached(test, wanted, programs, folder))
    ]


def _reached(test: CTest, wanted: set[Path], programs: Programs, folder: Path) -> Iterator[Path]:
    """Of the wanted files those that a test depends on."""
    for program in test.files(folder):
        yield from wanted & programs.sources(program)
        yield from (path for path in wanted if not {*MAKERS}.isdisjoint(path.parents))
    if inputs.runs_pytest(test):
        yield from _reached_by_pytest(test, wanted)
    else:
        yield from wanted & inputs.sources(test)


class Programs:
    """What the programs of a build are made of, as ninja and the translator noted it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sources: dict[str, set[Path]] = {}  # of the objects of each target
        self._inputs: dict[Path, list[str]] = {}  # objects and libraries of each program
        for output, inputs_of in LINKED.findall(_text(folder / "build.ninja")):
            self._inputs[folder / output] = inputs_of.partition(" || ")[0].split()
        self._read_objects(folder)
        self._read_translated(folder)

    def _read_objects(self, folder: Path) -> None:
        ninja = find_ninja()
        deps = output_of([ninja, "-C", str(folder), "-t", "deps"]) if ninja else ""
        own: set[Path] = set()
        for line in deps.splitlines():
            target = OUTPUT.match(line)
            if target:
                own = self._sources.setdefault(target[1], set())
            elif line.startswith(" "):
                own.add(Path(os.path.normpath(folder / line.strip())))

    def _read_translated(self, folder: Path) -> None:
        """The compiler reads copies of the files that are translated. The translator lists the originals."""
        for place in folder.rglob(f"*{TRANSLATED}"):
            own = self._sources.setdefault(place.stem, set())
            for path in place.rglob("*.d"):
                names = _text(path).partition(":")[2].replace("\\\n", " ").split()
                own.update(Path(os.path.normpath(name)) for name in names)

    def sources(self, program: Path) -> set[Path]:
        """The files that a program or a library is made of, the headers of the system among them."""
        found: set[Path] = set()
        for name in dict.fromkeys(self._inputs.get(program, [])):
            made_by = OBJECT.match(name)
            if made_by:
                found |= self._sources.get(made_by[1], set())
            elif name.endswith(".a"):
                found |= self.sources(self._folder / name)
        return found


def _reached_by_pytest(test: CTest, wanted: set[Path]) -> Iterator[Path]:
    places = inputs.places_of_pytest(test)
    own = [path for place in places for path in _python_in(place)]
    if "--figures" in test.command:
        own = [path for path in own if DRAWS in _text(path)]
    reached = _reached_code(tuple(own))
    for path in wanted:
        is_page = checkout.is_page(path)
        if (is_page or _is_of_chapter(path)) and inputs.reads(test, path):
            yield path
        elif not is_page and (
            path in reached
            or any(place in path.parents for place in places if "--figures" not in test.command)
            or (EMULATOR in path.parents and _is_below(places, "tests/emulator"))
            or (path.suffix != ".py" and _is_named(path, reached, own))
        ):
            yield path


def _is_below(places: Iterable[Path], folder: str) -> bool:
    return any(ROOT / folder in (place, *place.parents) for place in places)


def _python_in(place: Path) -> list[Path]:
    """The tests in a folder or a file, and the conftest.py of the folders above."""
    above = [folder / "conftest.py" for folder in place.parents if ROOT in folder.parents]
    own = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [path for path in [*own, *above] if path.is_file()]


@cache
def _reached_code(own: tuple[Path, ...]) -> set[Path]:
    named = {word for path in own for word in NAMED.findall(_text(path))}
    commands = (ROOT / "scripts" / package / "commands" for package in ("lab_cli", "lab_course"))
    of_commands = [
        path for folder in commands for path in folder.glob("*.py") if path.stem in named
    ]
    return checkout.closure([*own, *of_commands])


def _is_named(path: Path, reached: Iterable[Path], own: Iterable[Path]) -> bool:
    """Whether a script names a file that is not Python. Of a library it is enough that one of the test's own
    scripts names the library's folder, of an exercise the exercise."""
    top, *inner = path.relative_to(ROOT).parts
    name = path.name if path.suffix else f"{path.parent.name}/{path.name}"
    if top in LIBRARY_FOLDERS:
        return _any_has(own, [f'"{top}"', name])
    if _is_of_chapter(path):
        return _any_has(own, [f'"{inner[0]}"', name])
    return _any_has(reached, [name, *(f'"{folder}"' for folder in inner[:-1])])


def _is_of_chapter(path: Path) -> bool:
    """Whether a file belongs to a chapter or one of its exercises."""
    top = path.relative_to(ROOT).parts[0]
    return any((ROOT / top).glob("*/exercise.toml"))


def _any_has(scripts: Iterable[Path], names: Sequence[str]) -> bool:
    return any(name in _text(script) for script in scripts for name in names)


@cache
def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
