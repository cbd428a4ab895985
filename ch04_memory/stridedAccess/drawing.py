"""What a load of a warp touches: with strides of 1 to 16 integers, and in a table with rows of 32."""

from drawing import Drawing

LANES, INTS, SECTORS = 32, 8, 6  # of a warp; of a sector; shown
CELL = 12
LEFT = 116
STRIDES = [
    (1, "4 sectors, all bytes used"),
    (2, "8 sectors, a half used"),
    (8, "32 sectors, an eighth used"),
    (16, "32 sectors, an eighth used"),
]
ROWS = 5  # of the table, shown
SECTORS_OF_ROW = 4


def draw() -> Drawing:
    drawing = Drawing(
        "Sectors that a load of a warp touches",
        "With a stride of 1, a load of a warp uses all bytes of its sectors. With a stride of 2, it uses"
        " every second integer. With a stride of 8, it uses one integer of each sector. With a stride of"
        " 16, it touches every second sector, and the L2 cache fetches the others as well. In a table"
        " with rows of four sectors, a load of rowPerThread touches one integer in each of 32 rows, and"
        " a load of rowPerWarp touches the four sectors of one row.",
        480,
    )
    with drawing.group("strides"):
        drawing.text(LEFT, 34, "fetches of L2: 64 bytes, two sectors", "small")
        for fetch in range(SECTORS // 2):
            left = LEFT + fetch * 2 * sector_width()
            drawing.bracket(left + 4, left + 2 * sector_width() - 4, 48, "")
        for number, (stride, words) in enumerate(STRIDES):
            draw_stride(drawing, 62 + 44 * number, stride, words)
    with drawing.group("table"):
        draw_table(drawing, 270, 24, "rowPerThread: 32 sectors", by_row=False)
        draw_table(drawing, 270, 424, "rowPerWarp: 4 sectors", by_row=True)
    with drawing.group("key"):
        keys = [("sky", "a lane uses it", 24), ("pale", "in a sector that moves, not used", 172)]
        for look, words, x in [
            *keys,
            ("orange", "only L2 fetches it", 452),
            ("idle", "stays", 640),
        ]:
            drawing.cell(x, 446, 16, 16, look)
            drawing.text(x + 24, 459, words, "small")
    return drawing


def sector_width() -> int:
    return INTS * CELL + 4


def draw_stride(drawing: Drawing, y: int, stride: int, words: str) -> None:
    drawing.text(24, y + 17, f"stride {stride}", "head")
    for sector in range(SECTORS):
        left = LEFT + sector * sector_width()
        if sector * INTS >= LANES * stride:
            drawing.cell(left, y, INTS * CELL, 22, "idle")
            continue
        is_touched = sector * INTS % stride == 0
        for place in range(INTS):
            is_used = (sector * INTS + place) % stride == 0
            look = "sky" if is_used else "pale" if is_touched else "orange"
            drawing.rect(left + place * CELL, y, CELL, 22, look)
        drawing.rect(left, y, INTS * CELL, 22, "frame thick")
    drawing.text(LEFT, y + 36, words, "number")


def draw_table(drawing: Drawing, y: int, x: int, words: str, by_row: bool) -> None:
    drawing.text(x, y, words, "head")
    width = 72
    for row in range(ROWS):
        top = y + 14 + row * 25
        drawing.text(x, top + 15, f"row {row}", "small")
        for sector in range(SECTORS_OF_ROW):
            left = x + 52 + sector * width
            is_touched = row == 0 if by_row else sector == 0
            for place in range(INTS):
                is_used = is_touched and (by_row or place == 0)
                look = "sky" if is_used else "pale" if is_touched else "idle"
                if look != "idle":
                    drawing.rect(left + place * 8, top, 8, 20, look)
            drawing.rect(left, top, INTS * 8, 20, "frame thick" if is_touched else "idle")
    more = "... and no other row" if by_row else "... and 27 more rows"
    drawing.text(x + 52, y + 14 + ROWS * 25 + 12, more, "small")
