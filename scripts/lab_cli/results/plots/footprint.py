"""How a value rises with the bytes that are in use, and what the sizes of the caches have to do with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..csv_file import Row
from ..rows import axis_label, in_binary, positive, unique
from . import style
from .curves import line_look

DOUBLINGS = 2  # from one tick to the next
MARK = {**style.LIMIT, "color": style.BLACK}  # unlike any of the lines


@dataclass(frozen=True)
class Footprint:
    """A line for each kernel over column `x`, in bytes; both axes are logarithmic.

    `marks` are sizes to mark: columns that have them, in bytes, and what is written beside each.
    """

    x: str
    x_label: str
    value: str
    marks: dict[str, str]

    def columns(self) -> list[str]:
        return ["kernel", self.x, self.value, *self.marks]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        figure = style.new_figure(5, title)
        axes = figure.subplots()
        for place, kernel in enumerate(unique(rows, "kernel")):
            line = [row for row in rows if row["kernel"] == kernel]
            points = sorted((positive(row, self.x), positive(row, self.value)) for row in line)
            look = {**line_look(place, place), "markersize": 4, "zorder": 3 - 0.1 * place}
            axes.plot(*zip(*points), label=kernel, **look)
        self._scales(axes, rows)
        for column, label in self.marks.items():
            self._mark(axes, positive(rows[0], column), label)
        figure.legend(loc="outside lower center", ncols=6, frameon=False)
        return figure

    def _scales(self, axes: Axes, rows: Sequence[Row]) -> None:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        for axis, column, step in ((axes.xaxis, self.x, DOUBLINGS), (axes.yaxis, self.value, 1)):
            values = [positive(row, column) for row in rows]
            axis.set_ticks(powers_of_two(min(values), max(values), step))
        axes.xaxis.set_major_formatter(lambda tick, _: in_binary(int(tick)))
        axes.yaxis.set_major_formatter(lambda tick, _: f"{tick:,g}")
        axes.minorticks_off()
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(axis_label(self.value))
        style.quiet_grid(axes, "both")

    def _mark(self, axes: Axes, size: float, label: str) -> None:
        axes.axvline(size, zorder=1, **MARK)
        axes.annotate(
            f"{label} {in_bytes(size)}",
            (size, 1),
            (-4, -4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right",
            va="top",
        )


def powers_of_two(low: float, high: float, step: int) -> list[int]:
    """Every `step`-th power from the last up to `low` on to the first from `high` on."""
    powers = [1]
    while 2 * powers[0] <= low:
        powers[0] *= 2
    while powers[-1] < high:
        powers.append(powers[-1] << step)
    return powers


def in_bytes(size: float) -> str:
    """1024 -> '1 KiB'."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"
