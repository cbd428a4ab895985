"""On which SM each block of a grid ran, and when: a lane for each SM, a panel for each grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from ...errors import LabError
from ..csv_file import Row
from ..rows import number, short, unique
from . import style

LANE_INCHES = 0.12  # of an SM, where they are few
PANEL_INCHES = 3.0  # at most
COLOURS = [style.BLUE, style.SKY, style.GREEN, style.VERMILLION, style.ORANGE, style.PURPLE]

Box = tuple[float, float, float, float]  # left, top, width, height


@dataclass(frozen=True)
class Waves:
    """`panel` is a column, and `panel_title` its title: {column} stands for a value.

    Of each block: sm, slot, wave (the how-manyeth of its slot), begin_ms and end_ms; sms and slots
    are how many the GPU has, those of an SM.
    """

    panel: str
    panel_title: str

    def columns(self) -> list[str]:
        return [self.panel, "sms", "slots", "sm", "slot", "wave", "begin_ms", "end_ms"]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        panels = unique(rows, self.panel)
        # The GPU may have fewer SMs than its numbers of SMs go up to.
        lanes = max(max(whole(row, "sms"), whole(row, "sm") + 1) for row in rows)
        height = min(PANEL_INCHES, LANE_INCHES * lanes + 0.3)
        figure = style.new_figure(1.4 + (height + 0.35) * len(panels), title)
        grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True)
        for axes, name in zip(grid[:, 0], panels):
            self._panel(axes, [row for row in rows if row[self.panel] == name], lanes)
        end = max(number(row, "end_ms") for row in rows)
        grid[-1, 0].set_xlim(0, end)
        grid[-1, 0].set_xlabel("time [ms]")
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

    def _panel(self, axes: Axes, rows: Sequence[Row], lanes: int) -> None:
        slots = max(whole(rows[0], "slots"), 1)
        end = max(number(row, "end_ms") for row in rows)
        boxes: dict[int, list[Box]] = {}
        busy = 0.0
        for row in rows:
            begin, length = number(row, "begin_ms"), number(row, "end_ms") - number(row, "begin_ms")
            top = whole(row, "sm") - 0.5 + whole(row, "slot") / slots
            boxes.setdefault(whole(row, "wave"), []).append((begin, top, length, 1 / slots))
            busy += length
        fill(axes, [(0, -0.5, end, lanes)], style.PALE)
        for wave, of_wave in sorted(boxes.items()):
            fill(axes, of_wave, colour(wave))

        room = whole(rows[0], "sms") * slots * end
        idle = 100 * (1 - busy / room) if room > 0 else 0
        axes.set_title(f"{self._title(rows[0])}: {short(end)} ms, {idle:.0f} % idle", loc="left")
        axes.set_ylim(lanes - 0.5, -0.5)
        axes.set_ylabel("SM")
        axes.yaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
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
    """All boxes as one shape: no seams between neighbours, and a small file. Many are thinner than
    a pixel: not snapped to pixels, all look the same."""
    corners: list[tuple[float, float]] = []
    for left, top, width, height in boxes:
        right, bottom = left + width, top + height
        corners += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(boxes)
    axes.add_patch(PathPatch(Path(corners, codes), facecolor=colour, linewidth=0, snap=False))
