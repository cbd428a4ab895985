"""From a kernel to the code that a GPU runs, and which GPUs run four kinds of code."""

from __future__ import annotations

from drawing import Drawing

GPUS = [75, 80, 86, 89, 90, 100, 120]
CODES = [
    ("compute_75", False, 75),
    ("compute_90", False, 90),
    ("sm_86", True, 86),
    ("sm_90", True, 90),
]
LEFT, CELL, ROW = 24, 84, 34
TABLE = 286


def draw() -> Drawing:
    drawing = Drawing(
        "From a kernel to the code that a GPU runs",
        "nvcc makes PTX from a kernel, and machine code from the PTX. A file can have both. A GPU runs machine code as"
        " it is, and the driver compiles PTX. PTX for 7.5 runs on all GPUs from 7.5 on. PTX for 9.0 runs on all GPUs"
        " from 9.0 on. Machine code for 8.6 runs on 8.6 and 8.9. Machine code for 9.0 runs only on 9.0.",
        TABLE + 56 + len(CODES) * ROW,
    )
    with drawing.group("path"):
        draw_path(drawing)
    with drawing.group("table"):
        draw_table(drawing)
    return drawing


def draw_path(drawing: Drawing) -> None:
    drawing.text(LEFT, 34, "What nvcc makes, and what the driver makes of it", "head")
    drawing.text(LEFT, 62, "nvcc, once", "small")
    drawing.text(520, 62, "the driver, when a program starts", "small")
    drawing.cell(LEFT, 116, 96, 36, "pale", "kernel.cu", "code")
    drawing.line((LEFT + 98, 134), (168, 134), look="line arrow")
    drawing.rect(156, 84, 336, 146, "soft frame dashed")
    drawing.text(324, 248, "the program's file", "small middle")
    drawing.cell(170, 116, 130, 36, "orange", "PTX (compute_75)", "number")
    drawing.line((235, 154), (235, 200), (344, 200), look="line arrow")
    drawing.text(240, 222, "ptxas", "small")
    drawing.cell(346, 182, 130, 36, "sky", "machine code (sm_90)", "number")
    drawing.line((302, 134), (540, 134), look="line arrow")
    drawing.line((478, 200), (648, 200), look="line arrow")
    drawing.cell(542, 116, 84, 36, "orange", "compile", "small")
    drawing.line((628, 134), (712, 134), (712, 180), look="line arrow")
    drawing.text(636, 126, "+ cache", "small")
    drawing.cell(650, 182, 124, 36, "green", "runs on a 9.0", "small")


def draw_table(drawing: Drawing) -> None:
    drawing.text(LEFT, TABLE, "Which GPUs run this code?", "head")
    for column, gpu in enumerate(GPUS):
        x = 170 + column * CELL
        drawing.text(x + CELL / 2, TABLE + 26, f"{gpu // 10}.{gpu % 10}", "small middle")
    for row, (name, machine, capability) in enumerate(CODES):
        y = TABLE + 36 + row * ROW
        drawing.text(LEFT, y + 20, name, "code")
        for column, gpu in enumerate(GPUS):
            place = (170 + column * CELL, y, CELL, 28)
            if gpu < capability or (machine and gpu // 10 != capability // 10):
                drawing.cell(*place, "idle")
            elif machine:
                drawing.cell(*place, "sky", "as it is", "small")
            else:
                drawing.cell(*place, "orange", "compiled", "small")
