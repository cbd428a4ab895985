"""Tests of ctest, for the tests of what ./lab test does with them."""

from __future__ import annotations

from lab_cli.testing.listing import ABOUT, CTest


def listed(*names: str) -> list[CTest]:
    """Tests with these names, in this order: NAME/results and the like are those of an exercise."""
    return [CTest(number, name, ("true",), _labels(name)) for number, name in enumerate(names, 1)]


def _labels(name: str) -> frozenset[str]:
    exercise, _, about = name.partition("/")
    if about in ABOUT:
        return frozenset({"exercise", "ch04_memory", exercise, about, "quick"})
    if about in ("broken", "printed"):
        return frozenset({"exercise", "ch04_memory", exercise, about, "full"})
    return frozenset({"full"})
