"""A kernel below the roofs of a recorded GPU: its operations per byte, and with a time its rate, too."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape

from ... import catalogue
from ...paths import shown
from ..model import GLOBAL, SECTOR, Kernel

EXERCISE, GPU = "roofline", "h200"  # whose recorded rows have the roofs
COUNTED = ("fp32", "fp64")
# What a GPU's profiler has to count in place of these.
OPERATIONS_OF_METRICS = {"flop_count_sp_add": 1, "flop_count_sp_mul": 1, "flop_count_sp_fma": 2}
METRICS = ("duration", *OPERATIONS_OF_METRICS)
LETTER = 7  # pixels of 12 that a letter is wide, roughly


@dataclass(frozen=True)
class Roofs:
    gpu: str
    file: str  # where they are recorded, as seen from the checkout
    memories: dict[str, float]  # GB/s
    peak: float  # GFLOP/s of FP32


@dataclass(frozen=True)
class Place:
    """`moved` and `requested` are bytes of global memory; `seconds` those of all launches."""

    operations: int
    moved: int
    requested: int
    doubles: int = 0  # of the operations
    seconds: float | None = None

    @property
    def intensity(self) -> float:
        return self.operations / self.moved if self.moved else 0.0

    @property
    def gflops(self) -> float | None:
        return self.operations / self.seconds / 1e9 if self.seconds else None


def place(kernel: Kernel) -> Place:
    """What all launches do together."""
    operations = {
        what: sum(line.operations.get(what, 0) for line in kernel.lines.values())
        for what in COUNTED
    }
    accesses = [access for access in kernel.accesses if access.space == GLOBAL]
    moved = SECTOR * sum(access.units for access in accesses)
    requested = sum(access.bytes for access in accesses)
    return Place(sum(operations.values()), moved, requested, operations["fp64"])


def measured(spot: Place, seconds: float | None, counts: Mapping[str, float | None]) -> Place:
    """The same with its time, and with what a GPU counted of OPERATIONS_OF_METRICS, if it did."""
    known = {name: count for name, count in counts.items() if count is not None}
    if not known:
        return replace(spot, seconds=seconds)
    operations = sum(OPERATIONS_OF_METRICS[name] * count for name, count in known.items())
    return replace(spot, seconds=seconds, operations=round(operations), doubles=0)


def recorded() -> Roofs | None:
    """None where somebody has removed the exercise that measured them."""
    source = catalogue.sources().get(EXERCISE)
    path = catalogue.results_of(source) / GPU / "table.csv" if source else None
    return read(path) if path and path.is_file() else None


def read(path: Path) -> Roofs:
    text = path.read_text(encoding="utf-8").splitlines()
    rows = [*csv.DictReader(line for line in text if not line.startswith("#"))]
    memories = {"device memory, peak": float(rows[0]["peak_gbps"])}
    for row in rows:
        if row["kernel"] == "readL2":
            memories["L2 cache, measured"] = float(row["gbps"])
    return Roofs(rows[0]["device"], shown(path), memories, float(rows[0]["peak_gflops"]))


def words(spot: Place, roofs: Roofs | None) -> str:
    """What the drawing shows."""
    if spot.moved == 0:
        return (
            "The kernel moves nothing from or to global memory, so it has no arithmetic intensity."
        )
    moved = (
        f"{spot.moved:,} bytes in sectors of global memory ({spot.requested:,} of them requested)"
    )
    if spot.operations == 0:
        return (
            f"The kernel moves {moved} and makes no floating-point operation that was counted. Its arithmetic "
            "intensity is 0: only memory can limit it, and the roofs say nothing more."
        )
    text = f"The kernel makes {spot.operations:,} floating-point operations and moves {moved}: "
    text += f"{significant(spot.intensity)} operations per byte."
    if roofs is None:
        return text
    name, slowest = min(roofs.memories.items(), key=lambda item: item[1])
    limit = min(roofs.peak, spot.intensity * slowest)
    by = "its FP32 units" if limit == roofs.peak else name.partition(",")[0]
    text += f" Below the roofs of {roofs.gpu} that allows at most {limit:,.0f} GFLOP/s, by {by}, "
    text += "where no cache serves any of these bytes."
    if spot.gflops is not None:
        text += (
            f" It reaches {spot.gflops:,.0f} GFLOP/s, {100 * spot.gflops / limit:.0f} % of that."
        )
    else:
        text += " Without a time there is no point, only this line."
    if spot.doubles:
        text += (
            f" {spot.doubles:,} of the operations are in double precision, which has a lower roof."
        )
    return text


def svg(spot: Place, roofs: Roofs, width: int = 720) -> str:
    """A drawing of so many pixels for a page of HTML, whose style sheet has its classes."""
    return "".join(_Drawing(spot, roofs, width).parts())


class _Drawing:
    """Both axes are logarithmic."""

    def __init__(self, spot: Place, roofs: Roofs, width: int) -> None:
        self.spot, self.roofs, self.width = spot, roofs, width
        self.narrow = width < 500
        self.height = 300 if self.narrow else 340
        self.left, self.right, self.top, self.bottom = 66, width - 12, 16, self.height - 46
        ridge = roofs.peak / min(roofs.memories.values())
        mine = spot.intensity or 1.0
        self.x_from, self.x_to = _decades(min(0.1, mine / 2), max(10 * ridge, mine * 2))
        lowest = self.x_from * min(roofs.memories.values())
        self.y_from, self.y_to = _decades(min(lowest, spot.gflops or lowest), roofs.peak * 2)

    def x(self, value: float) -> float:
        return _scaled(value, self.x_from, self.x_to, self.left, self.right)

    def y(self, value: float) -> float:
        return _scaled(value, self.y_from, self.y_to, self.bottom, self.top)

    def parts(self) -> Iterator[str]:
        label = escape(words(self.spot, self.roofs), {'"': "&quot;"})
        yield (
            f'<svg class="roofline" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" aria-label="{label}">'
        )
        yield from self._axes()
        yield from self._roofs()
        if self.spot.operations and self.spot.moved:
            yield from self._kernel()
        yield "</svg>"

    def _axes(self) -> Iterator[str]:
        for value in _powers(self.x_from, self.x_to):
            x = self.x(value)
            yield _line("grid", x, self.top, x, self.bottom)
            yield _text("tick", x, self.bottom + 17, power(value), "middle")
        for value in _powers(self.y_from, self.y_to):
            y = self.y(value)
            yield _line("grid", self.left, y, self.right, y)
            yield _text("tick", self.left - 6, y + 4, power(value), "end")
        middle = (self.left + self.right) / 2
        yield _text("label", middle, self.height - 10, "operations per byte", "middle")
        yield _text("label", self.left, self.top - 4, "GFLOP/s")

    def _roofs(self) -> Iterator[str]:
        peak = self.roofs.peak
        for number, gbps in enumerate(self.roofs.memories.values()):
            yield _line(
                f"roof roof{number}",
                self.x(self.x_from),
                self.y(self.x_from * gbps),
                self.x(peak / gbps),
                self.y(peak),
            )
        steepest = max(self.roofs.memories.values())
        yield _line("roof", self.x(peak / steepest), self.y(peak), self.right, self.y(peak))
        yield _text("label", self.right, self.y(peak) - 7, f"FP32 {peak:,.0f} GFLOP/s", "end")
        names = [self._name(name, gbps) for name, gbps in self.roofs.memories.items()]
        x = self.right - max(map(len, names), default=0) * LETTER
        for number, words in enumerate(names):
            y = self.bottom - 10 - 17 * number
            yield _line(f"roof roof{number}", x - 30, y - 4, x - 6, y - 4)
            yield _text("label", x, y, words)

    def _name(self, memory: str, gbps: float) -> str:
        return f"{memory.partition(',')[0] if self.narrow else memory} {gbps:,.0f} GB/s"

    def _kernel(self) -> Iterator[str]:
        x = self.x(self.spot.intensity)
        yield _line("mine", x, self.top, x, self.bottom)
        if self.spot.gflops:
            yield f'<circle class="mine" cx="{x:.1f}" cy="{self.y(self.spot.gflops):.1f}" r="5"/>'
        name = f"{significant(self.spot.intensity)} op/byte"
        room = x + 6 + len(name) * LETTER < self.right
        yield _text(
            "mine", x + 6 if room else x - 6, self.bottom - 60, name, "start" if room else "end"
        )


def _decades(low: float, high: float) -> tuple[float, float]:
    return 10.0 ** math.floor(math.log10(low) + 1e-9), 10.0 ** math.ceil(math.log10(high) - 1e-9)


def _powers(low: float, high: float) -> Sequence[float]:
    first, last = round(math.log10(low)), round(math.log10(high))
    return [10.0**power for power in range(first, last + 1)]


def _scaled(value: float, low: float, high: float, begin: float, end: float) -> float:
    share = math.log10(value / low) / math.log10(high / low)
    return begin + share * (end - begin)


def _line(look: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{look}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(look: str, x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def power(value: float) -> str:
    """It shows 0.01, 1 and 100,000 as such."""
    return f"{value:,.10g}"


def significant(value: float) -> str:
    """Two digits that mean something, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:,.{digits}f}"
