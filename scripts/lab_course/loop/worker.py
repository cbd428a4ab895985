"""Makes something in a process beside this one, which goes on to look at the keyboard and at files."""

from __future__ import annotations

import os
import pickle
import select
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from lab_cli.errors import LabError

AT_ONCE = 1 << 16


class Worker:
    """Sends what `work` yields. What it raises ends it, and is the last that it sends."""

    def __init__(self, work: Callable[[], Iterator[Any]]) -> None:
        reads, writes = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(reads)
            _send_all(work, writes)
        os.close(writes)
        self.descriptor = reads
        self._data = b""
        self.ended = False

    def has_news(self) -> bool:
        return bool(select.select([self.descriptor], [], [], 0)[0])

    def take(self) -> list[Any]:
        """What has come, where there are news."""
        data = os.read(self.descriptor, AT_ONCE)
        self.ended = not data
        self._data += data
        found = []
        while len(self._data) >= 8:
            size = 8 + int.from_bytes(self._data[:8], "little")
            if len(self._data) < size:
                break
            found.append(pickle.loads(self._data[8:size]))
            self._data = self._data[size:]
        return found

    def close(self) -> None:
        """Ends it, with all that it has started."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)
        os.close(self.descriptor)


def _send_all(work: Callable[[], Iterator[Any]], writes: int) -> None:
    """In the process beside; does not return."""
    status = 1
    try:
        for value in work():
            _send(value, writes)
        status = 0
    except LabError as error:
        _send(error, writes)
    except SystemExit:  # of close()
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _send(value: Any, writes: int) -> None:
    data = pickle.dumps(value)
    data = len(data).to_bytes(8, "little") + data
    while data:
        data = data[os.write(writes, data) :]
