"""Ends a program that takes too long."""

from __future__ import annotations

import threading

from . import signals
from .errors import LabError


class TimeLimit:
    """What lab starts within its block is ended after so many seconds (None: never), and the block ends
    with a LabError then."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.passed = False
        self._timer = None if seconds is None else threading.Timer(seconds, self._end)

    def __enter__(self) -> TimeLimit:
        if self._timer:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer.join()  # or it would end what is started next
        if self.passed:
            raise LabError(
                f"the program had not ended after {self.seconds:g} seconds (--timeout), and was ended"
            )

    def _end(self) -> None:
        self.passed = True
        signals.end_descendants()
