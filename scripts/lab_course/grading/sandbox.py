"""Runs one command of somebody nobody trusts, with limits, in a sandbox of the system (bubblewrap).

In a sandbox there are the system's programs and libraries (/usr) and the paths that are given, and no
other file: no home, no checkout, no other submission. Of processes and of networks it has its own alone.
It gains no rights, finds nobody to ask, and ends with lab.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lab_cli import signals
from lab_cli.errors import LabError

from . import bubblewrap
from .limits import LATE_OF_CPU, Limits, Order, Usage, bytes_in, passed, shown_bytes
from .running import Bare, InSandbox, Running

LATE = "had not ended after"
LOOK_AT_DISK = 0.2  # seconds
KILLED = 128 + signal.SIGKILL
WROTE_TOO_MUCH = 128 + signal.SIGXFSZ
FOR_A_TRY = Limits(
    seconds=10, cpu_seconds=10, memory=10**9, processes=64, file=10**6, disk=10**6, output=10**6
)


@dataclass(frozen=True)
class Ended:
    status: int  # as a shell has it: 128 + n for signal n
    output: str  # stdout and stderr as they came, cut where it printed more than it may
    reason: str  # which limit it passed, behind "it ..."; empty if none. The status is 137 then
    seconds: float
    files: Mapping[str, str]  # by name, those of `kept` that it has left

    @property
    def late(self) -> bool:
        """It took more time than it has."""
        return self.reason.startswith(LATE) or self.reason.endswith(LATE_OF_CPU)


def problem() -> str:
    """Why no sandbox can be made here, in one sentence with the remedy; empty if one can: it is tried."""
    text = bubblewrap.missing()
    if text:
        return text
    try:
        ended = run(["true"], FOR_A_TRY, single_process=True)
    except LabError as error:
        return f"no sandbox can be made: {error} ({bubblewrap.remedy()})"
    return f"no program runs in a sandbox: {ended.output.strip()}" if ended.status else ""


def run(
    command: Sequence[str],
    limits: Limits,
    *,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    variables: Mapping[str, str] = MappingProxyType({}),
    cwd: Path | None = None,
    kept: Sequence[str] = (),
    sandboxed: bool = True,
    single_process: bool = False,
    gpu: bool = False,
) -> Ended:
    """Runs `command`, a program by its path or one of PATH, to its end or to that of its limits; nothing
    of it is left then. stdin is empty. Status 127 where there is no such program. LabError where the
    sandbox cannot be made (such as a path that is not there), and where somebody else ends what runs the
    command, as lab does which is ended itself.

    The command has a folder of its own, TMPDIR, which is empty and gone with it; it is the current one
    where there is no `cwd`. In a sandbox it is /tmp, in memory, and all that a program can write to.
    Files in it with the names `kept` come back, if they are files: so a program hands over a report.

    `readable` and `writable`, files and folders, are there under their own names. Writable ones are for a
    compiler, not for a program that it made: what such a program has removed and keeps open is not counted
    by `limits.disk`, and what it leaves there may be a link to anything.

    Its environment is bubblewrap.VARIABLES and `variables`, no more. With `single_process` it can start
    threads, and no processes: not for a program that was compiled for the profiler, which asks addr2line
    what is a student's code and counts too much where it cannot. With `gpu` it has NVIDIA's GPUs, whose
    memory is not limited.

    As root, the sandbox is that of the user nobody: who calls sees to it that nobody can reach and read
    the paths (not so below /root, nor in what tempfile makes); the writable ones are given to nobody.

    Without `sandboxed`, the limits hold, `single_process` does not, and nothing keeps the command from
    what the user may do, as to read and to write all files, or to end lab. A command that becomes another
    user (su) is not ended.
    """
    started = time.monotonic()
    places = [_own_place(path) for path in readable], [_own_place(path) for path in writable]
    order = Order(command, limits, *places, variables, cwd, single_process, gpu)
    if signals.ending():
        raise LabError(f"{command[0]} is not run: lab is being ended")
    with (InSandbox if sandboxed else Bare)(order) as program:
        output = bytearray()
        reason = _watch(program, output)
        status = KILLED if reason else program.status()
        if status is None:
            raise _cannot(program, output, sandboxed)
        reason = reason or _seen_at_the_end(program, status, output)
        files = {name: program.file(name) for name in kept}
    return Ended(
        KILLED if reason else status,
        output[: limits.output].decode(errors="replace"),
        reason,
        time.monotonic() - started,
        {name: text for name, text in files.items() if text is not None},
    )


def _own_place(path: Path) -> Path:
    """LabError for a link: who made it could have anything shown, or written to."""
    if path.is_symlink():
        raise LabError(f"{path} is a link: a sandbox is given what it points to, or nothing")
    return path.absolute()


def _watch(program: Running, output: bytearray) -> str:
    """Until it has ended or passed a limit: which one. What it prints is added to `output`."""
    limits = program.order.limits
    start = time.monotonic()
    look = look_at_disk = start
    while not program.has_ended():
        if signals.ending():  # it was started too late to be ended with all others
            raise _ended_from_outside(program)
        output += program.read(program.look)
        if len(output) > limits.output:
            return _printed(limits)
        now = time.monotonic()
        reason = ""
        if now - start > limits.seconds:
            reason = f"{LATE} {limits.seconds:g} s"
        if not reason and now >= look:
            reason = passed(limits, program.usage())
            look = time.monotonic() + program.look
        if not reason and now >= look_at_disk:
            reason = _filled(program)
            look_at_disk = time.monotonic() + LOOK_AT_DISK
        if reason:
            return reason
    while data := program.read(0):
        output += data
    return ""


def _seen_at_the_end(program: Running, status: int, output: bytearray) -> str:
    """What a program that was quick has passed between two looks."""
    limits = program.order.limits
    if len(output) > limits.output:
        return _printed(limits)
    if status == WROTE_TOO_MUCH:
        return f"wrote a file of more than {shown_bytes(limits.file)}"
    assert program.usage_of_dead is not None
    dead = program.usage_of_dead
    memory = dead.ru_maxrss * 1024  # of the largest process, which bwrap began as: as large as lab
    if memory <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024:
        memory = 0
    return passed(limits, Usage(dead.ru_utime + dead.ru_stime, memory)) or _filled(program)


def _printed(limits: Limits) -> str:
    return f"printed more than {shown_bytes(limits.output)}"


def _filled(program: Running) -> str:
    most = program.order.limits.disk
    total = 0
    for folder in program.folders():
        total += bytes_in(folder, most)
    return f"wrote more than {shown_bytes(most)} of files" if total > most else ""


def _cannot(program: Running, output: bytearray, sandboxed: bool) -> LabError:
    name = program.order.command[0]
    if program.ended_by_somebody():
        return _ended_from_outside(program)
    text = output.decode(errors="replace").strip() or "no reason was given"
    if sandboxed and os.geteuid() == 0 and "Permission denied" in text:
        text += (
            ". As root, lab makes sandboxes by the user nobody, who must be able to reach what is in them: "
            "run it as an ordinary user, or where all can read it (not below /root)"
        )
    return LabError(f"cannot run {name}{' in a sandbox' if sandboxed else ''}: {text}")


def _ended_from_outside(program: Running) -> LabError:
    return LabError(f"what ran {program.order.command[0]} was ended from outside")
