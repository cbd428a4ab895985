"""Two hazards between two warps, the barrier that one of them needs, and barriers that threads wait at for ever."""

from __future__ import annotations

from drawing import Drawing

BOX, HEIGHT, ROW = 132, 28, 42
COLUMNS = [16, 202]  # where the boxes of warp 0 and of warp 3 begin, in a panel of 350
PANEL = 350
RIGHT, WRONG = "green", "orange thick"


def draw() -> Drawing:
    drawing = Drawing(
        "Two hazards, and barriers that are right and wrong",
        "1, read after write without a barrier: a thread of warp 0 reads an element before a thread of"
        " warp 3 has written it. 2, with a barrier between writing and reading: it waits, and reads the"
        " new value. 3, write after read: a thread of warp 0 overwrites an element that a thread of warp"
        " 3 has still to read. 4, a barrier in each branch of an if: threads 0 and 32 wait at different"
        " barriers, each for the other, for ever.",
        682,
    )
    for x, y, head, below in [
        (24, 34, "1  Read after write", "No barrier: a thread reads too early"),
        (426, 34, "2  A barrier between write and read", "All threads of the block wait for all"),
        (24, 372, "3  Write after read", "The loop uses the tile again, too early"),
        (426, 372, "4  A barrier in each branch", "if (t < 32) ... else ...: two barriers"),
    ]:
        drawing.text(x, y, head, "head")
        drawing.text(x, y + 30, below, "small")
    with drawing.group("read_after_write"):
        panel = Panel(drawing, 24, 76, 5)
        panel.box(0, 0, "tile[0] = a")
        panel.box(0, 1, "x = tile[127]", WRONG)
        panel.remark(1, 1, "d is not there yet")
        panel.box(1, 2, "tile[127] = d")
        panel.remark(0, 2, "x is old: wrong")
    with drawing.group("read_after_write_synced"):
        panel = Panel(drawing, 426, 76, 5)
        panel.box(0, 0, "tile[0] = a")
        panel.waits(0, 1)
        panel.box(1, 1, "tile[127] = d")
        panel.barrier(2)
        panel.box(0, 3, "x = tile[127]", RIGHT)
        panel.arrow((1, 1), (0, 3))
        panel.remark(0, 4, "x = d: right")
    with drawing.group("write_after_read"):
        panel = Panel(drawing, 24, 414, 5)
        panel.barrier(0, "tile[0] holds a")
        panel.box(0, 1, "x = tile[127]")
        panel.box(0, 2, "tile[0] = b")
        panel.remark(1, 2, "a is not read yet")
        panel.box(1, 3, "y = tile[0]", WRONG)
        panel.remark(1, 4, "y = b: wrong")
    with drawing.group("barrier_in_each_branch"):
        panel = Panel(drawing, 426, 414, 5, ("thread 0", "thread 32"))
        panel.box(0, 0, "tile[0] = a")
        panel.box(1, 0, "tile[32] = b")
        panel.own_barrier(0, 1, "barrier of if")
        panel.own_barrier(1, 1, "barrier of else")
        panel.waits(0, 2, "for thread 32")
        panel.waits(1, 2, "for thread 0")
        panel.waits(0, 3, "for ever")
        panel.waits(1, 3, "for ever")
        panel.remark(0, 4, "x = tile[32] never")
        panel.remark(1, 4, "y = tile[0] never")
    return drawing


class Panel:
    """Two warps beside each other, time downwards in rows."""

    def __init__(
        self,
        drawing: Drawing,
        x: int,
        y: int,
        rows: int,
        names: tuple[str, str] = ("a thread of warp 0", "one of warp 3, late"),
    ) -> None:
        self.drawing, self.x, self.y = drawing, x, y + 34
        drawing.rect(x, y, PANEL, rows * ROW + 44, "soft", radius=6)
        for column, name in enumerate(names):
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

    def waits(self, column: int, row: int, words: str = "") -> None:
        place = (self.x + COLUMNS[column], self.y + row * ROW + 4, BOX, HEIGHT)
        self.drawing.rect(*place, "under")
        self.drawing.cell(*place, "idle", f"waits {words}".rstrip(), "small")

    def barrier(self, row: int, remark: str = "") -> None:
        y = self.y + row * ROW + 6
        self.drawing.rect(self.x + 8, y, PANEL - 16, 24, "sky")
        self.drawing.text(self.x + 18, y + 16, "__syncthreads()", "code on")
        if remark:
            self.drawing.text(self.x + PANEL - 18, y + 16, remark, "small end on")

    def own_barrier(self, column: int, row: int, words: str) -> None:
        """One that only a thread of this column comes to."""
        place = (self.x + COLUMNS[column], self.y + row * ROW + 6, BOX, 24)
        self.drawing.cell(*place, "sky", words, "small")

    def arrow(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        begin = (self.x + COLUMNS[start[0]] + 40, self.y + start[1] * ROW + 4 + HEIGHT)
        target = (self.x + COLUMNS[end[0]] + BOX, self.y + end[1] * ROW + 4 + HEIGHT / 2)
        self.drawing.line(begin, target, look="line arrow")
