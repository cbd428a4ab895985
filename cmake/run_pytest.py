"""Runs pytest on a folder or a file, with the first Python that has it: of .venv, else this one.

One that also has matplotlib is preferred: without it, the tests of the figures are skipped. Ends
with 77, which ctest shows as skipped, where neither has pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from lab_cli.machine.python_packages import python_with  # noqa: E402

NOT_THERE = 77


def main(path: str) -> int:
    python = python_with("pytest", "matplotlib") or python_with("pytest")
    if not python:
        print("skipped: pytest is not installed; ./lab test installs it into .venv")
        return NOT_THERE
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # the checkout stays clean
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
