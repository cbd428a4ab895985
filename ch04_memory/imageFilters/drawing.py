"""Three words of four pixels, and a square of pixels that slides down."""

from __future__ import annotations

from drawing import Drawing

CELL = 34
COLOURS = ["orange", "green", "sky"]  # of R, G and B


def draw() -> Drawing:
    drawing = Drawing(
        "Four pixels in three words, and the square of a blur one row further down",
        "The bytes R G B R, G B R G, B R G B: words 0, 1 and 2 of a thread of greyWords hold four"
        " pixels of three bytes. Below, a square of 5 by 5 pixels moves down by one row: the five"
        " pixels of its first row leave the sum, five below it enter.",
        440,
    )
    with drawing.group("words"):
        drawing.text(24, 34, "A thread of greyWords: four pixels are three words", "head")
        for byte in range(12):
            drawing.cell(
                40 + byte * CELL, 70, CELL, 26, COLOURS[byte % 3], "RGB"[byte % 3], "small"
            )
        for word in range(3):
            x = 40 + word * 4 * CELL
            drawing.rect(x, 70, 4 * CELL, 26, "frame thick")
            drawing.text(x + 2 * CELL, 60, f"word {word}", "small middle")
        for pixel in range(4):
            x = 40 + pixel * 3 * CELL
            drawing.bracket(x + 3, x + 3 * CELL - 3, 108, f"pixel {pixel}", below=True)
        drawing.text(470, 88, "lowest address on the left", "small")
    with drawing.group("square"):
        drawing.text(24, 186, "A thread of blurSliding: from one output to the next", "head")
        draw_square(drawing, 60, 0, "output in row 2")
        draw_square(drawing, 330, 1, "output in row 3")
        drawing.line((230, 300), (310, 300), look="line arrow")
        drawing.cell(560, 226, 24, 24, "orange")
        drawing.text(594, 243, "leaves the sum", "small")
        drawing.cell(560, 262, 24, 24, "green")
        drawing.text(594, 279, "enters the sum", "small")
        drawing.cell(560, 298, 24, 24, "sky")
        drawing.text(594, 315, "stays in it", "small")
    return drawing


def draw_square(drawing: Drawing, x: int, down: int, words: str) -> None:
    size = 30
    for row in range(6):
        for column in range(5):
            look = "sky"
            if row == 0:
                look = "orange" if down == 0 else "idle"
            elif row == 5:
                look = "idle" if down == 0 else "green"
            drawing.cell(x + column * size, 206 + row * size, size, size, look)
    drawing.rect(x + 2 * size, 206 + (2 + down) * size, size, size, "frame thick")
    drawing.text(x + 75, 412, words, "small middle")
