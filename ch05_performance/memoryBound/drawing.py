"""The arrays that the kernels of threeKernels, twoKernels and oneKernel load and store."""

from __future__ import annotations

from typing import NamedTuple

from drawing import Drawing


class Kernel(NamedTuple):
    name: str
    loads: list[str]  # names of arrays
    stores: str


VERSIONS = {
    "threeKernels": [
        Kernel("scale", ["x"], "t"),
        Kernel("scale", ["y"], "u"),
        Kernel("add", ["t", "u"], "y"),
    ],
    "twoKernels": [Kernel("scale", ["y"], "y"), Kernel("addScaled", ["x", "y"], "y")],
    "oneKernel": [Kernel("axpby", ["x", "y"], "out")],
}
TEMPORARY = ["t", "u"]  # arrays that only the kernels need

LEFT = 160
TOP = 34
HEIGHT = 116  # of a version
BOX = 124  # the width of a kernel
STEP = 150  # from one kernel to the next
KERNEL = 30  # the height of a kernel
WAY = 42  # from a kernel to the memory
MEMORY = 24


def draw() -> Drawing:
    drawing = Drawing(
        "What three versions of y = a x + b y load and store",
        "threeKernels launches scale, scale and add. The first loads x and stores t, the second loads y and"
        " stores u, the third loads t and u and stores y. For each element, 7 floats go through memory, which"
        " are 28 bytes. twoKernels launches scale, which loads y and stores y, and addScaled, which loads x and"
        " y and stores y: 5 floats, 20 bytes. oneKernel launches axpby, which loads x and y and stores out: 3"
        " floats, 12 bytes.",
        TOP + len(VERSIONS) * HEIGHT,
    )
    drawing.text(
        LEFT,
        24,
        "up: load, down: store, dashed: a temporary array; each arrow is 4 bytes for each element",
        "small",
    )
    for number, (version, kernels) in enumerate(VERSIONS.items()):
        with drawing.group(version):
            draw_version(drawing, TOP + number * HEIGHT, version, kernels)
    return drawing


def draw_version(drawing: Drawing, top: float, version: str, kernels: list[Kernel]) -> None:
    memory = top + KERNEL + WAY
    drawing.text(20, top + 20, version, "head")
    drawing.text(20, memory + 17, "memory", "small")
    drawing.rect(LEFT, memory, 3 * STEP - (STEP - BOX), MEMORY, "pale", radius=4)
    for number, kernel in enumerate(kernels):
        left = LEFT + number * STEP
        drawing.cell(left, top, BOX, KERNEL, "sky", kernel.name, "code")
        arrows = [*kernel.loads, kernel.stores]
        for place, array in enumerate(arrows):
            x = left + BOX * (place + 0.5) / len(arrows)
            ends = [(x, memory), (x, top + KERNEL)]
            if place >= len(kernel.loads):
                ends.reverse()
            drawing.line(*ends, look="line arrow" + (" dashed" if array in TEMPORARY else ""))
            drawing.text(x + 7, top + KERNEL + WAY / 2 + 5, array, "code")
    floats = sum(len(kernel.loads) + 1 for kernel in kernels)
    drawing.text(LEFT + 3 * STEP, top + KERNEL + WAY / 2 - 4, f"{floats} floats,")
    drawing.text(LEFT + 3 * STEP, top + KERNEL + WAY / 2 + 16, f"{4 * floats} bytes", "head")
