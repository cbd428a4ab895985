"""Which line of a kernel costs most in vain, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import catalogue
from ..paths import shown
from ..words import several
from . import source_text, weights
from .model import (
    ATOMIC,
    CONSTANT,
    COPY,
    GLOBAL,
    LOAD,
    SHARED,
    STORE,
    WARP,
    Access,
    Kernel,
    Line,
    Place,
)
from .source_text import Function
from .sums import UNITS, active_lanes, number

LEAST_SHARE = 0.02  # of what a kernel costs of one sort: less is not worth a word
PLURALS = {LOAD: "loads", STORE: "stores", ATOMIC: "atomics", COPY: "copies"}


@dataclass(frozen=True)
class Worst:
    """A line, and what it costs in vain.

    `in_vain` compares lines and kernels: it is about what an H200 would take for what is in vain, in cycles of
    an SM. It is no forecast of a time.
    """

    place: Place
    reason: str  # goes on where the line's name ends: "takes 28 of 32 sectors of its stores in vain: ..."
    short: str  # the same for a column: "stores: 32 sectors/request, 4 would do"
    share: float  # of what the kernel costs of this sort, 0 to 1
    in_vain: float
    exercise: str  # that teaches the remedy

    @property
    def name(self) -> str:
        return name_of(self.place)

    @property
    def page(self) -> str:
        """The folder of the exercise; empty where somebody has removed it."""
        source = catalogue.sources().get(self.exercise)
        return shown(source.parent) if source else ""

    @property
    def sentence(self) -> str:
        """One or two of them."""
        see = f" See {self.page}." if self.page else ""
        return f"{self.name} {self.reason}.{see}"


def name_of(place: Place) -> str:
    return f"{place.file.name}:{place.line}"


def of(kernel: Kernel) -> Worst | None:
    """None where no line costs anything to speak of in vain."""
    found = [*_of_memory(kernel), *_of_lanes(kernel)]
    found = [each for each in found if each.share >= LEAST_SHARE]
    return max(found, key=lambda each: each.in_vain, default=None)


def of_all(kernels: Sequence[Kernel]) -> tuple[Kernel, Worst] | None:
    """The worst line of several kernels, with its kernel."""
    found = [(kernel, worst) for kernel in kernels for worst in [of(kernel)] if worst]
    return max(found, key=lambda each: each[1].in_vain, default=None)


# ---- memory


def _of_memory(kernel: Kernel) -> Iterator[Worst]:
    """Of each line, sums of what its accesses to one memory cost that take more than they need to."""
    totals: Counter[str] = Counter()
    wasting: dict[tuple[Place, str], list[Waste]] = {}
    for access in kernel.accesses:
        for waste in _wastes(access):
            totals[waste.space] += waste.units
            if waste.units > waste.least:
                wasting.setdefault((access.place, waste.space), []).append(waste)
    for (place, space), wastes in wasting.items():
        yield _in_vain(place, space, wastes, totals[space])
    lanes = sum(access.lanes for access in kernel.accesses if access.kind == ATOMIC)
    atomics: dict[tuple[Place, str], list[Access]] = {}
    for access in kernel.accesses:
        if access.kind == ATOMIC:
            atomics.setdefault((access.place, access.space), []).append(access)
    for (place, space), accesses in atomics.items():
        yield from _colliding(place, space, accesses, lanes)


@dataclass(frozen=True)
class Waste:
    """What an access takes of one memory."""

    kind: str
    space: str
    requests: int
    units: int
    least: int


def _wastes(access: Access) -> Iterator[Waste]:
    yield Waste(access.kind, access.space, access.requests, access.units, access.least)
    if access.kind == COPY:
        least = access.wavefronts - access.conflicts
        yield Waste(COPY, SHARED, access.requests, access.wavefronts, least)


def _in_vain(place: Place, space: str, wastes: list[Waste], total: int) -> Worst:
    requests = sum(waste.requests for waste in wastes)
    units = sum(waste.units for waste in wastes)
    least = sum(waste.least for waste in wastes)
    each, needed = units / requests, least / requests
    unit = UNITS[space]
    what = " and ".join(dict.fromkeys(PLURALS[waste.kind] for waste in wastes))
    reason = (
        f"takes {number(each - needed)} of {number(each)} {unit} of its {what} in vain: "
        f"{_requests(requests)} {units:,} {unit}, and {least:,} would do"
    )
    short = f"{what}: {number(each)} {unit} a request, {number(needed)} would do"
    in_vain = units - least
    teaches = _teaches(space, each - needed)
    return Worst(place, reason, short, in_vain / total, in_vain * weights.UNITS[space], teaches)


def _requests(count: int) -> str:
    return f"{count:,} requests take" if count != 1 else "one request takes"


def _teaches(space: str, in_vain: float) -> str:
    if space == SHARED:
        return "sharedBanks"
    if space == CONSTANT:
        return "constantMemory"
    return "misalignedAccess" if in_vain <= 1 else "stridedAccess"


def _colliding(place: Place, space: str, accesses: list[Access], all_lanes: int) -> Iterator[Worst]:
    """Lanes of one warp collide where they want one address; those of different warps, too, where the whole
    grid has few of global memory."""
    requests = sum(access.requests for access in accesses)
    lanes = sum(access.lanes for access in accesses)
    alike = sum(access.alike for access in accesses)
    known = [access.addresses for access in accesses if access.addresses is not None]
    addresses = sum(known) if len(known) == len(accesses) else None
    waiting = alike - requests
    if waiting <= 0:
        return
    of_grid, in_vain = "", float(waiting)
    if space == GLOBAL and addresses:
        waiting = lanes - requests
        different = (lanes - alike) / requests + 1  # of a request, about
        in_vain = max(waiting, weights.ATOMIC_ON_ONE_ADDRESS * requests * different / addresses)
        these = several(addresses, "address", "addresses")
        of_grid = f", and all {lanes:,} lanes of the grid want {these}"
    group, active = number(alike / requests), number(lanes / requests)
    reason = (
        f"lets lanes wait for each other: in each of its {requests:,} atomics, {group} of the {active} "
        f"active lanes of a warp want the same address{of_grid}"
    )
    short = f"atomics: {group} of {active} lanes want the same address"
    yield Worst(place, reason, short, waiting / all_lanes, in_vain, "sharedReduction")


# ---- lanes


def _of_lanes(kernel: Kernel) -> Iterator[Worst]:
    """Lanes that are idle where a line is executed: from the beginning, or because a branch split the warp."""
    lines = [line for _, line in sorted(kernel.lines.items()) if line.executions]
    slots = sum(WARP * line.executions for line in lines)
    first = next((line for line in lines if _is_of(kernel, line)), None)
    if first is None:
        return
    missing = WARP - first.lanes / first.executions
    if missing > 0:
        idle = sum(missing * line.executions for line in lines)
        yield _few_lanes(kernel, first, idle, slots)
    for place, charged in _charged(lines).items():
        found = _split(kernel.lines[place], charged, WARP - missing, slots)
        if found:
            yield found


def _is_of(kernel: Kernel, line: Line) -> bool:
    """Whether the line is one of the kernel itself, and not of a function that it calls."""
    if kernel.definition is None or kernel.definition.file != line.place.file:
        return False
    own = source_text.function_at(line.place.file, kernel.definition.line)
    return own is None or own.first <= line.place.line <= own.last


def _few_lanes(kernel: Kernel, first: Line, idle: float, slots: int) -> Worst:
    active = number(first.lanes / first.executions)
    threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
    warps = -(-threads // WARP)
    reason = (
        f"begins with {active} of {WARP} lanes of a warp on average: a block of {several(threads, 'thread')} "
        f"has {several(warps, 'warp')}, with room for {warps * WARP:,}"
    )
    short = f"{active} of {WARP} lanes"
    in_vain = weights.LINE * idle / WARP
    return Worst(first.place, reason, short, idle / slots, in_vain, "warpLayout")


def _charged(lines: list[Line]) -> dict[Place, list[Line]]:
    """Of each line that splits warps, the lines whose idle lanes it is charged with: those from it to the next
    one that splits, with the functions that they call."""
    functions: dict[Function | None, list[Line]] = {}
    for line in lines:
        place = line.place
        functions.setdefault(source_text.function_at(place.file, place.line), []).append(line)
    split_of: dict[Place, Place | None] = {}
    for _ in functions:  # as deep as functions call each other
        for function, own in functions.items():
            split = _split_of_call(function, lines, split_of)
            for line in own:
                split = line.place if line.divergent else split
                split_of[line.place] = split
    charged: dict[Place, list[Line]] = {}
    for line in lines:
        place_of_split = split_of[line.place]
        if place_of_split:
            charged.setdefault(place_of_split, []).append(line)
    return charged


def _split_of_call(
    function: Function | None, lines: list[Line], split_of: dict[Place, Place | None]
) -> Place | None:
    """What split the warp where a line calls this function."""
    if function is None or function.is_kernel:
        return None
    call = re.compile(rf"\b{re.escape(function.name)}\s*(<[^;()]*>)?\s*\(")
    for line in lines:
        place = line.place
        inside = function.first <= place.line <= function.last
        if not inside and call.search(source_text.line_of(place.file, place.line)):
            return split_of.get(place)
    return None


def _split(line: Line, charged: list[Line], lanes_before: float, slots: int) -> Worst | None:
    lost = {each.place: max(0.0, lanes_before - active_lanes(each)) for each in charged}
    idle = sum(lost[each.place] * each.executions for each in charged)
    if idle <= 0:
        return None
    behind = [each for each in charged if lost[each.place] >= 1] or charged
    executions = sum(each.executions for each in behind)
    active = sum(active_lanes(each) * each.executions for each in behind) / executions
    lanes = f"{number(active)} of {WARP} lanes"
    reason = (
        f"splits the warp in {line.divergent:,} of {line.branches:,} branches: {_lines(behind, line)} "
        f"with {lanes} on average"
    )
    short = f"splits the warp: {lanes} behind it"
    in_vain = weights.LINE * idle / WARP
    return Worst(line.place, reason, short, idle / slots, in_vain, "simpleDivergence")


def _lines(behind: list[Line], split: Line) -> str:
    """With their verb: those of the function that splits the warp, and the functions that these call."""
    functions = {each.place: source_text.function_at(*_at(each)) for each in [*behind, split]}
    own = functions[split.place]
    numbers = [each.place.line for each in behind if functions[each.place] == own]
    called = dict.fromkeys(
        source_text.name_of(each) for each in functions.values() if each and each != own
    )
    parts = [*called]
    if numbers:
        one = min(numbers) == max(numbers)
        parts.insert(0, f"line {numbers[0]}" if one else f"lines {min(numbers)} to {max(numbers)}")
    verb = "executes" if len(parts) == 1 and not parts[0].startswith("lines") else "execute"
    *others, last = parts
    return f"{', '.join(others)} and {last} {verb}" if others else f"{last} {verb}"


def _at(line: Line) -> tuple[Path, int]:
    return line.place.file, line.place.line
