"""Changes the files of an exercise for a test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lab_cli.errors import LabError
from lab_cli.paths import ROOT

COMMON = ROOT / "common"


def places(
    source: Path, who: str, changes: Iterable[tuple[str, str]]
) -> Iterator[tuple[Path, int, int]]:
    """Where the text of each change begins and ends, and in which file. A change has the name of a header
    (empty: `source`), and a text that stands there once, else LabError, with `who` wants it."""
    for number, (file, old) in enumerate(changes, 1):
        path = file_of(source, file) if file else source
        text = path.read_text(encoding="utf-8")
        times = text.count(old)
        if times != 1:
            raise LabError(
                f"{who}, entry {number}: stands {times} times in {path.name}, expected once: {old}"
            )
        start = text.index(old)
        yield path, start, start + len(old)


def file_of(source: Path, name: str) -> Path:
    """The file of the exercise, of its chapter, or of common/."""
    paths = [folder / name for folder in (source.parent, source.parents[1], COMMON)]
    return next((path for path in paths if path.exists()), paths[0])


def write_copy(source: Path, texts: dict[str, str], folder: Path) -> Path:
    """Puts the exercise with these changed files, by name, into `folder`: NAME.cu and the headers into a
    folder of its own, and the chapter's headers beside it. The path of the copy of `source`."""
    own = folder / source.parent.name
    for there, here in ((source.parent, own), (source.parents[1], folder)):
        here.mkdir(exist_ok=True)
        for header in there.glob("*.*h"):
            text = texts.get(header.name) or header.read_text(encoding="utf-8")
            (here / header.name).write_text(text, encoding="utf-8")
    for name, text in {source.name: source.read_text(encoding="utf-8"), **texts}.items():
        if not (folder / name).exists():
            (own / name).write_text(text, encoding="utf-8")
    return own / source.name
