"""How far a piece of work is: on a terminal one line that changes in place and is gone at the end,
elsewhere a line now and then, so that nothing is silent for long. On stderr."""

from __future__ import annotations

import os
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

REFRESH = 0.2  # seconds between two looks at a line on a terminal: what is shorter is not shown
PATIENCE = 10.0  # seconds of silence after which a line is due where there is no terminal
# An estimate takes as many parts, and seconds, that are done; and of many parts a share, since the
# longest of them may come first, as in ctest.
FEWEST_PARTS = 3
FEWEST_SECONDS = 3.0
LEAST_SHARE = 0.1
ERASE = "\r\x1b[K"  # ECMA-48: to the end of the line
USUAL_WIDTH = 80  # columns, of a terminal that does not say


def on_terminal() -> bool:
    """Can a line of stderr be written over?"""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def duration(seconds: float) -> str:
    """As one says it: '40 s', '3 min', '1 h 20 min'."""
    if seconds < 10:
        return f"{max(1, round(seconds))} s"
    if seconds < 57:
        return f"{5 * round(seconds / 5)} s"
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@dataclass(frozen=True)
class State:
    """`what` is being done, and to which `item` at the moment; of `total` parts so many are `done`
    (total 0: nobody knows)."""

    what: str
    done: int = 0
    total: int = 0
    item: str = ""

    def line(self, seconds: float, began_with: int = 0, width: int | None = None) -> str:
        """`seconds` ago, as many parts were done as it `began_with`. Not longer than `width`."""
        count = f"[{self.done}/{self.total}]" if self.total else ""
        time_text = self._time(seconds, began_with)
        item = self.item
        if width is not None:
            room = width - _columns("  ".join(filter(None, [self.what, count, time_text]))) - 2
            item = _cut("".join(c if c.isprintable() else "?" for c in item), room)
        return _cut("  ".join(filter(None, [self.what, count, item, time_text])), width)

    def _time(self, seconds: float, began_with: int) -> str:
        parts, left = self.done - began_with, self.total - self.done
        enough = max(FEWEST_PARTS, LEAST_SHARE * (parts + left))
        if parts >= enough and seconds >= FEWEST_SECONDS and left > 0:
            return f"about {duration(seconds / parts * left)} left"
        return f"{duration(seconds)} so far" if seconds >= PATIENCE else ""


def _columns(text: str) -> int:
    """On a terminal, where some characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _cut(text: str, width: int | None) -> str:
    if width is None or _columns(text) <= width:
        return text
    while text and _columns(text) > width - 3:
        text = text[:-1]
    return text + "..." if text else ""


class Progress:
    """Shows the state of its block. What is printed in between goes through aside()."""

    _lock = threading.RLock()
    _current: Progress | None = None  # the innermost

    def __init__(self, what: str) -> None:
        self.state = State(what)
        self._start = self._quiet_since = time.monotonic()
        self._began_with = 0
        self._shown = ""
        self._outer: Progress | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def update(self, what: str = "", done: int = 0, total: int = 0, item: str = "") -> None:
        """The state from now on; no `what`: as before. Another total, or fewer parts than were done,
        are another piece of work: its time begins now."""
        state = State(what or self.state.what, done, total, item)
        with Progress._lock:
            old = self.state
            if (state.what, total) != (old.what, old.total) or done < old.done:
                self._start = time.monotonic()
                self._began_with = done
            self.state = state

    def __enter__(self) -> Progress:
        with Progress._lock:
            self._outer, Progress._current = Progress._current, self
            if self._outer:
                self._outer._erase()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with Progress._lock:
            self._ended.set()
            self._erase()
            Progress._current = self._outer
            if self._outer:
                self._outer._quiet_since = time.monotonic()

    def _watch(self) -> None:
        interval = REFRESH if on_terminal() else min(REFRESH, PATIENCE)
        while not self._ended.wait(interval):
            with Progress._lock:
                if Progress._current is self and not self._ended.is_set():
                    try:
                        self._show()
                    except (OSError, ValueError):  # nobody reads stderr any more
                        return

    def _show(self) -> None:
        now = time.monotonic()
        seconds = now - self._start
        if on_terminal():
            line = self.state.line(seconds, self._began_with, _width() - 1)
            if line != self._shown:
                print(ERASE + line, end="", file=sys.stderr, flush=True)
                self._shown = line
        elif now - self._quiet_since >= PATIENCE:
            print(self.state.line(seconds, self._began_with), file=sys.stderr, flush=True)
            self._quiet_since = now

    def _erase(self) -> None:
        if self._shown:
            self._shown = ""
            print(ERASE, end="", file=sys.stderr, flush=True)


@contextmanager
def aside() -> Iterator[None]:
    """The line is out of the way within this block, which prints."""
    with Progress._lock:
        current = Progress._current
        if current:
            current._erase()
        yield
        if current:
            current._quiet_since = time.monotonic()


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_WIDTH
    except (OSError, ValueError):
        return USUAL_WIDTH
