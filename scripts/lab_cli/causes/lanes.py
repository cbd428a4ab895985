"""Lanes that idle because their warp has split, with the branch that splits it and the lanes that
go each way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..lines.model import WARP, Kernel, Place, Step
from ..words import number, several
from . import kernel_work as work
from .finding import Finding, percent
from .kernel_work import Work
from .source_lines import text

# reduceNeighbored, which splits, loses 28 % of its lanes, and its successor 2 %; borderFirst, which
# splits once, loses 2 % (emulator/results/profiler_against_h200.csv). The rule for totals has 10 %,
# too. A condition with a few operations behind it, which is compiled without a branch, loses less
# (predicatedByThread: 3 %).
LOST = 0.10
OFTEN = 0.01  # of its branches
RECENT = 12  # lines: a condition, and a function that it calls
OTHER_LINES = 0.1
# One lane that writes for its warp or block is as it should be: only where it has much to do.
OF_ONE_LANE = 0.25
# Of what is lost where a value is chosen (a ? b : c): the compiler makes no branch of it, if that
# is short, and another branch is to blame where there is one.
CHOICE = 0.05
LOOP = re.compile(r"\b(for|while|break)\b")
EVEN, ODD = 0x55555555, 0xAAAAAAAA


@dataclass
class Branch:
    """What a branch costs in the warps that were looked at closely."""

    lost: int = 0  # lanes, summed over the lines behind it
    masks: Counter[int] = field(default_factory=Counter)  # active lanes behind it -> lines
    elsewhere: int = 0  # of these lines, others than its own


def find(kernel: Kernel, of_kernel: Work, active: float | None = None) -> Iterator[Finding]:
    """`active`: the share of lanes in an instruction, where it is known. Lines know less: behind a
    condition in the same line, a warp may have split."""
    if active is None:
        active = of_kernel.lanes / (WARP * of_kernel.lines) if of_kernel.lines else 1.0
    # Lanes without a thread are a finding of launch_size.py.
    lost = work.block_threads(kernel) / (work.block_warps(kernel) * WARP) - active
    if lost < LOST:
        return
    branches = _branches(kernel)
    if branches:
        most = max(branches, key=lambda place: _cost(place, branches[place]))
        if not _is_choice(most, branches[most]):
            yield from _at_branch(kernel, most, branches[most], lost)
        return
    divergent = max(kernel.lines.values(), key=lambda line: line.divergent, default=None)
    if divergent is not None and divergent.divergent:
        yield from _at_branch(kernel, divergent.place, Branch(), lost)


@dataclass
class Part:
    """Lanes of a warp that go on together, and the last lines that they came to."""

    lanes: int
    places: list[Place]

    def branch(self, kernel: Kernel) -> Place:
        """The line at which some of them left: the last one that splits warps. Behind a call in a
        condition, the very last line is the function's."""
        recent = self.places[: -RECENT - 1 : -1]
        return next((place for place in recent if _splits(kernel, place)), recent[0])


def _splits(kernel: Kernel, place: Place) -> bool:
    line = kernel.lines.get(place)
    return line is not None and line.divergent > OFTEN * line.branches


def _branches(kernel: Kernel) -> dict[Place, Branch]:
    """Of each line whose branch splits a warp what the lines behind it lose."""
    found: dict[Place, Branch] = {}
    for sample in kernel.samples:
        way: list[Part] = []  # each a part of the one before
        for step in sample.steps:
            if step.access is None:
                _follow(way, step)
                for whole, part in zip(way, way[1:]):
                    branch = found.setdefault(whole.branch(kernel), Branch())
                    branch.lost += _count(whole.lanes) - _count(part.lanes)
                    branch.masks[step.lanes] += 1
                    branch.elsewhere += step.place != whole.branch(kernel)
    return found


def _cost(place: Place, branch: Branch) -> float:
    return branch.lost * (CHOICE if _is_choice(place, branch) else 1.0)


def _is_choice(place: Place, branch: Branch) -> bool:
    """a ? b : c, without functions for b and c whose lines the warp would come to."""
    return " ? " in text(place) and branch.elsewhere < OTHER_LINES * sum(branch.masks.values())


def _follow(way: list[Part], step: Step) -> None:
    while way and step.lanes & ~way[-1].lanes:  # lanes that this part does not have: it has ended
        way.pop()
    if not way or way[-1].lanes != step.lanes:
        way.append(Part(step.lanes, []))
    way[-1].places.append(step.place)


def _count(mask: int) -> int:
    return bin(mask).count("1")


def _at_branch(kernel: Kernel, place: Place, branch: Branch, lost: float) -> Iterator[Finding]:
    line = kernel.lines.get(place)
    split = ""
    if line is not None and line.divergent:
        split = f" Warps split here {several(line.divergent, 'time')}."
        if line.divergent <= line.branches:  # a switch has more ways
            branches = several(line.branches, "branch", "branches")
            split = f" Warps split in {number(line.divergent)} of {branches}."
    way = _way(branch, bool(LOOP.search(text(place))))
    if way is ONE_LANE and lost < OF_ONE_LANE:
        return
    yield Finding(
        way.symptom,
        f"{way.how}{split} Of a warp's lanes, {percent(1 - lost)} are active on average.",
        f"Warps whose lanes go one way remove up to {percent(lost)} of the instructions.",
        way.remedy,
        way.exercises,
        lost,
        place,
        hint=way is TREE,
    )


@dataclass(frozen=True)
class Way:
    """How the lanes of a warp part."""

    symptom: str
    how: str
    remedy: str
    exercises: Sequence[str] = ("simpleDivergence", "reduceInteger")


SAME_WAY = (
    "Let all lanes of a warp take the same branch: assign work to threads so that the condition "
    "changes from warp to warp (threadIdx.x / warpSize), not from lane to lane."
)
PARITY = Way(
    "divergence by thread parity",
    "Even and odd lanes go different ways, one after the other.",
    SAME_WAY,
)
ONE_LANE = Way(
    "divergence: one lane works",
    "One lane of a warp goes on while 31 wait.",
    "Spread this work over the lanes. Where one lane acts for its warp (TMA, mbarrier), it is "
    "meant so.",
)
TREE = Way(
    "a tree within a warp",
    "In each step, half of the lanes stop.",
    "Add up in registers with shuffles (__shfl_down_sync), without shared memory and with fewer "
    "steps of the loop.",
    ("warpShuffle", "shuffleOrShared"),
)
IN_LOOP = Way(
    "divergence in a loop",
    "Lanes leave a loop after different numbers of steps, and the warp goes on until the last has.",
    "Give lanes of a warp work of the same length: sort it, or let a lane take the next piece "
    "when it is done.",
)
REGULAR = Way(
    "divergence",
    "Every second, fourth ... lane works, and the others wait.",
    "Let neighbouring threads do the work: an index that is a multiple of threadIdx.x, or a "
    "stride that halves, keeps whole warps busy or idle.",
)
OTHER = Way("divergence", "Lanes of a warp go different ways, one after the other.", SAME_WAY)


def _way(branch: Branch, is_loop: bool) -> Way:
    masks = branch.masks
    half = sum(masks.values()) / 2
    if not masks:
        return IN_LOOP if is_loop else OTHER
    if masks[EVEN] + masks[ODD] >= half:
        return PARITY
    if sum(count for mask, count in masks.items() if _count(mask) == 1) >= half:
        return ONE_LANE
    if {0xFFFF, 0xFF, 0xF} <= masks.keys() and not any(mask & (mask + 1) for mask in masks):
        return TREE
    if sum(count for mask, count in masks.items() if _is_regular(mask)) >= half:
        return REGULAR
    return IN_LOOP if is_loop or _shrinks(masks) else OTHER


def _is_regular(mask: int) -> bool:
    """Whether each second, fourth ... lane from the first on is active and no other."""
    return any(mask == sum(1 << lane for lane in range(0, WARP, n)) for n in (2, 4, 8, 16))


def _shrinks(masks: Counter[int]) -> bool:
    """More than four parts, each within the one before."""
    parts = sorted(masks, key=lambda mask: -_count(mask))
    return len(parts) > 4 and all(not b & ~a for a, b in zip(parts, parts[1:]))
