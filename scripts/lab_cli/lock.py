"""Of several labs that would do the same in one folder at once, one does it and the others wait."""

from __future__ import annotations

import errno
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .files import check_writable
from .paths import shown
from .process import say

LOCK = "lab.lock"
WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


@contextmanager
def alone_in(folder: Path, does: str) -> Iterator[None]:
    """Holds a lock, which ends with this process at the latest. Who waits says what the other `does`."""
    path = folder / LOCK
    check_writable(path)
    with open(path, "w") as file:
        take(file, f"waiting: another lab {does} in {shown(folder)}")
        yield


def take(file: IO[str], waiting: str) -> None:
    """Locks an open file. Who waits says so. Some network file systems have no locks: lab goes on, and
    says what is not seen to then."""
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(waiting)
            fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
        folder = shown(Path(file.name).parent)
        say(f"{folder} is on a file system without locks: run one lab at a time there")
