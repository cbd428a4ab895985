"""How findings quote lines of the source."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ..lines.model import Place
from ..lines.source_text import line_of
from ..paths import shown
from .source import source
from .source.source import Source


def text(place: Place) -> str:
    """The line as it stands there, without what is around it; empty where it cannot be read."""
    return line_of(place.file, place.line).strip()


def name(place: Place) -> str:
    """FILE:LINE, as seen from the checkout."""
    return f"{shown(place.file)}:{place.line}"


def parsed(file: Path) -> Source | None:
    """None where the file cannot be read, or is not understood."""
    try:
        return _parsed(file, file.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=16)
def _parsed(file: Path, _: int) -> Source | None:
    return source.read(file)


def also(place: Place, others: Iterable[Place]) -> str:
    """A sentence on the other lines of the same finding; empty where there is none."""
    lines = sorted({other.line for other in others if other != place})
    if not lines:
        return ""
    listed = ", ".join(map(str, lines[:4])) + (" and more" if len(lines) > 4 else "")
    return f" The same at {'line' if len(lines) == 1 else 'lines'} {listed}."
