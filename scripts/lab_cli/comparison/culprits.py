"""The line of the source that makes a difference, in each of two versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ..lines.model import (
    ATOMIC,
    COPY,
    GLOBAL,
    LOAD,
    SHARED,
    STORE,
    WARP,
    Access,
    Kernel,
    Line,
    Place,
)
from ..lines.source_text import line_of
from .differences import ATOMICS, COPIES, Difference
from .versions import COLLISIONS, OPERATIONS, SHARED_ATOMICS, Version


@dataclass(frozen=True)
class Culprit:
    """A line, and its part of what was counted for the whole kernel."""

    place: Place
    text: str
    cost: int
    whole: int


@dataclass(frozen=True)
class Culprits:
    """Of the version before and the version after; None where there is none, or no lines were counted."""

    before: Culprit | None = None
    after: Culprit | None = None


CONFLICTS = "conflicts of "
Cost = Callable[[Line], int]


def _accesses(kind: str, space: str, number: Callable[[Access], int]) -> Cost:
    def cost(line: Line) -> int:
        found = (each for each in line.accesses if (each.kind, each.space) == (kind, space))
        return sum(map(number, found))

    return cost


def _ways() -> Iterable[tuple[str, Cost]]:
    """What each way of the traffic is measured by."""
    for space, prefix in ((GLOBAL, ""), (SHARED, "shared ")):
        for kind in (LOAD, STORE):
            name = f"{prefix}{kind}s"
            yield name, _accesses(kind, space, lambda each: each.units)
            requests = {
                LOAD: ("gld_requests", "shared_load_requests"),
                STORE: ("gst_requests", "shared_store_requests"),
            }
            yield (
                requests[kind][space == SHARED],
                _accesses(kind, space, lambda each: each.requests),
            )
            yield CONFLICTS + name, _accesses(kind, space, lambda each: each.conflicts)


def _idle_lanes(line: Line) -> int:
    """Of the line itself, or of its accesses: behind a condition on the same line fewer lanes are active."""
    accesses = sum(WARP * each.requests - each.lanes for each in line.accesses)
    return max(WARP * line.executions - line.lanes, accesses)


def _operation(name: str) -> Cost:
    return lambda line: line.operations.get(name, 0)


# What a line costs, by the `measure` of a difference.
MEASURES: Mapping[str, Cost] = {
    **dict(_ways()),
    ATOMICS: _accesses(ATOMIC, GLOBAL, lambda each: each.requests),
    COPIES: _accesses(COPY, GLOBAL, lambda each: each.requests),
    "shared atomics": _accesses(ATOMIC, SHARED, lambda each: each.units),
    SHARED_ATOMICS: _accesses(ATOMIC, SHARED, lambda each: each.requests),
    COLLISIONS: _accesses(ATOMIC, GLOBAL, lambda each: max(0, each.alike - each.requests)),
    "idle lanes": _idle_lanes,
    "divergent_branch": lambda line: line.divergent,
    "branch": lambda line: line.branches,
    "barriers": lambda line: line.barriers,
    **{name: _operation(name) for name in OPERATIONS},
}


def of(difference: Difference, before: Version, after: Version) -> Culprits:
    """In each version the line that costs most of what differs. Lines that stand in both versions and cost the
    same are left out: the difference is not theirs."""
    cost = MEASURES.get(difference.measure)
    if cost is None or not before.lines or not after.lines:
        return Culprits()
    a, b = _costs(before.lines, cost), _costs(after.lines, cost)
    common = Counter(_alike(a)) & Counter(_alike(b))
    first, second = _most(a, common), _most(b, common)
    if difference.measure.startswith(CONFLICTS) and (first is None) != (second is None):
        # The version without conflicts: where it does the same.
        way = MEASURES[difference.measure[len(CONFLICTS) :]]
        first = first or _most(_costs(before.lines, way), Counter())
        second = second or _most(_costs(after.lines, way), Counter())
    return Culprits(first, second)


def _costs(kernels: Iterable[Kernel], cost: Cost) -> dict[Place, int]:
    costs: Counter[Place] = Counter()
    for kernel in kernels:
        for place, line in kernel.lines.items():
            costs[place] += cost(line)
    return dict(costs)


def _alike(costs: Mapping[Place, int]) -> Iterable[tuple[str, int]]:
    return [(text_of(place), cost) for place, cost in costs.items()]


def _most(costs: Mapping[Place, int], common: Counter[tuple[str, int]]) -> Culprit | None:
    own = {place: cost for place, cost in costs.items() if not common[text_of(place), cost]}
    place = max(own, key=lambda each: (own[each], -each.line), default=None)
    if place is None or own[place] <= 0:
        return None
    return Culprit(place, text_of(place), own[place], sum(costs.values()))


def text_of(place: Place) -> str:
    """The line without what stands around its code; empty where the file cannot be read."""
    return " ".join(line_of(place.file, place.line).partition("//")[0].split())
