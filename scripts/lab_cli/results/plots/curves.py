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
from ..rows import axis_label, count, is_library, number, peaks, positive, unique
from . import style

LABELS_AT = 1.05  # of the width of the axes
LAW = {"linestyle": (0, (4, 3)), "linewidth": 1.0, "zorder": 1}


@dataclass(frozen=True)
class Curves:
    """`log` makes the y axis logarithmic too: for rates that differ by orders of magnitude. `linear`
    makes the x axis linear: for numbers that begin with 0. `line` is the column that has a line for
    each of its values, if not the kernel. `law` is a column with what a formula says, drawn dashed. `peaks` says by exercise
    what the limit is called, if not as its unit is."""

    x: str
    x_label: str
    value: str
    log: bool = False
    linear: bool = False
    line: str = "kernel"
    law: str = ""
    peaks: dict[str, str] = field(default_factory=dict)

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
        own = 0
        alone = all(is_library(row) for row in rows)  # no kernels to be told apart from
        lines = []
        for name in names:
            of_line = [row for row in rows if row[self.line] == name]
            library = is_library(of_line[0]) and not alone
            points = sorted((self._x(row), self._y(row)) for row in of_line)
            look = _library_look(len(lines)) if library else line_look(own, len(lines))
            own += not library
            label = name if self.line == "kernel" else f"{self.line} {name}"
            lines += axes.plot(*zip(*points), label=label, **look)
            if self.law:
                law = sorted((self._x(row), number(row, self.law)) for row in of_line)
                axes.plot(*zip(*law), label=f"_law of {label}", **{**LAW, "color": look["color"]})
        for limit, label in limits:
            self._limit_line(axes, limit, label)
        _label_ends(axes, lines)
        return figure

    def _x(self, row: Row) -> float:
        return number(row, self.x) if self.linear else positive(row, self.x)

    def _y(self, row: Row) -> float:
        return positive(row, self.value) if self.log else number(row, self.value)

    def _scales(self, axes: Axes, rows: Sequence[Row], limits: Sequence[float]) -> None:
        if self.linear:
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 4, 8, 10]))
        else:
            sizes = sorted({int(self._x(row)) for row in rows})
            axes.set_xscale("log", base=2)
            axes.set_xticks(sizes, [count(str(size)) for size in sizes])
            axes.minorticks_off()
        axes.set_xlabel(self.x_label)
        values = [self._y(row) for row in rows]
        values += [number(row, self.law) for row in rows if self.law]
        top = max([*values, *limits])
        if self.log:
            axes.set_yscale("log")
            axes.set_ylim(min(values) / 1.5, top * 1.8)
        else:
            axes.set_ylim(0, top * 1.1)
        axes.yaxis.set_major_formatter(lambda tick, _: f"{tick:,.10g}")
        axes.set_ylabel(axis_label(self.value))
        style.quiet_grid(axes, "both")

    def _limit_line(self, axes: Axes, limit: float, label: str) -> None:
        axes.axhline(limit, **style.LIMIT)
        axes.annotate(
            label,
            (0, limit),
            (4, 4),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
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
