"""For now: limits on time alone."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..process import status_of


@dataclass(frozen=True)
class Limits:
    seconds: float
    cpu_seconds: float
    memory: int
    processes: int
    file: int
    output: int


@dataclass(frozen=True)
class Ended:
    status: int
    output: str
    errors: str
    reason: str
    seconds: float
    late: bool = False


def problem() -> str:
    return ""


def run(
    command: Sequence[str],
    limits: Limits,
    *,
    readable: Sequence[Path],
    writable: Sequence[Path],
    variables: Mapping[str, str],
    cwd: Path,
    sandboxed: bool = True,
    single_process: bool = False,
) -> Ended:
    start = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **variables},
            capture_output=True,
            timeout=limits.seconds,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return Ended(137, "", "", f"had not ended after {limits.seconds:g} s", limits.seconds, True)
    return Ended(
        status_of(done.returncode),
        done.stdout.decode(errors="replace"),
        done.stderr.decode(errors="replace"),
        "",
        time.monotonic() - start,
    )
