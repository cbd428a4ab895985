"""Runs commands, each shown before it runs: what lab does, a student can do without it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from .errors import LabError
from .paths import ROOT


def say(text: str) -> None:
    """What lab itself has to say goes to stderr: stdout belongs to the command that it runs."""
    print(text, file=sys.stderr, flush=True)


def shown(command: Sequence[str]) -> str:
    """The command as a shell would take it, with the checkout's own files as relative paths."""
    prefix = str(ROOT) + os.sep
    words = [word[len(prefix) :] if word.startswith(prefix) else word for word in command]
    return shlex.join(words)


def status_of(returncode: int) -> int:
    """The exit status as a shell has it: 128 + n for signal n."""
    return 128 - returncode if returncode < 0 else returncode


def describe(status: int) -> str:
    """'exit status 1', or 'killed by SIGSEGV'."""
    if status > 128:
        try:
            return f"killed by {signal.Signals(status - 128).name}"
        except ValueError:
            pass
    return f"exit status {status}"


def run(command: Sequence[str], cwd: Path | None = None, to_stderr: bool = False) -> int:
    """Shows and runs `command`, and returns its exit status. `to_stderr` moves its stdout there."""
    say("+ " + shown(command))
    try:
        done = subprocess.run(command, cwd=cwd, stdout=sys.stderr if to_stderr else None)
    except OSError as error:
        raise LabError(f"cannot run {command[0]}: {error.strerror}") from error
    return status_of(done.returncode)


def must_run(command: Sequence[str], cwd: Path | None = None) -> None:
    """run() to stderr, for a step without which there is no going on."""
    status = run(command, cwd=cwd, to_stderr=True)
    if status != 0:
        raise LabError(f"{shown(command)}: {describe(status)}; the reason is above", status)


def run_lines(
    command: Sequence[str],
    each: Callable[[str], None],
    stdin: int | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Shows and runs `command`, and returns its exit status; `each` gets each line of its output,
    stdout and stderr together, as it comes. Its environment has these variables, too."""
    say("+ " + "".join(f"{name}=... " for name in variables) + shown(command))
    try:
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **variables},
        )
    except OSError as error:
        raise LabError(f"cannot run {command[0]}: {error.strerror}") from error
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            each(line.decode(errors="replace"))
    return status_of(process.returncode)


def output_of(command: Sequence[str]) -> str:
    """stdout of a quick question to a tool; empty if the tool is missing or fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""
