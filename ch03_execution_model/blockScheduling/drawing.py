"""Fourteen blocks on four SMs with one place each: three full waves and half of a fourth."""

from drawing import Drawing

BLOCKS, SMS = 14, 4
LOOKS = ["sky", "orange", "green", "purple"]
LEFT, TOP, LENGTH, HEIGHT, ROW = 88, 168, 120, 32, 42


def draw() -> Drawing:
    drawing = Drawing(
        "14 blocks on 4 SMs: 3.5 waves",
        "Blocks wait in a queue; an SM takes the next one when it has room. Blocks 0 to 3 are the first"
        " wave, 4 to 7 the second, 8 to 11 the third. Blocks 12 and 13 run in a fourth, in which two of"
        " the four SMs have nothing to do: the tail.",
        404,
    )
    with drawing.group("queue"):
        drawing.text(24, 34, "The grid: 14 blocks in a queue", "head")
        for block in range(BLOCKS):
            drawing.cell(LEFT + block * 34, 48, 30, 26, look_of(block), block, "small")
        drawing.line((LEFT + 15, 82), (LEFT + 15, 116), look="line arrow")
        drawing.text(LEFT + 30, 104, "an SM that has room takes the next one", "small")
    with drawing.group("sms"):
        draw_sms(drawing)
    with drawing.group("time"):
        y = TOP + SMS * ROW + 10
        end = LEFT + 4 * LENGTH
        drawing.line((LEFT, y), (end + 40, y), look="line arrow")
        drawing.text(end + 50, y + 5, "time", "small")
        drawing.bracket(LEFT + 3 * LENGTH + 2, end - 2, y + 18, "the tail", below=True)
    return drawing


def look_of(block: int) -> str:
    return LOOKS[block // SMS]


def draw_sms(drawing: Drawing) -> None:
    for wave in range(4):
        x = LEFT + wave * LENGTH
        drawing.text(x + LENGTH / 2, TOP - 14, f"wave {wave + 1}", "small middle")
        drawing.line((x + LENGTH, TOP - 26), (x + LENGTH, TOP + SMS * ROW), look="soft dashed")
    for sm in range(SMS):
        y = TOP + sm * ROW
        drawing.text(24, y + 21, f"SM {sm}", "small")
        for wave in range(4):
            block = wave * SMS + sm
            place = (LEFT + wave * LENGTH + 3, y, LENGTH - 6, HEIGHT)
            if block < BLOCKS:
                drawing.cell(*place, look_of(block), f"block {block}", "small")
            else:
                drawing.cell(*place, "idle", "idle", "small")
    x = LEFT + 4 * LENGTH + 20
    for line, words in enumerate(
        ["Half of the SMs are", "idle in wave 4, which", "takes as long as if", "it were full."]
    ):
        drawing.text(x, TOP + 62 + line * 20, words, "small")
