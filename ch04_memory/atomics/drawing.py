"""How the additions of two blocks reach two counters: from each thread, from each warp, from each block."""

from __future__ import annotations

from drawing import Drawing

KINDS = [0, 1, 1, 0, 1, 0, 0, 0]  # of the events of a warp; a real warp has 32 lanes
LOOKS = ["sky", "orange"]
NAMES = "AB"
CELL, HEIGHT, BLOCKS = 24, 24, 2
LEFT, GAP = 24, 44  # of the first block; between the two
PANEL, TOP = 172, 76  # from panel to panel; of the first
L2_LEFT = 560
COUNTER = 84  # pixels
PANELS = [
    ("countEach", "code", ["an atomic for each event: 16"]),
    ("countPerWarp", "code", ["one for each kind of a warp: 4"]),
    ("counters of each block", "", ["in shared memory: 16 there,", "and 4 in L2 at the end"]),
]


def draw() -> Drawing:
    drawing = Drawing(
        "Atomic operations of two blocks that count events of two kinds",
        "With an atomic operation for each event, 16 arrows go to the two counters in L2. With one for"
        " each kind of a warp, 4 arrows do. With counters of each block in shared memory, 16 short"
        " arrows stay within the blocks, and 4 go to L2 at the end.",
        TOP + 3 * PANEL - 12,
    )
    with drawing.group("labels"):
        drawing.text(LEFT, 34, "threads, each with the kind of its event", "head")
        drawing.text(L2_LEFT, 34, "counters in L2", "head")
        for number in range(BLOCKS):
            drawing.text(left_of(number), 58, f"block {number}", "small")
    draws = [draw_each, draw_per_warp, draw_per_block]
    for number, (name, look, remark) in enumerate(PANELS):
        with drawing.group(f"panel{number}"):
            top = TOP + number * PANEL
            if number > 0:
                drawing.line((LEFT, top - 12), (776, top - 12), look="soft")
            draws[number](drawing, top)
            drawing.text(L2_LEFT, top + 14, name, look)
            for line, words in enumerate(remark):
                drawing.text(L2_LEFT, top + 34 + line * 18, words, "small")
    return drawing


def left_of(block: int) -> int:
    return LEFT + block * (len(KINDS) * CELL + GAP)


def draw_threads(drawing: Drawing, top: int) -> None:
    for block in range(BLOCKS):
        for lane, kind in enumerate(KINDS):
            x = left_of(block) + lane * CELL
            drawing.cell(x, top, CELL, HEIGHT, LOOKS[kind], NAMES[kind])


def bus(drawing: Drawing, x: float, start: int, kind: int, top: int) -> None:
    """An arrow from (x, start) down and to the right, to the counter of this kind in L2."""
    y = top + 104 + kind * 26
    drawing.line((x, start), (x, y), look="line" if kind == 0 else "line dashed")
    drawing.circle(x, y, 2, "tip")


def trunks(drawing: Drawing, top: int, first: float) -> None:
    """The lines on which all additions to a counter travel, and the counters at their ends."""
    for kind in range(len(NAMES)):
        y = top + 104 + kind * 26
        look = "line arrow" if kind == 0 else "line dashed arrow"
        drawing.line((first, y), (L2_LEFT - 4, y), look=look)
        drawing.cell(
            L2_LEFT, y - 11, COUNTER, 22, LOOKS[kind], f"{NAMES[kind]}: {total(kind)}", "small"
        )


def total(kind: int) -> int:
    return BLOCKS * KINDS.count(kind)


def draw_each(drawing: Drawing, top: int) -> None:
    draw_threads(drawing, top)
    for block in range(BLOCKS):
        for lane, kind in enumerate(KINDS):
            bus(drawing, left_of(block) + (lane + 0.5) * CELL, top + HEIGHT, kind, top)
    trunks(drawing, top, left_of(0) + CELL / 2)


def draw_per_warp(drawing: Drawing, top: int) -> None:
    draw_threads(drawing, top)
    for block in range(BLOCKS):
        for kind in range(len(NAMES)):
            lanes = [lane for lane, of_lane in enumerate(KINDS) if of_lane == kind]
            middles = [left_of(block) + (lane + 0.5) * CELL for lane in lanes]
            y = top + HEIGHT + 16 + kind * 18
            look = "line" if kind == 0 else "line dashed"
            for x in middles:
                drawing.line((x, top + HEIGHT), (x, y), look=look)
            drawing.line((middles[0], y), (middles[-1], y), look=look)
            drawing.text(middles[-1] + 5, y + 5, f"+{len(lanes)}", "number")
            bus(drawing, middles[0], y, kind, top)
    trunks(drawing, top, left_of(0) + CELL / 2)


def draw_per_block(drawing: Drawing, top: int) -> None:
    draw_threads(drawing, top)
    for block in range(BLOCKS):
        own = [left_of(block) + 6, left_of(block) + 104]
        y = top + 62
        for lane, kind in enumerate(KINDS):
            x = left_of(block) + (lane + 0.5) * CELL
            look = "line arrow" if kind == 0 else "line dashed arrow"
            drawing.line((x, top + HEIGHT), (own[kind] + 10 + lane * 8, y), look=look)
        for kind, x in enumerate(own):
            count = KINDS.count(kind)
            drawing.cell(x, y, 82, 22, LOOKS[kind], f"{NAMES[kind]}: {count}", "small")
            bus(drawing, x + 70, y + 22, kind, top)
    trunks(drawing, top, left_of(0) + 76)
