"""The roundings that an element goes through: in a loop and in a tree."""

from __future__ import annotations

from drawing import Drawing

NAMES = "abcdefgh"
CELL = 26
STEP = 44


def draw() -> Drawing:
    drawing = Drawing(
        "The additions that an element goes through, in a loop and in a tree",
        "A loop adds eight elements one after the other: the first goes through 7 additions, the last"
        " through 1. A tree adds pairs, then pairs of sums: each element goes through 3 additions."
        " Every addition rounds.",
        424,
    )
    with drawing.group("loop"):
        drawing.text(24, 34, "Loop: 7 roundings for a, 1 for h", "head")
        draw_loop(drawing, 30, 56)
    with drawing.group("tree"):
        drawing.text(424, 34, "Tree: 3 roundings for each", "head")
        draw_tree(drawing, 430, 56)
    with drawing.group("key"):
        drawing.circle(436, 348, 12, "sky")
        drawing.text(436, 353, "+", "middle on")
        drawing.text(458, 353, "an addition, which rounds its result", "small")
        drawing.line((424, 384), (450, 384), look="line heavy")
        drawing.text(458, 389, "the path of a", "small")
    return drawing


def draw_plus(drawing: Drawing, x: float, y: float, number: int = 0) -> None:
    drawing.circle(x, y, 12, "orange" if number else "sky")
    drawing.text(
        x, y + (4 if number else 5), str(number or "+"), ("small " if number else "") + "middle on"
    )


def draw_loop(drawing: Drawing, left: int, top: int) -> None:
    def x_of(place: int) -> float:
        return left + place * STEP + CELL / 2

    def y_of(addition: int) -> float:
        return top + 20 + addition * STEP

    for addition in range(1, len(NAMES)):
        x, y = x_of(addition), y_of(addition)
        drawing.line((x, top + CELL), (x, y))
        before = (
            (x_of(0), top + CELL) if addition == 1 else (x_of(addition - 1), y_of(addition - 1))
        )
        drawing.line(before, (x, y), look="line heavy")
    for addition in range(1, len(NAMES)):
        draw_plus(drawing, x_of(addition), y_of(addition), addition)
    for place, name in enumerate(NAMES):
        drawing.cell(left + place * STEP, top, CELL, CELL, "pale", name, "small")


def draw_tree(drawing: Drawing, left: int, top: int) -> None:
    places = [(left + place * STEP + CELL / 2, top + CELL) for place in range(len(NAMES))]
    level = 0
    nodes: list[tuple[float, float, int]] = []
    while len(places) > 1:
        level += 1
        y = top + 20 + level * 72
        above, places = places, []
        for pair in range(0, len(above), 2):
            (x1, y1), (x2, y2) = above[pair], above[pair + 1]
            middle = (x1 + x2) / 2
            drawing.line((x2, y2), (middle, y))
            drawing.line((x1, y1), (middle, y), look="line heavy" if pair == 0 else "line")
            places.append((middle, y))
            nodes.append((middle, y, level if pair == 0 else 0))
    for node in nodes:
        draw_plus(drawing, *node)
    for place, name in enumerate(NAMES):
        drawing.cell(left + place * STEP, top, CELL, CELL, "pale", name, "small")
