"""A grid of 3 blocks of 4 threads over an array of 10 elements."""

from __future__ import annotations

from drawing import Drawing

BLOCKS, THREADS, ELEMENTS = 3, 4, 10
CELL, HEIGHT, GAP = 46, 30, 26
LEFT = 164
LOOKS = ["sky", "orange", "purple"]
ROWS = {"blockIdx.x": 34, "threadIdx.x": 70, "i": 142, "array": 214}


def left_of(i: int) -> float:
    return LEFT + i * CELL + i // THREADS * GAP


def draw() -> Drawing:
    drawing = Drawing(
        "Which thread takes which element",
        "Three blocks of four threads. threadIdx.x counts from 0 to 3 in each block. The index i ="
        " blockIdx.x * blockDim.x + threadIdx.x counts from 0 to 11. The array has ten elements, so the"
        " last two threads have none.",
        270,
    )
    with drawing.group("names"):
        for name, y in ROWS.items():
            drawing.text(24, y + 20, name, "code")
        drawing.text(LEFT, 126, "i = blockIdx.x * blockDim.x + threadIdx.x", "code")
    with drawing.group("blocks"):
        for block in range(BLOCKS):
            left, right = left_of(block * THREADS), left_of(block * THREADS) + THREADS * CELL
            drawing.text((left + right) / 2, ROWS["blockIdx.x"] + 20, f"block {block}", "middle")
            drawing.rect(
                left - 6, ROWS["blockIdx.x"] - 10, right - left + 12, 82, "soft frame", radius=6
            )
    for i in range(BLOCKS * THREADS):
        look = LOOKS[i // THREADS]
        drawing.cell(left_of(i), ROWS["threadIdx.x"], CELL, HEIGHT, look, i % THREADS, "small")
        drawing.cell(left_of(i), ROWS["i"], CELL, HEIGHT, look, i, "small")
        middle = left_of(i) + CELL / 2
        if i < ELEMENTS:
            drawing.line(
                (middle, ROWS["i"] + HEIGHT), (middle, ROWS["array"] - 2), look="line arrow"
            )
            drawing.cell(left_of(i), ROWS["array"], CELL, HEIGHT, "pale", f"a[{i}]", "code")
    drawing.text(left_of(ELEMENTS) + CELL, ROWS["array"] + 10, "no element:", "small middle")
    drawing.text(left_of(ELEMENTS) + CELL, ROWS["array"] + 27, "do nothing", "small middle")
    return drawing
