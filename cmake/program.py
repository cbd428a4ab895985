"""Runs the program of a test."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# Of all its threads. A program that needs more hangs; how long that takes by the clock depends on what
# else the machine does.
CPU_SECONDS = 600


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def run(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Without input; what it prints, which need not be text, is kept."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(environment or {})},
        preexec_fn=_limit,
    )


def run_noting(
    command: Sequence[str], variable: str, environment: Mapping[str, str] | None = None
) -> tuple[subprocess.CompletedProcess[str], str]:
    """An instrumented program, and what it wrote to the file that the environment variable names."""
    with tempfile.TemporaryDirectory(prefix="notes-") as folder:
        path = Path(folder) / "notes"
        done = run(command, {**(environment or {}), variable: str(path)})
        return done, path.read_text(errors="replace") if path.exists() else ""


def outdated(program: str, source: str) -> str:
    """Why `program` is not what `source` says, in words; empty if it is. For what a build of one
    target alone does not build."""
    built = Path(program)
    if not built.exists():
        return f"{program} is not built; a build of everything has it"
    if built.stat().st_mtime < Path(source).stat().st_mtime:
        return f"{program} is older than {source}; a build of everything has it"
    return ""
