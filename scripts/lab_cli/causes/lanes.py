"""Lanes that idle because their warp has split, with the branch that splits it and the lanes that
go each way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..lines.model import WARP, Kernel, Place, Step
from . import kernel_work as work
from .finding import Finding, number, percent, times
from .kernel_work import Work
from .source_lines import text

# reduceNeighbored, which splits, loses 28 % of its lanes, and its successor 2 %; borderFirst, which
# splits once, loses 2 % (emulator/results/profiler_against_h200.csv). The rule for totals has 10 %,
# too. A condition with a few operations behind it, which is compiled without a branch, loses less
# (predicatedByThread: 3 %).
LOST = 0.10
RECENT = 6  # lines: a condition, and a function that it calls
LOOP = re.compile(r"\b(for|while)\b")
EVEN, ODD = 0x55555555, 0xAAAAAAAA


@dataclass
class Branch:
    """What a branch costs in the warps that were looked at closely."""

    lost: int = 0  # lanes, summed over the lines behind it
    masks: Counter[int] = field(default_factory=Counter)  # active lanes behind it -> lines


def find(kernel: Kernel, of_kernel: Work, active: float | None = None) -> Iterator[Finding]:
    """`active`: the share of lanes in an instruction, where it is known. Lines know less: behind a
    condition in the same line, a warp may have split."""
    if active is None:
        active = of_kernel.lanes / (WARP * of_kernel.lines) if of_kernel.lines else 1.0
    there = work.block_threads(kernel) / (
        work.block_warps(kernel) * WARP
    )  # else launch_size.py has it
    lost = there - active
    if lost < LOST:
        return
    branches = _branches(kernel)
    if branches:
        most = max(branches, key=lambda place: branches[place].lost)
        yield _at_branch(kernel, most, branches[most], lost)
        return
    divergent = max(kernel.lines.values(), key=lambda line: line.divergent, default=None)
    if divergent is not None and divergent.divergent:
        yield _at_branch(kernel, divergent.place, Branch(), lost)


@dataclass
class Part:
    """Lanes of a warp that go on together, and the last lines that they came to."""

    lanes: int
    places: list[Place]

    def branch(self, kernel: Kernel) -> Place:
        """The line at which some of them left: that which splits most of the last ones. Behind a
        call in a condition, the last line is the function's."""
        last = self.places[: -RECENT - 1 : -1]
        return max(last, key=lambda place: _divergent(kernel, place))


def _divergent(kernel: Kernel, place: Place) -> int:
    line = kernel.lines.get(place)
    return line.divergent if line else 0


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
    return found


def _follow(way: list[Part], step: Step) -> None:
    while way and step.lanes & ~way[-1].lanes:  # lanes that this part does not have: it has ended
        way.pop()
    if not way or way[-1].lanes != step.lanes:
        way.append(Part(step.lanes, []))
    way[-1].places.append(step.place)


def _count(mask: int) -> int:
    return bin(mask).count("1")


def _at_branch(kernel: Kernel, place: Place, branch: Branch, lost: float) -> Finding:
    line = kernel.lines.get(place)
    split = ""
    if line is not None and line.divergent:
        split = f" Warps split in {number(line.divergent)} of {times(line.branches, 'branch', 'branches')}."
    symptom, how, remedy = _way(branch, bool(LOOP.search(text(place))))
    return Finding(
        symptom,
        f"{how}{split} Of a warp's lanes, {percent(1 - lost)} are active on average.",
        f"Warps whose lanes go one way remove up to {percent(lost)} of the instructions.",
        remedy,
        ["simpleDivergence", "reduceInteger"],
        lost,
        place,
    )


def _way(branch: Branch, is_loop: bool) -> tuple[str, str, str]:
    same_way = (
        "Let all lanes of a warp take the same branch: assign work to threads so that the "
        "condition changes from warp to warp (threadIdx.x / warpSize), not from lane to lane."
    )
    seen = sum(branch.masks.values())
    if seen and branch.masks[EVEN] + branch.masks[ODD] >= seen / 2:
        return (
            "divergence by thread parity",
            "Even and odd lanes go different ways, one after the other.",
            same_way,
        )
    single = sum(count for mask, count in branch.masks.items() if _count(mask) == 1)
    if seen and single >= seen / 2:
        return (
            "divergence: one lane works",
            "One lane of a warp goes on while 31 wait.",
            "Spread this work over the lanes. Where one lane acts for its warp (TMA, mbarrier), "
            "it is meant so.",
        )
    if is_loop or (seen and _shrinks(branch.masks)):
        return (
            "divergence in a loop",
            "Lanes leave a loop after different numbers of steps, and the warp goes on until the "
            "last has.",
            "Give lanes of a warp work of the same length: sort it, or let a lane take the next "
            "piece when it is done.",
        )
    regular = [mask for mask in branch.masks if _every(mask)]
    if regular and sum(branch.masks[mask] for mask in regular) >= seen / 2:
        return (
            "divergence",
            "Every second, fourth ... lane works, and the others wait.",
            "Let neighbouring threads do the work: an index that is a multiple of threadIdx.x, "
            "or a stride that halves, keeps whole warps busy or idle.",
        )
    return "divergence", "Lanes of a warp go different ways, one after the other.", same_way


def _every(mask: int) -> int:
    """n where each n-th lane from the first on is active and no other; else 0."""
    for n in (2, 4, 8, 16):
        if mask == sum(1 << lane for lane in range(0, WARP, n)):
            return n
    return 0


def _shrinks(masks: Counter[int]) -> bool:
    """More than four parts, each within the one before."""
    parts = sorted(masks, key=lambda mask: -_count(mask))
    return (
        len(parts) > 4
        and all(not b & ~a for a, b in zip(parts, parts[1:]))
        and not any(map(_every, parts))
    )
