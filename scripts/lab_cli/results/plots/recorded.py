"""What ran when: a lane for each stream and each direction of copies, NVTX ranges above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...counters.recording import Panel, Range, Work, rows_of
from . import style

ROW_INCHES = 0.3
AXES_INCHES = 6.2  # about as wide as the axes become
PIXELS = 100 * AXES_INCHES  # as a page shows a figure
MOST_BARS = 3000  # of a figure: an SVG of a few hundred KB
MOST_ROWS = 4  # of a lane, for what overlaps in it
NARROW = 3  # pixels: less has no outline
LEAST = 1.5  # pixels, so that it can be seen
MARGIN = 4  # pixels on both sides
LABEL_POINTS = 9
CHARACTER_INCHES = 0.62 * LABEL_POINTS / 72
LEGEND_CHARACTERS = 34

COLOURS = [style.SKY, style.ORANGE, style.GREEN, style.VERMILION, style.PURPLE, style.BLUE]
COPY, RANGE = "#8F8F8F", "#FFFFFF"
PALENESS = 0.5  # of what stands for several pieces of work
RANGES = "ranges (NVTX)"

UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3}  # in nanoseconds


@dataclass
class Bar:
    """One piece of work, or several that are too narrow and too close to be told apart."""

    begin: float
    end: float
    name: str  # empty for several names
    count: int = 1


def bars_of(row: Sequence[Work | Range], pixel: float) -> list[Bar]:
    """`row` is in order of time."""
    bars: list[Bar] = []
    for item in row:
        last = bars[-1] if bars else None
        narrow = item.end - item.begin < NARROW * pixel
        joins = last is not None and (last.count > 1 or last.end - last.begin < NARROW * pixel)
        if last is not None and narrow and joins and item.begin - last.end < pixel:
            last.end = max(last.end, item.end)
            last.name = last.name if last.name == item.name else ""
            last.count += 1
        else:
            bars.append(Bar(item.begin, item.end, item.name))
    return bars


@dataclass
class Lane:
    label: str
    rows: list[list[Bar]]
    kernels: bool = False


def lanes_of(panel: Panel, pixel: float) -> list[Lane]:
    """From the top: the ranges, the streams, the copies."""
    lanes = []
    if panel.ranges:
        lanes.append(_lane(RANGES, panel.ranges, pixel))
    for _, label in sorted({(item.place, item.lane) for item in panel.work}):
        items = [item for item in panel.work if item.lane == label]
        lanes.append(_lane(label, items, pixel))
        lanes[-1].kernels = items[0].kernel
    return lanes


def _lane(label: str, items: Sequence[Work | Range], pixel: float) -> Lane:
    rows = rows_of(items, slack=pixel)
    if len(rows) > MOST_ROWS:
        rest = [item for row in rows[MOST_ROWS - 1 :] for item in row]
        rows = [*rows[: MOST_ROWS - 1], sorted(rest, key=lambda item: item.begin)]
    return Lane(label, [bars_of(row, pixel) for row in rows])


def draw(panels: Sequence[Panel], title: str, note: str = "", emulated: bool = False) -> Figure:
    """All panels have the same scale; `note` stands below them. Of what an emulation ran, the times are
    those of the emulation."""
    length = max(panel.length for panel in panels) or 1
    pixel = length / PIXELS
    lanes = [lanes_of(panel, pixel) for panel in panels]
    while sum(len(row) for of_panel in lanes for lane in of_panel for row in lane.rows) > MOST_BARS:
        pixel *= 1.25
        lanes = [lanes_of(panel, pixel) for panel in panels]

    rows = [sum(len(lane.rows) for lane in of_panel) for of_panel in lanes]
    colours = _colours(panels)
    height = 1.6 + 0.2 * len(note.splitlines()) + sum(0.5 + ROW_INCHES * count for count in rows)
    figure = style.new_figure(height, _plain(title))
    ratios = [count + 0.2 for count in rows]
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=ratios)
    unit = next((name for name, size in UNITS.items() if length >= 2 * size), "us")
    for number, (axes, panel) in enumerate(zip(grid[:, 0], panels)):
        axes.patch.set_gid(f"{number}: time")
        _draw(axes, number, lanes[number], length, UNITS[unit], pixel, colours)
        if panel.title:
            took = f"{panel.length / UNITS[unit]:,.4g} {unit}"
            axes.set_title(
                _plain(panel.title if emulated else f"{panel.title}: {took}"), loc="left"
            )
    margin = MARGIN * length / PIXELS
    grid[-1, 0].set_xlim(-margin / UNITS[unit], (length + margin) / UNITS[unit])
    grid[-1, 0].set_xlabel(f"{'the emulation, not a GPU: ' if emulated else ''}time [{unit}]")
    merged = any(
        bar.count > 1 for of_panel in lanes for lane in of_panel for row in lane.rows for bar in row
    )
    _legend(figure, colours, merged, note)
    return figure


def _draw(
    axes: Axes,
    number: int,
    lanes: Sequence[Lane],
    length: float,
    unit: float,
    pixel: float,
    colours: dict[str, str],
) -> None:
    least = LEAST * length / PIXELS
    top = 0
    ticks = []
    for lane in lanes:
        ticks.append(top + len(lane.rows) / 2 - 0.5)
        for place, bars in enumerate(lane.rows, start=top):
            fills = [_fill(lane, bar, colours) for bar in bars]
            collection = axes.broken_barh(
                [(bar.begin / unit, max(bar.end - bar.begin, least) / unit) for bar in bars],
                (place - 0.38, 0.76),
                facecolors=fills,
                edgecolors=style.BLACK,
                linewidths=[0.6 if bar.end - bar.begin >= NARROW * pixel else 0 for bar in bars],
            )
            collection.set_gid(f"{number}: {lane.label}, row {place - top}")
            for bar, fill in zip(bars, fills):
                _label(axes, lane, bar, place, fill, length, unit)
        top += len(lane.rows)
        axes.axhline(top - 0.5, color=style.PALE, linewidth=0.7)
    axes.set_yticks(ticks, [_plain(lane.label) for lane in lanes])
    axes.set_ylim(top - 0.5, -0.5)
    style.quiet_grid(axes, "x")


def _fill(lane: Lane, bar: Bar, colours: dict[str, str]) -> tuple[float, float, float]:
    colour = COPY
    if lane.label == RANGES:
        colour = RANGE
    elif lane.kernels:
        colour = colours.get(bar.name, style.GREY)
    paleness = PALENESS if bar.count > 1 and colour != RANGE else 0
    red, green, blue = (part + (1 - part) * paleness for part in to_rgb(colour))
    return red, green, blue


def _label(
    axes: Axes,
    lane: Lane,
    bar: Bar,
    place: int,
    fill: tuple[float, float, float],
    length: float,
    unit: float,
) -> None:
    room = (bar.end - bar.begin) / length * AXES_INCHES / CHARACTER_INCHES
    texts = [bar.name, bar.name.removeprefix("stream ")] if bar.name else []
    if bar.count > 1:
        texts = [*(f"{bar.count} x {text}" for text in texts), f"{bar.count} x"]
    if lane.label == RANGES and room >= 6:
        texts.append(bar.name[: int(room) - 3] + "..")
    text = next((text for text in texts if text and len(text) + 1 <= room), "")
    if text:
        bright = 0.299 * fill[0] + 0.587 * fill[1] + 0.114 * fill[2] > 0.5
        axes.text(
            (bar.begin + bar.end) / 2 / unit,
            place,
            _plain(text),
            ha="center",
            va="center",
            fontsize=LABEL_POINTS,
            color=style.BLACK if bright else "white",
        )


def _colours(panels: Sequence[Panel]) -> dict[str, str]:
    """Of the kernels that take longest."""
    times: dict[str, float] = {}
    for panel in panels:
        for item in panel.work:
            if item.kernel:
                times[item.name] = times.get(item.name, 0) + item.end - item.begin
    names = sorted(times, key=lambda name: -times[name])
    return dict(zip(names, COLOURS)) | dict.fromkeys(names[len(COLOURS) :], style.GREY)


def _legend(figure: Figure, colours: dict[str, str], merged: bool, note: str) -> None:
    entries = {_shortened(name): colour for name, colour in colours.items() if colour != style.GREY}
    if style.GREY in colours.values():
        entries["other kernels"] = style.GREY
    handles = [
        Patch(facecolor=colour, edgecolor=style.BLACK, linewidth=0.6, label=_plain(name))
        for name, colour in entries.items()
    ]
    if merged:
        pale = [part + (1 - part) * PALENESS for part in to_rgb(style.SKY)]
        handles.append(Patch(facecolor=pale, label="pale: several, too close to tell apart"))
    if handles or note:
        long = any(len(str(handle.get_label())) > 20 for handle in handles)
        figure.legend(
            handles=handles,
            loc="outside lower left",
            ncols=2 if long else 4,
            frameon=False,
            alignment="left",
            title=_plain(note),
            title_fontsize=9.5,
        )


def _shortened(name: str) -> str:
    return name if len(name) <= LEGEND_CHARACTERS else name[: LEGEND_CHARACTERS - 3] + "..."


def _plain(text: str) -> str:
    """So that $ does not begin a formula."""
    return text.replace("$", r"\$")
