"""One look for all figures: sizes, colours, and what else than colour tells things apart.

READMEs show figures about 800 pixels wide, that is 100 pixels to the inch: 11 points are well
readable there, and in print.
"""

from __future__ import annotations

import io
import textwrap
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH = 8  # inches
DPI = 200
TITLE_WIDTH = 76  # characters of a line

# Okabe and Ito, "Color Universal Design" (2008): distinct to colour-blind readers too.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY = "#666666"
PALE = "#E6E6E6"

LINE_COLOURS = [BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, GREY]
# More markers than colours and line styles: no two lines have the same.
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d", "8"]
LINE_STYLES = ["-", "--", "-.", (0, (5, 1, 1, 1, 1, 1))]

LIBRARY_HATCH = "////"
LIMIT: dict[str, Any] = {"color": VERMILLION, "linestyle": (0, (6, 2)), "linewidth": 1.8}

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
    figure.suptitle(textwrap.fill(title, TITLE_WIDTH), x=0.01, ha="left", fontweight="bold")
    return figure


def quiet_grid(axes: Axes, axis: str) -> None:
    axes.grid(True, axis=axis)
    axes.tick_params(which="both", length=0)


def image(figure: Figure, kind: str, identifier: str, creator: str = "./lab plot") -> bytes:
    """The figure as svg or png: the same bytes for the same drawing."""
    data = io.BytesIO()
    metadata: dict[str, Any] = {"Software": None}
    if kind == "svg":
        metadata = {"Date": None, "Creator": creator, "Identifier": identifier}
    with settings():
        figure.savefig(data, format=kind, dpi=DPI, metadata=metadata)
    return data.getvalue()
