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


def number(value: float) -> str:
    """Whole numbers from 100 on, else three digits: 1,024 or 12.5 or 4."""
    if value >= 100 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.3g}"


def times(count: float, noun: str, plural: str = "") -> str:
    """A number with its noun: 1 block, 2 blocks."""
    return f"{number(count)} {noun if count == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """A share of 0 to 1. What rounds to all or nothing without being so is said with a digit
    more."""
    value = 100 * share
    if 0 < value < 1 or 99 < value < 100:
        return f"{value:.1f} %"
    return f"{value:.0f} %"
