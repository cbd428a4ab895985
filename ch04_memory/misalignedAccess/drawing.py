"""The sectors that two neighbouring warps touch, beginning at int 0, 1 and 8 of an array."""

from drawing import Drawing

WARP, INTS = 32, 8  # lanes; ints of a sector
SECTORS, LINE = 10, 4  # shown; sectors of a line
LEFT, WIDE = 108, 56  # the first sector, and how wide one is
HEIGHT = 24
OFFSETS = [(0, "4 sectors, 1 line"), (1, "5 sectors, 2 lines"), (8, "4 sectors, 2 lines")]


def draw() -> Drawing:
    drawing = Drawing(
        "Sectors and lines of two neighbouring warps, for three offsets",
        "At offset 0, warp 0 touches sectors 0 to 3, which are line 0, and warp 1 touches sectors 4 to"
        " 7. At offset 1, warp 0 touches sectors 0 to 4 of lines 0 and 1, and warp 1 touches sectors 4"
        " to 8: both touch sector 4. At offset 8, warp 0 touches sectors 1 to 4 of lines 0 and 1, and"
        " warp 1 touches sectors 5 to 8.",
        400,
    )
    with drawing.group("memory"):
        draw_memory(drawing, 56)
    for number, (offset, words) in enumerate(OFFSETS):
        with drawing.group(f"offset_{offset}"):
            draw_offset(drawing, 108 + 86 * number, offset, words)
    with drawing.group("key"):
        keys = [
            ("sky", "warp 0 touches it"),
            ("green", "warp 1 touches it"),
            ("orange", "both touch it"),
        ]
        for number, (look, words) in enumerate(keys):
            drawing.cell(LEFT + number * 190, 368, 18, 18, look)
            drawing.text(LEFT + 26 + number * 190, 382, words, "small")
    return drawing


def draw_memory(drawing: Drawing, y: int) -> None:
    drawing.text(24, y + 17, "sectors", "small")
    for sector in range(SECTORS):
        drawing.cell(LEFT + sector * WIDE, y, WIDE, HEIGHT, "pale", sector, "small")
    for line in range(SECTORS // LINE):
        left = LEFT + line * LINE * WIDE
        drawing.bracket(left + 2, left + LINE * WIDE - 2, y - 14, f"line {line}: 128 bytes")
    drawing.text(LEFT + SECTORS * WIDE + 12, y + 17, "32 bytes each", "small")


def draw_offset(drawing: Drawing, y: int, offset: int, words: str) -> None:
    drawing.text(24, y + 17, f"offset {offset}", "head")
    of_warps = []
    for warp, look in ((0, "sky"), (1, "green")):
        first = offset + warp * WARP
        left = LEFT + first * WIDE / INTS
        drawing.cell(left, y, WARP * WIDE / INTS, HEIGHT, look, f"32 ints of warp {warp}", "small")
        of_warps.append(range(first // INTS, (first + WARP - 1) // INTS + 1))
    for sector in range(SECTORS):
        touched = [sector in sectors for sectors in of_warps]
        look = (
            "orange" if all(touched) else "sky" if touched[0] else "green" if touched[1] else "idle"
        )
        label = sector if any(touched) else ""
        drawing.cell(LEFT + sector * WIDE, y + HEIGHT + 6, WIDE, HEIGHT, look, label, "small")
    drawing.text(LEFT + SECTORS * WIDE + 12, y + 17, "warp 0:", "small")
    for number, part in enumerate(words.split(", ")):
        drawing.text(LEFT + SECTORS * WIDE + 12, y + 36 + 18 * number, part, "small")
