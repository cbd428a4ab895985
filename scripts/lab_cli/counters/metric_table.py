"""The table of ./lab profile: a row for each kernel launch, a column for each metric."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import LabError
from ..metrics import Metric
from . import units
from .raw_csv import Launch, RawTable, Value

NOT_AVAILABLE = "n/a"
LABELS = ("kernel", "grid", "block")
GAP = "  "
AT_MOST = "<= "  # before an upper bound
HEADING_WIDTH = 13  # longer names are broken at underscores
KERNEL_WIDTH = 48  # longer names, such as templates of a library, are cut; the CSV has all of them


@dataclass(frozen=True)
class Row:
    kernel: str
    grid: str
    block: str
    values: list[Value]  # one for each metric, in the metric's unit


@dataclass(frozen=True)
class MetricTable:
    metrics: list[Metric]
    rows: list[Row]
    source: str  # which back end, build and device
    notes: list[str] = field(default_factory=list)
    failure: LabError | None = None  # where results are WRONG, and have been counted all the same
    on_cpu: bool = False  # whether the cpu back end has counted

    def csv_text(self) -> str:
        """Plain numbers, empty where not available; the columns are named as textbooks do."""
        header = [*LABELS, *(metric.name for metric in self.metrics)]
        return _csv([header, *map(_csv_cells, self.rows)])

    def text(self, width: int) -> str:
        """For people: parts of at most `width` characters where a column or two fit, then the words."""
        parts = [self._part(group) for group in self._groups(width)]
        below = [self.source, *self.notes]
        return "\n".join([*parts, *self._legend(), "", *below]) + "\n"

    def _label_columns(self) -> list[list[str]]:
        cells = zip(*([_cut(row.kernel), row.grid, row.block] for row in self.rows))
        return [_left([name], list(column)) for name, column in zip(LABELS, cells)]

    def _metric_column(self, index: int) -> list[str]:
        metric = self.metrics[index]
        heading = _broken(metric.name)
        if metric.unit:
            heading.append(f"[{metric.unit}]")
        return _right(heading, self.shown(index))

    def shown(self, index: int) -> list[str]:
        """The values of a metric for people, a cell for each row."""
        cells = _shown([row.values[index] for row in self.rows])
        if not (self.on_cpu and self.metrics[index].cpu_at_most):
            return cells
        return [cell if cell == NOT_AVAILABLE else AT_MOST + cell for cell in cells]

    def _groups(self, width: int) -> list[list[int]]:
        """The metrics' indices, cut where the next column would be too much for a line."""
        room = width - sum(len(column[0] + GAP) for column in self._label_columns()) + len(GAP)
        groups: list[list[int]] = [[]]
        left = room
        for index in range(len(self.metrics)):
            needed = len(GAP + self._metric_column(index)[0])
            if groups[-1] and needed > left:
                groups.append([])
                left = room
            groups[-1].append(index)
            left -= needed
        return groups

    def _part(self, group: Sequence[int]) -> str:
        columns = [*self._label_columns(), *(self._metric_column(index) for index in group)]
        height = max(map(len, columns))  # headings stand on the line above the values
        padded = [[" " * len(column[0])] * (height - len(column)) + column for column in columns]
        return "".join(GAP.join(cells).rstrip() + "\n" for cells in zip(*padded))

    def _legend(self) -> list[str]:
        known = [metric for metric in self.metrics if metric.meaning]
        width = max((len(metric.name) for metric in known), default=0)
        return [f"{metric.name:<{width}}  {_explained(metric)}" for metric in known]


def build(
    raw: RawTable,
    asked: Sequence[Metric],
    source: str,
    notes: Sequence[str],
    failure: LabError | None = None,
    on_cpu: bool = False,
) -> MetricTable:
    """The metrics that were asked for, as far as `raw` has them; the others are named in a note."""
    available = {name for launch in raw.launches for name in launch.values}
    metrics: list[Metric] = []
    missing: list[str] = []
    for metric in asked:
        found = _columns(metric, available)
        metrics += [_with_unit(column, raw) for column in found]
        if not any(_has_value(column.nsight, raw) for column in found):
            missing.append(metric.name)
    rows = [_row(launch, metrics, raw) for launch in raw.launches]
    if missing:
        notes = [*notes, "without a value here: " + ", ".join(missing)]
    if failure:
        notes = [*notes, "of a kernel that is WRONG, a count may be that of its mistake"]
    return MetricTable(metrics, rows, source, list(notes), failure, on_cpu)


def csv_of_builds(tables: Mapping[str, MetricTable]) -> str:
    """The same metrics of several builds: a column `build`, and the rows of a launch one below the other.

    The builds may launch a kernel with another grid or block: a launch is known by its kernel's name
    and its number among the launches of this kernel.
    """
    metrics = next(iter(tables.values())).metrics
    header = ["kernel", "build", *LABELS[1:], *(metric.name for metric in metrics)]
    launches: dict[tuple[str, int], list[list[str]]] = {}
    for name, table in tables.items():
        launched: Counter[str] = Counter()
        for row in table.rows:
            kernel, *others = _csv_cells(row)
            rows = launches.setdefault((kernel, launched[kernel]), [])
            rows.append([kernel, name, *others])
            launched[kernel] += 1
    return _csv([header, *(row for rows in launches.values() for row in rows)])


def _csv_cells(row: Row) -> list[str]:
    return [row.kernel, row.grid, row.block, *map(_plain, row.values)]


def _csv(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _columns(metric: Metric, available: set[str]) -> list[Metric]:
    """ncu makes several columns of a name without its last part: x__y becomes x__y.sum, x__y.avg ..."""
    if metric.nsight in available or metric.meaning:
        return [metric]
    longer = sorted(name for name in available if name.startswith(metric.nsight + "."))
    return [Metric(name, nsight=name) for name in longer] or [metric]


def _has_value(nsight: str, raw: RawTable) -> bool:
    return any(launch.values.get(nsight) is not None for launch in raw.launches)


def _with_unit(metric: Metric, raw: RawTable) -> Metric:
    """A metric that metrics.toml does not know keeps the unit of ncu."""
    if metric.meaning:
        return metric
    return Metric(metric.name, metric.nsight, unit=raw.units.get(metric.nsight, ""))


def _row(launch: Launch, metrics: Sequence[Metric], raw: RawTable) -> Row:
    values: list[Value] = []
    for metric in metrics:
        value = launch.values.get(metric.nsight)
        if isinstance(value, float):
            value = units.convert(value, raw.units.get(metric.nsight, ""), metric.unit)
        values.append(value)
    return Row(launch.kernel, launch.grid, launch.block, values)


def _explained(metric: Metric) -> str:
    better = "" if metric.better == "neither" else f" ({metric.better} is better)"
    return metric.meaning + better


def _plain(value: Value) -> str:
    """A number with all digits that it has, whole ones without a point."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return str(int(value)) if value.is_integer() else f"{value:.10g}"


def _shown(values: Sequence[Value]) -> list[str]:
    """A column of one form: whole numbers if all are, else two decimals (more digits near zero)."""
    numbers = [value for value in values if isinstance(value, float)]
    whole = all(value.is_integer() for value in numbers)
    return [_cell(value, whole) for value in values]


def _cell(value: Value, whole: bool) -> str:
    if value is None:
        return NOT_AVAILABLE
    if isinstance(value, str):
        return value
    if whole:
        return f"{value:,.0f}"
    return f"{value:.2g}" if 0 < abs(value) < 0.1 else f"{value:,.2f}"


def _cut(kernel: str) -> str:
    return kernel if len(kernel) <= KERNEL_WIDTH else kernel[: KERNEL_WIDTH - 3] + "..."


def _broken(name: str) -> list[str]:
    """A long name on several lines, broken behind underscores."""
    lines = [""]
    for word in re.findall(r"[^_]*_+|[^_]+", name):
        if lines[-1] and len(lines[-1] + word) > HEADING_WIDTH:
            lines.append("")
        lines[-1] += word
    return lines


def _left(heading: Sequence[str], cells: Sequence[str]) -> list[str]:
    column = [*heading, *cells]
    width = max(map(len, column))
    return [text.ljust(width) for text in column]


def _right(heading: Sequence[str], cells: Sequence[str]) -> list[str]:
    column = [*heading, *cells]
    width = max(map(len, column))
    return [text.rjust(width) for text in column]
