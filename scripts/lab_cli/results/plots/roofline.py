"""Operations per second over operations per byte, below the roofs of the GPU."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ...errors import LabError
from ..csv_file import Row
from ..rows import axis_label, positive
from . import style

FLAT = {**style.LIMIT, "zorder": 1}
FLAT_ROOFS = {"peak_gflops": "FP32", "peak_tensor_gflops": "tensor cores, BF16"}  # the lowest first
# The rising roofs of device memory, and of those that are measured.
RISING = ["-", (0, (5, 2)), (0, (1, 1.5))]
CURVE = {"color": style.BLUE, "marker": "o", "markersize": 6, "linewidth": 1.8}
POINT = {
    "color": style.ORANGE,
    "marker": "D",
    "markersize": 7,
    "markeredgecolor": style.BLACK,
    "markeredgewidth": 0.6,
    "linestyle": "none",
    "zorder": 3,
}
# A name stands at the right of its point, and lower, away from the roof that rises above it.
GROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.85}  # over the lines
BESIDE = {
    "xytext": (7, -3),
    "textcoords": "offset points",
    "va": "center",
    "fontsize": 10,
    "bbox": GROUND,
}
ROOM = 10  # for the names, behind the last point: times its operations per byte


@dataclass(frozen=True)
class Roofline:
    """Both axes are logarithmic. The rows of kernel `curve`, if there is one, are a line, and all others
    points with their names, but for those of the kernels in `measured`: their column gbps is the roof of the
    memory that is named there.

    The first row has the other roofs: peak_gbps, peak_gflops and peak_tensor_gflops. Flat roofs above
    one that is above all points are left out.
    """

    measured: dict[str, str]
    curve: str = ""

    def columns(self) -> list[str]:
        peaks = ["peak_gbps", "peak_gflops", "peak_tensor_gflops"]
        return ["kernel", "intensity", "gflops", "gbps", *peaks]

    def draw(self, rows: Sequence[Row], title: str) -> Figure:
        memories = self._memories(rows)
        figure = style.new_figure(6.4, title)
        axes = figure.subplots()
        placed = [row for row in rows if row["kernel"] not in self.measured]
        curve = sorted(place(row) for row in placed if row["kernel"] == self.curve)
        if curve:
            axes.plot(*zip(*curve), label=self.curve, **CURVE)
        elif self.curve:
            raise LabError(f"no row of kernel {self.curve}")
        for row in placed:
            if row["kernel"] != self.curve:
                axes.plot(*place(row), **POINT)
                axes.annotate(row["kernel"], place(row), **BESIDE)
        points = [place(row) for row in placed]
        flat = flat_roofs(rows[0], max(rate for _, rate in points))
        self._scales(axes, points, max(flat.values()))
        self._roofs(axes, memories, flat)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        return figure

    def _scales(self, axes: Axes, points: Sequence[tuple[float, float]], top: float) -> None:
        low = min(intensity for intensity, _ in points) / 1.5
        high = max(intensity for intensity, _ in points) * ROOM
        first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
        first += -first % 2  # even powers: 1/16, 1/4, 1, 4 ...
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(min(rate for _, rate in points) / 1.5, top * 1.9)
        axes.set_xticks([2.0**power for power in range(first, last + 1, 2)])
        axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: power_of_two(tick)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.10g}"))
        axes.minorticks_off()
        axes.set_xlabel("operations per byte of device memory (or of the memory that is named)")
        axes.set_ylabel(axis_label("gflops"))
        style.quiet_grid(axes, "both")

    def _memories(self, rows: Sequence[Row]) -> dict[str, float]:
        """What each of them moves, in GB/s."""
        memories = {"device memory": positive(rows[0], "peak_gbps")}
        for kernel, name in self.measured.items():
            of_kernel = [row for row in rows if row["kernel"] == kernel]
            if not of_kernel:
                raise LabError(f"no row of kernel {kernel}")
            memories[f"{name}, measured"] = positive(of_kernel[0], "gbps")
        return memories

    def _roofs(self, axes: Axes, memories: Mapping[str, float], flat: Mapping[str, float]) -> None:
        """Rising lines up to the highest flat one, and these from the steepest rising one on."""
        low, high = axes.get_xlim()
        top = max(flat.values())
        for (name, gbps), dashes in zip(memories.items(), RISING):
            ends = [low, top / gbps]
            look = {"color": style.BLACK, "linewidth": 1.3, "zorder": 1, "linestyle": dashes}
            axes.plot(ends, [gbps * end for end in ends], label=f"{name} {gbps:,.0f} GB/s", **look)
        for name, peak in flat.items():
            axes.plot([peak / max(memories.values()), high], [peak, peak], **FLAT)
            axes.annotate(
                f"{name} {peak:,.0f} GFLOP/s",
                (1, peak),
                (-2, 4),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
            )


def flat_roofs(peaks: Row, most: float) -> dict[str, float]:
    """Those as far as the first one that is above the rate `most`."""
    found: dict[str, float] = {}
    for column, name in FLAT_ROOFS.items():
        if max(found.values(), default=0) < most:
            found[name] = positive(peaks, column)
    return found


def place(row: Row) -> tuple[float, float]:
    return positive(row, "intensity"), positive(row, "gflops")


def power_of_two(value: float) -> str:
    """0.25 -> '1/4', 16.0 -> '16'."""
    return f"{value:,.0f}" if value >= 1 else f"1/{1 / value:,.0f}"
