"""Where a page says that a remedy is taught: a link to the exercise's page, and the command that starts it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import catalogue
from ...paths import ROOT


@dataclass(frozen=True)
class Link:
    exercise: str
    command: str
    address: str  # relative to the page; empty where that lies outside of the checkout


def shown(exercise: str, page: Path | None) -> dict[str, Any] | None:
    """As the page's data have it."""
    link = to(exercise, page)
    return link and {"name": link.exercise, "command": link.command, "to": link.address}


def to(exercise: str, page: Path | None) -> Link | None:
    """None for an exercise that is not there. A page outside of the checkout names no path of the machine."""
    source = catalogue.sources().get(exercise)
    if source is None:
        return None
    command = f"./lab start {exercise}"
    if page is None:
        return Link(exercise, command, "")
    folder = Path(os.path.realpath(page)).parent
    if folder != ROOT and ROOT not in folder.parents:
        return Link(exercise, command, "")
    readme = os.path.relpath(catalogue.page_of(source), folder)
    return Link(exercise, command, Path(readme).as_posix())
