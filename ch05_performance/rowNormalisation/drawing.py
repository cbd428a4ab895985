"""Where each kernel keeps a row between two reads of it, and how often device memory moves the row."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

LEFT, COLUMN = 128, 132
BANDS = {"registers": 76, "shared memory": 142, "L2 cache": 222, "device memory": 296}
HEIGHT = 46
BOX, GAP = 62, 20  # the kept row, and the distance between two arrows


def draw() -> Drawing:
    drawing = Drawing(
        "Where each kernel keeps a row",
        "threePasses reads the row three times from device memory, twoPasses twice. oneKernel reads it"
        " once from device memory and once more from the L2 cache. sharedRow keeps it in shared memory,"
        " and registerRow in registers; both read it once. All of them write the result once.",
        430,
    )
    with drawing.group("memories"):
        for name, y in BANDS.items():
            drawing.rect(116, y, 670, HEIGHT, "frame" if name != "device memory" else "pale", 4)
            for line, word in enumerate(name.split(" ")):
                middle = y + HEIGHT / 2 + 5
                drawing.text(
                    24, middle + (line - (len(name.split(" ")) - 1) / 2) * 17, word, "small"
                )
        drawing.rect(112, 68, 678, 128, "soft dashed", 6)
        drawing.text(24, 64, "in an SM:", "number")
    columns = ["threePasses", "twoPasses", "oneKernel", "sharedRow", "registerRow"]
    for number, name in enumerate(columns):
        with drawing.group(name):
            x = LEFT + number * COLUMN
            drawing.text(x, 34, name, "code")
            DRAWN[name](drawing, x)
            reads, size = COUNTS[name]
            times = "1 read" if reads == 1 else f"{reads} reads"
            drawing.text(x, 372, f"{times}, 1 write", "small")
            drawing.text(x, 391, f"{size} bytes", "small")
    drawing.text(
        24,
        417,
        "Solid arrows: reads of the row. Dashed arrows: the result. Bytes are for each element.",
        "small",
    )
    return drawing


# How often the row is read from device memory, and the bytes that it moves for each element.
COUNTS = {
    "threePasses": (3, 16),
    "twoPasses": (2, 12),
    "oneKernel": (1, 8),
    "sharedRow": (1, 8),
    "registerRow": (1, 8),
}


def arrow(drawing: Drawing, x: float, first: str, second: str) -> None:
    """Goes up from one memory to another."""
    drawing.line((x, BANDS[first] + 12), (x, BANDS[second] + HEIGHT - 4), look="line arrow")


def result(drawing: Drawing, x: float) -> None:
    drawing.line(
        (x, BANDS["registers"] + HEIGHT - 12),
        (x, BANDS["device memory"] + 8),
        look="line dashed arrow",
    )


def kept(drawing: Drawing, x: float, where: str, look: str) -> None:
    drawing.cell(x, BANDS[where] + 10, BOX, HEIGHT - 20, look, "row", "small")


def passes(count: int) -> Callable[[Drawing, float], None]:
    def draw_passes(drawing: Drawing, x: float) -> None:
        for number in range(count):
            arrow(drawing, x + 8 + number * GAP, "device memory", "registers")
        result(drawing, x + 92)

    return draw_passes


def one_kernel(drawing: Drawing, x: float) -> None:
    kept(drawing, x, "L2 cache", "sky")
    arrow(drawing, x + 16, "device memory", "L2 cache")
    for number in range(2):
        drawing.line(
            (x + 16 + number * GAP, BANDS["L2 cache"] + 10),
            (x + 16 + number * GAP, BANDS["registers"] + HEIGHT - 4),
            look="line arrow",
        )
    result(drawing, x + 92)


def shared_row(drawing: Drawing, x: float) -> None:
    kept(drawing, x, "shared memory", "orange")
    drawing.line(
        (x + 16, BANDS["device memory"] + 12),
        (x + 16, BANDS["shared memory"] + HEIGHT - 10),
        look="line arrow",
    )
    for number in range(2):
        drawing.line(
            (x + 16 + number * GAP, BANDS["shared memory"] + 10),
            (x + 16 + number * GAP, BANDS["registers"] + HEIGHT - 4),
            look="line arrow",
        )
    result(drawing, x + 92)


def register_row(drawing: Drawing, x: float) -> None:
    kept(drawing, x, "registers", "green")
    drawing.line(
        (x + 16, BANDS["device memory"] + 12),
        (x + 16, BANDS["registers"] + HEIGHT - 10),
        look="line arrow",
    )
    result(drawing, x + 92)


DRAWN = {
    "threePasses": passes(3),
    "twoPasses": passes(2),
    "oneKernel": one_kernel,
    "sharedRow": shared_row,
    "registerRow": register_row,
}
