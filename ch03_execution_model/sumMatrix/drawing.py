"""What one load of a warp touches, for blocks of four shapes: sectors of 8 floats, used and wasted."""

from drawing import Drawing

WARP, FLOATS = 32, 8  # lanes; floats of a sector
CELL = 20
NARROW = [(8, "32"), (4, "64"), (1, "256")]  # blocks of 256 threads


def draw() -> Drawing:
    drawing = Drawing(
        "Sectors that one load of a warp touches, by the shape of the block",
        "A warp of a 32 x 8 block reads 32 floats of one row, 4 whole sectors. Of an 8 x 32 block: 4 rows"
        " of 8 floats, 4 whole sectors. Of a 4 x 64 block: 8 rows of 4 floats, 8 sectors half used. Of"
        " a 1 x 256 block: 32 rows of 1 float, 32 sectors of which an eighth is used.",
        470,
    )
    with drawing.group("block_32x8"):
        drawing.text(24, 34, "Block 32 x 8", "head")
        drawing.text(776, 34, "one row, 4 sectors, 128 of 128 bytes used", "small end")
        for sector in range(WARP // FLOATS):
            draw_sector(drawing, 24 + sector * 172, 50, sector * FLOATS, FLOATS)
    for number, (width, height) in enumerate(NARROW):
        with drawing.group(f"block_{width}x{height}"):
            draw_narrow(drawing, 24 + number * 264, width, height)
    with drawing.group("key"):
        drawing.cell(24, 426, CELL, CELL, "sky", 5)
        drawing.text(54, 441, "a float that lane 5 reads", "small")
        drawing.cell(240, 426, CELL, CELL, "idle")
        drawing.text(270, 441, "fetched, not used by this load", "small")
        drawing.rect(516, 426, FLOATS * CELL / 2, CELL, "frame thick")
        drawing.text(606, 441, "a sector: 32 bytes", "small")
    return drawing


def draw_sector(drawing: Drawing, x: int, y: int, first: int, used: int) -> None:
    """Its first `used` floats are read, by lane `first` and those after it."""
    for place in range(FLOATS):
        is_used = place < used
        look = "sky" if is_used else "idle"
        drawing.cell(x + place * CELL, y, CELL, CELL, look, first + place if is_used else "")
    drawing.rect(x, y, FLOATS * CELL, CELL, "frame thick")


def draw_narrow(drawing: Drawing, x: int, width: int, height: str) -> None:
    rows = WARP // width
    used = f"{WARP * 4} of {rows * FLOATS * 4:,} bytes used"
    drawing.text(x, 124, f"Block {width} x {height}", "head")
    drawing.text(x, 146, f"{rows} rows, {rows} sectors,", "small")
    drawing.text(x, 164, used, "small")
    shown = min(rows, 8)
    for row in range(shown):
        draw_sector(drawing, x, 178 + row * 25, row * width, width)
    if rows > shown:
        drawing.text(x, 178 + shown * 25 + 15, f"... and {rows - shown} more rows", "small")
