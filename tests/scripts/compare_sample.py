"""Comparisons of kernels whose counts ncu recorded on an H200."""

from __future__ import annotations

from lab_cli.comparison import differences, text, versions
from lab_cli.comparison.compared import Compared
from lab_cli.comparison.culprits import Culprits
from lab_cli.comparison.differences import Comparison
from lab_cli.comparison.versions import Version
from lab_cli.counters import raw_csv
from lab_fixtures import shipped


def compared(exercise: str, before: str, after: str) -> Comparison:
    path = shipped(exercise).results / "h200" / "counts.optimised.csv"
    raw = raw_csv.parse(path.read_text())

    def version(name: str) -> Version:
        launches = [each for each in raw.launches if each.kernel == name]
        return Version(name, exercise, versions.of_raw(raw, launches))

    return differences.compare(version(before), version(after))


def first_difference(exercise: str, before: str, after: str, width: int) -> str:
    """What the terminal shows of it, without the lines of the source."""
    comparison = compared(exercise, before, after)
    whole = Compared(comparison, [Culprits() for _ in comparison.differences])
    return text.of_differences(whole, width)[0]
