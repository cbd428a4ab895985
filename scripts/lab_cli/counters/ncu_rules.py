"""What Nsight Compute's own rules estimate that a change would gain."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence

# The sections whose rules have an estimate that stands for one of the symptoms below.
SECTIONS = ("LaunchStats", "Occupancy", "WarpStateStats", "MemoryWorkloadAnalysis_Tables")
STALL = "stall"  # what warps wait for most
# A rule of ncu, and the symptoms of diagnosis.toml that it is about. SourceCounters has the first
# two.
RULES: Mapping[str, Sequence[str]] = {
    "UncoalescedGlobalAccess": ("uncoalesced loads", "uncoalesced stores"),
    "UncoalescedSharedAccess": ("bank conflicts",),
    "SharedMemoryConflicts": ("bank conflicts",),
    "ThreadDivergence": ("divergence", "idle lanes"),
    "LaunchConfiguration": ("small grid", "last wave"),
    "TheoreticalOccupancy": ("few warps for the latency",),
    "CPIStall": (STALL,),
}
_HEADER = re.compile(r'"ID",.*"Rule Name",.*')

Estimates = Mapping[str, tuple[str, float]]  # of a launch: symptom -> rule and per cent


def parse(details: str) -> list[Estimates]:
    """Of each launch, in their order. Those that ncu calls local are about a part of the GPU alone,
    and left out."""
    found: dict[int, dict[str, tuple[str, float]]] = {}
    for row in _rows(details):
        estimates = found.setdefault(int(row["ID"]), {})
        share = _number(row.get("Estimated Speedup", ""))
        if row.get("Estimated Speedup Type") != "global" or share is None:
            continue
        rule = row.get("Rule Name", "")
        for symptom in RULES.get(rule, ()):
            if share > estimates.get(symptom, ("", 0.0))[1]:
                estimates[symptom] = (rule, share)
    return [found[launch] for launch in sorted(found)]


def sentence(estimate: tuple[str, float]) -> str:
    rule, share = estimate
    return f"Nsight Compute estimates a speed-up of {share:.0f} % (its rule {rule})."


def _rows(details: str) -> list[dict[str, str]]:
    lines = details.splitlines(keepends=True)
    first = next((number for number, line in enumerate(lines) if _HEADER.match(line)), None)
    if first is None:
        return []
    return [
        row for row in csv.DictReader(lines[first:], restval="") if (row.get("ID") or "").isdigit()
    ]


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        return None
