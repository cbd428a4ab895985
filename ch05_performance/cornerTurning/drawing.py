"""How a tile of B gets to the multiply-adds if B is stored transposed: 4 lanes, 4 banks, 4 x 4 elements."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

Touched = Callable[[int, int], bool]

LANES = 4  # of a warp, banks, and elements in a row; a GPU has 32
CELL = 30
GRID = LANES * CELL
COLUMNS = [40, 308, 576]
TOPS = [86, 334]
PLACE = 1  # the row or column that is drawn


def draw() -> Drawing:
    drawing = Drawing(
        "Two ways to load a tile of B when B is stored transposed",
        "In bAsItLies, a warp loads a column of bT, which touches a sector for each lane. It stores a row of"
        " the tile in one wavefront, and each multiply-add loads a row of the tile in one wavefront. In"
        " bTurnedLate, a warp loads a row of bT, which is coalesced, and stores it as a row of the tile. But"
        " each multiply-add loads a column of the tile. Its elements lie in one bank, so the load takes a"
        " wavefront for each lane.",
        526,
    )
    with drawing.group("as_it_lies"):
        drawing.text(24, 34, "bAsItLies (numbers are lanes; a warp has 4 here, not 32)", "head")
        draw_matrix(drawing, 0, 0, "bT: a column of B in a row", in_column)
        draw_words(drawing, 0, 0, ["load: 4 rows,", "a sector for each lane"])
        draw_arrow(drawing, 0, 0)
        draw_tile(drawing, 0, 1, "tile: a row of B in a row", in_row, "sky")
        draw_words(drawing, 0, 1, ["store: banks 0 1 2 3,", "1 wavefront"])
        draw_barrier(drawing, 0)
        draw_tile(drawing, 0, 2, "the same tile", in_row, "sky")
        draw_words(drawing, 0, 2, ["each multiply-add loads", "banks 0 1 2 3: 1 wavefront"])
    with drawing.group("turned_late"):
        drawing.text(24, 284, "bTurnedLate (b2 is bank 2)", "head")
        draw_matrix(drawing, 1, 0, "bT: a column of B in a row", in_row)
        draw_words(drawing, 1, 0, ["load: 1 row,", "coalesced"])
        draw_arrow(drawing, 1, 0)
        draw_tile(drawing, 1, 1, "tile: a column of B in a row", in_row, "sky")
        draw_words(drawing, 1, 1, ["store: banks 0 1 2 3,", "1 wavefront"])
        draw_barrier(drawing, 1)
        draw_tile(drawing, 1, 2, "the same tile", in_column, "orange")
        draw_words(drawing, 1, 2, ["each multiply-add loads", "from bank 1: 4 wavefronts"])
    return drawing


def in_row(row: int, _: int) -> bool:
    return row == PLACE


def in_column(_: int, column: int) -> bool:
    return column == PLACE


def draw_matrix(drawing: Drawing, line: int, column: int, name: str, touched: Touched) -> None:
    """With the lanes that touch its elements."""
    x, y = COLUMNS[column], TOPS[line]
    drawing.text(x, y - 10, name, "small")
    for row in range(LANES):
        for col in range(LANES):
            lane = col if touched is in_row else row
            place = (x + col * CELL, y + row * CELL, CELL, CELL)
            if touched(row, col):
                drawing.cell(*place, "sky" if touched is in_row else "orange", lane)
            else:
                drawing.cell(*place, "pale")


def draw_tile(
    drawing: Drawing, line: int, column: int, name: str, touched: Touched, look: str
) -> None:
    """With the bank of each element."""
    x, y = COLUMNS[column], TOPS[line]
    drawing.text(x, y - 10, name, "small")
    for row in range(LANES):
        for col in range(LANES):
            place = (x + col * CELL, y + row * CELL, CELL, CELL)
            drawing.cell(*place, look if touched(row, col) else "pale", f"b{col}")


def draw_words(drawing: Drawing, line: int, column: int, words: list[str]) -> None:
    for number, each in enumerate(words):
        y = TOPS[line] + GRID + 22 + 18 * number
        drawing.text(COLUMNS[column], y, each, "small")


def draw_arrow(drawing: Drawing, line: int, first: int) -> None:
    y = TOPS[line] + GRID / 2
    ends = (COLUMNS[first] + GRID + 10, y), (COLUMNS[first + 1] - 10, y)
    drawing.line(*ends, look="line arrow")


def draw_barrier(drawing: Drawing, line: int) -> None:
    x = (COLUMNS[1] + GRID + COLUMNS[2]) / 2
    drawing.line((x, TOPS[line] - 4), (x, TOPS[line] + GRID + 4), look="line dashed")
    drawing.text(x, TOPS[line] + GRID + 22, "barrier", "small middle")
