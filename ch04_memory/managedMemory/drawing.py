"""Where the pages of three matrices are after each step, in three of the program's rows."""

from __future__ import annotations

from drawing import Drawing

LEFT, TOP = 100, 74
COLUMN, ROW = 232, 122  # of the table of maps
CELL = 17
PAGES = 4  # of each matrix
LOOKS = {"A": "sky", "B": "orange", "C": "green"}
STEPS = ["fill", "add", "look"]
# By row of the program: the matrices with pages on the host, and on the device, after each step.
MAPS = {
    "managed": [("AB", ""), ("", "ABC"), ("ABC", "")],
    "managedPrefetch": [("AB", ""), ("C", "AB"), ("ABC", "")],
    "managedReadMostly": [("AB", ""), ("ABC", "AB"), ("ABC", "AB")],
}


def draw() -> Drawing:
    drawing = Drawing(
        "Where the pages are after each step",
        "After fill, A and B are on the host in all rows. After add, all pages of managed are on the"
        " device. In managedPrefetch, A and B are on the device, and C is on the host. In"
        " managedReadMostly, all three matrices are on the host, and the device has copies of A and B."
        " After look, all pages are on the host. In managedReadMostly, the device still has its copies.",
        TOP + len(STEPS) * ROW + 42,
    )
    for place, name in enumerate(MAPS):
        drawing.text(LEFT + place * COLUMN, 40, name, "code")
    for number, step in enumerate(STEPS):
        top = TOP + number * ROW
        drawing.text(24, top + 12, "after", "small")
        drawing.text(24, top + 32, step, "head")
        for place, (name, maps) in enumerate(MAPS.items()):
            with drawing.group(f"{name}_{step}"):
                draw_map(drawing, LEFT + place * COLUMN, top, *maps[number])
    with drawing.group("key"):
        y = TOP + len(STEPS) * ROW + 4
        for place, (name, look) in enumerate(LOOKS.items()):
            drawing.cell(LEFT + place * 126, y, CELL, CELL, look, name)
            drawing.text(LEFT + place * 126 + 26, y + 13, f"page of {name}", "small")
        drawing.cell(LEFT + 390, y, CELL, CELL, "idle")
        drawing.text(LEFT + 416, y + 13, "no page here", "small")
    return drawing


def draw_map(drawing: Drawing, left: float, top: float, host: str, device: str) -> None:
    for line, (words, present) in enumerate([("host", host), ("device", device)]):
        y = top + line * 50
        drawing.text(left, y + 12, words, "small")
        for number, (name, look) in enumerate(LOOKS.items()):
            x = left + number * (PAGES * CELL + 4)
            for page in range(PAGES):
                is_here = name in present
                drawing.cell(
                    x + page * CELL,
                    y + 18,
                    CELL,
                    CELL,
                    look if is_here else "idle",
                    name if is_here else "",
                )
