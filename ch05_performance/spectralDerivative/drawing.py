"""One element with its lines along x, y and z, and the four lines that a thread of registerLines has."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

N = 4  # points along a side of the element above
POINT = (2, 1, 1)  # x, y and z of the point whose lines are drawn
CELL = 30
PLANES = [36 + 190 * z for z in range(N)]
TOP = 84
LOOKS = {"x": "sky", "y": "orange", "z": "green"}

OF_THREAD = 8  # points along a side of the element below
SMALL = 17
SLICES = [36, 296, 556]
SLICES_TOP = 372


def draw() -> Drawing:
    drawing = Drawing(
        "The lines of an element, and those of a thread",
        "An element of 4 x 4 x 4 points lies in memory plane by plane, and each plane row by row. Of point"
        " 22, the line along x has the places 20, 21, 22 and 23, with stride 1. The line along y has 18,"
        " 22, 26 and 30, with stride 4. The line along z has 6, 22, 38 and 54, with stride 16. Below, with"
        " 8 points along a side, thread 0 of registerLines has four lines. Along z and along y these are"
        " neighbours in x, so a load of 16 bytes takes one value of each line. Along x they are four rows"
        " of the element, so a load takes four values of one line.",
        566,
    )
    with drawing.group("element"):
        drawing.text(
            24, 34, "An element of 4 x 4 x 4 points (numbers are places in memory)", "head"
        )
        for z, left in enumerate(PLANES):
            draw_plane(drawing, z, left)
        draw_line(drawing, 0, "along x: 20 21 22 23", "stride 1", "x")
        draw_line(drawing, 1, "along y: 18 22 26 30", "stride N = 4", "y")
        draw_line(drawing, 2, "along z: 6 22 38 54", "stride N x N = 16", "z")
    with drawing.group("thread"):
        drawing.text(
            24,
            306,
            "registerLines: the four lines of thread 0, N = 8 (one colour to a line)",
            "head",
        )
        draw_slice(drawing, 0, "along z: the rows y = 0", "z", lambda x, _: x)
        draw_slice(drawing, 1, "along y: the rows of plane 0", "y", lambda x, _: x)
        draw_slice(drawing, 2, "along x: the rows y = 0", "z", lambda _, row: row / 2)
        for number in range(len(SLICES)):
            draw_load(drawing, number)
    return drawing


def draw_plane(drawing: Drawing, z: int, left: int) -> None:
    drawing.text(left, TOP - 10, f"plane z = {z}", "small")
    for y in range(N):
        for x in range(N):
            place = x + N * y + N * N * z
            box = (left + x * CELL, TOP + y * CELL, CELL, CELL)
            drawing.cell(*box, look_of((x, y, z)), place)


def look_of(point: tuple[int, int, int]) -> str:
    differs = [name for name, mine, other in zip("xyz", point, POINT) if mine != other]
    if not differs:
        return "purple thick"
    return LOOKS[differs[0]] if len(differs) == 1 else "pale"


def draw_line(drawing: Drawing, number: int, places: str, stride: str, name: str) -> None:
    """What the colour of a line stands for."""
    left, top = (36, 296, 556)[number], TOP + N * CELL + 30
    drawing.cell(left, top - 13, 16, 16, LOOKS[name])
    drawing.text(left + 24, top, places, "small")
    drawing.text(left + 24, top + 18, stride, "small")


def draw_slice(
    drawing: Drawing, number: int, name: str, down: str, line_of: Callable[[int, int], float]
) -> None:
    """Eight rows, x to the right. Of the values that have a whole number below 4, the thread has them."""
    left = SLICES[number]
    drawing.text(left, SLICES_TOP - 32, name, "small")
    drawing.text(left, SLICES_TOP - 10, f"x to the right, {down} down", "number")
    for row in range(OF_THREAD):
        for x in range(OF_THREAD):
            line = line_of(x, row)
            owned = line in range(4)
            look = ("sky", "orange", "green", "purple")[int(line)] if owned else "pale"
            drawing.cell(left + x * SMALL, SLICES_TOP + row * SMALL, SMALL, SMALL, look)


def draw_load(drawing: Drawing, number: int) -> None:
    """The first load of 16 bytes."""
    left = SLICES[number]
    drawing.rect(left, SLICES_TOP, 4 * SMALL, SMALL, "frame thick")
    words = ("a value of each line", "a value of each line", "four values of a line")[number]
    bottom = SLICES_TOP + OF_THREAD * SMALL + 24
    drawing.rect(left, bottom - 12, 24, 14, "frame thick")
    drawing.text(left + 32, bottom, "first load of 16 bytes:", "small")
    drawing.text(left + 32, bottom + 17, words, "small")
