"""What a program may use, and how it is seen what it uses.

The kernel holds a process to some of it (of_kernel()). What several processes use together, and memory
in use rather than reserved, is looked at every few hundredths of a second: between two looks a program
can go beyond its limit by what it can touch or write meanwhile, some hundred megabytes.
"""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Of one process. That of a limit of memory would not do: for each emulated multiprocessor, the cpu back
# end reserves about 0.2 GB for the stacks of 1024 CUDA threads, of which it touches little (at 64
# multiprocessors, between 8 and 16 GiB are reserved and 9 MB touched).
ADDRESS_SPACE = 64 << 30
LATE_OF_CPU = "s of CPU time"
BLOCK = 4096  # bytes: what an empty file is counted as, so that there cannot be any number of them


@dataclass(frozen=True)
class Limits:
    seconds: float  # until it has ended
    cpu_seconds: float  # of all its threads and processes
    memory: int  # bytes in use, with what is in its /tmp
    processes: int  # and threads
    file: int  # bytes of one written file
    disk: int  # bytes in all folders that it may write into, with what was there before
    output: int  # bytes of stdout and stderr


@dataclass(frozen=True)
class Order:
    """What is to run."""

    command: Sequence[str]
    limits: Limits
    readable: Sequence[Path]
    writable: Sequence[Path]
    variables: Mapping[str, str]
    cwd: Path | None  # None: its own folder, which is empty
    single_process: bool
    gpu: bool = False


@dataclass(frozen=True)
class Usage:
    cpu_seconds: float = 0.0
    memory: int = 0
    processes: int = 0


def of_kernel(order: Order) -> dict[int, int]:
    """Limits of each process, by number of the resource. That of CPU time is for the case that nobody
    looks any more. CUDA reserves more addresses than there is memory in any machine."""
    limits = order.limits
    addresses = {} if order.gpu else {resource.RLIMIT_AS: ADDRESS_SPACE}
    return {
        **addresses,
        resource.RLIMIT_CPU: math.ceil(limits.cpu_seconds) + 1,
        resource.RLIMIT_FSIZE: limits.file,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: 1024,
    }


def possible(wanted: Mapping[int, int]) -> dict[int, int]:
    """Limits by resource that may be set: none above those of this process."""
    found = {}
    for kind, value in wanted.items():
        _, most = resource.getrlimit(kind)
        found[kind] = value if most == resource.RLIM_INFINITY else min(value, most)
    return found


def usage_of(proc: Path, processes: Iterable[int]) -> Usage:
    """Of these processes together, as a procfs has them."""
    ticks = kilobytes = threads = 0
    for process in processes:
        folder = proc / str(process)
        try:
            fields = _status(folder)
            stat = (folder / "stat").read_text(errors="replace")
            threads += int(fields["Threads"])
            kilobytes += _memory(fields) or _memory_of_headless(folder)
        except OSError:  # it has just ended
            continue
        # "pid (name) state ...", proc(5): utime, stime, and those of children that it has waited for
        ticks += sum(int(word) for word in stat.rpartition(")")[2].split()[11:15])
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), kilobytes * 1024, threads)


def _status(folder: Path) -> dict[str, str]:
    lines = (folder / "status").read_text(errors="replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _memory(fields: Mapping[str, str]) -> int:
    """In units of 1024 bytes; none of the dead."""
    return sum(int(fields.get(name, "0").split()[0]) for name in ("VmRSS", "VmSwap", "VmPTE"))


def _memory_of_headless(folder: Path) -> int:
    """Where the first thread has ended, others know of the memory that they all have."""
    found = 0
    for task in os.listdir(folder / "task"):
        with suppress(OSError):  # it has just ended, and the others have not
            found = max(found, _memory(_status(folder / "task" / task)))
    return found


def bytes_in(folder: Path, enough: int) -> int:
    """What the files in a folder take; where that is more than `enough`, no more than that is counted."""
    total = 0
    todo = [str(folder)]
    while todo and total <= enough:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    total += BLOCK + entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    if total > enough:
                        break
        except OSError:  # a file or a folder that is gone, or that may not be read
            continue
    return total


def shown_bytes(number: int) -> str:
    """'1 GB', '1.5 MB', '300 bytes'"""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number} bytes"


def passed(limits: Limits, usage: Usage) -> str:
    """Which limit `usage` has passed, in words; empty if none."""
    if usage.memory > limits.memory:
        return f"took more than {shown_bytes(limits.memory)} of memory"
    if usage.processes > limits.processes:
        return f"ran more than {limits.processes} processes and threads"
    if usage.cpu_seconds > limits.cpu_seconds:
        return f"took more than {limits.cpu_seconds:g} {LATE_OF_CPU}"
    return ""
