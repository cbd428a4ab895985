"""On which SM each block of a grid ran, and when: a lane for each SM, a panel for each grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MultipleLocator

from ...errors import LabError
from ..csv_file import Row
from ..rows import number, short, time_unit, unique
from . import style

LANE_INCHES = 0.19  # of an SM
LANE = 0.9  # of it, the rest being the gap to the next
COLOURS = [style.BLUE, style.SKY, style.GREEN, style.VERMILION, style.ORANGE, style.PURPLE]

Box = tuple[float, float, float, float]  # left, top, width, height


@dataclass(frozen=True)
class Waves:
    """`panel` is a column, and `panel_title` its title: {column} stands for a value. Only the SMs from
    `first_sm` to `last_sm` are drawn: all of a GPU would be thinner than a pixel.

    Of each block: sm, slot, wave (the how-manyeth of its slot), begin_ms and end_ms; sms and slots
    are how many the GPU has, those of an SM.
    """

    panel: str
    panel_title: str
    first_sm: int
    last_sm: int

    def columns(self) -> list[str]:
        return [self.panel, "sms", "slots", "sm", "slot", "wave", "begin_ms", "end_ms"]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        panels = unique(rows, self.panel)
        height = LANE_INCHES * (self.last_sm - self.first_sm + 1)
        figure = style.new_figure(1.4 + (height + 0.35) * len(panels), title)
        grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True)
        end = max(number(row, "end_ms") for row in rows)
        factor, unit = time_unit(end)
        for axes, name in zip(grid[:, 0], panels):
            self._panel(axes, [row for row in rows if row[self.panel] == name], factor, unit)
        grid[-1, 0].set_xlim(0, factor * end)
        grid[-1, 0].xaxis.set_major_formatter(style.Numbers())
        grid[-1, 0].set_xlabel(f"time [{unit}]")
        figure.legend(
            handles=[
                *(Patch(facecolor=fill, label=name) for fill, name in names_of_colours(rows)),
                Patch(facecolor=style.PALE, label="room without a block"),
            ],
            loc="outside lower center",
            ncols=6,
            frameon=False,
        )
        return figure

    def _panel(self, axes: Axes, rows: Sequence[Row], factor: float, unit: str) -> None:
        slots = max(whole(rows[0], "slots"), 1)
        end = factor * max(number(row, "end_ms") for row in rows)
        shown = range(self.first_sm, self.last_sm + 1)
        boxes: dict[int, list[Box]] = {}
        busy = 0.0
        for row in rows:
            begin = factor * number(row, "begin_ms")
            length = factor * number(row, "end_ms") - begin
            busy += length
            top = whole(row, "sm") + LANE * (whole(row, "slot") / slots - 0.5)
            wave = whole(row, "wave")
            if whole(row, "sm") in shown:
                boxes.setdefault(wave, []).append((begin, top, length, LANE / slots))
        fill(axes, [(0, sm - LANE / 2, end, LANE) for sm in shown], style.PALE)
        for wave, of_wave in sorted(boxes.items()):
            fill(axes, of_wave, colour(wave))

        room = whole(rows[0], "sms") * slots * end
        idle = 100 * (1 - busy / room) if room > 0 else 0
        axes.set_title(
            f"{self._title(rows[0])}: {short(end)} {unit}, {idle:.0f} % idle", loc="left"
        )
        axes.set_ylim(self.last_sm + 0.5, self.first_sm - 0.5)
        axes.set_ylabel("SM")
        axes.yaxis.set_major_locator(MultipleLocator(2))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)

    def _title(self, row: Row) -> str:
        try:
            return self.panel_title.format(**row)
        except (KeyError, IndexError, ValueError) as error:
            raise LabError(f"panel_title = '{self.panel_title}': {error!r}") from error


def whole(row: Row, column: str) -> int:
    value = number(row, column)
    if value < 0 or not value.is_integer():
        raise LabError(f"column {column} must be a whole number, not '{row[column]}'")
    return int(value)


def colour(wave: int) -> str:
    return COLOURS[(wave - 1) % len(COLOURS)]


def names_of_colours(rows: Sequence[Row]) -> list[tuple[str, str]]:
    waves: dict[str, list[str]] = {}
    for wave in sorted({whole(row, "wave") for row in rows}):
        waves.setdefault(colour(wave), []).append(str(wave))
    return [(fill, f"wave {', '.join(numbers)}") for fill, numbers in waves.items()]


def fill(axes: Axes, boxes: Sequence[Box], colour: str) -> None:
    """All boxes as one shape, for a small file, with a white border each."""
    corners: list[tuple[float, float]] = []
    for left, top, width, height in boxes:
        right, bottom = left + width, top + height
        corners += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(boxes)
    axes.add_patch(
        PathPatch(Path(corners, codes), facecolor=colour, edgecolor="white", linewidth=0.6)
    )
