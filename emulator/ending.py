"""What a program of the emulator does when it is ended from outside: it removes its temporary files."""

import signal
import subprocess
from types import FrameType
from typing import Optional


class _Ending:
    """Whether a signal waits until a child has been started, and which one has come meanwhile."""

    waits = False
    number: Optional[int] = None


def end_by_exception() -> None:
    """From now on, a signal that ends the program raises SystemExit, with the status that a shell gives
    it. One that the caller has told it to ignore stays ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _: Optional[FrameType]) -> None:
    if not _Ending.waits:
        raise SystemExit(128 + number)
    _Ending.number = number


def run(command: list[str], environment: dict[str, str]) -> int:
    """Runs the command and returns its exit status. It ends with this program: also where the signal
    comes when it has begun, and Popen() does not know yet (subprocess.run() would leave it running)."""
    process = None
    try:
        _Ending.waits = True
        process = subprocess.Popen(command, env=environment)
        _Ending.waits = False
        if _Ending.number is not None:
            raise SystemExit(128 + _Ending.number)
        return process.wait()
    except BaseException:
        _Ending.waits = False
        if process is not None:
            process.kill()
            process.wait()
        raise
