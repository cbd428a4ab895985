"""One look for all figures: sizes, colours, and what else than colour tells things apart.

READMEs show figures about 800 pixels wide, that is 100 pixels to the inch: 11 points are well
readable there, and in print.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import Formatter, LogLocator

WIDTH = 8  # inches
TITLE_WIDTH = 76  # characters of a line
MARGIN = 0.1  # inches at the sides: nothing touches the border, where a dark page begins
GAP = 0.06  # inches above and below each part
FEW_DECADES = 2.2  # up to so many a logarithmic axis has 2 and 5 beside 1 and 10
PLAIN = (1e-3, 1e7)  # a logarithmic axis between them needs no powers

# Okabe and Ito, "Color Universal Design" (2008): distinct to colour-blind readers too.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY = "#666666"
PALE = "#E6E6E6"

LINE_COLOURS = [BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY]
# More markers than colours and line styles: no two lines have the same.
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d", "8"]
LINE_STYLES = ["-", "--", "-.", (0, (5, 1, 1, 1, 1, 1))]

LIBRARY_HATCH = "////"
LIMIT: dict[str, Any] = {"color": VERMILION, "linestyle": (0, (6, 2)), "linewidth": 1.8}

SETTINGS = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.labelsize": 11,
    "xtick.labelsize": 10.5,
    "ytick.labelsize": 10.5,
    "legend.fontsize": 10.5,
    "figure.titlesize": 12.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#D8D8D8",
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.8,
    "svg.hashsalt": "cuda-lab",  # ids that depend on the drawing alone
    "svg.fonttype": "path",
}


def settings() -> Any:
    """with settings(): figures are made and saved in this look, whatever the user's own settings."""
    return matplotlib.rc_context({**matplotlib.rcParamsDefault, **SETTINGS, "backend": "agg"})


def new_figure(height: float, title: str) -> Figure:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=MARGIN, h_pad=GAP)
    left = MARGIN / WIDTH
    figure.suptitle(textwrap.fill(title, TITLE_WIDTH), x=left, ha="left", fontweight="bold")
    return figure


class Numbers(Formatter):
    """All numbers of an axis with as many decimals as one of them needs: 0.0, 0.5, 1.0; 1,000."""

    decimals = 0

    def set_locs(self, locs: Sequence[float]) -> None:
        self.decimals = next((n for n in range(9) if all(_ends(at, n) for at in locs)), 9)

    def __call__(self, value: float, pos: int | None = None) -> str:
        return f"{value:,.{self.decimals}f}"


def _ends(value: float, decimals: int) -> bool:
    return math.isclose(value, round(value, decimals), rel_tol=1e-9, abs_tol=1e-12)


def logarithmic(axis: Axis, low: float, high: float) -> None:
    """A scale from `low` to `high`, all of whose numbers are written in one way: 0.1, 1, 10, 1,000; or
    10^-6, 10^-3, 1 where there are too many digits."""
    few = math.log10(high / low) < FEW_DECADES
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=20))
    if PLAIN[0] <= low and high <= PLAIN[1]:
        axis.set_major_formatter(lambda tick, _: f"{tick:,.10g}")
    else:
        axis.set_major_formatter(lambda tick, _: f"$10^{{{math.log10(tick):.0f}}}$")


def quiet_grid(axes: Axes, axis: str) -> None:
    axes.grid(True, axis=axis)
    axes.tick_params(which="both", length=0)


def svg(figure: Figure, identifier: str, creator: str = "./lab plot") -> bytes:
    """The same bytes for the same drawing."""
    data = io.BytesIO()
    metadata = {"Date": None, "Creator": creator, "Identifier": identifier}
    with settings():
        figure.savefig(data, format="svg", metadata=metadata)
    return data.getvalue()
