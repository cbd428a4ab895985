"""Runs pytest on folders and files, with the first Python that has it: of .venv, else this one.

    run_pytest.py [--figures] [-k WORD] PATH...

Without --figures all tests but those that draw, which are marked so and take matplotlib; with it these
alone. With -k the tests that have the word in their names. Ends with 77, which ctest shows as skipped, where
no Python has what it takes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from lab_cli.machine.python_packages import OF_TESTS, python_with  # noqa: E402

NOT_THERE = 77


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("-k", dest="word", default="")
    parser.add_argument("paths", nargs="+")
    asked = parser.parse_args(words)
    python = python_with(*OF_TESTS, *(["matplotlib"] if asked.figures else []))
    if not python and asked.figures and python_with(*OF_TESTS):
        print("skipped: matplotlib is not installed; ./lab plot installs it into .venv")
        return NOT_THERE
    if not python:
        missing = ", ".join(name for name in OF_TESTS if not python_with(name)) or "one of them"
        print(f"skipped: {missing} is not installed; ./lab test --all installs it into .venv")
        return NOT_THERE
    which = "draws" if asked.figures else "not draws"
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", which]
    command += ["-k", asked.word] if asked.word else []
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # the checkout stays clean
    return subprocess.run([*command, *asked.paths], cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
