"""stdout and stderr of lab: what cannot be written there is noticed."""

from __future__ import annotations

import io
import os
import sys

# A full disk, a closed descriptor; a pipe that nobody reads is a BrokenPipeError as always.


class CannotWrite(Exception):
    """stdout takes nothing more; the text says why."""


class _Stdout(io.FileIO):
    def write(self, data: bytes) -> int | None:  # type: ignore[override]
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise CannotWrite(f"cannot write to stdout: {error.strerror}") from error


class _Stderr(io.FileIO):
    """What it does not take is dropped: the work goes on, and ends with a status other than 0."""

    lost = False

    def write(self, data: bytes) -> int | None:  # type: ignore[override]
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError:
            _Stderr.lost = True
            return len(data)


def guard() -> None:
    """Puts streams that notice a loss in place of sys.stdout and sys.stderr. What an encoding cannot say
    is escaped: a name of any letters can be printed anywhere."""
    _fill_gaps()
    sys.stdout = _text(_Stdout(1, "w", closefd=False), sys.stdout)
    sys.stderr = _text(_Stderr(2, "w", closefd=False), sys.stderr)


def _fill_gaps() -> None:
    """Of a standard stream that the caller has closed, the number would go to the next file that is
    opened, and lab and its children would read and write that. /dev/null, for reading alone, takes it."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)


def _text(raw: io.FileIO, before: io.TextIOBase | None) -> io.TextIOWrapper:
    encoding = (before.encoding if before is not None else None) or "utf-8"
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=raw.isatty() or raw.fileno() == 2,
    )


def drop(number: int) -> None:
    """What is still to be written to the standard stream goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def status(of_command: int) -> int:
    """The exit status: not 0 where something that lab had to say was lost."""
    return of_command or int(_Stderr.lost)
