"""Single keys, where somebody sits at a terminal."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Keyboard:
    """Without a terminal there are no keys."""

    def __init__(self) -> None:
        self.somebody = sys.stdin.isatty()  # sits there, and can end what runs
        self.is_there = self.somebody and sys.stdout.isatty()

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Within the block keys come one at a time and are not echoed; behind it, the terminal is as before."""
        if not self.is_there:
            yield
            return
        before = termios.tcgetattr(sys.stdin)
        try:
            tty.setcbreak(sys.stdin)
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

    def wait(self, seconds: float, others: Sequence[int] = ()) -> str:
        """The next key, or an empty text: where none comes in time, or one of the `others`, descriptors, has
        something to read before."""
        own = [sys.stdin.fileno()] if self.is_there else []
        ready, _, _ = select.select([*own, *others], [], [], seconds)
        if not own or own[0] not in ready:
            return ""
        data = os.read(own[0], 64)
        if not data:  # the terminal is gone
            self.is_there = False
        return data.decode(errors="ignore")[:1]
