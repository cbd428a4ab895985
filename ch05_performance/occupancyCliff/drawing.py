"""The registers of a quarter of an SM, cut into warps: one register more can cost a block."""

from __future__ import annotations

from drawing import Drawing

LEFT, LENGTH, HEIGHT, ROW, TOP = 188, 448, 28, 46, 116
OF_QUARTER, UNIT = 64, 8  # units of 256 registers; registers of a thread to a unit of its warp
OF_BLOCK = 2  # warps of a block of 256 threads in each quarter
# The least and the most registers of a thread that take so many units.
REGISTERS = [(32, 32), (33, 40), (41, 48), (49, 56), (57, 64)]
LOOKS = ["sky", "orange"]


def draw() -> Drawing:
    drawing = Drawing(
        "One register more can cost a block",
        "A quarter of an SM has 16,384 registers. With 32 registers for each thread, 16 warps fit, two of"
        " each of 8 blocks. With 33 to 40 registers 12 warps and 6 blocks fit, with 41 to 48 registers 10"
        " warps and 5 blocks. With 49 to 56 registers 9 warps fit, but only 4 blocks, since the ninth warp"
        " is half of what a block needs. With 57 to 64 registers 8 warps and 4 blocks fit.",
        TOP + len(REGISTERS) * ROW + 48,
    )
    drawing.text(24, 34, "A quarter of an SM of the H200: 16,384 registers", "head")
    drawing.text(
        24,
        56,
        "blocks of 256 threads; each block has two of its eight warps in this quarter",
        "small",
    )
    for x, first, second in [
        (24, "registers", "of a thread"),
        (108, "registers", "of a warp"),
        (LEFT, "registers of the quarter, cut into warps;", "two of one colour are in one block"),
        (652, "warps", "that fit"),
        (722, "blocks", "that fit"),
    ]:
        drawing.text(x, TOP - 24, first, "small")
        drawing.text(x, TOP - 8, second, "small")
    for number, (least, most) in enumerate(REGISTERS):
        name = str(most) if least == most else f"{least} to {most}"
        with drawing.group("registers_" + name.replace(" ", "_")):
            draw_quarter(drawing, TOP + number * ROW, name, most)
    y = TOP + len(REGISTERS) * ROW + 8
    with drawing.group("legend"):
        drawing.rect(LEFT, y, 18, 18, "idle")
        drawing.text(LEFT + 26, y + 14, "fits, but a block needs two", "small")
        drawing.rect(LEFT + 236, y, 18, 18, "pale")
        drawing.text(LEFT + 262, y + 14, "too little for a warp", "small")
    return drawing


def draw_quarter(drawing: Drawing, y: int, name: str, registers: int) -> None:
    units = registers // UNIT
    warps = OF_QUARTER // units
    blocks = warps // OF_BLOCK
    width = LENGTH * units / OF_QUARTER
    drawing.text(24, y + 19, name, "small")
    drawing.text(108, y + 19, f"{256 * units:,}", "small")
    drawing.rect(LEFT, y, LENGTH, HEIGHT, "pale")
    for warp in range(warps):
        block = warp // OF_BLOCK
        place = (LEFT + warp * width, y, width, HEIGHT)
        if block < blocks:
            drawing.rect(*place, LOOKS[block % 2])
        else:
            drawing.rect(*place, "under")
            drawing.cell(*place, "idle")
    drawing.rect(LEFT, y, LENGTH, HEIGHT, "frame")
    drawing.text(652, y + 19, str(warps))
    drawing.text(722, y + 19, str(blocks), "head")
