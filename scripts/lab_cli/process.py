"""Runs commands, each shown before it runs: what lab does, a student can do without it."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType

from . import signals
from .errors import LabError
from .files import about_space
from .paths import BUILD_VARIABLE, ROOT
from .progress import Progress, aside


def say(text: str) -> None:
    """What lab itself has to say goes to stderr: stdout belongs to the command that it runs."""
    with aside():
        print(text, file=sys.stderr, flush=True)


def show(text: str) -> None:
    """On stdout as it is, at once."""
    if text:
        with aside():
            sys.stdout.write(text)
            sys.stdout.flush()


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


def cannot_run(program: str, error: OSError) -> str:
    """Why it did not start, and what to do about it."""
    reason = f"cannot run {program}: {error.strerror}"
    if isinstance(error, FileNotFoundError) and os.path.exists(program):
        return f"cannot run {program}: it is there, what it is to be run with (its loader) is not"
    if isinstance(error, PermissionError) and os.path.isfile(program):
        if not os.stat(program).st_mode & 0o111:
            return f"{reason}: nobody has the right to run it; remove it, and lab builds it again"
        return (
            f"{reason}. Programs may not be run there, as it seems (noexec?): {BUILD_VARIABLE}=FOLDER "
            "in the environment puts builds elsewhere"
        )
    if error.errno == errno.ENOEXEC:
        return f"{reason}: it was built for another machine, or not to the end; remove it"
    return reason


def run(
    command: Sequence[str],
    cwd: Path | None = None,
    to_stderr: bool = False,
    held: bool = False,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Shows and runs `command`, and returns its exit status. `to_stderr` moves its stdout there. With
    `held`, signals that would end it wait until it takes them. Its environment has these variables,
    too."""
    say("+ " + "".join(f"{name}={value} " for name, value in variables.items()) + shown(command))
    stdout = sys.stderr if to_stderr else None
    environment = {**os.environ, **variables}
    try:
        with signals.held() if held else nullcontext():
            process = subprocess.Popen(command, cwd=cwd, stdout=stdout, env=environment)
        with process:
            return status_of(process.wait())
    except OSError as error:
        raise LabError(cannot_run(command[0], error)) from error


def step(command: Sequence[str], what: str, read: Callable[[str, Progress], None]) -> None:
    """Shows and runs a command without which there is no going on. In place of what it prints, which is
    shown where it fails, there is progress: `read` gets each line, and says what it means."""
    say("+ " + shown(command))
    lines: list[str] = []
    with Progress(what) as progress:

        def keep(line: str) -> None:
            lines.append(line)
            read(line.strip(), progress)

        status = each_line(command, keep)
    if status != 0:
        printed = "".join(lines)
        say(printed.rstrip("\n"))
        raise failed(command, status, printed)


def failed(command: Sequence[str], status: int, printed: str) -> LabError:
    """Of a command that has said why."""
    text = f"{shown(command)}: {describe(status)}; the reason is above{about_space(printed)}"
    return LabError(text, status, printed=printed)


def run_lines(
    command: Sequence[str],
    each: Callable[[str], None],
    stdin: int | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Shows `command`, then each_line()."""
    say("+ " + "".join(f"{name}=... " for name in variables) + shown(command))
    return each_line(command, each, stdin, variables)


def each_line(
    command: Sequence[str],
    each: Callable[[str], None],
    stdin: int | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
    cwd: Path | None = None,
) -> int:
    """Runs `command`, and returns its exit status; `each` gets each line of its output, stdout and
    stderr together, as it comes. Its environment has these variables, too."""
    try:
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **variables},
            cwd=cwd,
        )
    except OSError as error:
        raise LabError(cannot_run(command[0], error)) from error
    with process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                each(line.decode(errors="replace"))
        except BaseException:  # such as a full disk: nobody would hear the end of it
            signals.end_descendants()
            raise
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
