"""Which lane reads which in five shuffles of eight lanes, and the three steps of a prefix sum."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

LANES = 8  # a GPU has 32
BY = 2
CELL, HEIGHT = 28, 24
PANEL, LEFT = 256, 24
DEPTH = 76  # between the two rows of lanes
SECOND = 232  # the second row of panels begins so far below the first

# For each pattern its call, and the lane that a lane reads. Lanes without such a lane keep their own value.
SourceOf = Callable[[int], int]
PATTERNS: list[tuple[str, str, SourceOf]] = [
    ("broadcast", "__shfl_sync(all, v, 2)", lambda lane: BY),
    ("shiftUp", "__shfl_up_sync(all, v, 2)", lambda lane: lane - BY),
    ("shiftDown", "__shfl_down_sync(all, v, 2)", lambda lane: lane + BY),
    ("rotate", "__shfl_sync(all, v, lane + 2)", lambda lane: (lane + BY) % LANES),
    ("butterfly", "__shfl_xor_sync(all, v, 2)", lambda lane: lane ^ BY),
]


def draw() -> Drawing:
    drawing = Drawing(
        "Five shuffles of eight lanes, and a prefix sum in three steps",
        "In a broadcast, all lanes read lane 2. In a shift up by 2, lanes 2 to 7 read lanes 0 to 5, and lanes 0 and"
        " 1 keep their own values. In a shift down by 2, lanes 0 to 5 read lanes 2 to 7, and lanes 6 and 7 keep their"
        " own values. In a rotation by 2, lanes 6 and 7 read lanes 0 and 1. In a butterfly, lanes whose numbers differ"
        " in bit 1 read each other."
        " In a prefix sum of ones, each step doubles the number of lanes that a sum covers: 1, 2, 4, 8.",
        2 * SECOND + 8,
    )
    for number, (name, call, source_of) in enumerate(PATTERNS):
        with drawing.group(name):
            x = LEFT + number % 3 * PANEL
            draw_pattern(drawing, x, 34 + number // 3 * SECOND, name, call, source_of)
    with drawing.group("prefix"):
        draw_prefix(drawing, LEFT + 2 * PANEL, 34 + SECOND)
    return drawing


def middle(x: int, lane: int) -> float:
    return x + (lane + 0.5) * CELL


def draw_pattern(
    drawing: Drawing, x: int, y: int, name: str, call: str, source_of: SourceOf
) -> None:
    drawing.text(x, y, f"{name}, by 2", "head")
    drawing.text(x, y + 22, call, "code")
    top, bottom = y + 36, y + 36 + HEIGHT + DEPTH
    for lane in range(LANES):
        drawing.cell(x + lane * CELL, top, CELL, HEIGHT, "pale", lane)
    for lane in range(LANES):
        source = source_of(lane)
        place = (x + lane * CELL, bottom, CELL, HEIGHT)
        if 0 <= source < LANES:
            begin, end = (middle(x, source), top + HEIGHT), (middle(x, lane), bottom)
            drawing.line(begin, end, look="line arrow")
            drawing.cell(*place, "sky", source)
        else:
            drawing.cell(*place, "idle", lane)
    kept = sum(not 0 <= source_of(lane) < LANES for lane in range(LANES))
    told = f"{kept} lanes keep their own value" if kept else "no lane is left out"
    drawing.text(x, bottom + HEIGHT + 20, told, "small")


def draw_prefix(drawing: Drawing, x: int, y: int) -> None:
    drawing.text(x, y, "prefix sum of ones", "head")
    drawing.text(x, y + 22, "add the lane 1, 2, 4 below", "small")
    sums = [1] * LANES
    step = (HEIGHT + DEPTH) // 3
    for number in range(4):
        top = y + 36 + number * step
        for lane, value in enumerate(sums):
            look = "pale" if number == 0 else "sky" if lane >= 2 ** (number - 1) else "idle"
            drawing.cell(x + lane * CELL, top, CELL, HEIGHT, look, value)
        by = 2**number
        sums = [value + (sums[lane - by] if lane >= by else 0) for lane, value in enumerate(sums)]
    drawing.text(x, y + 36 + 4 * step + 8, "dashed: nothing to add", "small")
