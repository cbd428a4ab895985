"""Of several labs that would do the same in one folder at once, one does it and the others wait."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .files import check_writable
from .paths import shown
from .process import say


@contextmanager
def alone_in(folder: Path, does: str) -> Iterator[None]:
    """Holds a lock, which ends with this process at the latest. Who waits says what the other `does`."""
    path = folder / "lab.lock"
    check_writable(path)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting: another lab {does} in {shown(folder)}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
