"""How the lanes of a warp lie beside each other in memory, at one access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..lines.model import IRREGULAR, WARP, Access, Kernel, Sample, Step

MOST = 0.7  # of the lanes: rows of eight threads have 28 of 31


@dataclass(frozen=True)
class Pattern:
    """What an access does in most of its requests. Distances are in bytes."""

    stride: int | str | None  # from a lane to the next; None where a lane is alone
    memory: int | None = None  # an index of Kernel.memories
    offsets: frozenset[int] = frozenset()  # of the first lanes that were seen
    run: int = 0  # lanes side by side without a gap, where the stride is IRREGULAR
    step: int | None = None  # from an access of a thread to its next one here


def of(kernel: Kernel, index: int) -> Pattern:
    """The stride counts from lane to lane, whether those between them are active or not. Where a
    warp has several rows of a block, it is that within a row."""
    access = kernel.accesses[index]
    steps = list(_steps(kernel, index))
    strides = Counter(_stride(step, access.size) for _, step in steps if len(step.offsets) > 1)
    if not strides:
        return Pattern(_counted(access), *_place_of(steps), step=_step(steps))
    stride = max(strides, key=lambda each: (strides[each], each != IRREGULAR))
    run = _run([step for _, step in steps], access.size) if stride == IRREGULAR else 0
    return Pattern(stride, *_place_of(steps), run=run, step=_step(steps))


def _counted(access: Access) -> int | str | None:
    """Of all requests, whose inactive lanes are left out."""
    return max(access.strides, key=lambda each: access.strides[each], default=None)


def _steps(kernel: Kernel, index: int) -> Iterator[tuple[Sample, Step]]:
    for sample in kernel.samples:
        for step in sample.steps:
            if step.access == index and step.offsets:
                yield sample, step


def _place_of(steps: list[tuple[Sample, Step]]) -> tuple[int | None, frozenset[int]]:
    memories = Counter(step.memory for _, step in steps if step.memory is not None)
    if not memories:
        return None, frozenset()
    memory = memories.most_common(1)[0][0]
    return memory, frozenset(step.offsets[0] for _, step in steps if step.memory == memory)


def is_regular(kernel: Kernel, index: int) -> bool:
    """Whether the lanes lie at one distance from each other in most requests, or where they have lain
    at the step before. Where an address depends on what was loaded they do not."""
    access = kernel.accesses[index]
    at_one_distance = sum(count for stride, count in access.strides.items() if stride != IRREGULAR)
    steps = list(_steps(kernel, index))
    again = [
        _distances(step) == _distances(later)
        for (sample, step), (later_sample, later) in zip(steps, steps[1:])
        if sample is later_sample and step.lanes == later.lanes
    ]
    return 2 * at_one_distance >= access.requests or 2 * sum(again) > len(again)


def _distances(step: Step) -> list[int]:
    return [offset - step.offsets[0] for offset in step.offsets]


def lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(WARP) if mask >> lane & 1]


def _stride(step: Step, size: int) -> int | str:
    """IRREGULAR also where lanes lie side by side in pieces."""
    lanes = lanes_of(step.lanes)
    found = Counter(
        (after - before) / (lane - earlier)
        for lane, earlier, after, before in zip(lanes[1:], lanes, step.offsets[1:], step.offsets)
    )
    stride, count = found.most_common(1)[0]
    is_most = count == len(lanes) - 1 or (count >= MOST * len(lanes) and stride not in (0, size))
    return int(stride) if is_most and stride.is_integer() else IRREGULAR


def _run(steps: list[Step], size: int) -> int:
    """The length of the runs of lanes side by side, where all have it."""
    lengths: set[int] = set()
    for step in steps:
        length = 1
        for after, before in zip(step.offsets[1:], step.offsets):
            if after - before == size:
                length += 1
            else:
                lengths.add(length)
                length = 1
        lengths.add(length)
    return lengths.pop() if len(lengths) == 1 else 0


def _step(steps: list[tuple[Sample, Step]]) -> int | None:
    """None where it differs, or where no thread accesses it twice."""
    found: set[int] = set()
    for (sample, step), (later_sample, later) in zip(steps, steps[1:]):
        if sample is later_sample and step.memory == later.memory and step.lanes == later.lanes:
            found.add(later.offsets[0] - step.offsets[0])
    return found.pop() if len(found) == 1 else None
