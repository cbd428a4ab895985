"""The path through the exercises of the chapter, in seven groups."""

from __future__ import annotations

from drawing import WIDTH, Drawing

# The look of a group, its title, what it asks, and its exercises in order.
GROUPS = [
    (
        "sky",
        "Where data live",
        "Which memory is near, and which is far?",
        ["memorySpaces", "memoryLatency"],
    ),
    (
        "orange",
        "Global memory",
        "Which sectors does a warp touch?",
        ["misalignedAccess", "stridedAccess", "structLayouts"],
    ),
    (
        "green",
        "Shared memory",
        "Which banks does a warp touch, and in which order?",
        ["transpose", "sharedBanks", "transposeFast", "asyncCopy"],
    ),
    (
        "purple",
        "Data that many threads read",
        "How often does each byte travel?",
        ["constantMemory", "imageFilters", "convolution", "textures"],
    ),
    (
        "sky",
        "Between threads",
        "How do threads exchange values?",
        ["warpShuffle", "shuffleOrShared", "atomics"],
    ),
    (
        "orange",
        "Host and device",
        "What travels over the link, and when?",
        ["hostTransfer", "unifiedAddresses", "zeroCopy", "managedMemory"],
    ),
    ("pale", "Code", "Which code does a GPU run?", ["compileTargets"]),
]
ROW, TOP = 92, 24
BOX, HEIGHT, GAP = 172, 34, 18
LEFT = 24


def draw() -> Drawing:
    drawing = Drawing(
        "The path through chapter 4",
        "Seven groups of exercises, one below the other: where data live, global memory, shared memory,"
        " data that many threads read, between threads, host and device, code. Arrows lead from each"
        " exercise to the next one.",
        TOP + len(GROUPS) * ROW,
    )
    for number, (look, title, question, names) in enumerate(GROUPS):
        top = TOP + number * ROW
        with drawing.group(title.replace(" ", "-")):
            drawing.text(LEFT, top + 14, title, "head")
            drawing.text(WIDTH - LEFT, top + 14, question, "end")
            for place, name in enumerate(names):
                left = LEFT + place * (BOX + GAP)
                drawing.cell(left, top + 26, BOX, HEIGHT, look, name, "code")
                if place:
                    middle = top + 26 + HEIGHT / 2
                    drawing.line((left - GAP, middle), (left - 1, middle), look="line arrow")
        if number + 1 < len(GROUPS):
            below = top + 26 + HEIGHT
            drawing.line((LEFT + 60, below), (LEFT + 60, top + ROW - 2), look="line arrow")
    return drawing
