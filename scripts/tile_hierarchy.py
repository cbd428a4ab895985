"""The drawing that grows through the matrix products of chapter 5: C = A * B, cut into smaller and smaller
tiles. Each level is a panel. It says where its tiles live, and shows a tile of C with the parts of A and B
that it takes, A to the left of C and B above it. A page adds a level or changes one; the words about what is
new stand on orange.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from drawing import WIDTH, Drawing

LEFT, BASE, GAP = 24, 236, 6  # the lower edge of C, and the room between it and A or B
HEIGHT, LINE = 380, 20
LEGEND = "blue: elements of A and B; green: elements of C"

Span = tuple[float, float]  # from where to where, as parts of a side
ALL: Span = (0, 1)


class Spot(NamedTuple):
    """The part of a panel that the next panel shows."""

    right: float
    top: float
    bottom: float


class Panel(NamedTuple):
    where: str  # the memory that holds these tiles
    what: str
    paint: Callable[[Drawing, float], Spot]
    words: Sequence[str]
    new: Sequence[int] = ()  # the numbers of those words that are new on the page


class Product:
    """A tile of C with its parts of A and B, `depth` pixels of k, each as often as there are stages."""

    def __init__(
        self,
        drawing: Drawing,
        left: float,
        width: float,
        height: float,
        depth: float,
        stages: int = 1,
    ) -> None:
        self.drawing, self.left, self.depth, self.stages = drawing, left, depth, stages
        self.width, self.height = width, height
        self.all_stages = stages * depth + (stages - 1) * 3
        self.c_left, self.c_top = left + self.all_stages + GAP, BASE - height
        self.b_top = self.c_top - GAP - self.all_stages
        for stage in range(stages):
            self.a(ALL, stage, "pale")
            self.b(ALL, stage, "pale")
        self.c(ALL, ALL, "pale")
        drawing.text(left + self.all_stages / 2, BASE + 15, "A", "small middle")
        drawing.text(self.c_left + width / 2, BASE + 15, "C", "small middle")
        drawing.text(self.c_left + width + 5, self.b_top + self.all_stages / 2 + 5, "B", "small")

    def a(self, rows: Span, stage: int = 0, look: str = "sky", depth: Span = ALL) -> None:
        """Stage 0 is the one next to C, as in b()."""
        left = self.left + (self.stages - 1 - stage) * (self.depth + 3)
        self._rect(left, self.c_top, self.depth, self.height, depth, rows, look)

    def b(self, cols: Span, stage: int = 0, look: str = "sky", depth: Span = ALL) -> None:
        top = self.b_top + (self.stages - 1 - stage) * (self.depth + 3)
        self._rect(self.c_left, top, self.width, self.depth, cols, depth, look)

    def c(self, rows: Span, cols: Span, look: str = "green") -> Spot:
        return self._rect(self.c_left, self.c_top, self.width, self.height, cols, rows, look)

    def cut(self, rows: int, cols: int, look: str = "soft") -> None:
        """Draws the lines that cut C into so many rows and columns of tiles."""
        for i in range(1, rows):
            y = self.c_top + self.height * i / rows
            self.drawing.line((self.c_left, y), (self.c_left + self.width, y), look=look)
        for i in range(1, cols):
            x = self.c_left + self.width * i / cols
            self.drawing.line((x, self.c_top), (x, BASE), look=look)

    def _rect(
        self, left: float, top: float, width: float, height: float, x: Span, y: Span, look: str
    ) -> Spot:
        at, down = left + width * x[0], top + height * y[0]
        across, high = width * (x[1] - x[0]), height * (y[1] - y[0])
        inset = 1 if look == "idle" else 0
        self.drawing.rect(at + inset, down + inset, across - 2 * inset, high - 2 * inset, look)
        return Spot(at + across, down, down + high)


def part(number: float, of: float, count: float = 1) -> Span:
    return (number / of, (number + count) / of)


def picture(title: str, description: str, panels: Sequence[Panel]) -> Drawing:
    drawing = Drawing(title, description, HEIGHT)
    room = (WIDTH - LEFT) / len(panels)
    spot = None
    for number, panel in enumerate(panels):
        left = LEFT + number * room
        with drawing.group(f"level-{number + 1}"):
            drawing.text(left, 32, panel.where, "head")
            drawing.text(left, 52, panel.what, "small")
            if spot:
                middle = (spot.top + spot.bottom) / 2
                drawing.line((spot.right + 3, middle), (left - 8, middle), look="line arrow")
            spot = panel.paint(drawing, left)
            write(drawing, left, room - 9, panel)
    new = "; on orange: new on this page" if any(panel.new for panel in panels) else ""
    drawing.text(LEFT, HEIGHT - 16, f"{LEGEND}{new}", "small")
    return drawing


def write(drawing: Drawing, left: float, width: float, panel: Panel) -> None:
    for line in panel.new:
        if line - 1 in panel.new:
            continue
        lines = next(i for i in range(1, 9) if line + i not in panel.new)
        top = BASE + 29 + LINE * line
        drawing.rect(left - 5, top, width, LINE * lines + 1, "orange", radius=3)
    for line, words in enumerate(panel.words):
        on = " on" if line in panel.new else ""
        drawing.text(left, BASE + 44 + LINE * line, words, f"small{on}")


def device_memory(drawing: Drawing, left: float, blocks: int = 1) -> Spot:
    """The matrices in 4 x 4 block tiles, and the bands and tiles of `blocks` blocks, one below the other."""
    matrices = Product(drawing, left, 88, 88, 66)
    column = part(3, 4)
    for tile in range(3):  # of the bands
        for block in range(blocks):
            matrices.a(part(1 + block, 4), look="frame", depth=part(tile, 3))
        matrices.b(column, look="frame", depth=part(tile, 3))
    for block in range(blocks):
        matrices.a(part(1 + block, 4), depth=part(1, 3))
    matrices.b(column, depth=part(1, 3))
    matrices.cut(4, 4)
    spots = [matrices.c(part(1 + block, 4), column) for block in range(blocks)]
    return spots[0]


def block_tiles(
    drawing: Drawing,
    left: float,
    sides: tuple[float, float],
    depth: float,
    warps: tuple[int, int],
    warp: tuple[int, int],
    stages: int = 1,
) -> Spot:
    """The tiles of a block in shared memory, `sides` wide and high. C is cut into warp tiles, `warps` down and
    across, and that of `warp` is marked. One stage is in use, and the others are being filled."""
    tile = Product(drawing, left, *sides, depth, stages)
    for stage in range(1, stages):
        for look in ("under", "idle"):
            tile.a(ALL, stage, look)
            tile.b(ALL, stage, look)
    rows, cols = (part(place, count) for place, count in zip(warp, warps))
    tile.a(rows)
    tile.b(cols)
    spot = tile.c(rows, cols)
    tile.cut(*warps)
    return spot


def warp_tile(drawing: Drawing, left: float, sides: tuple[float, float], down: int) -> Spot:
    """In pieces of 4 x 4 elements. Those of one lane are marked, `down` in a column and two in a row."""
    tile = Product(drawing, left, *sides, 12)
    rows = [part(1 + 4 * piece, 4 * down) for piece in range(down)]
    cols = [part(6, 16), part(14, 16)]
    for row in rows:
        tile.a(row)
    for col in cols:
        tile.b(col)
    tile.cut(4 * down, 16)
    spots = [[tile.c(row, col) for col in cols] for row in rows]
    tile.cut(down, 2, "line")
    return spots[(down - 1) // 2][1]


def thread(drawing: Drawing, left: float, rows: int, cols: int, side: float, sets: int = 1) -> Spot:
    """The elements of C that a thread has in registers, in pieces of four, and its fragments of A and B."""
    gaps = 4 if max(rows, cols) > 4 else 0

    def along(number: int) -> float:
        return number * side + number // 4 * gaps

    fragments = sets * side + (sets - 1) * 3
    width, height = along(cols - 1) + side, along(rows - 1) + side
    c_left, c_top = left + fragments + GAP, BASE - height
    b_top = c_top - GAP - fragments
    for row in range(rows):
        drawing.cell(left + fragments - side, c_top + along(row), side, side, "sky")
    for col in range(cols):
        drawing.cell(c_left + along(col), b_top + fragments - side, side, side, "sky")
    if sets > 1:  # the next fragments, which are on their way
        for row in range(0, rows, 4):
            drawing.rect(left, c_top + along(row), side, 4 * side, "idle")
        for col in range(0, cols, 4):
            drawing.rect(c_left + along(col), b_top, 4 * side, side, "idle")
    for row in range(rows):
        for col in range(cols):
            drawing.cell(c_left + along(col), c_top + along(row), side, side, "green")
    drawing.text(left + fragments / 2, BASE + 15, "A", "small middle")
    drawing.text(c_left + width / 2, BASE + 15, "C", "small middle")
    drawing.text(c_left + width + 5, b_top + fragments / 2 + 5, "B", "small")
    return Spot(c_left + width, c_top, BASE)
