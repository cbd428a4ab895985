"""How a coefficient reaches a multiply-add, and the passes that different words take in constant memory."""

from __future__ import annotations

from drawing import Drawing

LANES = 8  # a GPU has 32
CELL, HEIGHT = 27, 22
WORDS = [1, 2, 8]  # different words that the lanes read
PANEL = 256
LEFT = 24
TOP = 316
LOOKS = ["sky", "orange", "green", "purple"]

# For each kernel the stations of a coefficient, from left to right, and what each station costs.
WAYS = [
    ("stencilGlobal", ["device memory", "L1", "register"], "a load for each output"),
    ("stencilConstant", ["device memory", "constant cache", "operand"], "no load through L1"),
    ("stencilLiteral", ["the instruction itself"], "nothing to read"),
]


def draw() -> Drawing:
    drawing = Drawing(
        "How a coefficient reaches the multiply-add, and what different words cost in constant memory",
        "A coefficient behind a pointer comes from device memory through L1 into a register, by a load. One in"
        " constant memory comes through the constant cache into an operand, without a load through L1. A literal"
        " is part of the instruction. Below, eight lanes read one, two or eight different words. The constant"
        " cache takes one, two or eight passes. Shared memory takes one wavefront each time.",
        TOP + 246,
    )
    with drawing.group("ways"):
        drawing.text(LEFT, 34, "How a coefficient reaches the multiply-add", "head")
        for number, (kernel, stations, cost) in enumerate(WAYS):
            draw_way(drawing, 56 + number * 66, kernel, stations, cost)
    with drawing.group("lookups"):
        drawing.text(LEFT, TOP - 30, "A warp looks up words in a table (8 lanes, not 32)", "head")
        for number, words in enumerate(WORDS):
            draw_lookup(drawing, LEFT + number * PANEL, words)
    return drawing


def draw_way(drawing: Drawing, y: int, kernel: str, stations: list[str], cost: str) -> None:
    width, gap = 140, 26
    drawing.text(LEFT, y + 26, kernel, "code")
    x = 170
    for number, station in enumerate(stations):
        last = number + 1 == len(stations)
        look = "sky" if last else "pale"
        own = width * 3 + gap * 2 if len(stations) == 1 else width
        drawing.cell(x, y + 4, own, 36, look, station, "small")
        x += own
        if not last:
            drawing.line((x + 2, y + 22), (x + gap - 2, y + 22), look="line arrow")
            x += gap
    drawing.text(170, y + 58, cost, "small")


def draw_lookup(drawing: Drawing, x: int, words: int) -> None:
    """Each lane has the colour of its pass. With eight passes, colours repeat and the words tell them apart."""
    said = "the same word" if words == 1 else f"{words} different words"
    drawing.text(x, TOP, said, "small")
    for lane in range(LANES):
        place = (x + lane * CELL, TOP + 14, CELL, HEIGHT)
        drawing.cell(*place, LOOKS[lane % words % len(LOOKS)], f"w{lane % words}")
    drawing.text(x, TOP + 62, "constant cache:", "small")
    for number in range(words):
        row, column = divmod(number, 4)
        place = (x + column * 54, TOP + 72 + row * 28, 50, HEIGHT)
        drawing.cell(*place, LOOKS[number % len(LOOKS)], f"w{number}")
    bottom = TOP + 72 + (max(WORDS) + 3) // 4 * 28
    drawing.text(x, bottom + 16, f"{words} {'pass' if words == 1 else 'passes'}", "small")
    drawing.text(x, bottom + 46, "shared memory:", "small")
    drawing.cell(x, bottom + 56, 204, HEIGHT, "pale", "all words at once", "number")
    drawing.text(x, bottom + 96, "1 wavefront", "small")
