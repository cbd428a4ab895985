"""Adds up what the accesses of a line cost, by memory and by kind of access."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .model import ATOMIC, CONSTANT, COPY, GLOBAL, LOAD, SHARED, STORE, WARP, Access, Line

UNITS = {GLOBAL: "sectors", SHARED: "wavefronts", CONSTANT: "passes"}
# In the order in which tables have them.
SORTS = (
    (GLOBAL, LOAD),
    (GLOBAL, STORE),
    (GLOBAL, ATOMIC),
    (SHARED, LOAD),
    (SHARED, STORE),
    (SHARED, ATOMIC),
    (CONSTANT, LOAD),
)


@dataclass(frozen=True)
class Traffic:
    """Accesses of one sort. A request is one execution by a warp."""

    requests: int = 0
    lanes: int = 0  # active ones
    units: int = 0  # sectors, wavefronts or passes
    least: int = 0  # of these, for the same bytes
    conflicts: int = 0  # wavefronts because lanes meet in a bank
    alike: int = 0  # lanes of the largest group that wants one address

    @property
    def in_vain(self) -> int:
        return max(0, self.units - self.least)

    @property
    def collisions(self) -> int:
        """Lanes that wait for another lane of their warp which wants the same address."""
        return max(0, self.alike - self.requests)

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.requests + other.requests,
            self.lanes + other.lanes,
            self.units + other.units,
            self.least + other.least,
            self.conflicts + other.conflicts,
            self.alike + other.alike,
        )


def traffic(accesses: Iterable[Access]) -> dict[tuple[str, str], Traffic]:
    """Sums by memory and kind. An asynchronous copy loads from global memory and stores to shared memory."""
    found: dict[tuple[str, str], Traffic] = {}
    for access in accesses:
        for sort, part in _parts(access):
            found[sort] = found.get(sort, Traffic()) + part
    return found


def _parts(access: Access) -> list[tuple[tuple[str, str], Traffic]]:
    requests, lanes = access.requests, access.lanes
    if access.kind != COPY:
        both = Traffic(requests, lanes, access.units, access.least, access.conflicts, access.alike)
        return [((access.space, access.kind), both)]
    loaded = Traffic(requests, lanes, access.units, access.least, 0, access.alike)
    least = access.wavefronts - access.conflicts
    stored = Traffic(requests, lanes, access.wavefronts, least, access.conflicts, access.alike)
    return [((GLOBAL, LOAD), loaded), ((SHARED, STORE), stored)]


def per_request(part: Traffic) -> tuple[float, float]:
    """Units of a request on average, and the least."""
    if part.requests == 0:
        return 0.0, 0.0
    return part.units / part.requests, part.least / part.requests


def active_lanes(line: Line) -> float:
    """Of a warp that executes the line, on average. Where a condition stands on the line of what depends on it,
    the lanes that make its accesses."""
    requests = sum(access.requests for access in line.accesses)
    of_accesses = sum(access.lanes for access in line.accesses) / requests if requests else WARP
    of_line = line.lanes / line.executions if line.executions else WARP
    return min(of_line, of_accesses)


def number(value: float) -> str:
    """For people: a whole number as such, else with one decimal."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"
