"""The four resources of an SM, filled by blocks until one of them is full."""

from __future__ import annotations

from drawing import Drawing

LEFT, LENGTH, HEIGHT, ROW, TOP = 176, 470, 34, 62, 90
# What an SM of compute capability 8.6 has and a block takes; how the page writes the two.
RESOURCES = [
    ("warp slots", 48, 8, "48", "8"),
    ("block slots", 16, 1, "16", "1"),
    ("registers", 65536, 12288, "65,536", "12,288"),
    ("shared memory", 102400, 17408, "100 KiB", "17 KiB"),
]


def draw() -> Drawing:
    drawing = Drawing(
        "Blocks fill an SM until one resource is full",
        "An SM of compute capability 8.6 and blocks of 256 threads, 48 registers and 16 KiB. The warp"
        " slots have room for 6 blocks, the block slots for 16, the registers for 5 and the shared"
        " memory for 5. The least counts: 5 blocks are resident, 40 of 48 warps.",
        396,
    )
    resident = min(has // takes for _, has, takes, _, _ in RESOURCES)
    drawing.text(24, 34, "An SM of compute capability 8.6", "head")
    drawing.text(
        24, 58, "a block: 256 threads of 48 registers, 16 KiB and 1 KiB for the system", "small"
    )
    drawing.text(668, 58, "room for", "small")
    for number, resource in enumerate(RESOURCES):
        with drawing.group(resource[0].replace(" ", "_")):
            draw_resource(drawing, TOP + number * ROW, resource, resident)
    with drawing.group("sum"):
        warps, most = resident * RESOURCES[0][2], RESOURCES[0][1]
        words = f"The least counts: {resident} blocks, {warps} of {most} warps"
        drawing.text(LEFT, TOP + 4 * ROW + 10, words, "head")
        y = TOP + 4 * ROW + 24
        for x, look, label in [
            (LEFT, "sky", "a resident block"),
            (LEFT + 164, "idle", "room for one more"),
            (LEFT + 354, "pale", "too little for one more"),
        ]:
            drawing.rect(x, y, 18, 18, look)
            drawing.text(x + 26, y + 14, label, "small")
    return drawing


def draw_resource(
    drawing: Drawing, y: int, resource: tuple[str, int, int, str, str], resident: int
) -> None:
    name, has, takes, has_words, takes_words = resource
    drawing.text(24, y + 15, name, "small")
    drawing.text(24, y + 33, has_words, "small")
    drawing.rect(LEFT, y, LENGTH, HEIGHT, "pale")
    fit = has // takes
    width = LENGTH * takes / has
    for block in range(fit):
        place = (LEFT + block * width, y, width, HEIGHT)
        if block >= resident:
            drawing.rect(*place, "under")
        look = "sky" if block < resident else "idle"
        drawing.cell(*place, look, takes_words, "small")
    drawing.rect(LEFT, y, LENGTH, HEIGHT, "frame")
    blocks = f"{fit} blocks"
    drawing.text(668, y + 22, blocks, "head" if fit == resident else "")
