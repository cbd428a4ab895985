"""Two hazards between two warps, and the barrier that each needs."""

from __future__ import annotations

from drawing import Drawing

BOX, HEIGHT, ROW = 132, 28, 42
COLUMNS = [16, 202]  # where the boxes of warp 0 and of warp 3 begin, in a panel of 350
PANEL = 350
RIGHT, WRONG = "green", "orange thick"


def draw() -> Drawing:
    drawing = Drawing(
        "Two hazards, without and with a barrier",
        "Read after write: without a barrier warp 0 reads an element before warp 3 has written it; with"
        " a barrier between writing and reading it waits. Write after read: without a second barrier"
        " warp 0 overwrites an element that warp 3 has still to read; with it, warp 0 waits.",
        682,
    )
    for x, words in [(24, "Without a barrier"), (426, "With a barrier")]:
        drawing.text(x, 64, words, "small")
    drawing.text(24, 34, "Read after write", "head")
    drawing.text(24, 372, "Write after read: the tile is used again", "head")
    for x, words in [(24, "Without a second barrier"), (426, "With a second barrier")]:
        drawing.text(x, 402, words, "small")
    with drawing.group("read_after_write"):
        panel = Panel(drawing, 24, 76, 5)
        panel.box(0, 0, "tile[0] = a")
        panel.box(0, 1, "x = tile[96]", WRONG)
        panel.remark(1, 1, "d is not there yet")
        panel.box(1, 2, "tile[96] = d")
        panel.remark(0, 2, "x is old: wrong")
    with drawing.group("read_after_write_synced"):
        panel = Panel(drawing, 426, 76, 5)
        panel.box(0, 0, "tile[0] = a")
        panel.waits(0, 1)
        panel.box(1, 1, "tile[96] = d")
        panel.barrier(2)
        panel.box(0, 3, "x = tile[96]", RIGHT)
        panel.arrow((1, 1), (0, 3))
        panel.remark(0, 4, "x = d: right")
    with drawing.group("write_after_read"):
        panel = Panel(drawing, 24, 414, 5)
        panel.barrier(0, "tile[0] holds a")
        panel.box(0, 1, "x = tile[96]")
        panel.box(0, 2, "tile[0] = b")
        panel.remark(1, 2, "a is not read yet")
        panel.box(1, 3, "y = tile[0]", WRONG)
        panel.remark(1, 4, "y = b: wrong")
    with drawing.group("write_after_read_synced"):
        panel = Panel(drawing, 426, 414, 5)
        panel.barrier(0, "tile[0] holds a")
        panel.box(0, 1, "x = tile[96]")
        panel.waits(0, 2)
        panel.box(1, 2, "y = tile[0]", RIGHT)
        panel.barrier(3)
        panel.box(0, 4, "tile[0] = b")
        panel.remark(1, 4, "y = a: right")
    return drawing


class Panel:
    """Two warps beside each other, time downwards in rows."""

    def __init__(self, drawing: Drawing, x: int, y: int, rows: int) -> None:
        self.drawing, self.x, self.y = drawing, x, y + 34
        drawing.rect(x, y, PANEL, rows * ROW + 44, "soft", radius=6)
        for column, name in enumerate(["a thread of warp 0", "one of warp 3, late"]):
            middle = x + COLUMNS[column] + BOX / 2
            drawing.text(middle, y + 20, name, "small middle")
            line = (middle, self.y), (middle, self.y + rows * ROW + 2)
            drawing.line(*line, look="soft arrow")

    def box(self, column: int, row: int, code: str, look: str = "pale") -> None:
        place = (self.x + COLUMNS[column], self.y + row * ROW + 4, BOX, HEIGHT)
        self.drawing.cell(*place, look, code, "code")

    def remark(self, column: int, row: int, words: str) -> None:
        """In place of a box, on the ground."""
        self.drawing.rect(
            self.x + COLUMNS[column] + 4, self.y + row * ROW + 8, BOX - 8, 20, "under"
        )
        x = self.x + COLUMNS[column] + BOX / 2
        self.drawing.text(x, self.y + row * ROW + 23, words, "small middle")

    def waits(self, column: int, row: int) -> None:
        place = (self.x + COLUMNS[column], self.y + row * ROW + 4, BOX, HEIGHT)
        self.drawing.rect(*place, "under")
        self.drawing.cell(*place, "idle", "waits", "small")

    def barrier(self, row: int, remark: str = "") -> None:
        y = self.y + row * ROW + 6
        self.drawing.rect(self.x + 8, y, PANEL - 16, 24, "sky")
        self.drawing.text(self.x + 18, y + 16, "__syncthreads()", "code on")
        if remark:
            self.drawing.text(self.x + PANEL - 18, y + 16, remark, "small end on")

    def arrow(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        begin = (self.x + COLUMNS[start[0]] + 40, self.y + start[1] * ROW + 4 + HEIGHT)
        target = (self.x + COLUMNS[end[0]] + BOX, self.y + end[1] * ROW + 4 + HEIGHT / 2)
        self.drawing.line(begin, target, look="line arrow")
