"""What ends a program of this folder from outside lets it remove its temporary files first."""

import signal
from types import FrameType
from typing import Optional


def end_by_exception() -> None:
    """From now on, a signal that ends the program raises SystemExit, with the status that a shell gives
    it. One that the caller has told it to ignore stays ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _: Optional[FrameType]) -> None:
    raise SystemExit(128 + number)
