"""The path through the exercises of the chapter, in four groups."""

from __future__ import annotations

from chapter_path import Group, draw_path
from drawing import Drawing

GROUPS = [
    Group(
        "sky",
        "Two limits",
        "How fast can the kernel be at most?",
        ["roofline", "memoryBound", "dramParallelism"],
    ),
    Group(
        "orange",
        "What keeps kernels from them",
        "What moves twice, what waits, what does not fit?",
        ["rowNormalisation", "sharedReduction", "occupancyCliff"],
    ),
    Group(
        "green",
        "The product of matrices, step by step",
        "From where is each element loaded?",
        [
            "matmul",
            "cornerTurning",
            "threadGranularity",
            "registerTiles",
        ],
    ),
    Group(
        "purple",
        "To the limit of the arithmetic",
        "What do the warps still wait for?",
        ["matmulFast", "tensorMatmul", "hopperMatmul"],
    ),
    Group(
        "sky", "A real computation", "Which of this helps small products?", ["spectralDerivative"]
    ),
]


def draw() -> Drawing:
    return draw_path(
        "The path through chapter 5",
        "Five groups of exercises, one below the other: two limits, what keeps kernels from them, the"
        " product of matrices step by step, the limit of the arithmetic, and a real computation. Arrows"
        " lead from each exercise to the next one.",
        GROUPS,
        92,
    )
