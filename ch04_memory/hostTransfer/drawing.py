"""The way of a copy from pageable and from pinned memory, and many small copies beside one large copy."""

from __future__ import annotations

from drawing import WIDTH, Drawing

LEFT = 24
BOX, HEIGHT = 150, 44
HOST, BUFFER, DEVICE = 130, 385, 626  # left sides of the boxes
LATENCY, BYTES = 54, 26  # of a small copy, in the timeline
PIECES = 6


def draw() -> Drawing:
    drawing = Drawing(
        "Copies from host to device",
        "From pageable memory, the CPU first copies each piece to a pinned buffer of the driver, and the"
        " copy engine then copies the piece to the device. From pinned memory, the copy engine copies"
        " the array directly. The lower part is a timeline. Six small copies pay the latency six times."
        " If the CPU packs the six arrays first, one copy sends all of them and pays the latency once.",
        470,
    )
    drawing.text(HOST, 34, "memory of the host", "head")
    drawing.text(DEVICE, 34, "device", "head")
    with drawing.group("pageable"):
        draw_pageable(drawing, 52)
    with drawing.group("pinned"):
        draw_pinned(drawing, 146)
    with drawing.group("pieces"):
        drawing.text(LEFT, 254, "Many small copies", "head")
        draw_pieces(drawing, 268)
    with drawing.group("packed"):
        drawing.text(LEFT, 348, "Packed by the CPU, and one copy", "head")
        draw_packed(drawing, 362)
    with drawing.group("key"):
        drawing.line((LEFT, 428), (WIDTH - LEFT, 428), look="line arrow")
        drawing.text(WIDTH - LEFT, 420, "time", "small end")
        drawing.cell(LEFT, 442, 20, 16, "idle")
        drawing.text(LEFT + 28, 455, "latency of a copy", "small")
        drawing.cell(210, 442, 20, 16, "sky")
        drawing.text(238, 455, "its bytes travel", "small")
        drawing.cell(390, 442, 20, 16, "orange")
        drawing.text(418, 455, "the CPU copies on the host", "small")
    return drawing


def draw_arrow(drawing: Drawing, left: float, right: float, y: float, words: str) -> None:
    drawing.line((left + 2, y), (right - 2, y), look="line arrow")
    drawing.text((left + right) / 2, y - 8, words, "small middle")


def draw_pageable(drawing: Drawing, top: int) -> None:
    middle = top + HEIGHT / 2
    drawing.text(LEFT, middle + 5, "pageable", "code")
    drawing.cell(HOST, top, BOX, HEIGHT, "pale", "array", "small")
    draw_arrow(drawing, HOST + BOX, BUFFER, middle, "CPU")
    drawing.cell(BUFFER, top, BOX, HEIGHT, "orange")
    drawing.text(BUFFER + BOX / 2, middle - 4, "pinned buffer", "small middle on")
    drawing.text(BUFFER + BOX / 2, middle + 14, "of the driver", "small middle on")
    draw_arrow(drawing, BUFFER + BOX, DEVICE, middle, "copy engine")
    drawing.cell(DEVICE, top, BOX, HEIGHT, "sky", "array", "small")


def draw_pinned(drawing: Drawing, top: int) -> None:
    middle = top + HEIGHT / 2
    drawing.text(LEFT, middle + 5, "pinned", "code")
    drawing.cell(HOST, top, BOX, HEIGHT, "orange", "array, pinned", "small")
    draw_arrow(drawing, HOST + BOX, DEVICE, middle, "copy engine")
    drawing.cell(DEVICE, top, BOX, HEIGHT, "sky", "array", "small")
    drawing.line((LEFT, top + 72), (WIDTH - LEFT, top + 72), look="soft")


def draw_pieces(drawing: Drawing, top: int) -> None:
    for piece in range(PIECES):
        left = LEFT + piece * (LATENCY + BYTES)
        drawing.cell(left, top, LATENCY, 30, "idle")
        drawing.cell(left + LATENCY, top, BYTES, 30, "sky", piece)


def draw_packed(drawing: Drawing, top: int) -> None:
    width = BYTES * 0.8
    for piece in range(PIECES):
        drawing.cell(LEFT + piece * width, top, width, 30, "orange", piece)
    left = LEFT + PIECES * width
    drawing.cell(left, top, LATENCY, 30, "idle")
    for piece in range(PIECES):
        drawing.cell(left + LATENCY + piece * width, top, width, 30, "sky", piece)
