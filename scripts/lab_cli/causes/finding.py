"""A cause that was found, and its parts in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..lines.model import Place


@dataclass(frozen=True)
class Finding:
    """What slows a kernel or the host down, at which line, and what an end to it would gain."""

    symptom: str  # in a few words, as the field calls it
    says: str  # what was counted, and what the least would be
    gain: str  # what goes away, in the unit that was counted
    remedy: str
    exercises: Sequence[str]  # the first teaches the remedy
    weight: float  # share of the kernel's work that goes away, 0 to 1, by which findings are ranked
    place: Place | None = None  # None: the launch as a whole
    hint: bool = False  # may be right as it is: said, but not counted as a cause


def percent(share: float) -> str:
    """A share of 0 to 1. What rounds to all or nothing without being so is said with a digit
    more."""
    value = 100 * share
    if 0 < value < 1 or 99 < value < 100:
        return f"{value:.1f} %"
    return f"{value:.0f} %"
