"""A value over block shapes: block.x to the right, block.y upwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from ...errors import LabError
from ..csv_file import Row
from ..rows import axis_label, number, short
from . import style

COLOURS = "viridis"  # perceptually uniform, and its lightness alone tells the order


def block_shape(text: str) -> tuple[int, int]:
    """'32x8' -> (32, 8); '512' -> (512, 1)."""
    sizes = text.split("x")
    if not all(size.isdigit() for size in sizes) or len(sizes) > 2:
        raise LabError(f"'{text}' in column block is not the shape of a block, such as 32x8")
    return int(sizes[0]), int(sizes[1]) if len(sizes) == 2 else 1


def text_colour(rgba: Sequence[float]) -> str:
    """Black or white, whichever has more contrast (relative luminance of WCAG 2.1)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


@dataclass(frozen=True)
class HeatMap:
    value: str

    def columns(self) -> list[str]:
        return ["block", self.value]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        cells: dict[tuple[int, int], float] = {}
        for row in rows:
            shape = block_shape(row["block"])
            if shape in cells:
                raise LabError(f"more than one row with block {row['block']}: pick one kernel")
            cells[shape] = number(row, self.value)
        widths = sorted({x for x, _ in cells})
        heights = sorted({y for _, y in cells})
        table = [[cells.get((x, y), math.nan) for x in widths] for y in heights]

        figure = style.new_figure(2.0 + 0.5 * len(heights), title)
        axes = figure.subplots()
        scale = Normalize(min(cells.values()), max(cells.values()))
        mesh = axes.imshow(table, cmap=COLOURS, norm=scale, origin="lower", aspect="auto")
        colours = matplotlib.colormaps[COLOURS]
        for j, line in enumerate(table):
            for i, value in enumerate(line):
                if not math.isnan(value):
                    colour = text_colour(colours(scale(value)))
                    axes.text(i, j, short(value), ha="center", va="center", color=colour)
        axes.set_xticks(range(len(widths)), [str(x) for x in widths])
        axes.set_yticks(range(len(heights)), [str(y) for y in heights])
        axes.set_xlabel("block.x [threads]")
        axes.set_ylabel("block.y [threads]")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(mesh, label=axis_label(self.value), format=style.Numbers())
        bar.outline.set_visible(False)
        return figure
