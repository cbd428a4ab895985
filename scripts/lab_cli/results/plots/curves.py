"""One line for each kernel, or for each value of a column, over the size of the problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ..csv_file import Row
from ..rows import axis_label, is_library, number, peaks, positive, ticks, unique
from . import style

LABELS_AT = 1.05  # of the width of the axes
MOST_TICKS = 8  # of a linear axis, at the values of the rows
LAW = {"linestyle": (0, (4, 3)), "linewidth": 1.0, "zorder": 1}


@dataclass(frozen=True)
class Curves:
    """`log` makes the y axis logarithmic too: for what is in proportion to x, and for rates that differ by
    orders of magnitude. `linear` makes the x axis linear: for numbers that begin with 0. The y axis is
    called `y_label`, if not as its column is, and begins at `bottom`, if it is not logarithmic. `line` is
    the column that has a line for each of its values, if not the kernel, and `line_label` names it: {}
    stands for the value. `law` is a column with what a formula says, drawn dashed, and `law_label` says
    what that is. `peaks` says by exercise what the limit is called, if not as its unit is. The lines look
    as from the one of number `first_look` on: as in another figure of the page."""

    x: str
    x_label: str
    value: str
    y_label: str = ""
    log: bool = False
    linear: bool = False
    bottom: float = 0
    line: str = "kernel"
    line_label: str = "{}"
    law: str = ""
    law_label: str = ""
    peaks: dict[str, str] = field(default_factory=dict)
    first_look: int = 0

    def columns(self) -> list[str]:
        return list(
            dict.fromkeys(["kernel", "grid", self.x, self.value, self.line, self.law or self.x])
        )

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        names = unique(rows, self.line)
        figure = style.new_figure(max(4.6, 1.6 + 0.3 * len(names)), title)
        axes = figure.subplots()
        limits = peaks(rows, self.value, self.peaks)
        self._scales(axes, rows, [limit for limit, _ in limits])
        own = self.first_look
        alone = all(is_library(row) for row in rows)  # no kernels to be told apart from
        lines = []
        for name in names:
            of_line = [row for row in rows if row[self.line] == name]
            library = is_library(of_line[0]) and not alone
            points = sorted((self._x(row), self._y(row)) for row in of_line)
            marker = self.first_look + len(lines)
            look = _library_look(marker) if library else line_look(own, marker)
            own += not library
            label = self.line_label.format(name)
            lines += axes.plot(*zip(*points), label=label, **look)
            if self.law:
                law = sorted((self._x(row), number(row, self.law)) for row in of_line)
                axes.plot(*zip(*law), label=f"_law of {label}", **{**LAW, "color": look["color"]})
        for limit, label in limits:
            crossed = any(self._y(row) > limit for row in rows)
            self._limit_line(axes, limit, label, right=crossed)
        _label_ends(axes, lines)
        if self.law_label:
            dashed = Line2D([], [], label=self.law_label, **{**LAW, "color": style.BLACK})
            figure.legend(handles=[dashed], loc="outside lower center", frameon=False)
        return figure

    def _x(self, row: Row) -> float:
        return number(row, self.x) if self.linear else positive(row, self.x)

    def _y(self, row: Row) -> float:
        return positive(row, self.value) if self.log else number(row, self.value)

    def _scales(self, axes: Axes, rows: Sequence[Row], limits: Sequence[float]) -> None:
        if self.linear:
            self._linear_x(axes, sorted({self._x(row) for row in rows}))
        else:
            sizes = sorted({int(self._x(row)) for row in rows})
            axes.set_xscale("log", base=2)
            axes.set_xticks(sizes, ticks(sizes))
            axes.minorticks_off()
        axes.set_xlabel(self.x_label)
        values = [self._y(row) for row in rows]
        values += [number(row, self.law) for row in rows if self.law]
        top = max([*values, *limits])
        if self.log:
            axes.set_yscale("log")
            low, high = min(values) / 1.5, top * 1.8
            axes.set_ylim(low, high)
            style.logarithmic(axes.yaxis, low, high)
            axes.minorticks_off()
        else:
            axes.set_ylim(self.bottom, top + 0.1 * (top - self.bottom))
            axes.yaxis.set_major_formatter(style.Numbers())
        axes.set_ylabel(self.y_label or axis_label(self.value))
        style.quiet_grid(axes, "both")

    @staticmethod
    def _linear_x(axes: Axes, values: Sequence[float]) -> None:
        """From 0 where the least value is near it, so that what is in proportion to x is seen to be."""
        if len(values) <= MOST_TICKS:
            axes.set_xticks(values, ticks([int(value) for value in values]))
        else:
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 4, 8, 10]))
        if 0 < values[0] < values[-1] / 5:
            axes.set_xlim(0, 1.04 * values[-1])

    @staticmethod
    def _limit_line(axes: Axes, limit: float, label: str, right: bool) -> None:
        """With its label at the left, where lines begin, or at the right, if they rise beyond the limit."""
        axes.axhline(limit, **style.LIMIT)
        axes.annotate(
            label,
            (1 if right else 0, limit),
            (-4 if right else 4, 6),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right" if right else "left",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0},  # no grid through it
        )


def line_look(index: int, marker: int) -> dict[str, Any]:
    return {
        "color": style.LINE_COLOURS[index % len(style.LINE_COLOURS)],
        "linestyle": style.LINE_STYLES[index % len(style.LINE_STYLES)],
        "marker": style.MARKERS[marker % len(style.MARKERS)],
        "markersize": 7,
        "linewidth": 1.8,
    }


def _library_look(marker: int) -> dict[str, Any]:
    return {
        **line_look(0, marker),
        "color": style.BLACK,
        "linestyle": ":",
        "markerfacecolor": "white",
        "linewidth": 2.2,
    }


def spread(places: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """`places` moved apart to at least `distance`, in their order, within low ... high.

    Each stays as near to its own place as its neighbours allow. Where there is no room for all at
    `distance`, they are spaced evenly.
    """
    if len(places) > 1:
        distance = min(distance, (high - low) / (len(places) - 1))
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[Any]] = []  # [centre, members]: labels that touch move as one
    for i in order:
        groups.append([min(max(places[i], low), high), [i]])
        while len(groups) > 1 and _bottom(groups[-1], distance) < _top(groups[-2], distance):
            centre, members = groups.pop()
            below, others = groups[-1]
            joined = [*others, *members]
            middle = (below * len(others) + centre * len(members)) / len(joined)
            half = distance * (len(joined) - 1) / 2
            groups[-1] = [min(max(middle, low + half), high - half), joined]
    result = [0.0] * len(places)
    for centre, members in groups:
        for step, i in enumerate(members):
            result[i] = centre + distance * (step - (len(members) - 1) / 2)
    return result


def _bottom(group: Sequence[Any], distance: float) -> float:
    return group[0] - distance * len(group[1]) / 2 + 1e-9


def _top(group: Sequence[Any], distance: float) -> float:
    return group[0] + distance * len(group[1]) / 2


def _label_ends(axes: Axes, lines: Sequence[Line2D]) -> None:
    """The name of each line beside its last point, with the line's marker and a thin connection."""
    ends = [(line.get_xdata()[-1], line.get_ydata()[-1]) for line in lines]
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = [to_axes.transform(end)[1] for end in ends]
    inches = axes.figure.get_figheight() - 1.5  # roughly the height of the axes
    for line, end, height in zip(lines, ends, spread(heights, 0.22 / inches, 0.01, 0.99)):
        axes.annotate(
            "",
            end,
            (LABELS_AT - 0.015, height),
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "-", "color": "#A0A0A0", "linewidth": 0.7, "shrinkA": 0},
        )
        sample = Line2D([LABELS_AT], [height], transform=axes.transAxes, clip_on=False)
        sample.update_from(line)
        sample.set_transform(axes.transAxes)
        sample.set_clip_on(False)
        sample.set_linestyle("none")
        sample.set_label(f"_end of {line.get_label()}")
        axes.add_artist(sample)
        axes.text(
            LABELS_AT + 0.025, height, line.get_label(), transform=axes.transAxes, va="center"
        )
