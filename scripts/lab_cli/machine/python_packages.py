"""Python packages: in .venv, at the versions of scripts/requirements.txt, when a command needs them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..files import make_build_folder
from ..paths import ROOT, SCRIPTS, SHARED_VENV, VENV, shown, venvs
from ..process import say, step
from ..progress import Progress

REQUIREMENTS = SCRIPTS / "requirements.txt"
# What the tests of lab itself take.
OF_TESTS = ("pytest", "jinja2", "html5lib")


def venv_can_be_made() -> bool:
    """Debian and Ubuntu have what fills a new environment in a package of its own, python3-venv."""
    return _own_pip().exists() or importlib.util.find_spec("ensurepip") is not None


def _own_pip() -> Path:
    return VENV / "bin" / "pip"


def python_with(*modules: str) -> str:
    """A Python that can import all of `modules`: of .venv, or the one that runs lab; else empty."""
    for python in (*(str(venv / "bin" / "python") for venv in venvs()), sys.executable):
        if shutil.which(python):
            command = [python, "-c", f"import {', '.join(modules)}"]
            if subprocess.run(command, capture_output=True).returncode == 0:
                return python
    return ""


def pip() -> list[str]:
    """What installs into .venv, which is made if need be."""
    if SHARED_VENV and SHARED_VENV.exists() and not os.access(SHARED_VENV, os.R_OK | os.X_OK):
        say(
            f"{shown(SHARED_VENV)} would spare this, and cannot be read: whoever installed it can type "
            f"chmod -R a+rX {ROOT}"
        )
    if not _own_pip().exists():
        make_build_folder(VENV)
        step([sys.executable, "-m", "venv", str(VENV)], "making .venv", _read_pip)
    return [str(_own_pip()), "install", "--disable-pip-version-check"]


def install(packages: Sequence[str]) -> None:
    """Into .venv."""
    command = [*pip(), "--constraint", str(REQUIREMENTS), *packages]
    step(command, "installing Python packages", _read_pip)


def _read_pip(line: str, progress: Progress) -> None:
    progress.update(item=line)
