"""How a value rises with what is in flight, and what Little's law says of it: a panel for each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...errors import LabError
from ..csv_file import Row
from ..rows import axis_label, count, number, positive, unique
from . import style
from .curves import line_look

STEPS = 16  # points of the law's curve for each doubling
LABELLED = 3  # every third doubling
LAW = {**style.LIMIT, "color": style.BLACK}  # unlike any of the lines


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
        looks = {name: line_look(place, place) for place, name in enumerate(names)}
        figure = style.new_figure(4.4, title)
        grid = figure.subplots(1, len(self.panels), squeeze=False, sharey=True)
        for axes, panel in zip(grid[0], self.panels):
            part = [row for row in rows if row["kernel"] == panel["kernel"]]
            if not part:
                raise LabError(f"no row of kernel {panel['kernel']}")
            axes.set_title(panel["title"], loc="left")
            axes.set_xlabel(panel["x_label"])
            self._law(axes, part)
            for name in unique(part, self.line):
                line = [row for row in part if row[self.line] == name]
                points = sorted((positive(row, self.x), number(row, self.value)) for row in line)
                axes.plot(*zip(*points), **looks[name])
            self._scales(axes, part)
        grid[0, 0].set_ylabel(axis_label(self.value))
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
        """In proportion to what is in flight, up to 100 %."""
        least = min(rows, key=lambda row: positive(row, self.x))
        low = positive(least, self.x)
        high = max(positive(row, self.x) for row in rows)
        needed = 100 * low / positive(least, self.law)
        points = [low]
        while points[-1] < high:
            points.append(points[-1] * 2 ** (1 / STEPS))
        axes.plot(points, [min(100, 100 * x / needed) for x in points], zorder=1, **LAW)
        axes.annotate(
            f"{needed:,.0f}",
            (needed, 100),
            (0, 4),
            textcoords="offset points",
            ha="right",
        )

    def _scales(self, axes: Axes, rows: Sequence[Row]) -> None:
        sizes = sorted({int(positive(row, self.x)) for row in rows})
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, ["" if i % LABELLED else count(str(x)) for i, x in enumerate(sizes)])
        axes.minorticks_off()
        axes.set_ylim(0, 112)
        axes.yaxis.set_major_formatter(lambda tick, _: f"{tick:,g}")
        style.quiet_grid(axes, "both")
