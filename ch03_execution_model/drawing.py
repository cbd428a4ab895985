"""The path through the exercises of the chapter, in five groups."""

from __future__ import annotations

from drawing import WIDTH, Drawing

# The look of a group, its title, what it asks, and its exercises in order.
GROUPS = [
    ("sky", "Begin", "What is a kernel, and what runs it?", ["firstKernel", "deviceQuery"]),
    (
        "orange",
        "Warps",
        "Which threads share an instruction?",
        ["warpLayout", "simpleDivergence", "controlDivergence"],
    ),
    (
        "green",
        "Memory and sums",
        "Which addresses does a warp touch?",
        ["sumMatrix", "reduceInteger", "reduceFloat", "compensatedSum"],
    ),
    (
        "purple",
        "What keeps an SM busy",
        "How much must be in flight?",
        ["latencyHiding", "instructionRates", "occupancyCalculator", "occupancy"],
    ),
    ("pale", "Blocks", "Who waits for whom?", ["blockScheduling", "syncHazard"]),
]
ROW, TOP = 96, 24
BOX, HEIGHT, GAP = 172, 34, 18
LEFT = 24


def draw() -> Drawing:
    drawing = Drawing(
        "The path through chapter 3",
        "Five groups of exercises, one below the other: begin, warps, memory and sums, what keeps an"
        " SM busy, blocks. Arrows lead from each exercise to the next one.",
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
