"""A comparison as JSON."""

from __future__ import annotations

from typing import Any

from . import sentences, timing
from .compared import Compared, Report
from .culprits import Culprit, Culprits
from .differences import Change, Difference
from .timing import Timed
from .versions import Version

SCHEMA = "lab-compare/1"  # changes when a field changes its meaning, or goes


def of(report: Report) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "source": report.source,
        "notes": [*report.notes],
        "equal": [*report.equal],
        "pairs": [_pair(each) for each in report.compared],
    }


def _pair(compared: Compared) -> dict[str, Any]:
    comparison = compared.comparison
    before, after = compared.versions
    told = zip(comparison.differences, compared.culprits)
    return {
        "before": _version(before),
        "after": _version(after),
        "time": _time(compared.timed) if compared.timed else None,
        "differences": [_difference(difference, culprits) for difference, culprits in told],
        "changed": [_change(each) for each in comparison.changed],
        "equal": [_change(each) for each in comparison.equal],
    }


def _version(version: Version) -> dict[str, Any]:
    return {
        "name": version.name,
        "program": version.place,
        "launches": [
            {"kernel": each.kernel, "grid": each.grid, "block": each.block, "counts": each.values}
            for each in version.launches
        ],
    }


def _difference(difference: Difference, culprits: Culprits) -> dict[str, Any]:
    return {
        **_change(difference.change),
        "verdict": difference.verdict,
        "weight": difference.weight,
        "of_traffic": difference.traffic,
        "text": sentences.headline(difference),
        "means": sentences.explanation(difference),
        "with": [_change(each) for each in difference.also],
        "line_before": _line(culprits.before),
        "line_after": _line(culprits.after),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "what": change.what,
        "metric": change.metric or None,
        "unit": change.unit,
        "before": change.before,
        "after": change.after,
    }


def _line(culprit: Culprit | None) -> dict[str, Any] | None:
    if culprit is None:
        return None
    return {
        "file": str(culprit.place.file),
        "line": culprit.place.line,
        "text": culprit.text,
        "cost": culprit.cost,
        "of": culprit.whole,
    }


def _time(timed: Timed) -> dict[str, Any]:
    return {
        "before_ms": [*timed.before],
        "after_ms": [*timed.after],
        "ratio": timed.ratio,
        "p": timed.probability,
        "differ": timed.differ,
        "text": timing.in_words(timed),
    }
