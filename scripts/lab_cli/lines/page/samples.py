"""The steps of sampled warps, in a form that takes little room on a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..model import SHARED, Kernel, Place, Sample, Step
from . import touched

FEWEST = 1  # samples of a kernel, however large the page


def of(kernel: Kernel, numbers: Mapping[Place, int]) -> list[dict[str, Any]]:
    return [
        {
            "block": [*sample.block],
            "warp": sample.warp,
            "steps": [
                _step(step, kernel, numbers[step.place])
                for step in sample.steps
                if step.place in numbers
            ],
        }
        for sample in order(kernel.samples)
    ]


def _step(step: Step, kernel: Kernel, line: int) -> list[Any]:
    """[line, lanes], or of an access [line, lanes, access, memory, offsets, words of each wavefront]."""
    lanes = f"{step.lanes:x}"
    if step.access is None or step.memory is None:
        return [line, lanes]
    found = [line, lanes, step.access, step.memory, packed(step.offsets)]
    access, memory = kernel.accesses[step.access], kernel.memories[step.memory]
    if access.space == SHARED:
        wanted = touched.elements(step.lanes, step.offsets)
        found.append(touched.in_shared(wanted, access.size, access.kind, memory.shift))
    return found


def packed(offsets: Sequence[int]) -> str | list[int]:
    """The first offset and the distance to the next, where that is the same for all: "4096:4"."""
    if not offsets:
        return []
    distance = offsets[1] - offsets[0] if len(offsets) > 1 else 0
    if all(b - a == distance for a, b in zip(offsets, offsets[1:])):
        return f"{offsets[0]}:{distance}"
    return [*offsets]


def order(samples: Sequence[Sample]) -> list[Sample]:
    return sorted(samples, key=lambda sample: (sample.block[::-1], sample.warp))


def fit(kernels: Sequence[dict[str, Any]], limit: int) -> None:
    """Leaves samples out until all take no more characters than `limit`: last the first warps of the blocks."""
    most = max((len(kernel["samples"]) for kernel in kernels), default=0)
    while most > FEWEST and len(json.dumps(kernels, separators=(",", ":"))) > limit:
        most -= 1
        for kernel in kernels:
            found = kernel["samples"]
            for _ in range(len(found) - most):
                found.remove(max(found, key=lambda sample: (sample["warp"], sample["block"][::-1])))
                kernel["left_out"] = kernel.get("left_out", 0) + 1
