"""Where things are."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# All that lab makes is in OUT: builds of presets, records of its set-up, recordings. Where the variable
# is set, Python's packages are there, too: the checkout may be one that cannot be written to, for many.
# What its own .venv has is used then, and what that lacks is installed in OUT.
BUILD_VARIABLE = "LAB_BUILD_DIR"
_elsewhere = os.environ.get(BUILD_VARIABLE, "")
try:
    OUT = Path(_elsewhere).absolute() if _elsewhere else ROOT / "out"
except FileNotFoundError:
    raise SystemExit(
        f"lab: {BUILD_VARIABLE}={_elsewhere}: the current folder, which it begins at, has been removed"
    ) from None
VENV = (OUT if _elsewhere else ROOT) / ".venv"  # what lab installs into
SHARED_VENV = ROOT / ".venv" if _elsewhere else None  # what lab looks into as well
SCRIPTS = ROOT / "scripts"
TRANSLATED = ".emu"  # ends the name of the folder with a target's translated sources
# The student's own copies of exercises. The variable puts them elsewhere, where the checkout is shared.
WORK_VARIABLE = "LAB_WORK_DIR"
_own = os.environ.get(WORK_VARIABLE, "")
WORK = Path(os.path.abspath(os.path.expanduser(_own))) if _own else ROOT / "work"


def venvs() -> list[Path]:
    """The virtual environments, whether they are there or not."""
    return [VENV, *([SHARED_VENV] if SHARED_VENV else [])]


def programs() -> list[str]:
    """The folders of virtual environments with programs that the system may lack."""
    return [str(venv / folder) for venv in venvs() for folder in ("bin", "zig")]


def venv_tool(name: str) -> Path:
    """A program of a virtual environment; where none has it, that of the one that lab installs into."""
    tools = [venv / "bin" / name for venv in venvs()]
    return next((tool for tool in tools if os.path.exists(tool)), tools[0])


def shown(path: Path) -> str:
    """As seen from the checkout."""
    return str(path.relative_to(ROOT) if ROOT in path.parents else path)
