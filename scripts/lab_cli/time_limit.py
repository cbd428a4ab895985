"""Ends a program that takes too long."""

from __future__ import annotations

from threading import Timer

from . import signals
from .errors import LabError


class TimeLimit:
    """What lab starts within its block is ended after so many seconds (None: never), and the block ends
    with a LabError then."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.passed = False
        self._timer: Timer | None = None

    def __enter__(self) -> TimeLimit:
        self.begin()
        return self

    def begin(self) -> None:
        """Now, or anew."""
        self._stop()
        if self.seconds is not None:
            self._timer = Timer(self.seconds, self._end)
            self._timer.daemon = True
            self._timer.start()

    def _stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer.join()  # or it would end what is started next

    def __exit__(self, *_: object) -> None:
        self.check()

    def check(self) -> None:
        """Ends the time, too."""
        self._stop()
        if self.passed:
            raise LabError(
                f"the program had not ended after {self.seconds:g} seconds (--timeout), and was ended"
            )

    def _end(self) -> None:
        self.passed = True
        over = False
        while not over:  # and again: a program may have been about to start
            signals.end_descendants()
            over = self._timer.finished.wait(0.1)
