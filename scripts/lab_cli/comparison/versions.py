"""What is compared: the launches of a kernel, or of a row of an exercise, and the sums of their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .. import metrics
from ..counters import metric_table
from ..counters.metric_table import MetricTable
from ..counters.raw_csv import Launch as RawLaunch
from ..counters.raw_csv import RawTable
from ..lines.model import ATOMIC, GLOBAL, SHARED, Kernel

# A ratio of several launches is the mean of theirs, weighted with what it is a ratio of.
WEIGHTS = {
    "gld_transactions_per_request": ("gld_requests",),
    "gst_transactions_per_request": ("gst_requests",),
    "gld_efficiency": ("gld_transactions",),
    "gst_efficiency": ("gst_transactions",),
    "branch_efficiency": ("branch",),
    "shared_efficiency": ("shared_load_transactions", "shared_store_transactions"),
}
# Counts of the lines, which have no name in metrics.toml.
SHARED_ATOMICS = "shared_atomic_requests"
SHARED_ATOMIC_WAVEFRONTS = "shared_atomic_transactions"
COLLISIONS = "global_atomic_collisions"
OPERATIONS = {
    "fp64": "operations on doubles",
    "to_double": "conversions to double",
    "division": "integer divisions and moduli",
    "special": "special functions",
}
NO_SUM = ("critical_path",)  # counts the launches of the whole program up to this one


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel."""

    kernel: str
    grid: str
    block: str
    values: Mapping[str, float]  # by textbook name; without those that are not available


@dataclass(frozen=True)
class Version:
    """A kernel, or a row of an exercise, in one program."""

    name: str
    place: str  # the program in words: "transpose", "yours", "mine.cu"
    launches: Sequence[Launch]
    lines: Sequence[Kernel] = field(default=(), compare=False)  # what these launches cost per line
    key: tuple[str, int] = ("", 0)  # the row, or the kernel, and its number among those of its name

    @property
    def shape(self) -> str:
        """Grid and block in words, and the number of launches where there are several."""
        shapes = list(dict.fromkeys((each.grid, each.block) for each in self.launches))
        grid, block = shapes[0]
        many = f"{len(self.launches)} launches, " if len(self.launches) > 1 else ""
        first = "the first with " if len(shapes) > 1 else ""
        return f"{many}{first}grid {grid}, block {block}"

    @property
    def totals(self) -> dict[str, float]:
        """The counts of all launches together. A ratio that cannot be told for all of them is left out."""
        names = dict.fromkeys(name for launch in self.launches for name in launch.values)
        found = {name: _total(name, self.launches) for name in names if name not in NO_SUM}
        known = {name: value for name, value in found.items() if value is not None}
        return {**known, **_of_lines(self.lines)}


def _of_lines(kernels: Sequence[Kernel]) -> dict[str, float]:
    """What no metric of a profiler tells, and the lines do; nothing without lines."""
    if not kernels:
        return {}
    atomics = [each for kernel in kernels for each in kernel.accesses if each.kind == ATOMIC]
    shared = [each for each in atomics if each.space == SHARED]
    in_global = [each for each in atomics if each.space == GLOBAL]
    operations: Counter[str] = Counter({name: 0 for name in OPERATIONS})
    for line in (line for kernel in kernels for line in kernel.lines.values()):
        operations.update({name: line.operations.get(name, 0) for name in OPERATIONS})
    return {
        SHARED_ATOMICS: float(sum(each.requests for each in shared)),
        SHARED_ATOMIC_WAVEFRONTS: float(sum(each.units for each in shared)),
        COLLISIONS: float(sum(max(0, each.alike - each.requests) for each in in_global)),
        **{name: float(count) for name, count in operations.items()},
    }


def _total(name: str, launches: Sequence[Launch]) -> float | None:
    values = [launch.values.get(name) for launch in launches]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return None
    if _is_sum(name):
        return sum(numbers)
    if len(set(numbers)) == 1:
        return numbers[0]
    return _weighted(name, numbers, launches)


def _weighted(name: str, numbers: Sequence[float], launches: Sequence[Launch]) -> float | None:
    if name not in WEIGHTS:
        return None
    weights = [sum(launch.values.get(of, 0.0) for of in WEIGHTS[name]) for launch in launches]
    whole = sum(weights)
    return sum(w * number for w, number in zip(weights, numbers)) / whole if whole else None


def _is_sum(name: str) -> bool:
    metric = metrics.load().metrics.get(name)
    return (metric.nsight if metric else name).endswith(".sum")


def of_table(table: MetricTable) -> list[Launch]:
    """The launches of a table of metrics."""
    return [
        Launch(
            row.kernel,
            row.grid,
            row.block,
            {
                metric.name: value
                for metric, value in zip(table.metrics, row.values)
                if isinstance(value, float)
            },
        )
        for row in table.rows
    ]


def of_raw(counts: RawTable, launches: Sequence[RawLaunch] | None = None) -> list[Launch]:
    """The launches of what the cpu back end counts, or some of them, with all its metrics."""
    asked = [metric for metric in metrics.load().metrics.values() if metric.cpu]
    chosen = RawTable(counts.units, list(counts.launches if launches is None else launches))
    return of_table(metric_table.build(chosen, asked, "", []))
