"""A command that has been started, in a sandbox or without one: what it prints and uses, and its end."""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import select
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, cast

from lab_cli import signals
from lab_cli.errors import LabError
from lab_cli.files import reason
from lab_cli.machine.needs import version_in
from lab_cli.paths import SCRIPTS

from . import bubblewrap, seccomp
from .limits import BLOCK, Order, Usage, of_kernel, possible, usage_of

# Where memory runs out, the kernel ends those first (proc(5)). (choom is not in util-linux before 2.33.)
FIRST_TO_GO = 'echo 1000 > /proc/self/oom_score_adj && exec "$@"'
# RLIMIT_NPROC counts by user namespace since this version of Linux. Before it counts all processes of
# the user, of which a desktop has more than a sandbox may have: it is left alone there, and what runs is
# counted all the same.
COUNTS_BY_NAMESPACE = (5, 14)
OPTIONS = {  # of prlimit
    resource.RLIMIT_AS: "as",
    resource.RLIMIT_CORE: "core",
    resource.RLIMIT_CPU: "cpu",
    resource.RLIMIT_FSIZE: "fsize",
    resource.RLIMIT_MEMLOCK: "memlock",
    resource.RLIMIT_MSGQUEUE: "msgqueue",
    resource.RLIMIT_NOFILE: "nofile",
    resource.RLIMIT_NPROC: "nproc",
}
SPARE = 16  # processes that can be started beyond the limit: to be seen to have passed it
SPARE_OF_USER = 1000  # without a sandbox: what the user's other programs may start meanwhile
AT_ONCE = 1 << 16  # bytes
PATIENCE = 60.0  # seconds: making a sandbox takes some milliseconds


class Running:
    """Within its block the command runs; behind it, nothing of it is left."""

    look: float  # seconds between two looks at what it uses, which costs time
    _own: int  # a descriptor of the command's own folder, which was empty when it began

    def __init__(self, order: Order) -> None:
        self.order = order
        self.usage_of_dead: resource.struct_rusage | None = None  # once it has ended
        self._process: subprocess.Popen | None = None
        self._stack = ExitStack()
        self._told = b""
        self._reads = True

    def __enter__(self) -> Running:
        try:
            self._tells, tells = self._pipe()
            self._process = self._start(tells)
            self._output = self._stack.enter_context(cast("IO[bytes]", self._process.stdout))
            tells.close()
            self._started()
        except BaseException as error:
            if self._process:
                self._send(signal.SIGKILL)
                self._reap()
            self._stack.close()
            if isinstance(error, OSError):
                raise LabError(f"cannot run {self.order.command[0]}: {reason(error)}") from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if not self.has_ended():
                self.kill()
            self._reap()
        finally:
            self._stack.close()

    def _start(self, tells: IO[bytes]) -> subprocess.Popen:
        """The process whose end is the command's. It writes "exit-code": N into the pipe `tells`."""
        raise NotImplementedError

    def _started(self) -> None:
        """What there is to do before the command begins."""

    def usage(self) -> Usage:
        """What it uses now."""
        raise NotImplementedError

    def kill(self) -> None:
        raise NotImplementedError

    def folders(self) -> Sequence[Path]:
        """Those that it can fill."""
        return self.order.writable

    def has_ended(self) -> bool:
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return self.usage_of_dead is not None or bool(os.waitid(os.P_PID, self._process.pid, how))

    def read(self, seconds: float) -> bytes:
        """What it has printed, as soon as there is something; empty if that takes longer."""
        if not self._reads:
            time.sleep(min(seconds, 0.002))  # it is about to end
            return b""
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        if not poll.poll(1000 * seconds):
            return b""
        data = os.read(self._output.fileno(), AT_ONCE)
        self._reads = bool(data)
        return data

    def status(self) -> int | None:
        """Of the command, which has ended; None where something else has: it could not be started, or
        somebody has ended what runs it."""
        self._reap()
        return self._number("exit-code")

    def ended_by_somebody(self) -> bool:
        return not 0 <= self._process.returncode < 128

    def _send(self, number: signal.Signals) -> None:
        """Sends a signal to the process. Popen.send_signal() would first reap a process that has ended, and
        then _reap() could not."""
        os.kill(self._process.pid, number)

    def _reap(self) -> None:
        if self.usage_of_dead is None:
            _, status, self.usage_of_dead = os.wait4(self._process.pid, 0)
            self._process.returncode = os.waitstatus_to_exitcode(status)

    def _number(self, name: str) -> int | None:
        """Waits until it is told; None where it will not be."""
        wanted = re.compile(rb'"%s": *(\d+)\D' % name.encode())
        while not (found := wanted.search(self._told)):
            data = self._tells.read(AT_ONCE)
            if not data:
                return None
            self._told += data
        return int(found[1])

    def file(self, name: str) -> str | None:
        """A file that the command, which has ended, has left in its own folder; None if it is not there, or
        is anything else than a file."""
        how = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            with open(os.open(name, how, dir_fd=self._own), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                return file.read(self.order.limits.file).decode(errors="replace")
        except OSError:
            return None

    def _folder(self, path: str) -> int:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self._stack.callback(os.close, descriptor)
        return descriptor

    def _pipe(self) -> tuple[IO[bytes], IO[bytes]]:
        """Its ends, to read and to write, which are closed at the latest when this has ended."""
        reads, writes = os.pipe()
        return (
            self._stack.enter_context(open(reads, "rb", buffering=0)),
            self._stack.enter_context(open(writes, "wb", buffering=0)),
        )


def _held_to(order: Order) -> list[str]:
    """Programs that set the limits and become the command. They do so within: from outside, not even a
    container's root may. (That of processes would not let bwrap itself start any.)"""
    wanted = of_kernel(order)
    if (version_in(platform.release()) or ()) >= COUNTS_BY_NAMESPACE:
        wanted[resource.RLIMIT_NPROC] = order.limits.processes + SPARE
    options = [f"--{OPTIONS[kind]}={value}" for kind, value in possible(wanted).items()]
    return [
        *("/bin/sh", "-c", FIRST_TO_GO, "sh"),
        *("/usr/bin/prlimit", *options, "--"),
        *order.command,
    ]


class InSandbox(Running):
    """Of bwrap, which makes a process that the kernel ends all others of the sandbox with."""

    look = 0.02

    def _start(self, tells: IO[bytes]) -> subprocess.Popen:
        order = self.order
        rules, writes = self._pipe()
        allowed = seccomp.filter_program(order.single_process, gpu=order.gpu)
        writes.write(allowed)  # a pipe has room for it
        writes.close()
        waits, self._gate = self._pipe()
        descriptors = {
            "--json-status-fd": tells.fileno(),
            "--seccomp": rules.fileno(),
            "--block-fd": waits.fileno(),
        }
        user: dict[str, Any] = {}
        if os.geteuid() == 0:
            user = {"user": bubblewrap.NOBODY, "group": bubblewrap.NOBODY, "extra_groups": []}
            for path in order.writable:
                os.chown(path, bubblewrap.NOBODY, bubblewrap.NOBODY, follow_symlinks=False)
        process = subprocess.Popen(
            bubblewrap.command_line(order, _held_to(order), descriptors),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={},
            pass_fds=[*descriptors.values()],
            **user,
        )
        for file in (rules, waits):
            file.close()
        return process

    def _started(self) -> None:
        """Opens its /proc and /tmp, before the command begins: no command escapes being looked at, and
        what it leaves in /tmp can be read when it has ended."""
        self._first = self._number("child-pid") or 0  # that of bwrap itself; 0 where it has failed
        limit = time.monotonic() + PATIENCE
        while not self.has_ended() and not self._opens():
            if time.monotonic() > limit:
                raise LabError("what runs in a sandbox cannot be seen in /proc")
            time.sleep(0.001)
        with suppress(BrokenPipeError):  # it has failed
            self._gate.write(b"\n")
        self._gate.close()

    def _opens(self) -> bool:
        """Not before it has a root of its own: until then it has all that the machine has."""
        root = f"/proc/{self._first}/root"
        try:
            self._proc = self._folder(f"{root}/proc")
            if os.fstat(self._proc).st_dev == os.stat("/proc").st_dev:
                return False
            self._own = self._folder(f"{root}/tmp")
        except OSError:
            return False
        return True

    def usage(self) -> Usage:
        """With what is in its /tmp. Its own /proc shows its processes alone."""
        try:
            processes = {int(name) for name in os.listdir(self._proc) if name.isdecimal()}
        except OSError:  # it has just ended
            return Usage()
        usage = usage_of(Path(f"/proc/self/fd/{self._proc}"), processes - {1})  # that of bwrap
        tmp = os.fstatvfs(self._own)
        in_tmp = (tmp.f_blocks - tmp.f_bfree) * tmp.f_frsize + (tmp.f_files - tmp.f_ffree) * BLOCK
        return Usage(usage.cpu_seconds, usage.memory + in_tmp, usage.processes)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._first or self._process.pid, signal.SIGKILL)


class Bare(Running):
    """Of bare.py, which ends what the command leaves behind."""

    look = 0.1  # all processes of the machine are looked through

    def _start(self, tells: IO[bytes]) -> subprocess.Popen:
        order = self.order
        folder = tempfile.TemporaryDirectory(prefix="lab-")
        self._stack.callback(_remove, folder)
        self._tmp = folder.name
        self._own = self._folder(self._tmp)
        wanted = of_kernel(order)
        wanted[resource.RLIMIT_NPROC] = _tasks_of_user() + order.limits.processes + SPARE_OF_USER
        asked = {
            "command": [*order.command],
            "cwd": str(order.cwd or self._tmp),
            "variables": {**bubblewrap.VARIABLES, "TMPDIR": self._tmp, **order.variables},
            "limits": possible(wanted),
        }
        helper = [sys.executable, "-m", "lab_course.grading.bare", json.dumps(asked)]
        return subprocess.Popen(
            [*helper, str(tells.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[tells.fileno()],
            env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
            start_new_session=True,
        )

    def usage(self) -> Usage:
        return usage_of(Path("/proc"), signals.descendants(self._process.pid))

    def kill(self) -> None:
        for number in (signal.SIGTERM, signal.SIGCONT):  # the command may have stopped it
            self._send(number)

    def folders(self) -> Sequence[Path]:
        return [*self.order.writable, Path(self._tmp)]


def _remove(folder: tempfile.TemporaryDirectory) -> None:
    with suppress(OSError):  # of another user's file
        folder.cleanup()


def _tasks_of_user() -> int:
    """Processes and threads of this user, on the whole machine."""
    proc = Path("/proc")
    mine = []
    for folder in proc.iterdir():
        with suppress(OSError):
            if folder.name.isdecimal() and folder.stat().st_uid == os.geteuid():
                mine.append(int(folder.name))
    return usage_of(proc, mine).processes
