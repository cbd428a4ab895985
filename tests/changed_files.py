"""Changes the files of an exercise for a test."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from lab_cli.errors import LabError


def changed_files(
    source: Path, who: str, changes: Iterable[tuple[str, str, str]]
) -> dict[str, str]:
    """The texts of `source` and of the files beside it that are changed, by name. A change is the name
    of a file (empty: that of `source`), a text that stands there once (else LabError, with `who` wants
    it), and what to put there."""
    texts = {source.name: source.read_text(encoding="utf-8")}
    for number, (file, old, new) in enumerate(changes, 1):
        path = source.parent / (file or source.name)
        text = texts.get(path.name) or path.read_text(encoding="utf-8")
        times = text.count(old)
        if times != 1:
            raise LabError(
                f"{who}, entry {number}: stands {times} times in {path.name}, expected once: {old}"
            )
        texts[path.name] = text.replace(old, new)
    return texts


def write_copy(source: Path, texts: dict[str, str], folder: Path) -> Path:
    """Puts the changed files into `folder`, and the headers beside `source`, which may include them. The
    path of the copy of `source`."""
    for header in [*source.parent.glob("*.cuh"), *source.parent.glob("*.h")]:
        shutil.copy(header, folder)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / source.name
