"""What a program of the emulator does when it is ended from outside: it removes its temporary files."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Callable, Optional

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Ending:
    """Which signal has come, and whether it waits until what is going on is done."""

    number: Optional[int] = None
    held = 0
    waits = False


def _handle(handler: Callable[[int, Optional[FrameType]], None]) -> None:
    """From now on. A signal that the caller has told the program to ignore stays ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)
    # Those that whoever started the program has kept back until it is ready.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def end_at_once() -> None:
    """From now on, a signal ends the program, with the status that a shell gives it: for a time in which
    there is nothing to remove, such as that of the imports."""
    _handle(lambda number, _: os._exit(128 + number))


def end_by_exception() -> None:
    """From now on, the first signal that ends the program raises SystemExit, with the status that a
    shell gives it. Those after it change nothing."""
    _handle(_end)


def _end(number: int, _: Optional[FrameType]) -> None:
    if _Ending.number is not None:
        return
    _Ending.number = number
    if _Ending.held:
        _Ending.waits = True
    else:
        raise SystemExit(128 + number)


@contextmanager
def held() -> Iterator[None]:
    """What is done in here is done as a whole: a signal waits until the end."""
    _Ending.held += 1
    try:
        yield
    finally:
        _Ending.held -= 1
    if _Ending.waits and not _Ending.held:
        _Ending.waits = False
        raise SystemExit(128 + (_Ending.number or 0))
