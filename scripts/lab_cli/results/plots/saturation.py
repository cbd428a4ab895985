"""How a value rises with what is in flight, and what Little's law says of it: a panel for each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...errors import LabError
from ..csv_file import Row
from ..rows import axis_label, number, positive, ticks, unique
from . import style
from .curves import line_look

TOP = 400  # % of peak: above 100 is room for a text
LABELLED = 3  # every third doubling
# A broad band: lines lie on it where the law holds, and it shows on both sides of them.
LAW = {"color": "#B5B5B5", "linewidth": 9, "solid_capstyle": "round", "solid_joinstyle": "round"}
MARK = {"markersize": 5, "markerfacecolor": "white", "markeredgewidth": 1.4, "linewidth": 1.4}


@dataclass(frozen=True)
class Saturation:
    """A line for each value of column `line`; `law` is the column with the law's own value.

    `panels` has tables with `kernel`, `title` and `x_label`.
    """

    panels: list[dict[str, str]]
    x: str
    value: str
    law: str
    line: str
    line_label: str  # {} stands for the value

    def columns(self) -> list[str]:
        return ["kernel", self.x, self.value, self.law, self.line]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        names = unique(rows, self.line)
        looks = {name: {**line_look(place, place), **MARK} for place, name in enumerate(names)}
        figure = style.new_figure(4.4, title)
        grid = figure.subplots(1, len(self.panels), squeeze=False, sharey=True)
        kernels = [panel["kernel"] for panel in self.panels]
        for axes, panel in zip(grid[0], self.panels):
            part = [row for row in rows if row["kernel"] == panel["kernel"]]
            if not part:
                raise LabError(f"no row of kernel {panel['kernel']}")
            axes.set_title(panel["title"], loc="left")
            axes.set_xlabel(panel["x_label"])
            self._law(axes, part)
            for name in unique(part, self.line):
                line = [row for row in part if row[self.line] == name]
                points = sorted((positive(row, self.x), positive(row, self.value)) for row in line)
                axes.plot(*zip(*points), **looks[name])
            self._scales(axes, part)
        grid[0, 0].set_ylabel(axis_label(self.value))
        grid[0, 0].set_yscale("log")
        low = min(number(row, self.value) for row in rows if row["kernel"] in kernels) / 1.3
        grid[0, 0].set_ylim(low, TOP)
        style.logarithmic(grid[0, 0].yaxis, low, TOP)
        grid[0, 0].minorticks_off()
        handles = [
            Line2D([], [], label=self.line_label.format(name), **looks[name]) for name in names
        ]
        figure.legend(
            handles=[*handles, Line2D([], [], label="Little's law", **LAW)],
            loc="outside lower center",
            ncols=len(names) + 1,
            frameon=False,
        )
        return figure

    def _law(self, axes: Axes, rows: Sequence[Row]) -> None:
        """In proportion to what is in flight, up to 100 %, where as much is in flight as the latency asks
        for: a straight line, as both axes are logarithmic."""
        least = min(rows, key=lambda row: positive(row, self.x))
        low = positive(least, self.x)
        high = max(positive(row, self.x) for row in rows)
        needed = 100 * low / positive(least, self.law)
        axes.plot([low, needed, high], [100 * low / needed, 100, 100], zorder=1, **LAW)
        axes.annotate(
            f"latency x peak:\n{needed:,.0f}",
            (needed, 100),
            (0.06, 0.97),
            textcoords="axes fraction",
            va="top",
            arrowprops={"arrowstyle": "->", "linewidth": 0.9, "shrinkB": 3},
        )

    def _scales(self, axes: Axes, rows: Sequence[Row]) -> None:
        sizes = sorted({int(positive(row, self.x)) for row in rows})
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, ["" if i % LABELLED else x for i, x in enumerate(ticks(sizes))])
        axes.minorticks_off()
        style.quiet_grid(axes, "both")
