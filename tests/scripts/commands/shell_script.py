"""Programs that stand for those of a build."""

from __future__ import annotations

from pathlib import Path


def script(path: Path, text: str) -> Path:
    """Writes a program of the shell, and the folder that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
