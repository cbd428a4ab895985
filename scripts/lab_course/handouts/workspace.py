"""Writes a hand-out: all of it, or nothing."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab_cli import toml_file
from lab_cli.catalogue import FACTS, facts_of
from lab_cli.errors import BAD_USAGE, LabError, printable
from lab_cli.paths import ROOT

from ..grading.kernel_source import KernelSource
from . import facts, files, leaks, pages, recordings, source
from .choice import Choice, Part
from .leaks import Solution, Text

MARK = "handout.toml"  # at the root of a hand-out
VERSION = 1
TAG = "handout"
RECORDED = "counts.*.csv"  # of a profiler, on a GPU
WHO = ("-c", "user.name=CUDA lab", "-c", "user.email=handout@localhost")
DIAGNOSIS = Path("scripts/diagnosis.toml")


def check_folder(folder: Path) -> None:
    """LabError (status 2) where no hand-out can be made there."""
    name = printable(str(folder))
    real = Path(os.path.realpath(folder))
    if (ROOT / MARK).exists():
        raise LabError(
            f"this is a hand-out: {MARK} is there. What it lacks, the original has", BAD_USAGE
        )
    if real == ROOT or ROOT in real.parents:
        raise LabError(f"-o {name}: it is inside the checkout: name a folder elsewhere", BAD_USAGE)
    if os.path.lexists(real) and not real.is_dir():
        raise LabError(f"-o {name}: it is there, and is no folder", BAD_USAGE)
    if real.is_dir() and any(real.iterdir()):
        raise LabError(f"-o {name}: the folder is not empty", BAD_USAGE)
    if real == Path.cwd():
        raise LabError(f"-o {name}: you are in it: name it from another folder", BAD_USAGE)
    if not real.parent.is_dir():
        raise LabError(f"-o {name}: there is no folder {printable(str(real.parent))}", BAD_USAGE)


def make(choice: Choice, folder: Path, answers: bool) -> bool:
    """The hand-out in `folder`; whether it is a git repository. LabError, and nothing in `folder`, where
    something of a solution would be left."""
    with _beside(folder) as temporary:
        _write(choice, temporary, answers)
        is_repository = _commit(temporary)
        try:
            os.rename(temporary, os.path.realpath(folder))
        except OSError as error:  # where a disk is mounted, for one
            name = printable(str(folder))
            raise LabError(f"-o {name}: cannot be made: {error.strerror}") from error
    return is_repository


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A folder for what is not complete."""
    real = Path(os.path.realpath(folder))
    temporary = real.parent / f".{real.name}.{secrets.token_hex(4)}.tmp"
    try:
        _make_folder(temporary)
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir()
    except OSError as error:
        name = printable(str(path.parent))
        raise LabError(f"cannot make a folder in {name}: {error.strerror}") from error


class _Contents:
    """Texts and modes of the files, by path; what is no text stays in the checkout and is copied."""

    def __init__(self, choice: Choice, answers: bool) -> None:
        self.choice = choice
        self.paths = files.handed_out(files.of_checkout(), choice.left_out)
        for part in choice.parts:
            for path in (part.source, part.facts, part.page):
                if path not in self.paths:
                    raise LabError(
                        f"{path.as_posix()} does not belong to the checkout: git add it first"
                    )
        self.sources = [  # of exercises
            path
            for path in self.paths
            if path.name == f"{path.parent.name}.cu" and facts_of(path) in self.paths
        ]
        self.texts: dict[Path, str] = {}
        self.solutions: list[Solution] = []
        self._changed: dict[str, source.Changed] = {}  # by exercise
        for part in choice.parts:
            self._source(part)
        self._facts()
        self._pages(answers)
        self._diagnosis()
        self.texts[Path(MARK)] = _mark(choice)

    def read(self, path: Path) -> str:
        """As it is so far."""
        if path not in self.texts:
            return (ROOT / path).read_text(encoding="utf-8")
        return self.texts[path]

    def _source(self, part: Part) -> None:
        path = part.source
        text = self.read(path)
        shipped = KernelSource(text, path.as_posix())
        others = [Text(self.read(other)) for other in self.sources if other != path]
        self.solutions += leaks.solutions(
            shipped, part.exercise.name, part.kernels, part.hidden, others
        )
        changed = source.of(text, part)
        self.texts[path] = changed.text
        self._changed[part.exercise.name] = changed
        if not part.hidden:
            return
        for recorded in self.paths:
            if part.folder in recorded.parents and recorded.match(RECORDED):
                self.texts[recorded] = recordings.without_kernels(
                    self.read(recorded), recorded.as_posix(), part.hidden, changed.beside
                )

    def _facts(self) -> None:
        for path in self.paths:
            if path.name == FACTS:
                part = self.choice.part_of(path)
                changed = self._changed[part.exercise.name] if part else None
                removed, rows = (changed.removed, changed.rows) if changed else (set(), set())
                tables = toml_file.load(ROOT / path)
                self.texts[path] = facts.of(tables, self.choice, part, removed, rows)

    def _pages(self, answers: bool) -> None:
        there = {path.as_posix() for path in self.paths}
        there |= {above.as_posix() for path in self.paths for above in path.parents}
        for path in self.paths:
            if path.suffix != ".md":
                continue
            part = self.choice.part_of(path)

            def gives_away(answer: str, path: Path = path) -> bool:
                text = Text(answer)
                return any(leaks.in_file(each, text, path, (), answer) for each in self.solutions)

            text = pages.without_answers(self.read(path), gives_away, part, all_of_them=not answers)
            text = pages.with_plain_links(text, path, there)
            if part:
                text = pages.noted(text, pages.note_of_exercise(part))
            elif path == Path("README.md"):
                text = pages.noted(text, pages.note_of_readme(self.choice))
            self.texts[path] = text

    def _diagnosis(self) -> None:
        """Its remedies name exercises to read about."""
        if DIAGNOSIS not in self.paths:
            return
        text = self.read(DIAGNOSIS)
        for exercise in self.choice.left_out:
            text = text.replace(f'"{exercise.name}", ', "").replace(f', "{exercise.name}"', "")
            text = text.replace(f'["{exercise.name}"]', "[]")
        self.texts[DIAGNOSIS] = text

    def check(self, folder: Path) -> None:
        """LabError where something of a solution is left in what has been written."""
        found: list[leaks.Leak] = []
        for path in sorted({*self.paths, *self.texts}):
            text = _searched(folder / path)
            as_text = Text(text)
            for solution in self.solutions:
                if solution.found(as_text, alone=True):  # the rest takes time
                    found += self._leaks(solution, path, text)
        if found:
            lines = "\n".join(str(leak) for leak in found)
            raise LabError(f"the hand-out would give solutions away, and is not written:\n{lines}")

    def _leaks(self, solution: Solution, path: Path, text: str) -> list[leaks.Leak]:
        """Of one file, which has `text` in the hand-out."""
        origin = ROOT / path
        shipped = origin.read_text(encoding="utf-8", errors="replace") if origin.exists() else text
        part = self.choice.part_of(path)
        if path.suffix == ".cu" and part and part.exercise.name == solution.exercise:
            name = path.as_posix()
            sources = KernelSource(text, name), KernelSource(shipped, name)
            return leaks.in_source(solution, *sources, part.kernels)
        users = files.users(path, self.sources)
        leak = leaks.in_file(solution, Text(text), path, users, shipped)
        return [leak] if leak else []


def _searched(path: Path) -> str:
    """The text of a file, as it is searched for solutions."""
    if path.name == FACTS:
        return facts.without_hints(toml_file.load(path))
    return path.read_text(encoding="utf-8", errors="replace")


def _write(choice: Choice, folder: Path, answers: bool) -> None:
    contents = _Contents(choice, answers)
    for path in sorted({*contents.paths, *contents.texts}):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        origin = ROOT / path
        if path in contents.texts:
            target.write_text(contents.texts[path], encoding="utf-8")
        else:
            shutil.copyfile(origin, target)
        if origin.exists() and os.access(origin, os.X_OK):
            mode = target.stat().st_mode
            target.chmod(mode | (mode & 0o444) >> 2)
    contents.check(folder)


def _mark(choice: Choice) -> str:
    names = [assignment.name for assignment in choice.assignments]
    head = "# This workspace is a hand-out: ./lab says which assignments are in it.\n"
    return head + facts.written({"version": VERSION, "assignments": names})


def _commit(folder: Path) -> bool:
    """The files as the only commit of a new repository, with a tag. False where there is no git."""
    git = shutil.which("git")
    if not git:
        return False
    nobodys = {
        **files.environment_of_git(),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for words in (
        ["-c", "init.defaultBranch=main", "init", "--quiet", "--template="],
        ["add", "--all", "--force"],
        [*WHO, "commit", "--quiet", "-m", "The hand-out"],
        ["tag", TAG],
    ):
        done = subprocess.run(
            [git, *words], cwd=folder, env=nobodys, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode != 0:
            raise LabError(
                f"git {words[-1]}: {printable(done.stdout.decode(errors='replace').strip())}"
            )
    return True
