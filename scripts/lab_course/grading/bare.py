"""Runs a command that nothing isolates, and ends all that it has started once it has ended.

    python -m lab_course.grading.bare SPECIFICATION DESCRIPTOR

This process adopts what its descendants leave behind, such as a daemon: nothing escapes it but by its
death, and who runs as the same user could kill it.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from types import FrameType

from lab_cli import signals
from lab_cli.process import cannot_run, status_of

# include/uapi/linux/prctl.h
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
NOT_FOUND = 127  # of a shell, and of prlimit, which starts the command in a sandbox


def main() -> int:
    """Its exit status is without meaning: that of the command is written to the descriptor."""
    told = int(sys.argv[2])
    asked = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    for number in signals.ENDING:
        signal.signal(number, _end)
    try:
        for kind, value in asked["limits"].items():
            resource.setrlimit(int(kind), (value, value))
        process = subprocess.Popen(asked["command"], cwd=asked["cwd"], env=asked["variables"])
        status = status_of(process.wait())
    except OSError as error:
        print(cannot_run(asked["command"][0], error), flush=True)
        status = NOT_FOUND
    finally:
        _end_all()
    os.write(told, b'{ "exit-code": %d }\n' % status)
    return 0


def _end(number: int, _: FrameType | None) -> None:
    for other in signals.ENDING:
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _end_all() -> None:
    """All are stopped before the first is killed: what goes on could start another one."""
    stopped: set[int] = set()
    while living := {process for process in signals.descendants() if _may_end(process)}:
        _send(signal.SIGSTOP, living - stopped)
        if living <= stopped:
            _send(signal.SIGKILL, living)
            time.sleep(0.001)
        stopped = living


def _may_end(process: int) -> bool:
    """Not so where it has become another user, as su does."""
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _send(number: signal.Signals, processes: set[int]) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except OSError:  # it has just ended
            pass


if __name__ == "__main__":
    sys.exit(main())
