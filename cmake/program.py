"""Runs the program of a test."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# Of all its threads. A program that needs more hangs; how long that takes by the clock depends on what
# else the machine does.
CPU_SECONDS = 600


class Done(NamedTuple):
    """A command that has ended."""

    command: Sequence[str]
    returncode: int
    stdout: str
    stderr: str
    milliseconds: float

    def option(self, name: str) -> str:
        """The value of --name=value, or nothing."""
        values = [word.partition("=")[2] for word in self.command if word.startswith(f"--{name}=")]
        return values[-1] if values else ""


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Done:
    """Without input; what it prints, which need not be text, is kept."""
    begin = time.monotonic()
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(environment or {})},
        preexec_fn=_limit,
    )
    milliseconds = 1e3 * (time.monotonic() - begin)
    return Done(command, done.returncode, done.stdout, done.stderr, milliseconds)


def run_noting(
    command: Sequence[str], variable: str, environment: Mapping[str, str] | None = None
) -> tuple[Done, str]:
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
