"""What a student has changed: the sources of an exercise against those that were shipped."""

from __future__ import annotations

import difflib
import shutil
from pathlib import Path

from lab_cli import work
from lab_cli.catalogue import Exercise
from lab_cli.exercise_sources import sources
from lab_cli.process import output_of

from . import text
from .facts import Change, Changes
from .text import Cleaner

TAG = "handout"  # of a workspace that was handed out
UPSTREAM = ("origin/HEAD", "origin/main")
MOST, MOST_LINES = 60_000, 1_000  # of the diff of a file


def of(exercise: Exercise, clean: Cleaner) -> Changes:
    """Of NAME.cu and the files beside it that it includes, as they are now; or of the student's copy."""
    if work.is_meant(exercise.name):
        return _of_copy(exercise, clean)
    root = exercise.source.parents[2]
    commit, base, problem = shipped(root)
    if problem:
        return Changes(problem)
    found = []
    for path, content in sorted(sources(exercise.source).items()):
        name = path.relative_to(root).as_posix()
        before = _git(root, "show", f"{commit}:./{name}")
        diff = _diff(name, before, content.decode(errors="replace"))
        if diff:
            found.append(Change(name, text.cut(clean(diff), MOST, MOST_LINES)))
    return Changes("", base, found)


def _of_copy(exercise: Exercise, clean: Cleaner) -> Changes:
    copy, blank = work.copy_of(exercise.name), work.blank_of(exercise.name)
    try:
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in (blank, copy)]
    except OSError as error:
        return Changes(f"{blank.name}: {error.strerror}")
    diff = _diff(copy.name, *texts)
    found = [Change(copy.name, text.cut(clean(diff), MOST, MOST_LINES))] if diff else []
    return Changes("", f"what ./lab start {exercise.name} made", found)


def shipped(root: Path) -> tuple[str, str, str]:
    """The commit that the exercises came with, and which one that is in words; or why it is not known."""
    if not shutil.which("git"):
        return "", "", "git is not installed, so nobody knows what was shipped"
    head = _commit(root, "HEAD")
    if not head:
        return "", "", "this is no checkout of git, so nobody knows what was shipped"
    tagged = _commit(root, f"refs/tags/{TAG}")
    if tagged:
        return tagged, f"the tag {TAG} ({_short(root, tagged)})", ""
    for upstream in UPSTREAM:
        if _commit(root, f"refs/remotes/{upstream}"):
            merged = _git(root, "merge-base", "HEAD", f"refs/remotes/{upstream}").strip()
            if merged:
                return (
                    merged,
                    f"the version of {upstream} that this one comes from ({_short(root, merged)})",
                    "",
                )
    return head, f"the last commit ({_short(root, head)})", ""


def _commit(root: Path, name: str) -> str:
    return _git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").strip()


def _short(root: Path, commit: str) -> str:
    return _git(root, "rev-parse", "--short", commit).strip()


def _git(root: Path, *arguments: str) -> str:
    """Empty where git says no. Also in another user's checkout."""
    return output_of(["git", "-C", str(root), "-c", f"safe.directory={root}", *arguments])


def _diff(name: str, before: str, now: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), now.splitlines(), f"shipped/{name}", f"yours/{name}", lineterm=""
    )
    return "\n".join(lines)
