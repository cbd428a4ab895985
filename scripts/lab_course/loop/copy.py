"""The student's copy of an exercise: made with its assignments blanked, kept up to date with the original."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab_cli import toml_file, work
from lab_cli.catalogue import Exercise, facts_of
from lab_cli.errors import LabError
from lab_cli.files import make_folder, reason, write
from lab_cli.paths import shown
from lab_cli.process import say
from lab_cli.results import marks
from lab_cli.results.marks import ELSEWHERE

from ..grading.kernel_source import KernelSource
from ..handouts import facts, source
from ..handouts.choice import Choice, Part

ORIGIN = "origin"  # what the blank was made of: a digest of files, and what was solved
CONFLICT = "merged.cu"
NEWER = "shipped-has-changed.cu"


@dataclass(frozen=True)
class Copy:
    """Of one exercise, whether it is there or not."""

    exercise: Exercise

    @property
    def file(self) -> Path:
        return work.copy_of(self.exercise.name)

    @property
    def own(self) -> Path:
        return self.file.parent / work.OWN

    @property
    def blank(self) -> Path:
        return work.blank_of(self.exercise.name)

    @property
    def is_there(self) -> bool:
        return self.file.exists()

    @property
    def is_blank(self) -> bool:
        """Nothing is written yet."""
        return _read(self.file) == _read(self.blank)

    def start(self) -> None:
        """Makes the copy, which is not there yet."""
        blank, facts_of_copy = self._blank()
        make_folder(self.own, ELSEWHERE)
        self._keep(blank, facts_of_copy)
        write(self.file, blank)

    def reset(self) -> Path:
        """Begins anew, and returns where the student's file is kept."""
        kept = next(
            path
            for number in range(1, 10**6)
            for path in [self.file.with_name(f"{self.exercise.name}.{number}.cu")]
            if not path.exists()
        )
        try:
            shutil.copy2(self.file, kept)
        except OSError as error:
            raise LabError(f"cannot keep your file: {reason(error)}") from error
        self.start()
        return kept

    def refresh(self) -> None:
        """Brings what has changed in the original, as after `git pull`, into the copy, and the kernels that a
        solved assignment hid, where that goes together with what the student has written; else says where to
        look. Nothing that the student wrote is lost."""
        was, now = _read(self.own / ORIGIN), self._origin()
        if not self.is_there or was == now:
            return
        blank, facts_of_copy = self._blank()
        make_folder(self.own, ELSEWHERE)
        if blank != _read(self.blank):
            self._merge(blank, by_solving=was.split()[:1] == now.split()[:1])
        self._keep(blank, facts_of_copy)

    def _merge(self, blank: str, by_solving: bool) -> None:
        new = self.own / NEWER
        write(new, blank)
        names = ["-L", "yours", "-L", "before", "-L", "shipped"]
        paths = [str(self.file), str(self.blank), str(new)]
        done = subprocess.run(
            ["git", "merge-file", "-p", *names, *paths], capture_output=True
        ) if shutil.which("git") and self.blank.exists() else None  # fmt: skip
        original = shown(self.exercise.source)
        if done is not None and done.returncode == 0:
            write(self.file, done.stdout)
            if by_solving:
                say(
                    f"{shown(self.file)} now has the kernels that were left out; your code is as it was"
                )
            else:
                say(
                    f"{original} has changed: your copy has the changes now, and your code is as it was"
                )
            return
        say(f"{original} has changed where you have written, too: your copy stays as it is")
        if done is not None and 0 < done.returncode < 128:
            write(self.own / CONFLICT, done.stdout)
            say(f"{shown(self.own / CONFLICT)} has both versions; the new original is {shown(new)}")

    def _keep(self, blank: str, facts_of_copy: str) -> None:
        write(self.blank, blank)
        write(facts_of(self.file), facts_of_copy)
        write(self.own / ORIGIN, self._origin())

    def _blank(self) -> tuple[str, str]:
        """The program with its assignments blanked, and the facts by which its tests judge it."""
        part, changed = self._changed()
        tables = toml_file.load(facts_of(self.exercise.source))
        choice = Choice([part], [])
        return changed.text, facts.of(tables, choice, part, changed.removed, changed.rows)

    def _changed(self) -> tuple[Part, source.Changed]:
        """What a blank makes of the original."""
        part = Part(self.exercise, self.exercise.facts.assignments, self._solved())
        return part, source.of(self.exercise.source.read_text(encoding="utf-8"), part)

    def left_out(self) -> list[str]:
        """Kernels and rows of the original that the copy does not have, since they come close to a solution."""
        return sorted(self._changed()[1].removed)

    def _solved(self) -> frozenset[str]:
        """The assignments of the exercise that are solved. What only they hid comes back."""
        known = marks.read()
        names = (each.name for each in self.exercise.facts.assignments)
        return frozenset(name for name in names if name in known and known[name].solved)

    def _origin(self) -> str:
        files = [self.exercise.source, facts_of(self.exercise.source), Path(source.__file__)]
        digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
        return " ".join([digest, *sorted(self._solved())])

    def line_of(self, functions: Sequence[str]) -> int:
        """The first line of the body of the first of these functions; 1 where it is not there."""
        try:
            text = KernelSource(self.file.read_text(encoding="utf-8"), self.file.name)
            return text.line(text.function(functions[0]).body) + 1
        except (LabError, IndexError):
            return 1


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
