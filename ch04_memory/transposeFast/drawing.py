"""How float4 go through a tile, the order of the blocks, and the pieces of a row that blocks write."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

CELL = 24
SIDE = 4  # tiles in a row and in a column of the matrix
FIRST = 4  # blocks that run at the same time
LEFT = 36

# The number of the block that takes a tile of the input.
BlockOf = Callable[[int, int], int]
# The blocks that write the words of one row, sectors of 8 words each.
PIECES: list[tuple[str, str]] = [
    ("by tiles", ".....aaa aaaaaaaa aaaaabbb bbbbbbbb"),
    ("by sectors", ".....aaa aaaaaaaa bbbbbbbb bbbbbbbb"),
]
LOOKS = {"a": "sky", "b": "green", ".": "pale"}


def draw() -> Drawing:
    drawing = Drawing(
        "How a block moves its tile, and which block comes next",
        "A thread loads a, b, c and d from four rows of one column. They become 16 bytes in the tile, and 16"
        " bytes in a row of the output. If blocks go across, the first four take a row of tiles of the input"
        " and a column of tiles of the output. If they go down, it is the other way round. In a row of the"
        " output that begins inside a sector, pieces by tiles share sectors, and pieces by sectors do not.",
        590,
    )
    with drawing.group("float4"):
        draw_float4(drawing, 34)
    with drawing.group("order"):
        draw_order(drawing, 226)
    with drawing.group("pieces"):
        draw_pieces(drawing, 456)
    return drawing


def draw_float4(drawing: Drawing, top: int) -> None:
    drawing.text(24, top, "transposeFloat4: four rows of a column become 16 bytes", "head")
    y = top + 42
    drawing.text(LEFT, y - 10, "input, rows 4q to 4q + 3", "small")
    for row, letter in enumerate("abcd"):
        for col in range(6):
            place = (LEFT + col * CELL, y + row * CELL, CELL, CELL)
            drawing.cell(*place, "sky" if col == 2 else "pale", letter if col == 2 else "")
    drawing.text(LEFT, y + 4 * CELL + 20, "4 loads of 4 bytes", "small")
    middle = y + 2 * CELL
    drawing.line((LEFT + 6 * CELL + 12, middle), (278, middle), look="line arrow")
    for x, name, below in (
        (290, "tile[c], a row of float4", "1 store and 1 load of 16 bytes"),
        (560, "output, row c", "1 store of 16 bytes"),
    ):
        drawing.text(x, middle - CELL / 2 - 10, name, "small")
        for word in range(8):
            letter = "abcd"[word - 2] if 2 <= word < 6 else ""
            place = (x + word * CELL, middle - CELL / 2, CELL, CELL)
            drawing.cell(*place, "sky" if letter else "pale", letter)
        drawing.rect(x + 2 * CELL, middle - CELL / 2, 4 * CELL, CELL, "frame thick")
        drawing.text(x, y + 4 * CELL + 20, below, "small")
    drawing.line((290 + 8 * CELL + 12, middle), (548, middle), look="line arrow")


def across(row: int, col: int) -> int:
    return row * SIDE + col


def down(row: int, col: int) -> int:
    return col * SIDE + row


def draw_order(drawing: Drawing, top: int) -> None:
    drawing.text(24, top, "The order of the blocks: each cell is a tile with its block", "head")
    for x, name, block_of in (
        (LEFT, "across", across),
        (LEFT + 400, "down (transposeFloat4Down)", down),
    ):
        drawing.text(x, top + 30, name, "small")
        for number, matrix in enumerate(("input", "output")):
            left = x + number * 170
            drawing.text(left, top + 54, matrix, "small")
            for row in range(SIDE):
                for col in range(SIDE):
                    block = block_of(row, col) if matrix == "input" else block_of(col, row)
                    place = (left + col * 32, top + 62 + row * CELL, 32, CELL)
                    drawing.cell(*place, "sky" if block < FIRST else "pale", block)
    drawing.text(LEFT, top + 182, "Blue: the first four blocks.", "small")


def draw_pieces(drawing: Drawing, top: int) -> None:
    drawing.text(
        24,
        top,
        "Pieces of a row of the output that begins inside a sector (blocks a and b)",
        "head",
    )
    for number, (name, blocks) in enumerate(PIECES):
        y = top + 20 + number * 42
        drawing.text(LEFT, y + 16, name, "small")
        for sector, letters in enumerate(blocks.split()):
            x = 150 + sector * 8 * 19
            for word, letter in enumerate(letters):
                drawing.cell(x + word * 19, y, 19, CELL, LOOKS[letter], letter.strip("."))
            drawing.rect(x, y, 8 * 19, CELL, "frame thick")
    drawing.rect(150, top + 108, 60, 18, "frame thick")
    drawing.text(220, top + 122, "a sector: 32 bytes", "small")
