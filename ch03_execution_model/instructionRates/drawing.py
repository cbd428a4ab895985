"""A quarter of an SM of compute capability 9.0: its units, and how long an instruction of a warp keeps each busy."""

from __future__ import annotations

from drawing import Drawing

LANES = 32  # of a warp
CELL = 8  # pixels
TOP = 172
ROW = 50
CYCLE = 24  # pixels

# Name, what it does, lanes, look. The numbers of the white paper "NVIDIA H100 Tensor Core GPU Architecture".
UNITS = [
    ("FP32", "x * y + z, FP16 pairs", 32, "sky"),
    ("INT32", "integers, logic", 16, "orange"),
    ("FP64", "x * y + z in FP64", 16, "green"),
    ("LD/ST", "loads, stores", 8, "pale"),
    ("SFU", "rsqrtf, __sinf", 4, "purple"),
]


def draw() -> Drawing:
    drawing = Drawing(
        "The units of a quarter of an SM",
        "A scheduler issues one instruction of a warp per cycle. The FP32 unit has 32 lanes and is busy"
        " for one cycle, INT32 and FP64 have 16 lanes and take two, the load/store unit has 8 and takes"
        " four, the special function unit has 4 and takes eight.",
        500,
    )
    drawing.text(24, 34, "One of the four quarters of an SM (compute capability 9.0)", "head")
    with drawing.group("scheduler"):
        drawing.cell(
            24,
            50,
            752,
            34,
            "pale",
            "scheduler: issues one instruction of one warp per cycle",
            "small",
        )
        drawing.cell(24, 92, 752, 34, "pale", "16,384 registers of 32 bits", "small")
    drawing.text(24, TOP - 18, "unit", "small head")
    drawing.text(210, TOP - 18, "lanes", "small head")
    drawing.text(516, TOP - 18, "busy for a warp of 32", "small head")
    for number, (name, work, lanes, look) in enumerate(UNITS):
        with drawing.group(name.replace("/", "_")):
            draw_unit(drawing, TOP + number * ROW, name, work, lanes, look)
    y = TOP + len(UNITS) * ROW
    with drawing.group("tensor_core"):
        drawing.text(24, y + 15, "tensor core", "head")
        drawing.text(24, y + 33, "small matrices: one instruction is thousands of FMAs", "small")
    drawing.text(
        24, 484, "All quarters share L1 cache, shared memory and four texture units.", "small"
    )
    return drawing


def draw_unit(drawing: Drawing, y: int, name: str, work: str, lanes: int, look: str) -> None:
    drawing.text(24, y + 15, name, "head")
    drawing.text(24, y + 33, work, "small")
    for lane in range(lanes):
        drawing.rect(210 + lane * CELL, y, CELL, 22, look)
    drawing.text(210 + lanes * CELL + 8, y + 16, str(lanes), "small")
    cycles = LANES // lanes
    for cycle in range(cycles):
        drawing.cell(516 + cycle * CYCLE, y, CYCLE, 22, look, cycle + 1)
    words = "cycle" if cycles == 1 else "cycles"
    drawing.text(516 + cycles * CYCLE + 8, y + 16, words, "small")
