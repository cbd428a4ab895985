"""The words of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from .. import metrics
from ..lines.weights import SECTOR, WAVEFRONT
from ..words import number
from .culprits import Culprit, Culprits
from .differences import (
    DIFFERS,
    LAUNCHES,
    OF_LINES,
    Change,
    Comparison,
    Difference,
    traffic,
)
from .versions import Version

DIGITS, MOST_DIGITS = 3, 10
TIMES = 1.995  # a factor from which one says "2 times fewer"; below it, per cent
WEIGHT = (
    f"Traffic is counted in cycles of a multiprocessor: {SECTOR:g} for a sector of global memory, "
    f"{WAVEFRONT:g} for a wavefront of shared memory."
)
ALL_EQUAL = "All counts are equal."
NO_TRAFFIC = "What the kernels move is the same in both."
# Ratios of counts, which are equal where these are.
DERIVED = {
    "branch_efficiency",
    "warp_execution_efficiency",
    "gld_transactions_per_request",
    "gst_transactions_per_request",
    "gld_efficiency",
    "gst_efficiency",
    "shared_efficiency",
    "shared_load_requests",
    "shared_store_requests",
}
SUMS = "Counts are sums over all launches of a kernel."


def headline(difference: Difference) -> str:
    """'sectors per load 32 -> 4 (8 times fewer)'"""
    return in_words(difference.change)


def in_words(change: Change) -> str:
    unit = f" {change.unit}" if change.unit else ""
    before, after = numbers(change)
    factor = times(change)
    behind = f" ({factor})" if factor else ""
    return f"{change.what} {before} -> {after}{unit}{behind}"


def times(change: Change, less: str = "fewer", as_many: str = "as many") -> str:
    """How much more or fewer; empty where that says nothing: from or to zero, and of shares in per cent."""
    low, high = sorted((abs(change.before), abs(change.after)))
    if not low or change.unit == "%":
        return ""
    falls = change.after < change.before
    if high / low >= TIMES:
        factor = number(round(high / low, 1))
        return f"{factor} times {less if falls else as_many}"
    share = 100 * abs(change.after - change.before) / change.before
    digits = f"{share:.0f}" if share >= 1 else f"{share:.1g}"
    return f"{digits} % {less if falls else 'more'}"


def numbers(change: Change) -> tuple[str, str]:
    """Both, with as many digits as it takes to see that they differ."""
    for digits in range(DIGITS, MOST_DIGITS):
        before, after = number(change.before, digits), number(change.after, digits)
        if before != after or change.before == change.after:
            break
    return before, after


def explanation(difference: Difference) -> str:
    """What it means, and how much of the kernel it concerns."""
    known = metrics.load().metrics.get(difference.change.metric)
    parts = [capital(known.meaning) + "."] if known and known.meaning else []
    parts += [each for each in OF_LINES.get(difference.change.metric, ("", ""))[1:] if each]
    if difference.change.what == LAUNCHES:
        parts = ["Each launch also costs the host's time, and the GPU's between two of them."]
    if difference.also:
        parts.append(capital("; ".join(map(_also, difference.also))) + ".")
    if difference.traffic:
        parts.append(f"That is {_share(difference.weight)} of the traffic.")
    return " ".join(parts)


def _also(change: Change) -> str:
    if change.before == change.after:
        return f"{change.what}: {number(change.before)} in both"
    return in_words(change)


def _share(weight: float) -> str:
    return f"{100 * weight:.0f} %" if weight >= 0.01 else "less than 1 %"


def lines(culprits: Culprits) -> list[tuple[str, Culprit]]:
    """Of each version the line that it is; one alone where both have the same."""
    both = [("before", culprits.before), ("after", culprits.after)]
    if culprits.before and culprits.after and culprits.before.place == culprits.after.place:
        both = [("both", culprits.before)]
    return [(label, each) for label, each in both if each]


def line(culprit: Culprit) -> str:
    place = f"{culprit.place.file.name}:{culprit.place.line}"
    return f"{place}  {culprit.text}" if culprit.text else place


def equal(comparison: Comparison) -> str:
    """A sentence about the counts that are the same."""
    if not comparison.equal:
        return ""
    derived = DERIVED if any(each.metric not in DERIVED for each in comparison.equal) else ()
    parts = [_equal(each) for each in comparison.equal if each.metric not in derived]
    return f"Equal: {', '.join(parts)}."


def _equal(change: Change) -> str:
    unit = f" {change.unit}" if change.unit else ""
    return f"{change.what} {number(change.before)}{unit}"


def names(before: Version, after: Version) -> tuple[str, str]:
    """Of both versions, with the programs where those differ."""
    if before.place == after.place:
        return before.name, after.name
    return f"{before.name}, {before.place}", f"{after.name}, {after.place}"


def summary(comparison: Comparison) -> list[str]:
    """What all differences come to, and what does not differ."""
    if comparison.is_equal:
        return [ALL_EQUAL, equal(comparison)]
    moved = [each for each in comparison.differences if each.traffic]
    of_all = _of_all_traffic(comparison) if moved else NO_TRAFFIC
    return [each for each in (of_all, equal(comparison)) if each]


def _of_all_traffic(comparison: Comparison) -> str:
    before, after = (traffic(version.totals) for version in (comparison.before, comparison.after))
    change = Change("", before, after)
    if before == after:
        return f"Traffic in all: {number(before)} cycles in both."
    factor = times(change, "less", "as much")
    behind = f" ({factor})" if factor else ""
    return f"Traffic in all: {number(before)} -> {number(after)} cycles{behind}."


def notes(comparisons: Sequence[Comparison]) -> list[str]:
    """What one must know to read the differences."""
    told = [each for comparison in comparisons for each in comparison.differences]
    versions = [version for each in comparisons for version in (each.before, each.after)]
    found = [WEIGHT] if any(each.traffic for each in told) else []
    if any(len(version.launches) > 1 for version in versions):
        found.append(SUMS)
    return found


def shortest(comparison: Comparison, most: int) -> list[str]:
    """The first differences: 'bank conflicts per shared load 31 -> 0 (better)'. All of the traffic, the lanes and the
    launches come before any other."""
    return [_short(each) for each in comparison.differences[:most]]


def _short(difference: Difference) -> str:
    factor = times(difference.change)
    change = in_words(difference.change).removesuffix(f" ({factor})")
    judged = [] if difference.verdict == DIFFERS else [difference.verdict]
    behind = "; ".join([*judged, *([factor] if factor else [])])
    return f"{change} ({behind})" if behind else change


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
