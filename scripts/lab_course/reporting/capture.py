"""Runs a program of a student's, and keeps of what it prints no more than a report can have."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from lab_cli.errors import LabError
from lab_cli.process import cannot_run, say, shown, status_of
from lab_cli.time_limit import TimeLimit

from .text import Text, joined

MOST_OUT = 1 << 22  # bytes of stdout: as rows of CSV, more than any exercise has
MOST_ERR = 1 << 16
CHUNK = 1 << 16


class Kept:
    """The beginning and the end of a stream of bytes, `most` in all."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._begin = b""
        self._end = b""
        self.left_out = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._begin)
        self._begin += data[:room]
        end = self._end + data[room:]
        self._end = end[-self._half :]
        self.left_out += len(end) - len(self._end)

    def read(self, stream: IO[bytes]) -> None:
        while data := stream.read1(CHUNK):  # type: ignore[attr-defined]
            self.add(data)

    @property
    def text(self) -> Text:
        if not self.left_out:
            return Text((self._begin + self._end).decode(errors="replace"))
        begin, end = (part.decode(errors="replace") for part in (self._begin, self._end))
        return joined(begin, self.left_out, end)


@dataclass(frozen=True)
class Captured:
    status: int
    out: Text
    err: Text  # empty where both are one
    late: bool  # it was ended for that


def run(command: Sequence[str], timeout: float | None, together: bool) -> Captured:
    """Shows and runs it; `together`: what it prints on stderr is among its stdout. LabError where it cannot
    be started."""
    say("+ " + shown(command))
    limit = TimeLimit(timeout)
    out, err = Kept(MOST_OUT), Kept(MOST_ERR)
    status = 1
    try:
        with limit:
            status = _run(command, out, None if together else err)
    except LabError:
        if not limit.passed:
            raise
    return Captured(status, out.text, err.text, limit.passed)


def _run(command: Sequence[str], out: Kept, err: Kept | None) -> int:
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if err else subprocess.STDOUT,
        )
    except OSError as error:
        raise LabError(cannot_run(command[0], error)) from error
    with process:
        assert process.stdout is not None
        threads = []
        if err:
            threads.append(threading.Thread(target=err.read, args=(process.stderr,), daemon=True))
            threads[0].start()
        out.read(process.stdout)
        for thread in threads:
            thread.join()
    return status_of(process.returncode)
