"""The exercises, as the chapters' CMakeLists.txt register them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError
from .paths import ROOT

CALL = re.compile(r"^lab_add_exercise\(\s*(\w+)([^)]*)", re.MULTILINE)


@dataclass(frozen=True)
class Exercise:
    chapter: str
    name: str
    cuda_only: bool
    about: str


def sentence_about(source: str) -> str:
    """What the exercise says of itself in --help: the second argument of its lab::Exercise."""
    call = re.search(r'lab::Exercise\s+\w+\(\s*"\w+",\s*((?:"[^"]*"\s*)+)', source)
    return "".join(re.findall(r'"([^"]*)"', call.group(1))) if call else ""


def exercises(root: Path = ROOT) -> list[Exercise]:
    """In the order of the chapters' names, and within a chapter that of its CMakeLists.txt."""
    found = []
    for lists in sorted(root.glob("*/CMakeLists.txt")):
        for name, arguments in CALL.findall(lists.read_text()):
            cuda_only = "CUDA_ONLY" in arguments.split()
            about = sentence_about(source_of(lists, name))
            found.append(Exercise(lists.parent.name, name, cuda_only, about))
    return found


def source_of(lists: Path, name: str) -> str:
    try:
        return lists.with_name(f"{name}.cu").read_text()
    except OSError as error:
        place = f"{lists.parent.name}/CMakeLists.txt"
        raise LabError(f"{place} names {name}, but {name}.cu: {error.strerror}") from error


def pick(names: Sequence[str], known: Sequence[Exercise]) -> list[Exercise]:
    """The exercises of these names; all of them for no names."""
    by_name = {exercise.name: exercise for exercise in known}
    for name in names:
        if name not in by_name:
            lower = {known_name.lower(): known_name for known_name in by_name}
            close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
            hint = f"did you mean {lower[close[0]]}?" if close else "./lab list shows them all"
            raise LabError(f"no exercise is named {name}; {hint}", status=2)
    return [by_name[name] for name in names] if names else list(known)
