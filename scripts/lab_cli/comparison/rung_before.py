"""How the counts of a student's kernel differ from those of the kernel before it in the ladder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..assignments import Assignment
from . import differences, sentences
from .versions import Launch, Version

ALIKE = "in nothing that was counted"


def told(assignment: Assignment, launches: Sequence[Launch], most: int) -> list[str]:
    """In words, what matters most first. Empty where one of the kernels was not launched."""
    before = _version([assignment.before], launches)
    yours = _version(assignment.launches, launches)
    if not before.launches or not yours.launches:
        return []
    if len(yours.launches) == len(assignment.rows) * len(before.launches):
        # Several rows launch one kernel. Each does the work of the rung before.
        yours = replace(yours, launches=yours.launches[: len(before.launches)])
    found = differences.compare(before, yours)
    return [ALIKE] if found.is_equal else sentences.shortest(found, most)


def _version(kernels: Sequence[str], launches: Sequence[Launch]) -> Version:
    """Of a template that several rows instantiate, the first instance: each row does the work of the rung before."""
    first: dict[str, str] = {}
    for each in launches:
        first.setdefault(each.kernel.partition("<")[0], each.kernel)
    wanted = [first[name] for name in kernels if name in first]
    own = [each for each in launches if each.kernel in wanted]
    return Version(", ".join(kernels), "", own)
