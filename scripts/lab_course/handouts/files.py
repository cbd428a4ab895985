"""Which files of the checkout a hand-out has."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from lab_cli.catalogue import Exercise
from lab_cli.errors import LabError, printable
from lab_cli.paths import OUT, ROOT

# Beside git's own: what no hand-out has, where there is no git that says what belongs to the checkout.
NOT_OURS = {".git", ".venv", "out", "build", "work", "__pycache__", ".pytest_cache", ".ruff_cache"}
# What the tests of exercises use. All else in folders named tests is for the workspace itself, or has solutions.
OF_EXERCISES = re.compile(
    r"tests/emulator/profiler/(compare|expected_counts)\.py|\w+/\w+/tests/\w+\.py"
)
NOT_FOR_STUDENTS = (".ci/", ".github/", "TEACHING.md")
HEADERS = (".h", ".cuh")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def of_checkout() -> list[Path]:
    """Those that belong to it, relative to it, by name."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        paths = _tracked(git)
    else:
        paths = _all_there(ROOT)
    return sorted(path for path in paths if os.path.lexists(ROOT / path))


def environment_of_git() -> dict[str, str]:
    """Ours, without what names another repository or index: within a hook, git's own is named."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def _tracked(git: str) -> list[Path]:
    command = [git, "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "ls-files", "-z"]
    done = subprocess.run(command, cwd=ROOT, env=environment_of_git(), capture_output=True)
    if done.returncode != 0:
        raise LabError(f"git ls-files: {printable(done.stderr.decode(errors='replace').strip())}")
    return [Path(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name]


def _all_there(folder: Path) -> Iterable[Path]:
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_OURS and Path(above, name) != OUT]
        for name in names:
            if not name.endswith((".pyc", ".o", ".a")):
                yield Path(above, name).relative_to(folder)


def handed_out(paths: Iterable[Path], left_out: Iterable[Exercise]) -> list[Path]:
    """Of the files of the checkout, those that a hand-out has."""
    ours = [
        path
        for path in paths
        if not path.as_posix().startswith(NOT_FOR_STUDENTS)
        and ("tests" not in path.parts or OF_EXERCISES.fullmatch(path.as_posix()))
    ]
    folders = {exercise.folder.relative_to(ROOT) for exercise in left_out}
    kept = [path for path in ours if folders.isdisjoint(path.parents)]
    lonely = _lonely_headers(ours, kept, {exercise.chapter for exercise in left_out})
    return [path for path in kept if path not in lonely]


def _lonely_headers(before: list[Path], after: list[Path], chapters: set[str]) -> set[Path]:
    """Headers of these chapters that were included, and are not any more."""
    gone: set[Path] = set()
    included_before = _included(before)
    while True:
        included = _included(path for path in after if path not in gone)
        new = {
            path
            for path in after
            if path not in gone
            and path.parts[0] in chapters
            and path.suffix in HEADERS
            and path.name in included_before - included
        }
        if not new:
            return gone
        gone |= new


def users(path: Path, sources: Iterable[Path]) -> list[str]:
    """The exercises, of these NAME.cu, that a file belongs to: one in their folder, or a header that they
    include."""
    return [
        source.stem
        for source in sources
        if source.parent in path.parents
        or (path.suffix in HEADERS and path.name in _included([source]))
    ]


def _included(paths: Iterable[Path]) -> set[str]:
    """The names of files that the exercises among them include."""
    names: set[str] = set()
    for path in paths:
        if path.suffix in (".cu", ".cuh", ".h", ".cpp") and path.parts[0] not in (
            "emulator",
            "tests",
        ):
            text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
            names.update(name.rpartition("/")[2] for name in INCLUDE.findall(text))
    return names
