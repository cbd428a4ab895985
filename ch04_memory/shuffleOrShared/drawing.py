"""A 4 x 4 matrix is transposed in a warp: through a tile in shared memory, and in two steps of a butterfly."""

from __future__ import annotations

from drawing import Drawing

N = 4
CELL, HEIGHT = 36, 26
LEFT = 24
BANKS, PITCH = 32, 40  # elements from one row of the tile to the next
SHOWN = 8  # columns of the tile, which are the lanes of two matrices
LOOKS = ["sky", "orange", "green", "purple"]
TILE_TOP = 110
STEPS_TOP = 372

Matrix = list[list[tuple[int, int]]]  # the element (row, column) that a lane has in each register


def at_first() -> Matrix:
    return [[(lane, k) for k in range(N)] for lane in range(N)]


def exchanged(matrix: Matrix, bit: int) -> Matrix:
    """Lane and register change roles in this bit of their numbers."""
    return [
        [matrix[lane & ~bit | k & bit][k & ~bit | lane & bit] for k in range(N)]
        for lane in range(N)
    ]


def draw() -> Drawing:
    drawing = Drawing(
        "Two ways to transpose a 4 x 4 matrix that four lanes hold",
        "Through shared memory, each lane stores its four elements into a column of a tile, and loads four elements"
        " of a row. Rows of the tile are 40 elements apart, so the rows begin in banks 0, 8, 16 and 24, and eight"
        " lanes load from 32 different banks. In registers, step 1 exchanges elements between lanes whose numbers"
        " differ in bit 0. Step 2 exchanges elements between lanes whose numbers differ in bit 1.",
        STEPS_TOP + 166,
    )
    with drawing.group("tile"):
        draw_tile(drawing)
    with drawing.group("registers"):
        draw_steps(drawing)
    return drawing


def draw_tile(drawing: Drawing) -> None:
    drawing.text(LEFT, 34, "Through shared memory: the tile, and the bank of each element", "head")
    drawing.text(LEFT, 62, "store: lane 1 fills its column, one element at a time", "small")
    drawing.text(LEFT + 430, 62, "load: each lane takes 16 bytes of a row", "small")
    stored, loaded = LEFT + 60, LEFT + 430
    for column in range(SHOWN):
        for left in (stored, loaded):
            drawing.text(left + (column + 0.5) * CELL, TILE_TOP - 8, f"{column}", "number middle")
    for row in range(N):
        y = TILE_TOP + row * 32
        drawing.text(LEFT, y + 18, f"row {row}", "small")
        for column in range(SHOWN):
            bank = f"b{(PITCH * row + column) % BANKS}"
            look = "sky" if column == 1 else "pale"
            drawing.cell(stored + column * CELL, y, CELL, HEIGHT, look, bank)
            drawing.cell(loaded + column * CELL, y, CELL, HEIGHT, LOOKS[row], bank)
        # Lane l loads four elements of row l % 4, from column l / 4 * 4 on.
        for first in (0, N):
            drawing.rect(loaded + first * CELL, y, N * CELL, HEIGHT, "frame thick")
        drawing.text(loaded - 6, y + 18, f"lane {row}", "number end")
        drawing.text(loaded + SHOWN * CELL + 6, y + 18, f"lane {row + N}", "number")
    drawing.text(LEFT, TILE_TOP + 154, "4 stores: 4 wavefronts for 32 lanes", "small")
    drawing.text(
        LEFT + 430, TILE_TOP + 154, "8 lanes, 32 banks: 1 wavefront, 4 for 32 lanes", "small"
    )


def draw_steps(drawing: Drawing) -> None:
    drawing.text(
        LEFT, STEPS_TOP - 50, "In registers: two steps of a butterfly, two shuffles each", "head"
    )
    start = at_first()
    first = exchanged(start, 1)
    states = [
        ("each lane has a row", start),
        ("step 1: lanes 0, 1 and 2, 3", first),
        ("step 2: lanes 0, 2 and 1, 3", exchanged(first, 2)),
    ]
    for number, (about, matrix) in enumerate(states):
        x = LEFT + 60 + number * 250
        drawing.text(x, STEPS_TOP - 24, about, "small")
        for k, register in enumerate("xyzw"):
            drawing.text(x + (k + 0.5) * CELL, STEPS_TOP - 6, register, "number middle")
        for lane, row in enumerate(matrix):
            y = STEPS_TOP + lane * 32
            drawing.text(x - 8, y + 18, f"lane {lane}", "number end")
            for k, (from_row, column) in enumerate(row):
                moved = number > 0 and states[number - 1][1][lane][k] != (from_row, column)
                look = LOOKS[from_row] + (" thick" if moved else "")
                drawing.cell(x + k * CELL, y, CELL, HEIGHT, look, f"{from_row}{column}")
    drawing.text(
        LEFT, STEPS_TOP + 148, "Thick: came from another lane. 12 is row 1, column 2.", "small"
    )
