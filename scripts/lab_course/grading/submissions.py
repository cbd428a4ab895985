"""Finds the submissions in what a teacher names: files, and folders as a course's server packs them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab_cli.catalogue import facts_of
from lab_cli.errors import BAD_USAGE, LabError, printable
from lab_cli.toml_file import did_you_mean

from .gate import MOST_BYTES

DEEPEST = 6  # folders below that of a submission
TABLE = "grades.csv"  # stands beside a folder for each submission


@dataclass(frozen=True)
class Submission:
    name: str  # of the file without .cu, or of the folder
    file: Path | None = None
    problem: str = ""  # for which there is no file

    def read(self) -> str:
        """LabError says why not."""
        if self.file is None:
            raise LabError(self.problem)
        # A link could lead to another's file, and a pipe to nothing.
        try:
            number = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise LabError(f"{self.file.name} cannot be read: {error.strerror}") from error
        if not stat.S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            raise LabError(f"{self.file.name} is not a file")
        with open(number, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise LabError(f"{self.file.name} has more than {MOST_BYTES >> 20} MiB")
        return content.decode(errors="replace").replace("\r\n", "\n")


def find(paths: Sequence[str], source: str) -> list[Submission]:
    """By name. Each path is a .cu file, a folder with the exercise's `source` (NAME.cu) in it, or a folder
    of such files and folders. LabError (status 2) where there is nothing, or a name cannot be had."""
    found: dict[str, Submission] = {}
    for path in map(Path, paths):
        for submission in _at(path, source):
            if submission.name in found:
                raise LabError(
                    f"two submissions are named {printable(submission.name)}: give one another name",
                    BAD_USAGE,
                )
            if submission.name == TABLE:
                raise LabError(f"a submission is named {TABLE}: give it another name", BAD_USAGE)
            found[submission.name] = submission
    return [found[name] for name in sorted(found)]


def one(found: Sequence[Submission], name: str) -> Submission:
    """The one of this name. LabError (status 2) where there is none."""
    names = [submission.name for submission in found]
    if name not in names:
        raise LabError(
            f"no submission is named {printable(name)}{did_you_mean(name, names)}", BAD_USAGE
        )
    return found[names.index(name)]


def _at(path: Path, source: str) -> Iterator[Submission]:
    if path.is_file():
        yield Submission(_text(path.stem), path)
        return
    if not path.is_dir():
        raise LabError(f"there is no file or folder {printable(str(path))}", BAD_USAGE)
    own = _workspace(path, source)
    if own:
        yield Submission(_text(path.resolve().name), own)
        return
    entries = [entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")]
    submissions = [_entry(entry, source) for entry in entries]
    found = [submission for submission in submissions if submission]
    if not found:
        raise LabError(
            f"{printable(str(path))}: no submissions in it: expected {source}, .cu files, or a folder for each",
            BAD_USAGE,
        )
    yield from found


def _text(name: str) -> str:
    """With its bytes that are not UTF-8 as \\xff: it is written into files."""
    return os.fsencode(name).decode(errors="backslashreplace")


def _workspace(folder: Path, source: str) -> Path | None:
    """The exercise's source in a folder that is one submission: in it, or in that of the exercise where
    the folder is a chapter or a workspace."""
    of_chapter = folder / Path(source).stem / source
    places = [folder / source, of_chapter, *sorted(folder.glob(f"*/*/{source}"))]
    there = [place for place in places if os.path.lexists(place)]
    if len(there) != 1:
        return None
    (found,) = there
    if found.parent != folder:
        mark = "CMakeLists.txt" if found == of_chapter else "lab"
        return found if (folder / mark).exists() else None
    others = any(path != found for path in folder.glob("*.cu"))
    is_exercise = facts_of(found).exists()
    return found if is_exercise or not others else None


def _entry(entry: Path, source: str) -> Submission | None:
    """None for what is no submission."""
    if entry.is_symlink():
        return Submission(
            _text(entry.stem), None, f"{printable(entry.name)} is a link, which is not followed"
        )
    if entry.is_file():
        return Submission(_text(entry.stem), entry) if entry.suffix == ".cu" else None
    if not entry.is_dir():
        return None
    name = _text(entry.name)
    try:
        files = [*_sources(entry, DEEPEST)]
    except OSError as error:
        return Submission(name, None, f"a folder in it cannot be read: {error.strerror}")
    named = [file for file in files if file.name == source] or files
    if len(named) == 1:
        return Submission(name, named[0])
    problem = f"{len(named)} files could be meant" if named else f"there is no {source} in it"
    return Submission(name, None, problem)


def _sources(folder: Path, depth: int) -> Iterator[Path]:
    """.cu files; links are not followed."""
    for entry in sorted(folder.iterdir()):
        if entry.is_symlink() or entry.name.startswith("."):
            continue
        if entry.is_dir() and depth > 0:
            yield from _sources(entry, depth - 1)
        elif entry.suffix == ".cu":
            yield entry
