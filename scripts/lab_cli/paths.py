"""Where things are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
VENV = ROOT / ".venv"
SCRIPTS = ROOT / "scripts"


def venv_tool(name: str) -> Path:
    """A program of the virtual environment, whether it is there or not."""
    return VENV / "bin" / name
