"""Words in 4 banks: what 4 lanes want with five strides, and a column of a tile in three layouts."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

BANKS = 4  # and lanes; a GPU has 32
CELL, ROW = 30, 24
PANEL = 152
LEFT = 36
STRIDES = [0, 1, 2, 3, 4]
WAVEFRONTS = [1, 1, 2, 1, 4]
COLUMN = 1  # of the tile, which a warp loads

# The place of element (row, column) of a tile, in words.
PlaceOf = Callable[[int, int], int]
TILES: list[tuple[str, str, PlaceOf, int]] = [
    ("rows 4 words apart", "4 wavefronts", lambda row, col: 4 * row + col, 16),
    ("padded: 5 words apart", "1 wavefront", lambda row, col: 5 * row + col, 20),
    ("swizzled", "1 wavefront", lambda row, col: 4 * row + (col ^ row), 16),
]


def draw() -> Drawing:
    drawing = Drawing(
        "Which words of four banks a warp of four lanes wants",
        "Word w lies in bank w modulo 4. With stride 0, all lanes want word 0, which takes one wavefront. With"
        " strides 1 and 3, they want words of four different banks, which takes one wavefront, too. With stride 2,"
        " two banks must deliver two words each, which takes two wavefronts. With stride 4, all lanes hit bank 0,"
        " which takes four. Below, three tiles of four rows show where column 1 lies. If rows are four words apart,"
        " the column lies in one bank. If a word of padding follows each row, or if the columns of each row are"
        " permuted, the column lies in four banks.",
        530,
    )
    with drawing.group("strides"):
        drawing.text(24, 34, "Lane i wants word i * stride (4 lanes and 4 banks, not 32)", "head")
        for number, (stride, wavefronts) in enumerate(zip(STRIDES, WAVEFRONTS)):
            draw_stride(drawing, LEFT + number * PANEL, 96, stride, wavefronts)
    with drawing.group("tiles"):
        drawing.text(
            24, 288, "A warp loads column 1 of a tile of 4 x 4 (12 is row 1, column 2)", "head"
        )
        for number, (name, result, place_of, words) in enumerate(TILES):
            draw_tile(drawing, LEFT + number * 256, 350, name, result, place_of, words)
    return drawing


def draw_heads(drawing: Drawing, x: float, y: float) -> None:
    """The number of the bank above each column."""
    for bank in range(BANKS):
        drawing.text(x + (bank + 0.5) * CELL, y - 6, f"b{bank}", "number middle")


def draw_stride(drawing: Drawing, x: float, y: float, stride: int, wavefronts: int) -> None:
    drawing.text(x, y - 26, f"stride {stride}", "small")
    draw_heads(drawing, x, y)
    wanted = {lane * stride for lane in range(BANKS)}
    for word in range(BANKS * BANKS):
        place = (x + word % BANKS * CELL, y + word // BANKS * ROW, CELL, ROW)
        if word not in wanted:
            drawing.cell(*place, "pale", word)
        else:
            alone = sum(other % BANKS == word % BANKS for other in wanted) == 1
            drawing.cell(*place, "sky" if alone else "orange", word)
    drawing.text(x, y + BANKS * ROW + 20, told(wavefronts), "small")
    if stride == 0:
        drawing.text(x, y + BANKS * ROW + 38, "(one word for all)", "small")


def draw_tile(
    drawing: Drawing, x: float, y: float, name: str, result: str, place_of: PlaceOf, words: int
) -> None:
    drawing.text(x, y - 26, name, "small")
    draw_heads(drawing, x, y)
    places = {place_of(row, col): (row, col) for row in range(BANKS) for col in range(BANKS)}
    banks = [place_of(row, COLUMN) % BANKS for row in range(BANKS)]
    for word in range(words):
        place = (x + word % BANKS * CELL, y + word // BANKS * ROW, CELL, ROW)
        if word not in places:
            drawing.cell(*place, "idle")
            continue
        row, col = places[word]
        look = "pale" if col != COLUMN else "sky" if banks.count(word % BANKS) == 1 else "orange"
        drawing.cell(*place, look, f"{row}{col}")
    drawing.text(x, y + 5 * ROW + 20, result, "small")


def told(wavefronts: int) -> str:
    return f"{wavefronts} wavefront{'s' if wavefronts > 1 else ''}"
