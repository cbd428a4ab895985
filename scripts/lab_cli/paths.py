"""Where things are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out"  # all that lab makes: builds of presets, records of its set-up, recordings
VENV = ROOT / ".venv"
SCRIPTS = ROOT / "scripts"


def venv_tool(name: str) -> Path:
    """A program of the virtual environment, whether it is there or not."""
    return VENV / "bin" / name


def shown(path: Path) -> str:
    """As seen from the checkout."""
    return str(path.relative_to(ROOT) if ROOT in path.parents else path)
