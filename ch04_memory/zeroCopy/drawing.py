"""Where the bytes of c = a + b travel: with copies, without copies, and on an integrated GPU."""

from __future__ import annotations

from drawing import WIDTH, Drawing

PANEL, LEFT = 244, 24  # width of a panel, and where the first begins
HOST, LINK, DEVICE, CHIP = 66, 132, 180, 256  # tops
ROW = 26  # of the timelines


def draw() -> Drawing:
    drawing = Drawing(
        "Where the bytes travel",
        "With copies, a and b travel over the link into device memory, the SMs read them there, and c"
        " travels back. With zero copy, the SMs read a and b over the link and write c over the link."
        " An integrated GPU has no link: CPU and GPU use the same memory. The timeline below shows that"
        " copies come one after the other, and that zero copy reads and writes at the same time.",
        490,
    )
    titles = ["With copies", "Zero copy", "Integrated GPU"]
    for number, (title, draw_panel) in enumerate(
        zip(titles, [draw_copies, draw_zero_copy, draw_integrated])
    ):
        left = LEFT + number * (PANEL + 10)
        with drawing.group(title.replace(" ", "-")):
            drawing.text(left, 40, title, "head")
            draw_panel(drawing, left)
    drawing.line((LEFT, 324), (WIDTH - LEFT, 324), look="soft")
    with drawing.group("timelines"):
        draw_timelines(drawing, 340)
    return drawing


def draw_arrays(drawing: Drawing, left: float, top: float, look: str) -> None:
    for place, name in enumerate("abc"):
        drawing.cell(left + 12 + place * 76, top + 10, 68, 26, look, name, "code")


def draw_memory(drawing: Drawing, left: float, top: float, words: str, look: str) -> None:
    """Memory of 244 x 62 pixels with room for the three arrays."""
    drawing.rect(left, top, PANEL, 60, "frame thick", radius=6)
    draw_arrays(drawing, left, top, look)
    drawing.text(left + 12, top + 53, words, "small")


def draw_sms(drawing: Drawing, left: float) -> None:
    drawing.cell(left, CHIP, PANEL, 40, "purple", "SMs: the kernel", "small")


def arrows(drawing: Drawing, left: float, top: float, bottom: float) -> None:
    """a and b go down, and c comes up."""
    for place, name in enumerate("abc"):
        x = left + 46 + place * 76
        ends = [(x, top + 2), (x, bottom - 2)]
        drawing.line(*(reversed(ends) if name == "c" else ends), look="line arrow")


def draw_link(drawing: Drawing, left: float) -> None:
    drawing.text(left + PANEL - 4, LINK + 28, "link", "small end")


def draw_copies(drawing: Drawing, left: float) -> None:
    draw_memory(drawing, left, HOST, "host memory", "pale")
    arrows(drawing, left, HOST + 60, DEVICE)
    draw_link(drawing, left)
    draw_memory(drawing, left, DEVICE, "device memory", "sky")
    arrows(drawing, left, DEVICE + 60, CHIP)
    draw_sms(drawing, left)


def draw_zero_copy(drawing: Drawing, left: float) -> None:
    draw_memory(drawing, left, HOST, "host memory, pinned", "orange")
    arrows(drawing, left, HOST + 60, CHIP)
    draw_link(drawing, left)
    draw_sms(drawing, left)


def draw_integrated(drawing: Drawing, left: float) -> None:
    draw_memory(drawing, left, HOST, "one memory of CPU and GPU", "orange")
    arrows(drawing, left, HOST + 60, CHIP)
    draw_sms(drawing, left)


def draw_timelines(drawing: Drawing, top: float) -> None:
    """In units of the time in which one array travels."""
    unit, left = 124, 150
    drawing.text(LEFT, top + 19, "With copies", "small")
    for start, words, look in [(0, "a", "orange"), (1, "b", "orange"), (2.14, "c", "green")]:
        drawing.cell(left + start * unit, top, unit, ROW, look, words, "code")
    drawing.cell(left + 2 * unit, top, 0.14 * unit, ROW, "purple")
    top += ROW + 16
    drawing.text(LEFT, top + 32, "Zero copy", "small")
    drawing.cell(left, top, 2 * unit, ROW, "orange", "a, b", "code")
    drawing.cell(left + 0.1 * unit, top + ROW, 2 * unit, ROW, "green", "c", "code")
    drawing.line((left, top + 64), (WIDTH - LEFT, top + 64), look="line arrow")
    drawing.text(WIDTH - LEFT, top + 56, "time", "small end")
    for place, (look, words) in enumerate(
        [("orange", "host to device"), ("green", "device to host"), ("purple", "kernel")]
    ):
        drawing.cell(left + place * 180, top + 78, 20, 16, look)
        drawing.text(left + place * 180 + 28, top + 91, words, "small")
