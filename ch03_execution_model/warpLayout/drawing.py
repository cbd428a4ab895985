"""A block of 40 x 2 threads, and the three warps that it becomes."""

from drawing import WIDTH, Drawing

WARP = 32
COLUMNS, ROWS = 40, 2
CELL = 17.5
LOOKS = ["sky", "orange", "purple"]


def draw() -> Drawing:
    drawing = Drawing(
        "How a block of 40 x 2 threads becomes warps",
        "The 80 threads are numbered along x, then along y. Numbers 0 to 31 are warp 0, 32 to 63, from"
        " both rows, are warp 1, and 64 to 79 are warp 2, which has 16 lanes without a thread.",
        382,
    )
    with drawing.group("block"):
        draw_block(drawing)
    drawing.line((WIDTH / 2, 186), (WIDTH / 2, 216), look="line arrow")
    with drawing.group("warps"):
        draw_warps(drawing)
    return drawing


def draw_block(drawing: Drawing) -> None:
    left, top, height = 72, 84, 26
    drawing.text(24, 34, "A block of 40 x 2 threads", "head")
    drawing.text(776, 34, "number = y * 40 + x", "code end")
    for y in range(ROWS):
        drawing.text(24, top + y * height + 18, f"y = {y}", "small")
        for x in range(COLUMNS):
            number = y * COLUMNS + x
            place = (left + x * CELL, top + y * height)
            drawing.cell(*place, CELL, height, LOOKS[number // WARP], number)

    def span(first: int, last: int, y: int, warp: int, below: bool) -> None:
        drawing.bracket(
            left + first * CELL + 2, left + (last + 1) * CELL - 2, y, f"warp {warp}", below
        )

    span(0, 31, top - 10, 0, below=False)
    span(32, 39, top - 10, 1, below=False)
    span(0, 23, top + 2 * height + 10, 1, below=True)
    span(24, 39, top + 2 * height + 10, 2, below=True)


def draw_warps(drawing: Drawing) -> None:
    left, top, height = 84, 258, 26
    drawing.text(24, 224, "Its warps", "head")
    drawing.text(776, 224, "warp = number / 32, lane = number % 32", "code end")
    drawing.text(24, top - 7, "lane", "small")
    for lane in range(WARP):
        drawing.text(left + (lane + 0.5) * CELL, top - 7, str(lane), "number middle")
    for warp, remark in enumerate(["only y = 0", "y = 0 and 1", "16 idle lanes"]):
        y = top + warp * (height + 12)
        drawing.text(24, y + 18, f"warp {warp}", "small")
        for lane in range(WARP):
            number = warp * WARP + lane
            used = number < COLUMNS * ROWS
            place = (left + lane * CELL, y, CELL, height)
            drawing.cell(*place, LOOKS[warp] if used else "idle", number if used else "")
        drawing.text(left + WARP * CELL + 14, y + 18, remark, "small")
