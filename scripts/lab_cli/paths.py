"""Where things are."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# All that lab makes is in OUT: builds of presets, records of its set-up, recordings. Where the variable
# is set, Python's packages are there, too: the checkout may be one that cannot be written to.
BUILD_VARIABLE = "LAB_BUILD_DIR"
_elsewhere = os.environ.get(BUILD_VARIABLE, "")
try:
    OUT = Path(_elsewhere).absolute() if _elsewhere else ROOT / "out"
except FileNotFoundError:
    raise SystemExit(
        f"lab: {BUILD_VARIABLE}={_elsewhere}: the current folder, which it begins at, has been removed"
    ) from None
VENV = (OUT if _elsewhere else ROOT) / ".venv"
SCRIPTS = ROOT / "scripts"


def venv_tool(name: str) -> Path:
    """A program of the virtual environment, whether it is there or not."""
    return VENV / "bin" / name


def shown(path: Path) -> str:
    """As seen from the checkout."""
    return str(path.relative_to(ROOT) if ROOT in path.parents else path)
