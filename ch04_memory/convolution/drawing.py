"""A tile with its halo and who loads what in three kernels; the window that slides down in registers."""

from __future__ import annotations

from drawing import Drawing

CELL = 18
TILE, HALO = 4, 1  # the side of a tile and the radius; real ones do not fit in here
SIDE = TILE + 2 * HALO
LEFT, PANEL, TOP = 40, 262, 92


def in_tile(row: int, column: int) -> bool:
    return HALO <= row < HALO + TILE and HALO <= column < HALO + TILE


def draw() -> Drawing:
    drawing = Drawing(
        "Who loads the pixels of a tile and its halo, and a window of rows that slides down",
        "A tile of 4 by 4 outputs needs 6 by 6 pixels. In convTile 16 threads load 36 pixels in three"
        " steps: 16, 16 and 4. In convTileWide 36 threads load one pixel each, and 16 of them compute."
        " In convTileCached 16 threads load the tile, and the halo comes from the L1 cache. Below, a"
        " thread of convRegisters loads 12 pixels of a row, and each row serves up to three rows of"
        " outputs.",
        560,
    )
    with drawing.group("tiles"):
        drawing.text(
            24, 34, "Three ways to load a tile (here 4 x 4) and its halo (radius 1)", "head"
        )
        draw_two_phases(drawing, LEFT)
        draw_wide(drawing, LEFT + PANEL)
        draw_cached(drawing, LEFT + 2 * PANEL)
    with drawing.group("window"):
        draw_window(drawing)
    return drawing


def name(drawing: Drawing, x: int, kernel: str, words: list[str]) -> None:
    drawing.text(x, TOP - 22, kernel, "code")
    for line, text in enumerate(words):
        drawing.text(x, TOP + SIDE * CELL + 26 + 18 * line, text, "small")


def draw_two_phases(drawing: Drawing, x: int) -> None:
    name(drawing, x, "convTile", ["16 threads load 16, 16", "and 4 pixels; 16 compute"])
    looks = ["sky", "orange", "green"]
    for i in range(SIDE * SIDE):
        step, place = i // (TILE * TILE), (x + i % SIDE * CELL, TOP + i // SIDE * CELL)
        drawing.cell(*place, CELL, CELL, looks[step], i % (TILE * TILE))
    frame(drawing, x)


def draw_wide(drawing: Drawing, x: int) -> None:
    name(drawing, x, "convTileWide", ["36 threads load a pixel each;", "16 of them compute"])
    for i in range(SIDE * SIDE):
        row, column = divmod(i, SIDE)
        drawing.cell(x + column * CELL, TOP + row * CELL, CELL, CELL, "sky", i)
    frame(drawing, x)


def draw_cached(drawing: Drawing, x: int) -> None:
    name(
        drawing, x, "convTileCached", ["16 threads load and compute;", "dashed: from the L1 cache"]
    )
    for i in range(SIDE * SIDE):
        row, column = divmod(i, SIDE)
        place = (x + column * CELL, TOP + row * CELL, CELL, CELL)
        if in_tile(row, column):
            drawing.cell(*place, "sky", (row - HALO) * TILE + column - HALO)
        else:
            drawing.cell(*place, "idle")
    frame(drawing, x)


def frame(drawing: Drawing, x: int) -> None:
    place, side = HALO * CELL, TILE * CELL
    drawing.rect(x + place, TOP + place, side, side, "frame thick")


def draw_window(drawing: Drawing) -> None:
    left, top = LEFT, 316
    drawing.text(
        24, 280, "One thread of convRegisters: 12 pixels of a row, 4 x 4 outputs (radius 1)", "head"
    )
    for row in range(SIDE):
        for column in range(12):
            look = "sky" if 4 <= column < 8 else "orange" if column in (3, 8) else "pale"
            drawing.cell(left + column * CELL, top + row * 30, CELL, CELL, look)
        drawing.text(left + 12 * CELL + 14, top + row * 30 + 14, f"row {row} of pixels", "small")
    for four in range(3):
        drawing.bracket(left + four * 72 + 2, left + four * 72 + 70, top - 8, "float4")
    for row in range(TILE):
        y = top + (row + 1) * 30
        for column in range(4):
            drawing.cell(520 + column * CELL, y, CELL, CELL, "green")
        drawing.text(
            520 + 4 * CELL + 14, y + 14, f"outputs {row}: rows {row} to {row + 2}", "small"
        )
        for pixels in (row, row + 1, row + 2):
            drawing.line((410, top + pixels * 30 + 9), (512, y + 9), look="soft")
    drawing.cell(LEFT, 518, CELL, CELL, "sky")
    drawing.text(LEFT + 26, 532, "above and below its outputs", "small")
    drawing.cell(270, 518, CELL, CELL, "orange")
    drawing.text(296, 532, "to the sides", "small")
    drawing.cell(420, 518, CELL, CELL, "pale")
    drawing.text(446, 532, "loaded, not used", "small")
