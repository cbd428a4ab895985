"""The exercises: each is a folder NAME of a chapter, with NAME.cu, exercise.toml and all else of it.

exercise.toml makes it one: a .cu file alone is a program of somebody's own, wherever it lies.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import exercise_facts, work
from .errors import BAD_USAGE, LabError, printable
from .exercise_facts import Facts
from .paths import ROOT, shown
from .toml_file import did_you_mean

FACTS = "exercise.toml"
NOT_CHAPTERS = ("common", "emulator", "tests")  # the other folders that CMake builds


@dataclass(frozen=True)
class Exercise:
    chapter: str
    name: str
    facts: Facts

    @property
    def folder(self) -> Path:
        return ROOT / self.chapter / self.name

    @property
    def source(self) -> Path:
        return self.folder / f"{self.name}.cu"

    @property
    def page(self) -> Path:
        return page_of(self.source)

    @property
    def results(self) -> Path:
        """Its measured results: a folder for each GPU."""
        return results_of(self.source)

    @property
    def instrumented(self) -> str:
        """The program for the profiler and the hazard check, of a build for the cpu back end."""
        return f"{self.target}_instrumented"

    @property
    def target(self) -> str:
        """What CMake calls its program: that of the student's copy, where there is one."""
        return work.target(self.name)

    def program(self, build_folder: Path, instrumented: bool = False) -> Path:
        """Where a build has it."""
        return build_folder / self.chapter / (self.instrumented if instrumented else self.target)


def facts_of(source: Path) -> Path:
    """The facts of the exercise with this NAME.cu; page_of() and results_of() likewise."""
    return source.with_name(FACTS)


def page_of(source: Path) -> Path:
    return source.with_name("README.md")


def results_of(source: Path) -> Path:
    return source.with_name("results")


def chapters() -> list[Path]:
    """Their folders, by name."""
    folders = sorted(lists.parent for lists in ROOT.glob("*/CMakeLists.txt"))
    return [folder for folder in folders if folder.name not in NOT_CHAPTERS]


def sources() -> dict[str, Path]:
    """Of each exercise NAME, its NAME.cu, whether that is there or not."""
    found: dict[str, Path] = {}
    for chapter in chapters():
        for facts in sorted(chapter.glob(f"*/{FACTS}")):
            source = facts.with_name(f"{facts.parent.name}.cu")
            other = found.setdefault(source.stem, source)
            if other != source:
                raise LabError(f"{shown(source)} has the name of another: {shown(other)}")
    return found


def exercises(names: Sequence[str] = ()) -> list[Exercise]:
    """Those of `names`, exercises and chapters, as they are given, each once; for no names all, by
    chapter and order.

    LabError (status 2) for a name that none has. Only the files of the exercises asked for are read;
    LabError names what is wrong in any of them.
    """
    known = sources()
    found = []
    problems = []
    for name in _wanted(names, known) or known:
        try:
            found.append(_load(known[name]))
        except LabError as error:
            problems.append(str(error))
    if not names:
        found.sort(key=lambda exercise: (exercise.chapter, exercise.facts.order))
        problems += _orders_twice(found)
    if problems:
        raise LabError("\n".join(problems))
    return found


def check(names: Sequence[str]) -> None:
    """LabError (status 2) for a name that no exercise has. Reads no file."""
    _wanted(names, sources())


def _wanted(names: Sequence[str], known: Mapping[str, Path]) -> list[str]:
    """The exercises that `names`, of exercises and chapters, stand for."""
    wanted: dict[str, None] = {}
    for name in names:
        of_chapter = [] if name in known else _of_chapter(name, known)
        if name not in known and not of_chapter:
            hint = _half(name) or _of_assignment(name, known) or _near(name, known)
            raise LabError(f"no exercise is named {printable(name)}{hint}", BAD_USAGE)
        wanted.update(dict.fromkeys([name] if name in known else of_chapter))
    return [*wanted]


def _of_chapter(name: str, known: Mapping[str, Path]) -> list[str]:
    """The exercises of the one chapter whose folder has this name, or whose name begins with it."""
    name = name.rstrip("/")
    folders = {source.parents[1].name for source in known.values()}
    chapters = [folder for folder in folders if folder == name] or [
        folder for folder in folders if name and folder.startswith(name)
    ]
    if len(chapters) != 1:
        return []
    return [exercise for exercise, source in known.items() if source.parents[1].name in chapters]


def _near(name: str, known: Mapping[str, Path]) -> str:
    """The exercise or chapter that is meant: also by the path of one of its files."""
    last = name.rstrip("/").rpartition("/")[2]
    folders = {source.parents[1].name for source in known.values()}
    words = {*known, *folders, *(folder.partition("_")[0] for folder in folders)}
    return did_you_mean(last, words) or "; ./lab list shows them all"


def _half(name: str) -> str:
    """Says where a NAME.cu lacks its facts."""
    for chapter in chapters():
        source = chapter / name / f"{name}.cu"
        if os.path.exists(source):
            return f": {shown(source)} is there, {shown(facts_of(source))} is missing"
    return ""


def _of_assignment(name: str, known: Mapping[str, Path]) -> str:
    """Names the exercise of the assignment that has this name."""
    for exercise, source in known.items():
        with suppress(LabError):
            if any(each.name == name for each in _load(source).facts.assignments):
                return f": it is an assignment of {exercise}"
    return ""


def _load(source: Path) -> Exercise:
    facts = facts_of(source)
    if not source.exists():
        raise LabError(f"{shown(source)} is missing: there is {facts.name} alone")
    return Exercise(source.parents[1].name, source.stem, exercise_facts.load(facts))


def _orders_twice(found: Sequence[Exercise]) -> list[str]:
    """`found` is sorted."""
    return [
        f"{shown(facts_of(later.source))}: order = {later.facts.order} is that of "
        f"{earlier.name} already"
        for earlier, later in zip(found, found[1:])
        if (earlier.chapter, earlier.facts.order) == (later.chapter, later.facts.order)
    ]


def one(name: str) -> Exercise:
    """The exercise of this name. LabError also where it is the name of a chapter."""
    found = exercises([name])
    if found[0].name != name:
        names = ", ".join(exercise.name for exercise in found)
        raise LabError(f"{name} is a chapter: name one of its exercises: {names}", BAD_USAGE)
    return found[0]


def check_at(name_or_path: str, *others: str) -> None:
    """LabError (status 2) where at() has nothing. Reads no file."""
    if not name_or_path.endswith(".cu"):
        check([name_or_path])
        if others:
            raise LabError(
                f"{printable(others[0])}: one exercise at a time, or the .cu files of one program: "
                f"{name_or_path} is an exercise",
                BAD_USAGE,
            )
        return
    for path in (name_or_path, *others):
        problem = _unreadable(path)
        if problem:
            raise LabError(problem, BAD_USAGE)


def _unreadable(path: str) -> str:
    """Why the source file cannot be read; empty if it can."""
    name = printable(path)
    if os.path.isdir(path):
        return f"{name} is a folder: name a .cu file"
    if not os.path.exists(path):
        known = sources()
        stem = Path(path).stem
        hint = f"; the exercise is {stem}, without .cu" if stem in known else ""
        return f"there is no file {name}{hint}"
    if not os.path.isfile(path):
        return f"{name} is not a file"
    return "" if os.access(path, os.R_OK) else f"{name} cannot be read: permission denied"


def at(name_or_path: str, *others: str) -> Exercise | None:
    """The exercise of this name or with this source file; None for any other .cu file, and for a
    program that has `others` as well."""
    check_at(name_or_path, *others)
    if others:
        return None
    if not name_or_path.endswith(".cu"):
        return one(name_or_path)
    path = Path(name_or_path)
    known = sources().get(path.stem)
    return _load(known) if known and known.resolve() == path.resolve() else None


def of_chapter(chapter: Path) -> list[Exercise]:
    """The exercises in the folder of a chapter, by order. LabError names what is wrong in any of them."""
    names = [name for name, source in sources().items() if source.parents[1] == chapter]
    found = exercises(names) if names else []
    return sorted(found, key=lambda exercise: exercise.facts.order)


def of_folder(folder: Path) -> Exercise | None:
    """The exercise of this folder; None if it has none."""
    source = sources().get(folder.name)
    return _load(source) if source and source.parent == folder else None


def of_backend(chosen: Sequence[Exercise], backend: str, by_name: bool) -> list[Exercise]:
    """`chosen` without what needs a GPU's hardware on cpu; asked for by name, that is an error."""
    needs_gpu = [exercise.name for exercise in chosen if exercise.facts.gpu_only]
    if backend == "gpu" or not needs_gpu:
        return list(chosen)
    if by_name:
        raise LabError(f"{', '.join(needs_gpu)}: only on the gpu back end")
    return [exercise for exercise in chosen if not exercise.facts.gpu_only]


def sentence_about(source: str) -> str:
    """What an exercise says of itself in --help, the second argument of its lab::Exercise; empty
    where it is not found."""
    literal = r'"((?:[^"\\]|\\.)*)"'
    call = re.search(rf'\blab::Exercise\s+\w+\(\s*"\w+",\s*((?:{literal}\s*)+)', source)
    return "".join(re.findall(literal, call.group(1))) if call else ""


def about(exercise: Exercise) -> str:
    """The exercise in a sentence. LabError if its source has none."""
    sentence = sentence_about(exercise.source.read_text(encoding="utf-8"))
    if not sentence:
        raise LabError(
            f"{shown(exercise.source)}: no sentence about the exercise: it is the second argument of "
            f'its lab::Exercise, behind "{exercise.name}"'
        )
    return sentence
