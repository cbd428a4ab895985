"""What the counts of a line mean, in sentences, and which exercise teaches the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .. import sums
from ..model import (
    ATOMIC,
    CONSTANT,
    COPY,
    GLOBAL,
    IRREGULAR,
    LOAD,
    SHARED,
    STORE,
    WARP,
    Access,
    Kernel,
    Line,
)
from ..sums import number
from ..worst import Worst
from . import arrays

NOUNS = {LOAD: "load", STORE: "store", ATOMIC: "atomic operation", COPY: "asynchronous copy"}
WAYS = {LOAD: "from", STORE: "to", ATOMIC: "on", COPY: "from"}
UNITS = {GLOBAL: "sector", SHARED: "wavefront", CONSTANT: "pass"}
BANKS = WARP


@dataclass(frozen=True)
class Sentence:
    """`exercise` teaches the remedy; empty where nothing is to be done about it. `bad` is what costs something
    in vain."""

    text: str
    exercise: str = ""
    bad: bool = False


def of(
    line: Line, kernel: Kernel, worst: Worst | None = None, exact: bool = True
) -> list[Sentence]:
    """Each exercise is named once, and accesses that do the same share a sentence. Not `exact` are counts of a
    GPU's instructions."""
    named: set[str] = set()
    found = []
    every = _all(line, kernel, worst, exact)
    for each in dict.fromkeys(every):
        exercise = "" if each.exercise in named else each.exercise
        alike = every.count(each)
        text = each.text if alike == 1 else f"{each.text} The line has {alike} of these."
        found.append(replace(each, text=text, exercise=exercise))
        named.add(each.exercise)
    return found


def _all(line: Line, kernel: Kernel, worst: Worst | None, exact: bool) -> list[Sentence]:
    found = [*_executions(line, kernel, "this line" if exact else "instructions of this line")]
    for access in line.accesses:
        found += _access(access, kernel)
    found += _called(line)
    if worst and worst.place == line.place and not any(each.bad for each in found):
        found.append(Sentence(f"This line {worst.reason}.", worst.exercise, bad=True))
    return found


def _executions(line: Line, kernel: Kernel, what: str) -> Iterator[Sentence]:
    if line.executions:
        lanes = line.lanes / line.executions
        text = f"Warps execute {what} {times(line.executions)}, with {number(lanes)} of {WARP} lanes active"
        text += " on average." if line.executions > 1 else "."
        few = lanes < WARP - 0.05
        yield Sentence(text, "" if not few else _about_lanes(kernel), bad=few)
    if line.branches:
        if line.divergent:
            share = 100 * line.divergent / line.branches
            yield Sentence(
                f"A branch ends here {times(line.branches)}. In {line.divergent:,} of them ({share:.0f} %) the "
                "warp splits: its lanes disagree, so it goes both ways, one after the other.",
                "simpleDivergence",
                bad=True,
            )
        else:
            yield Sentence(f"A branch ends here {times(line.branches)}, and no warp splits.")
    if line.barriers:
        yield Sentence(f"Warps arrive at a barrier here {times(line.barriers)}.")
    if any(line.operations.get(what) for what in OPERATIONS):
        yield Sentence(_operations(line))


def _about_lanes(kernel: Kernel) -> str:
    """Lanes are idle because a branch split their warp, or because they were never there."""
    splits = any(line.divergent for line in kernel.lines.values())
    return "simpleDivergence" if splits else "warpLayout"


OPERATIONS = {
    "fp32": "operations on floats",
    "fp64": "operations on doubles",
    "to_double": "conversions from float to double",
    "special": "special functions",
    "division": "divisions of integers",
}


def _operations(line: Line) -> str:
    known = [what for what in OPERATIONS if line.operations.get(what)]
    parts = [f"{line.operations[what]:,} {OPERATIONS[what]}" for what in known]
    return "Its threads make " + listed(parts) + "."


def _access(access: Access, kernel: Kernel) -> Iterator[Sentence]:
    if access.requests == 0:
        return
    what = title(access, kernel)
    units, least = access.units / access.requests, access.least / access.requests
    unit = UNITS[access.space]
    text = f"The {what} takes {plural(units, unit)} per request"
    vain = access.units > access.least
    if vain:
        wasted = 100 * (access.units - access.least) / access.units
        text += (
            f", and {number(least)} would do: {access.units - access.least:,} of {access.units:,} "
            f"{sums.UNITS[access.space]} ({wasted:.0f} %) are in vain."
        )
    else:
        text += ", which is the least possible."
    strides = _strides(access)
    yield Sentence(f"{text} {strides}".strip(), _teaches(access) if vain else "", bad=vain)
    if access.conflicts:
        each = access.conflicts / access.requests
        yield Sentence(
            f"Its lanes meet in banks: {access.conflicts:,} bank conflicts, {number(each)} per request.",
            "sharedBanks",
            bad=True,
        )
    if access.kind == ATOMIC and access.alike:  # which a GPU does not count
        yield _collisions(access)


def _collisions(access: Access) -> Sentence:
    alike, lanes = access.alike / access.requests, access.lanes / access.requests
    where = f"{access.addresses} addresses"
    if access.addresses is None:
        where = "more than 64 addresses"
    elif access.addresses == 1:
        where = "one address"
    text = f"All {access.lanes:,} atomic operations of the grid go to {where}. "
    if access.alike <= access.requests:
        return Sentence(text + "No two lanes of a warp want the same one at the same time.")
    text += (
        f"In each request, {number(alike)} of {number(lanes)} active lanes want the same one, "
        "and they take turns."
    )
    return Sentence(text, "sharedReduction", bad=True)


def _strides(access: Access) -> str:
    """The distance of neighbouring lanes in most of the requests."""
    if not access.strides:
        return ""
    stride, requests = max(access.strides.items(), key=lambda item: item[1])
    most = (
        "" if requests == access.requests else f" in {requests:,} of {access.requests:,} requests"
    )
    if stride == IRREGULAR:
        return f"The addresses of neighbouring lanes have no constant distance{most}."
    distance = abs(int(stride))
    if distance == 0:
        return f"All lanes want the same address{most}."
    back = ", backwards" if int(stride) < 0 else ""
    whole = access.lanes == WARP * access.requests
    beside = " (side by side)" if distance == access.size and whole else ""
    return f"Neighbouring lanes are {distance:,} bytes apart{beside}{back}{most}."


def _teaches(access: Access) -> str:
    if access.space == SHARED:
        return "sharedBanks"
    if access.space == CONSTANT:
        return "constantMemory"
    in_vain = (access.units - access.least) / access.requests
    return "misalignedAccess" if in_vain <= 1 else "stridedAccess"


def _called(line: Line) -> Iterator[Sentence]:
    for (space, kind), part in sums.traffic(line.called).items():
        units, least = sums.per_request(part)
        text = f"Functions that this line calls make {part.requests:,} {NOUNS[kind]} requests of {space} memory"
        text += f", of {plural(units, UNITS[space])} each"
        text += f"; {number(least)} would do." if part.in_vain else "."
        yield Sentence(text, bad=part.in_vain > 0)


def title(access: Access, kernel: Kernel) -> str:
    """It is like `load from tile in shared memory (4 bytes per lane)`."""
    name = arrays.name_of(access, kernel)
    space = {GLOBAL: "global memory", SHARED: "shared memory", CONSTANT: "constant memory"}
    where = f"{name} in {space[access.space]}" if name else space[access.space]
    return f"{NOUNS[access.kind]} {WAYS[access.kind]} {where} ({access.size} bytes per lane)"


def short_title(access: Access, kernel: Kernel) -> str:
    """It is like `load from tile`."""
    name = arrays.name_of(access, kernel) or f"{access.space} memory"
    return f"{NOUNS[access.kind]} {WAYS[access.kind]} {name}"


def times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def plural(count: float, unit: str) -> str:
    ending = "" if abs(count - 1) < 1e-9 else "es" if unit.endswith("s") else "s"
    return f"{number(count)} {unit}{ending}"


def listed(parts: list[str]) -> str:
    return " and ".join([*filter(None, [", ".join(parts[:-1])]), parts[-1]])
