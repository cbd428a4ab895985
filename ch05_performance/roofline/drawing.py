"""The roofline of an H200: two roofs, the ridge between them, and where two kernels are below the roofs."""

from __future__ import annotations

import math

from drawing import Drawing

LEFT, RIGHT, TOP, BOTTOM = 120.0, 770.0, 60.0, 330.0  # of the axes
LOW, HIGH = 1 / 24, 256.0  # operations per byte
SLOWEST, FASTEST = 150.0, 130_000.0  # GFLOP/s
MEMORY, ARITHMETIC = 4814.0, 66_908.0  # GB/s, GFLOP/s
RIDGE = ARITHMETIC / MEMORY


def draw() -> Drawing:
    drawing = Drawing(
        "The roofline of an H200",
        "Operations per second over operations per byte. Up to the ridge, at 13.9 operations per byte, the"
        " roof rises with the bandwidth of the memory. Behind the ridge it is flat, at the peak of the"
        " arithmetic. vectorAdd, with 1/12 operation per byte, can reach 401 GFLOP/s. multiplyAdds with F ="
        " 128, at 32 operations per byte, can reach the peak of 66,908 GFLOP/s.",
        410,
    )
    drawing.text(24, 36, "The most that a kernel can do on an H200", "head")
    with drawing.group("axes"):
        drawing.line((LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM), look="soft")
        drawing.text(
            (LEFT + RIGHT) / 2,
            392,
            "operations per byte (both axes are logarithmic)",
            "small middle",
        )
        drawing.text(24, TOP + 6, "GFLOP/s", "small")
        for intensity, words in ((1 / 12, "1/12"), (1.0, "1"), (RIDGE, "13.9"), (32.0, "32")):
            drawing.line((x_of(intensity), BOTTOM), (x_of(intensity), BOTTOM + 6), look="soft")
            drawing.text(x_of(intensity), BOTTOM + 22, words, "small middle")
    with drawing.group("roofs"):
        ridge = (x_of(RIDGE), y_of(ARITHMETIC))
        drawing.line((x_of(LOW), y_of(LOW * MEMORY)), ridge, (RIGHT, ridge[1]), look="line heavy")
        drawing.line(ridge, (ridge[0], BOTTOM), look="soft dashed")
        drawing.text(ridge[0] + 24, ridge[1] - 12, "arithmetic: 66,908 GFLOP/s", "small")
        drawing.text(x_of(1.0) - 30, y_of(MEMORY) - 30, "memory: 4,814 GB/s", "small end")
        drawing.text(x_of(1.0) - 30, y_of(MEMORY) - 12, "times operations per byte", "small end")
        drawing.text(ridge[0] - 12, BOTTOM - 12, "memory is the limit", "small end")
        drawing.text(x_of(32.0) + 8, BOTTOM - 12, "arithmetic is the limit", "small")
        drawing.text(ridge[0], BOTTOM + 40, "ridge", "small middle")
    with drawing.group("kernels"):
        draw_kernel(drawing, 1 / 12, "vectorAdd: at most 401")
        draw_kernel(drawing, 32.0, "multiplyAdds, F = 128")
    return drawing


def x_of(intensity: float) -> float:
    return LEFT + (RIGHT - LEFT) * math.log(intensity / LOW) / math.log(HIGH / LOW)


def y_of(rate: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * math.log(rate / SLOWEST) / math.log(FASTEST / SLOWEST)


def draw_kernel(drawing: Drawing, intensity: float, words: str) -> None:
    """The most that a kernel of this intensity can reach."""
    x, y = x_of(intensity), y_of(min(ARITHMETIC, intensity * MEMORY))
    drawing.line((x, y), (x, BOTTOM), look="soft dashed")
    drawing.circle(x, y, 6, "orange")
    drawing.text(x + 14, y + 20, words, "small")
