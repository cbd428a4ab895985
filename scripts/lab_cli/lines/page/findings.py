"""What was found in a kernel or in the host's code: what it is called, its line, and what mends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from ...counters import explanation
from ...paths import shown
from ..model import Place
from . import links
from .sentences import Sentence, listed

Finding = explanation.Sentence


def of(
    found: Sequence[Finding], lines: Mapping[Place, int], page: Path | None
) -> list[dict[str, Any]]:
    """Those of `lines`, which the page lists, are named by their number there; of another line it shows the
    text."""
    numbers = {_where(place): number for place, number in lines.items()}
    return [_finding(each, numbers.get(each.where), page) for each in found]


def _finding(finding: Finding, line: int | None, page: Path | None) -> dict[str, Any]:
    name = finding.title[:1].upper() + finding.title[1:]
    made: dict[str, Any] = {"name": name, "text": finding.text, "remedy": finding.remedy}
    if line is not None:
        made["line"] = line
    elif finding.where:  # without the folders of this machine
        made.update(where=PurePath(finding.where).name, code=finding.quote)
    link = links.shown(finding.exercises[0], page) if finding.exercises else None
    return {**made, "link": link} if link else made


def at(found: Sequence[Finding], place: Place) -> list[Finding]:
    return [each for each in found if each.where == _where(place)]


def named(found: Sequence[Finding], others: Sequence[Sentence]) -> list[Sentence]:
    """The explanation of their line, of which `others` is the rest: the remedy stands at the finding."""
    if not found:
        return [*others]
    names = listed([each.title for each in found])
    return [
        Sentence(f"See above: {names}.", bad=True),
        *(replace(each, exercise="") for each in others),
    ]


def _where(place: Place) -> str:
    return f"{shown(place.file)}:{place.line}"
