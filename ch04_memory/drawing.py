"""The path through the exercises of the chapter, in seven groups."""

from __future__ import annotations

from chapter_path import Group, draw_path
from drawing import Drawing

GROUPS = [
    Group(
        "sky",
        "Where data live",
        "Which memory is near, and which is far?",
        ["memorySpaces", "memoryLatency"],
    ),
    Group(
        "orange",
        "Global memory",
        "Which sectors does a warp touch?",
        ["misalignedAccess", "stridedAccess", "structLayouts"],
    ),
    Group(
        "green",
        "Shared memory",
        "Which banks does a warp touch, and in which order?",
        ["transpose", "sharedBanks", "transposeFast", "asyncCopy"],
    ),
    Group(
        "purple",
        "Data that many threads read",
        "How often does each byte travel?",
        ["constantMemory", "imageFilters", "convolution", "textures"],
    ),
    Group(
        "sky",
        "Between threads",
        "How do threads exchange values?",
        ["warpShuffle", "shuffleOrShared", "atomics"],
    ),
    Group(
        "orange",
        "Host and device",
        "What travels over the link, and when?",
        ["hostTransfer", "unifiedAddresses", "zeroCopy", "managedMemory"],
    ),
    Group("pale", "Code", "Which code does a GPU run?", ["compileTargets"]),
]


def draw() -> Drawing:
    return draw_path(
        "The path through chapter 4",
        "Seven groups of exercises, one below the other: where data live, global memory, shared memory,"
        " data that many threads read, between threads, host and device, code. Arrows lead from each"
        " exercise to the next one.",
        GROUPS,
        92,
    )
