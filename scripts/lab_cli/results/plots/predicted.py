"""What was predicted for each x, and the points that were measured: a panel for each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...errors import LabError
from ..csv_file import Row
from ..rows import number, positive
from . import style

# A pale stem with a bar on top, wider than the point that should lie on it.
STEM = {"color": style.PALE, "linewidth": 3.2, "zorder": 1}
PREDICTED = {"color": style.GREY, "marker": "_", "markersize": 9, "markeredgewidth": 1.8}
MEASURED = {"color": style.BLUE, "marker": "o", "markersize": 4}


@dataclass(frozen=True)
class Predicted:
    """`panels` has tables with `kernel` and `title`; both values have the unit `label`."""

    panels: list[dict[str, str]]
    x: str
    x_label: str
    value: str
    value_label: str
    predicted: str
    predicted_label: str
    label: str

    def columns(self) -> list[str]:
        return ["kernel", self.x, self.value, self.predicted]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        figure = style.new_figure(4.0, title)
        grid = figure.subplots(1, len(self.panels), squeeze=False, sharey=True)[0]
        top = 1.0
        for axes, panel in zip(grid, self.panels):
            part = [row for row in rows if row["kernel"] == panel["kernel"]]
            if not part:
                raise LabError(f"no row of kernel {panel['kernel']}")
            x = [number(row, self.x) for row in part]
            predicted = [positive(row, self.predicted) for row in part]
            measured = [positive(row, self.value) for row in part]
            top = max([top, *predicted, *measured])
            axes.vlines(x, 0, predicted, **STEM)
            axes.plot(x, predicted, linestyle="none", label=self.predicted_label, **PREDICTED)
            axes.plot(x, measured, linestyle="none", label=self.value_label, **MEASURED)
            axes.set_title(panel["title"], loc="left")
            axes.set_xlabel(self.x_label)
            style.quiet_grid(axes, "y")
        grid[0].set_yscale("log", base=2)
        grid[0].set_ylim(0.7, 1.3 * top)
        grid[0].yaxis.set_major_formatter(lambda tick, _: f"{tick:,g}")
        grid[0].set_ylabel(self.label)
        for axes in grid:
            axes.minorticks_off()
            axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 4, 8], integer=True))
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        return figure
