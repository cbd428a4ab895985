"""The way of one warp through a transpose, without a tile and with one: 4 lanes, 4 banks, 4 x 4 elements."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

Touched = Callable[[int, int], bool]

LANES = 4  # of a warp, banks, and elements in a row; a GPU has 32
CELL = 30
GRID = LANES * CELL
LEFT = 36
COLUMNS = [LEFT, LEFT + 200, LEFT + 400, LEFT + 600]
TOPS = [78, 296]
WARP = 1  # the warp that is drawn: its row of the input, its column of the tile


def draw() -> Drawing:
    drawing = Drawing(
        "One warp transposes, without a tile and with one",
        "Without a tile, a warp loads a row of the input and stores it as a column of the output, in four"
        " rows. With a tile, it loads a row of the input and stores it as a row of the tile, which takes one"
        " wavefront. Then it loads a column of the tile. The four elements lie in one bank, so this load takes"
        " four wavefronts. The warp stores these elements as a row of the output.",
        480,
    )
    with drawing.group("without"):
        drawing.text(
            24,
            34,
            "transposeNaiveRow: no tile (numbers are lanes; a warp has 4 here, not 32)",
            "head",
        )
        draw_matrix(drawing, 0, 0, "input", "load: 1 row", in_row)
        draw_arrow(drawing, 0, 0, 3)
        draw_matrix(drawing, 0, 3, "output", "store: 4 rows", in_column)
    with drawing.group("with"):
        drawing.text(24, 252, "transposeSmem: a tile in shared memory (b2 is bank 2)", "head")
        draw_matrix(drawing, 1, 0, "input", "load: 1 row", in_row)
        draw_arrow(drawing, 1, 0, 1)
        draw_tile(drawing, 1, "tile", ["store: banks 0 1 2 3,", "1 wavefront"], in_row, "sky")
        draw_barrier(drawing)
        draw_tile(
            drawing,
            2,
            "the same tile",
            ["load: bank 1, 4 times,", "4 wavefronts"],
            in_column,
            "orange",
        )
        draw_arrow(drawing, 1, 2, 3)
        draw_matrix(drawing, 1, 3, "output", "store: 1 row", in_row)
    return drawing


def in_row(row: int, _: int) -> bool:
    return row == WARP


def in_column(_: int, column: int) -> bool:
    return column == WARP


def draw_matrix(
    drawing: Drawing, line: int, column: int, name: str, remark: str, touched: Touched
) -> None:
    """With the lanes that touch its elements."""
    x, y = COLUMNS[column], TOPS[line]
    drawing.text(x, y - 10, name, "small")
    for row in range(LANES):
        for col in range(LANES):
            lane = col if touched is in_row else row
            place = (x + col * CELL, y + row * CELL, CELL, CELL)
            if touched(row, col):
                drawing.cell(*place, "sky", lane)
            else:
                drawing.cell(*place, "pale")
    drawing.text(x, y + GRID + 22, remark, "small")


def draw_tile(
    drawing: Drawing, column: int, name: str, remarks: list[str], touched: Touched, look: str
) -> None:
    """With the bank of each element."""
    x, y = COLUMNS[column], TOPS[1]
    drawing.text(x, y - 10, name, "small")
    for row in range(LANES):
        for col in range(LANES):
            place = (x + col * CELL, y + row * CELL, CELL, CELL)
            drawing.cell(*place, look if touched(row, col) else "pale", f"b{col}")
    for number, words in enumerate(remarks):
        drawing.text(x, y + GRID + 22 + 18 * number, words, "small")


def draw_arrow(drawing: Drawing, line: int, first: int, second: int) -> None:
    y = TOPS[line] + GRID / 2
    drawing.line((COLUMNS[first] + GRID + 10, y), (COLUMNS[second] - 10, y), look="line arrow")


def draw_barrier(drawing: Drawing) -> None:
    x = (COLUMNS[1] + GRID + COLUMNS[2]) / 2
    drawing.line((x, TOPS[1] - 4), (x, TOPS[1] + GRID + 4), look="line dashed")
    drawing.text(x, TOPS[1] - 10, "barrier", "small middle")
