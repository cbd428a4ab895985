"""Whoever ends lab ends what it started: a child, and what that started in turn."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 2.0  # seconds, until who does not end by itself is killed
_ending = False


def passing_on(work: Callable[[], int]) -> int:
    """The exit status of `work`, which raises no SystemExit, or that of the signal which ended it."""
    try:
        pass_on()
        status = work()
        _let_go()
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except SystemExit as end:  # of _end()
        status = int(end.code or 0)
    return status


def pass_on() -> None:
    """From now on, a signal that ends lab ends its descendants first. One that the caller has told lab
    to ignore stays ignored."""
    for number in _heeded():
        signal.signal(number, _end)


def _let_go() -> None:
    for number in _heeded():
        signal.signal(number, signal.SIG_DFL)


def _heeded() -> list[signal.Signals]:
    return [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]


def hold() -> None:
    """From now on, signals that would end this process wait, also in what it becomes. A Python program
    that takes them when it is ready shows no traceback of its start."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Within the block, a signal that would end this process waits, whichever of its threads it comes to.
    In a program that is started there, it waits until the program takes it, as with hold(). The value of
    the block is a function that lets go: a signal that has come is heeded then."""
    noted: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        noted.append(number)

    handlers = {number: signal.signal(number, note) for number in _heeded()}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)

    def let_go() -> None:
        while handlers:
            signal.signal(*handlers.popitem())
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if noted:
            number = noted[0]
            noted.clear()
            signal.raise_signal(number)

    try:
        yield let_go
    finally:
        let_go()


def ending() -> bool:
    """Whether a signal is ending lab: programs that it has started end for that."""
    return _ending


def _end(number: int, _: FrameType | None) -> None:
    global _ending
    _ending = True
    for other in ENDING:  # once is enough: a second one would come amid the cleaning up
        signal.signal(other, _again)
    # Python hears now those that have come meanwhile: it would complain of them once they are ignored.
    signal.raise_signal(number)
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    end_descendants()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)  # an exception: temporary files are cleaned up


def _again(number: int, _: FrameType | None) -> None:
    pass


def end_descendants() -> None:
    asked: set[int] = set()
    limit = time.monotonic() + PATIENCE
    while living := descendants():
        if time.monotonic() > limit:
            _send(signal.SIGKILL, living)
            return
        asked |= _ask(asked)
        time.sleep(0.01)


def _ask(asked: set[int]) -> set[int]:
    """Asks the descendants to end that have not been `asked` yet, and returns them. All are stopped first:
    one that goes on could start another, which would be nobody's descendant once its parent has ended."""
    stopped: set[int] = set()
    stand_still = False
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        states = descendants()
        new = set(states) - asked - stopped
        if stand_still and not new:  # what they had started by then was there to be seen
            break
        _send(signal.SIGSTOP, new)
        stand_still = not new and all(states[process] in "Tt" for process in stopped & set(states))
        stopped |= new
    _send(signal.SIGTERM, stopped)
    _send(signal.SIGCONT, stopped)
    return stopped


def _send(number: signal.Signals, processes: Iterable[int]) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except (ProcessLookupError, PermissionError):
            pass


def descendants(of: int = 0) -> dict[int, str]:
    """Processes whose parent, or whose parent's parent ..., is `of` (0: this one), but for the dead; and
    the state of each: T where it is stopped."""
    parents: dict[int, int] = {}
    states: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:  # "pid (name) state parent ...", and a name may have any bytes
            text = (folder / "stat").read_text(errors="replace")
            words = text.rpartition(")")[2].split()
            state, parent, threads = words[0], words[1], int(words[17])
        except (OSError, ValueError, IndexError):  # it has just ended
            continue
        if state not in "ZX" or threads > 1:  # else only its first thread has ended
            parents[int(folder.name)] = int(parent)
            states[int(folder.name)] = state
    found: dict[int, str] = {}
    new = {of or os.getpid()}
    while new:
        new = {process for process, parent in parents.items() if parent in new}
        found.update({process: states[process] for process in new})
    return found
