"""Bars for the rungs of a ladder, first to last, with the hardware's limit as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...errors import LabError
from ..csv_file import Row
from ..rows import axis_label, is_library, number, peaks, short, time_unit
from . import style

BAR_INCHES = 0.34
INSIDE = 0.7  # a bar beyond this share of the axis has its value inside


@dataclass(frozen=True)
class Ladder:
    """`panels` splits the kernels, each panel with a title and a scale of its own. `peaks` says by
    exercise what the limit is called, if not as its unit is."""

    value: str
    panels: list[dict[str, Any]] = field(default_factory=list)
    peaks: dict[str, str] = field(default_factory=dict)

    def columns(self) -> list[str]:
        return ["kernel", "grid", self.value]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        panels = self._panels(rows)
        height = 1.5 + sum(0.75 + BAR_INCHES * len(part) for _, part in panels)
        figure = style.new_figure(height, title)
        ratios = [len(part) + 0.5 for _, part in panels]
        grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=ratios)
        limits = peaks(rows, self.value, self.peaks)
        factor, label = self._scale(rows)
        for axes, (name, part) in zip(grid[:, 0], panels):
            axes.set_title(name, loc="left")
            self._bars(axes, part, limits, factor)
        grid[-1, 0].set_xlabel(label)
        others = [row["kernel"] for row in rows if is_library(row)]
        if others:
            on_host = any("Host" in kernel for kernel in others)
            figure.legend(
                handles=[
                    Patch(facecolor=style.BLUE, edgecolor=style.BLACK, label="kernel"),
                    Patch(
                        facecolor=style.PALE,
                        edgecolor=style.BLACK,
                        hatch=style.LIBRARY_HATCH,
                        label="library or host" if on_host else "library",
                    ),
                ],
                loc="outside lower center",
                ncols=2,
                frameon=False,
            )
        return figure

    def _panels(self, rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
        if not self.panels:
            return [("", list(rows))]
        by_name = {row["kernel"]: row for row in rows}
        missing = [
            kernel for panel in self.panels for kernel in panel["kernels"] if kernel not in by_name
        ]
        if missing:
            raise LabError(f"no row of kernel {', '.join(missing)}")
        return [
            (panel["title"], [by_name[kernel] for kernel in panel["kernels"]])
            for panel in self.panels
        ]

    def _scale(self, rows: Sequence[Row]) -> tuple[float, str]:
        """By what the values are multiplied, and what is written at their axis."""
        if self.value != "median_ms":
            return 1, axis_label(self.value)
        factor, unit = time_unit(max(number(row, self.value) for row in rows))
        return factor, f"time [{unit}]"

    def _bars(
        self, axes: Axes, rows: Sequence[Row], limits: Sequence[tuple[float, str]], factor: float
    ) -> None:
        values = [factor * number(row, self.value) for row in rows]
        right = 1.03 * max([*values, *(limit for limit, _ in limits)]) or 1
        for place, (row, value) in enumerate(zip(rows, values)):
            library = is_library(row)
            axes.barh(
                place,
                value,
                height=0.72,
                color=style.PALE if library else style.BLUE,
                edgecolor=style.BLACK,
                linewidth=0.8,
                hatch=style.LIBRARY_HATCH if library else None,
            )
            self._write(axes, place, value, self._text(row, value), value > INSIDE * right, library)
        axes.set_yticks(range(len(rows)), [row["kernel"] for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0, right)
        axes.xaxis.set_major_formatter(style.Numbers())
        style.quiet_grid(axes, "x")
        for limit, label in limits:
            axes.axvline(limit, **style.LIMIT)
            axes.annotate(
                label,
                (limit, 1),
                (0, 3),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="right",
                va="bottom",
            )

    def _text(self, row: Row, value: float) -> str:
        if self.value == "median_ms" or not row.get("percent_peak"):
            return short(value)
        share = number(row, "percent_peak")
        return f"{short(value)}  ({share:.{0 if share >= 10 else 1}f} %)"

    @staticmethod
    def _write(
        axes: Axes, place: int, value: float, text: str, inside: bool, library: bool
    ) -> None:
        label = axes.annotate(
            text,
            (value, place),
            (-6 if inside else 5, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center",
            color="white" if inside and not library else "black",
        )
        if inside and library:  # readable on the hatching
            label.set_bbox({"facecolor": style.PALE, "edgecolor": "none", "pad": 1.5})
