"""What differs between two versions of a kernel, and in which order it is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import metrics
from ..lines.model import WARP
from ..lines.weights import SECTOR, WAVEFRONT
from .versions import COLLISIONS, OPERATIONS, SHARED_ATOMIC_WAVEFRONTS, SHARED_ATOMICS, Version

BETTER, WORSE, DIFFERS = "better", "worse", "differs"
LAUNCHES = "launches"
ALIKE = 1e-3  # ratios are printed with a few digits: a smaller relative difference is none
LITTLE = 0.01  # a difference of less than this share is told only where there is no other
# What the lines tell, in words, and what it means.
OF_LINES = {
    **{name: (what, "") for name, what in OPERATIONS.items()},
    COLLISIONS: (
        "lanes that wait in an atomic operation",
        "Lanes of a warp that want the address that another lane of the warp has.",
    ),
    SHARED_ATOMICS: ("shared atomics", "Atomic operations of warps on shared memory."),
    SHARED_ATOMIC_WAVEFRONTS: (
        "wavefronts of shared atomics",
        "Wavefronts that atomic operations on shared memory took.",
    ),
}

Values = Mapping[str, float]


@dataclass(frozen=True)
class Change:
    """A number in both versions. `metric` is its name in metrics.toml, if it is one of these."""

    what: str
    before: float
    after: float
    unit: str = ""
    metric: str = ""


@dataclass(frozen=True)
class Difference:
    """A change that is worth a sentence, with other changes that belong to it."""

    change: Change
    verdict: str  # of the version after, other things being equal: BETTER, WORSE or DIFFERS
    measure: str  # what culprits.py looks for in the lines: a name of its MEASURES
    weight: float = 0.0  # share of the traffic, of the lanes or of the branches that it concerns
    traffic: bool = False  # that share is one of the traffic
    also: Sequence[Change] = ()


@dataclass(frozen=True)
class Comparison:
    before: Version
    after: Version
    differences: Sequence[Difference]  # in the order in which they are told
    changed: Sequence[Change]  # every metric that differs
    equal: Sequence[Change]  # every metric that is the same and not zero

    @property
    def is_equal(self) -> bool:
        return not self.changed and len(self.before.launches) == len(self.after.launches)


@dataclass(frozen=True)
class Traffic:
    """A way on which a kernel moves data. `units` are sectors or wavefronts."""

    what: str
    one: str
    measure: str
    requests: str
    units: str
    unit: str
    waste: str = ""  # the metric that tells how much of the units is needed: an efficiency
    conflicts: str = ""
    of_shared: bool = False

    @property
    def cycles(self) -> float:
        """What one of its units weighs."""
        return WAVEFRONT if self.of_shared else SECTOR


LOADS = Traffic(
    "sectors loaded",
    "load",
    "loads",
    "gld_requests",
    "gld_transactions",
    "sectors",
    waste="gld_efficiency",
)
STORES = Traffic(
    "sectors stored",
    "store",
    "stores",
    "gst_requests",
    "gst_transactions",
    "sectors",
    waste="gst_efficiency",
)
SHARED_LOADS = Traffic(
    "wavefronts of shared loads",
    "shared load",
    "shared loads",
    "shared_load_requests",
    "shared_load_transactions",
    "wavefronts",
    conflicts="shared_ld_bank_conflict",
    of_shared=True,
)
SHARED_STORES = Traffic(
    "wavefronts of shared stores",
    "shared store",
    "shared stores",
    "shared_store_requests",
    "shared_store_transactions",
    "wavefronts",
    conflicts="shared_st_bank_conflict",
    of_shared=True,
)
# Of these the lines alone tell.
SHARED_ATOMIC_WAY = Traffic(
    "wavefronts of shared atomics",
    "shared atomic",
    "shared atomics",
    SHARED_ATOMICS,
    SHARED_ATOMIC_WAVEFRONTS,
    "wavefronts",
    of_shared=True,
)
WAYS = (LOADS, STORES, SHARED_LOADS, SHARED_STORES, SHARED_ATOMIC_WAY)
ATOMICS, COPIES = "global_atomic_requests", "async_copies"
# What a sentence about the traffic or the lanes says already.
TOLD = {
    *(way.units for way in WAYS),
    *(way.waste for way in WAYS if way.waste),
    *(way.conflicts for way in WAYS if way.conflicts),
    ATOMICS,
    COLLISIONS,
    COPIES,
    "gld_transactions_per_request",
    "gst_transactions_per_request",
    "shared_efficiency",
    "divergent_branch",
    "branch_efficiency",
    "warp_execution_efficiency",
    "active_threads_per_instruction",
}


def compare(before: Version, after: Version) -> Comparison:
    """All that differs, what matters most first.

    The counts of all launches of a version are added up: a kernel that is launched ten times on a tenth of the
    data compares with one launch on all of it.

    The order follows the traffic of the kernels, in cycles of a multiprocessor, as lines/weights.py has them for
    sectors of global memory and wavefronts of shared memory. An atomic operation of a warp has a sector, and one
    cycle more for each lane that waits because another lane wants the same address. An asynchronous copy, of which
    the profiler counts requests alone, has a sector, too, which is the least that it can be. The weight of a
    difference is what it adds or removes, divided by the traffic of the version that has more. That is its
    relative change times the share of the traffic that it concerns: if 90 % of the stores' sectors go, and stores
    were half of the traffic, the weight is 45 %. Differences in active lanes are weighed against the 32 lanes of a
    warp, divergent branches against all branches. The heaviest comes first. All other differences follow, the
    largest relative change first. What concerns less than one per cent is told only where there is nothing else.

    If one version launches more often, and each of its launches counts the same as in the other version, then
    the number of launches is the difference and comes first.
    """
    a, b = before.totals, after.totals
    found = [*_of_traffic(a, b), *_of_lanes(a, b)]
    found = _with_launches(found, [*_of_others(a, b)], before, after)
    known = [name for name in a if name in b]
    changes = [_change(name, a[name], b[name]) for name in known]
    return Comparison(
        before,
        after,
        found,
        [each for each in changes if not alike(each.before, each.after)],
        [each for each in changes if alike(each.before, each.after) and each.before],
    )


def alike(before: float, after: float) -> bool:
    """Counts must be equal; ratios may differ by the rounding of what is printed of them."""
    if before.is_integer() and after.is_integer():
        return before == after
    return abs(before - after) <= ALIKE * max(abs(before), abs(after))


def relative(change: Change) -> float:
    most = max(abs(change.before), abs(change.after))
    return abs(change.after - change.before) / most if most else 0.0


def traffic(values: Values) -> float:
    """In cycles of a multiprocessor, of all launches together."""
    of_global = [way.units for way in WAYS if not way.of_shared]
    of_shared = [way.units for way in WAYS if way.of_shared]
    sectors = sum(values.get(name, 0.0) for name in [*of_global, ATOMICS, COPIES])
    wavefronts = sum(values.get(name, 0.0) for name in of_shared)
    return SECTOR * sectors + WAVEFRONT * wavefronts + values.get(COLLISIONS, 0.0)


def _of_atomic_operations(values: Values) -> float:
    """A sector for each, and a cycle for each lane that has to wait for another one."""
    return SECTOR * values.get(ATOMICS, 0.0) + values.get(COLLISIONS, 0.0)


def verdict(before: float, after: float, better: str = "lower") -> str:
    if better == "neither":
        return DIFFERS
    return BETTER if (after < before) == (better == "lower") else WORSE


def _change(name: str, before: float, after: float) -> Change:
    metric = metrics.load().metrics.get(name)
    if metric is None:
        return Change(OF_LINES[name][0] if name in OF_LINES else name, before, after, metric=name)
    what = metric.short if metric.short and not metric.unit else name.replace("_", " ")
    return Change(what, before, after, metric.unit, name)


# ---- what moves data ----


def _of_traffic(a: Values, b: Values) -> Iterator[Difference]:
    whole = max(traffic(a), traffic(b))
    for way in WAYS:
        if {way.requests, way.units} <= a.keys() & b.keys():
            found = _of_way(way, a, b)
            if found:
                moved = way.cycles * abs(b[way.units] - a[way.units])
                yield replace(found, weight=moved / whole if whole else 0.0, traffic=True)
    yield from _of_atomics(a, b, whole)
    if COPIES in a and COPIES in b and a[COPIES] != b[COPIES]:
        change = Change("asynchronous copies of warps", a[COPIES], b[COPIES], metric=COPIES)
        weight = SECTOR * abs(b[COPIES] - a[COPIES]) / whole
        yield Difference(change, verdict(a[COPIES], b[COPIES]), COPIES, weight, traffic=True)


def _of_atomics(a: Values, b: Values, whole: float) -> Iterator[Difference]:
    """Lanes that want the same address wait for each other. Only the lines tell how many do."""
    if ATOMICS not in a or ATOMICS not in b:
        return
    requests = Change("atomic operations of warps", a[ATOMICS], b[ATOMICS], metric=ATOMICS)
    waiting = Change(
        OF_LINES[COLLISIONS][0], a.get(COLLISIONS, 0.0), b.get(COLLISIONS, 0.0), metric=COLLISIONS
    )
    before, after = _of_atomic_operations(a), _of_atomic_operations(b)
    if before == after:
        return
    first, *others = sorted(
        (each for each in (waiting, requests) if each.before != each.after),
        key=lambda each: -abs(each.after - each.before),
    )
    weight = abs(after - before) / whole
    yield Difference(first, verdict(before, after), first.metric, weight, traffic=True, also=others)


def _of_way(way: Traffic, a: Values, b: Values) -> Difference | None:
    requests = Change(f"{way.one}s", a[way.requests], b[way.requests], metric=way.requests)
    units = Change(way.what, a[way.units], b[way.units], metric=way.units)
    if units.before == units.after:
        return None  # _of_others() has the requests
    is_better = verdict(units.before, units.after)
    others = [units, requests]
    first = _per_request(way, a, b) if requests.before or requests.after else None
    if first is None:
        others.remove(units)
        waste = _of_waste(way, a, b)
        return Difference(units, is_better, way.measure, also=[*others, *waste])
    measure = f"conflicts of {way.measure}" if way.conflicts else way.measure
    if requests.before == requests.after:
        others = [units]
    return Difference(first, is_better, measure, also=others)


def _per_request(way: Traffic, a: Values, b: Values) -> Change | None:
    """What a request takes, where that is the reason why the units differ: sectors because more or less of them
    are wasted, or bank conflicts. None where it is not, or where it points the other way."""
    if not way.waste and not way.conflicts:
        return None
    each = [
        _ratio(
            values, way.conflicts or way.units, way.requests, default=0.0 if way.conflicts else None
        )
        for values in (a, b)
    ]
    if each[0] is None or each[1] is None or alike(each[0], each[1]):
        return None
    more = b[way.units] - a[way.units]
    if (each[1] > each[0]) != (more > 0):
        return None
    if way.conflicts:
        if abs(b[way.conflicts] - a[way.conflicts]) < abs(more) / 2:
            return None
        return Change(f"bank conflicts per {way.one}", each[0], each[1], metric=way.conflicts)
    if alike(a.get(way.waste, 0.0), b.get(way.waste, 0.0)):
        return None
    name = f"{way.units}_per_request"
    return Change(f"sectors per {way.one}", each[0], each[1], metric=name)


def _of_waste(way: Traffic, a: Values, b: Values) -> list[Change]:
    if way.waste not in a or way.waste not in b or alike(a[way.waste], b[way.waste]):
        return []
    return [Change(f"bytes used of the {way.what}", a[way.waste], b[way.waste], "%", way.waste)]


def _ratio(values: Values, of: str, by: str, default: float | None) -> float | None:
    if of not in values:
        return None
    return values[of] / values[by] if values[by] else default


# ---- what leaves lanes idle ----


def _of_lanes(a: Values, b: Values) -> Iterator[Difference]:
    name = "active_threads_per_instruction"
    if name in a and name in b and not alike(a[name], b[name]):
        change = Change("active lanes of a warp's instruction", a[name], b[name], metric=name)
        is_better = verdict(a[name], b[name], "higher")
        yield Difference(change, is_better, "idle lanes", abs(b[name] - a[name]) / WARP)
    name, of = "divergent_branch", "branch"
    if {name, of} <= a.keys() & b.keys() and a[name] != b[name]:
        change = Change("divergent branches", a[name], b[name], metric=name)
        weight = abs(b[name] - a[name]) / max(a[of], b[of])
        yield Difference(change, verdict(a[name], b[name]), name, weight)


# ---- the rest ----


def _of_others(a: Values, b: Values) -> Iterator[Difference]:
    """Every other metric that both have. Requests are among them where their units are equal."""
    known = metrics.load().metrics
    for name in a:
        if name not in b or name in TOLD or alike(a[name], b[name]):
            continue
        if any(way.requests == name and a.get(way.units) != b.get(way.units) for way in WAYS):
            continue
        better = known[name].better if name in known else "lower" if name in OF_LINES else "neither"
        yield Difference(_change(name, a[name], b[name]), verdict(a[name], b[name], better), name)


def _with_launches(
    weighed: list[Difference], rest: list[Difference], before: Version, after: Version
) -> list[Difference]:
    """In order, the number of launches among them."""
    weighed.sort(key=lambda each: -each.weight)
    heavy = [each for each in weighed if each.weight >= LITTLE]
    others = [each for each in rest if relative(each.change) >= LITTLE]
    many = [float(len(version.launches)) for version in (before, after)]
    if many[0] == many[1]:
        return [*heavy, *_by_change(others)] or [*weighed, *_by_change(rest)]
    change = Change(LAUNCHES, many[0], many[1])
    launches = Difference(change, verdict(*many), LAUNCHES)
    if _each_launch_counts_the_same(before, after):
        return [launches, *(each for each in heavy if not each.traffic), *_by_change(others)]
    return [*heavy, *_by_change([launches, *others])]


def _by_change(differences: Iterable[Difference]) -> list[Difference]:
    return sorted(differences, key=lambda each: -relative(each.change))


def _each_launch_counts_the_same(before: Version, after: Version) -> bool:
    """Whether the sums differ by the number of launches alone."""
    a, b = before.totals, after.totals
    names = [*(way.units for way in WAYS), ATOMICS, COLLISIONS, COPIES]
    names = [name for name in names if name in a and name in b]
    return bool(traffic(a)) and all(
        a[name] * len(after.launches) == b[name] * len(before.launches) for name in names
    )
