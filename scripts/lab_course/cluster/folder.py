"""The folder of a job, on a file system that the nodes share."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab_cli.files import make_build_folder
from lab_cli.paths import OUT

JOBS = OUT / "slurm"


@dataclass(frozen=True)
class Folder:
    """Files of a job, and with an index in front those of an element of an array."""

    path: Path

    @property
    def script(self) -> Path:
        return self.path / "job.sh"

    def file(self, kind: str, index: str = "") -> Path:
        """kind: output, errors, or status, which is there when it has ended."""
        return self.path / (f"{index}.{kind}" if index else kind)

    def statuses(self, indices: Iterable[str]) -> dict[str, int]:
        """What has been noted, as a last act, of these."""
        try:
            there = set(os.listdir(self.path))  # a network file system looks anew for that
        except OSError:
            return {}
        found = {}
        for index in indices:
            file = self.file("status", index)
            if file.name in there:
                with suppress(OSError, ValueError):
                    found[index] = int(file.read_text(encoding="ascii"))
        return found


def following() -> Folder:
    """The next, which is not there yet: out/slurm/1, then 2."""
    numbers = [0]
    if JOBS.is_dir():
        numbers += [int(path.name) for path in JOBS.iterdir() if path.name.isdecimal()]
    return Folder(JOBS / str(max(numbers) + 1))


def make() -> Folder:
    """The next; no other lab gets the same. A network file system may not list the latest for a while."""
    make_build_folder(JOBS)
    number = int(following().path.name)
    while True:
        folder = Folder(JOBS / str(number))
        with suppress(FileExistsError):
            folder.path.mkdir()
            return folder
        number += 1
