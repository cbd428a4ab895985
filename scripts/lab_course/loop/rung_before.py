"""How the counts of a student's kernel differ from those of the kernel before it in the ladder."""

from __future__ import annotations

from collections.abc import Sequence

from lab_cli.assignments import Assignment
from lab_cli.comparison import differences, sentences, versions
from lab_cli.comparison.versions import Launch, Version
from lab_cli.counters.raw_csv import RawTable

MOST = 2  # sentences: what matters most
ALIKE = "in nothing that was counted"


def told(assignment: Assignment, counts: RawTable | None) -> list[str]:
    """In words, what matters most first. Empty where one of the kernels was not launched."""
    return of(assignment, versions.of_raw(counts)) if counts else []


def of(assignment: Assignment, launches: Sequence[Launch]) -> list[str]:
    before = _version(assignment.before, [assignment.before], launches)
    yours = _version(", ".join(assignment.launches), assignment.launches, launches)
    if not before.launches or not yours.launches:
        return []
    found = differences.compare(before, yours)
    return [ALIKE] if found.is_equal else sentences.shortest(found, MOST)


def _version(name: str, kernels: Sequence[str], launches: Sequence[Launch]) -> Version:
    return Version(
        name, "", [each for each in launches if each.kernel.partition("<")[0] in kernels]
    )
