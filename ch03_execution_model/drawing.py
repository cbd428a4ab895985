"""The path through the exercises of the chapter, in five groups."""

from __future__ import annotations

from chapter_path import Group, draw_path
from drawing import Drawing

GROUPS = [
    Group("sky", "Begin", "What is a kernel, and what runs it?", ["firstKernel", "deviceQuery"]),
    Group(
        "orange",
        "Warps",
        "Which threads share an instruction?",
        ["warpLayout", "simpleDivergence", "controlDivergence"],
    ),
    Group(
        "green",
        "Memory and sums",
        "Which addresses does a warp touch?",
        ["sumMatrix", "reduceInteger", "reduceFloat", "compensatedSum"],
    ),
    Group(
        "purple",
        "What keeps an SM busy",
        "How much must be in flight?",
        ["latencyHiding", "instructionRates", "occupancyCalculator", "occupancy"],
    ),
    Group("pale", "Blocks", "Who waits for whom?", ["blockScheduling", "syncHazard"]),
]


def draw() -> Drawing:
    return draw_path(
        "The path through chapter 3",
        "Five groups of exercises, one below the other: begin, warps, memory and sums, what keeps an"
        " SM busy, blocks. Arrows lead from each exercise to the next one.",
        GROUPS,
        96,
    )
