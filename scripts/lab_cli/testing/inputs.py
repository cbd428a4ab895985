"""What a test depends on.

The command of a test names the programs and scripts that it runs, and the files that it reads. Beyond these,
a test of an exercise depends on the exercise's folder, a script on what it imports, and a test that pytest
runs on all code of the checkout, since it may start any command of lab. Those of tests/pages/ depend on the
pages as well, and of one chapter alone where their command names it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .. import work
from ..machine import gpu
from ..paths import OUT, ROOT
from . import checkout
from .listing import CTest

RUN_PYTEST = ROOT / "cmake" / "run_pytest.py"
PAGES = ROOT / "tests" / "pages"  # the tests that read pages
DRIVER = ROOT / "emulator" / "driver" / "cc.py"  # compiles, for tests that are not quick
HEADERS = ("*.h", "*.cuh")


def digest(test: CTest, folder: Path) -> str:
    """A hash of all that `test` depends on, in the build `folder`. Empty where that is not known: what a
    program is or what pytest may read cannot be told."""
    parts = [sys.version, *test.command, *sorted(test.environment)]
    if folder.name.startswith("gpu"):
        parts.append(_gpus())
    programs = test.files(folder)
    if not test.command or not all(path.is_file() for path in programs):
        return ""
    if runs_pytest(test) and not checkout.files():
        return ""
    parts += [_content(path) for path in [*programs, *_programs_of_exercise(test, folder)]]
    parts += [f"{path}:{_content(path)}" for path in sorted(sources(test))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def sources(test: CTest) -> set[Path]:
    """The files of the checkout that `test` depends on, but for those that its programs are made of."""
    if runs_pytest(test):
        return {
            path for path in checkout.files() if not checkout.is_page(path) or reads(test, path)
        }
    named = {path for path in test.files(ROOT) if path.is_file() and OUT not in path.parents}
    scripts = [path for path in named if path.suffix == ".py"]
    if test.exercise and not test.is_quick:
        scripts.append(DRIVER)
    return named | checkout.closure(scripts) | _of_exercise(test)


def runs_pytest(test: CTest) -> bool:
    return str(RUN_PYTEST) in test.command


def places_of_pytest(test: CTest) -> list[Path]:
    """The folders and files that a test of pytest runs."""
    return [ROOT / word for word in test.command if word.startswith("tests/")]


def reads(test: CTest, path: Path) -> bool:
    """Whether a test of pytest reads a page or, what pages tell of, a file of an exercise."""
    if not any(PAGES in (place, *place.parents) for place in places_of_pytest(test)):
        return False
    words = (word.rstrip("-") for word in test.command if "/" not in word)
    chapters = [ROOT / word for word in words if word and (ROOT / word).is_dir()]
    return not chapters or any(chapter in path.parents for chapter in chapters)


def names_its_programs(test: CTest) -> bool:
    """Whether the command names all programs that it needs: tests of pytest may need any."""
    return bool(test.command) and not runs_pytest(test)


def _of_exercise(test: CTest) -> set[Path]:
    """The files of the exercise's folder, and the headers of its chapter."""
    place = _folder_of(test)
    if not place:
        return set()
    own = {path for path in place.rglob("*") if path.is_file() and not checkout.is_page(path)}
    own.update(work.copy_of(test.exercise).parent.glob("*.*"))
    return own.union(*(place.parent.glob(pattern) for pattern in HEADERS))


def _folder_of(test: CTest) -> Path | None:
    if not test.exercise:
        return None
    name = test.exercise.removesuffix(work.SHIPPED)
    folders = (path for path in ROOT.glob(f"*/{name}") if path.parent != work.WORK)
    return next((path for path in folders if path.is_dir()), None)


def _programs_of_exercise(test: CTest, folder: Path) -> Iterable[Path]:
    """Those that are built, whether or not the command names them: they have what their sources include."""
    place = _folder_of(test)
    if not place:
        return []
    names = (test.exercise, f"{test.exercise}_instrumented")
    paths = (folder / place.parent.name / name for name in names)
    return [path for path in paths if path.is_file()]


@cache
def _gpus() -> str:
    """The GPUs of this machine and their driver: a build folder may be shared by several machines."""
    return repr(gpu.ask_driver())


@cache
def _content(path: Path) -> str:
    """A hash of a file's content."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
