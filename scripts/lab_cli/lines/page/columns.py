"""The columns of a page's source: what is counted of a line, and how long its bar is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Optional

from .. import sums
from ..model import ATOMIC, CONSTANT, GLOBAL, SHARED, WARP, Kernel, Line
from ..sums import Traffic, number


@dataclass(frozen=True)
class Cell:
    """A number with its bar: `good` and `bad` are shares of the column's width, 0 to 1."""

    text: str
    good: float
    bad: float
    value: float  # the column sorts by it


Counted = Callable[[Line, Kernel], Optional[Cell]]


@dataclass(frozen=True)
class Column:
    title: str
    about: str
    of: Counted
    none: str = ""  # where no line has any of it, this is said, and the column is left out


def shown(kernel: Kernel) -> list[Column]:
    """Those of which the kernel has anything."""
    return [each for each in COLUMNS if _tells(each, kernel)]


def without(kernel: Kernel) -> list[str]:
    """What no line of the kernel has, although some could have it."""
    left_out = [each for each in COLUMNS if each.none and not _tells(each, kernel)]
    return [each.none for each in left_out if _cells(each, kernel)]


def _tells(column: Column, kernel: Kernel) -> bool:
    cells = _cells(column, kernel)
    return any(cell.value for cell in cells) if column.none else bool(cells)


def _cells(column: Column, kernel: Kernel) -> list[Cell]:
    cells = (column.of(line, kernel) for line in kernel.lines.values())
    return [cell for cell in cells if cell]


def _executions(line: Line, kernel: Kernel) -> Cell | None:
    most = max(each.executions for each in kernel.lines.values())
    if line.executions == 0:
        return None
    return Cell(f"{line.executions:,}", line.executions / most, 0, line.executions)


def _lanes(line: Line, kernel: Kernel) -> Cell | None:
    if line.executions == 0:
        return None
    active = line.lanes / line.executions
    share = active / WARP
    return Cell(number(active), share, 1 - share, WARP * line.executions - line.lanes)


def _of(line: Line, space: str, kind: str = "") -> Traffic:
    parts = sums.traffic(line.accesses).items()
    wanted = [part for sort, part in parts if sort[0] == space and kind in ("", sort[1])]
    return sum(wanted, Traffic())


def _units(space: str) -> Counted:
    """Of a request, beside the least possible. A warp has 32 lanes, which rarely take more than 32."""

    def of(line: Line, kernel: Kernel) -> Cell | None:
        part = _of(line, space)
        if part.requests == 0:
            return None
        units, least = sums.per_request(part)
        others = [sums.per_request(_of(each, space))[0] for each in kernel.lines.values()]
        most = max(WARP, *others)
        text = number(units) if part.in_vain == 0 else f"{number(units)} / {number(least)}"
        good = min(units, least)
        return Cell(text, good / most, (units - good) / most, part.in_vain)

    return of


def _conflicts(line: Line, kernel: Kernel) -> Cell | None:
    part = _of(line, SHARED)
    if part.requests == 0:
        return None
    most = max(_of(each, SHARED).conflicts for each in kernel.lines.values())
    share = part.conflicts / most if most else 0
    return Cell(f"{part.conflicts:,}", 0, share, part.conflicts)


def _divergent(line: Line, kernel: Kernel) -> Cell | None:
    if line.branches == 0:
        return None
    share = min(1.0, line.divergent / line.branches)
    return Cell(f"{100 * share:.0f} %", 0, share, line.divergent)


def _atomics(line: Line, kernel: Kernel) -> Cell | None:
    part = sum((_of(line, space, ATOMIC) for space in (GLOBAL, SHARED)), Traffic())
    if part.requests == 0 or part.alike == 0:
        return None
    alike = part.alike / part.requests
    return Cell(f"{number(alike)} lanes", 1 / WARP, max(0, alike - 1) / WARP, part.collisions)


COLUMNS: Sequence[Column] = (
    Column("executions", "How many times warps execute the line.", _executions),
    Column("active lanes", f"Lanes of a warp that take part, of {WARP}.", _lanes),
    Column(
        "sectors",
        "Sectors of 32 bytes that a request of global memory takes, and how many would do.",
        _units(GLOBAL),
    ),
    Column(
        "wavefronts",
        "Wavefronts that a request of shared memory takes, and how many would do.",
        _units(SHARED),
    ),
    Column(
        "conflicts",
        "Wavefronts in vain, because lanes meet in a bank.",
        _conflicts,
        "bank conflicts",
    ),
    Column(
        "constant",
        "Passes that a request of constant memory takes, and how many would do.",
        _units(CONSTANT),
    ),
    Column(
        "divergent",
        "Share of the branches that end here in which a warp splits.",
        _divergent,
        "divergent branches",
    ),
    Column("atomics", "Lanes of a request that want the same address, and take turns.", _atomics),
)
