"""When each piece of work ran: a lane for each stream, a panel for each way of doing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..csv_file import Row
from ..rows import number, short, time_unit, unique
from . import style

LANE_INCHES = 0.32
LETTER_INCHES = 0.072  # roughly
PANEL_INCHES = 6.0
FILLS = [(style.SKY, None), ("white", "////")]  # neighbours in a lane alternate
MARKED = (style.ORANGE, None)


@dataclass(frozen=True)
class Timeline:
    """`panel`, `lane` and `label` are columns; times are those of begin_ms and end_ms. A number is shown
    behind the name of its column, if there is room. What has the label `marked` has a colour of its own,
    and a line in each panel shows when it was asked for, if that is given."""

    panel: str
    lane: str
    label: str
    marked: str = ""
    asked_ms: float | None = None

    def columns(self) -> list[str]:
        return [self.panel, self.lane, self.label, "begin_ms", "end_ms"]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        panels = unique(rows, self.panel)
        lanes = {
            name: unique([row for row in rows if row[self.panel] == name], self.lane)
            for name in panels
        }
        height = 1.1 + sum(0.55 + LANE_INCHES * len(lanes[name]) for name in panels)
        figure = style.new_figure(height, title)
        ratios = [len(lanes[name]) + 0.2 for name in panels]
        grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=ratios)
        end = max(number(row, "end_ms") for row in rows)
        inches = PANEL_INCHES / end  # of a millisecond
        factor, unit = time_unit(end)
        for axes, name in zip(grid[:, 0], panels):
            of_panel = [row for row in rows if row[self.panel] == name]
            self._lanes(axes, of_panel, lanes[name], inches, factor)
            total = max(number(row, "end_ms") for row in of_panel)
            axes.set_title(f"{name}: {short(factor * total)} {unit}", loc="left")
            if self.asked_ms is not None:
                axes.axvline(factor * self.asked_ms, **style.LIMIT)
        grid[-1, 0].set_xlim(left=0)
        grid[-1, 0].xaxis.set_major_formatter(style.Numbers())
        grid[-1, 0].set_xlabel(f"time [{unit}]")
        if self.asked_ms is not None:
            asked = Line2D([], [], label=f"when {self.marked} is asked for", **style.LIMIT)
            figure.legend(handles=[asked], loc="outside lower center", frameon=False)
        return figure

    def _lanes(
        self, axes: Axes, rows: Sequence[Row], lanes: Sequence[str], inches: float, factor: float
    ) -> None:
        for place, lane in enumerate(lanes):
            of_lane = [row for row in rows if row[self.lane] == lane]
            for turn, row in enumerate(sorted(of_lane, key=lambda row: number(row, "begin_ms"))):
                begin, end = number(row, "begin_ms"), number(row, "end_ms")
                label = row[self.label]
                colour, hatch = MARKED if label == self.marked else FILLS[turn % len(FILLS)]
                axes.barh(
                    place,
                    factor * (end - begin),
                    left=factor * begin,
                    height=0.76,
                    color=colour,
                    hatch=hatch,
                    edgecolor=style.BLACK,
                    linewidth=0.8,
                )
                letters = inches * (end - begin) / LETTER_INCHES
                texts = [text for text in (_named(self.label, label), label) if len(text) < letters]
                if not texts:
                    continue
                axes.text(
                    factor * (begin + end) / 2,
                    place,
                    texts[0],
                    ha="center",
                    va="center",
                    fontsize=9.5,
                    bbox={"facecolor": colour, "edgecolor": "none", "pad": 1},
                )
        axes.set_yticks(range(len(lanes)), [_named(self.lane, lane) for lane in lanes])
        axes.set_ylim(len(lanes) - 0.5, -0.5)
        style.quiet_grid(axes, "x")


def _named(column: str, value: str) -> str:
    """Of an SM, whose column is in small letters as all are, in capital ones."""
    name = column.upper() if column == "sm" else column
    return f"{name} {value}" if value.isdigit() else value
