"""The registers of an SM, shared out to the blocks of three kernels, and the warps that a scheduler gets."""

from __future__ import annotations

from drawing import Drawing

LEFT, LENGTH, HEIGHT, ROW, TOP = 190, 352, 40, 76, 104
SCHEDULER, SQUARE, LOCAL = 572, 14, 696
REGISTERS, BLOCK, UNIT, SCHEDULERS = 65_536, 256, 256, 4
# What nvcc gives a thread of each kernel, for compute capability 9.0: registers, and bytes of local memory.
KERNELS = [("mixAtLeast2", 106, 0), ("mixAtLeast4", 64, 304), ("mixAtLeast8", 32, 544)]


def of_warp(registers: int) -> int:
    """A warp gets its registers in units."""
    return -(-registers * 32 // UNIT) * UNIT


def draw() -> Drawing:
    drawing = Drawing(
        "Registers of a thread decide how many blocks fit",
        "An SM has 65,536 registers, and a block 256 threads. With 106 registers per thread, two blocks"
        " fit: each of the four schedulers has 4 warps, and nothing is in local memory. With 64, four"
        " blocks fit: 8 warps for each scheduler, 304 bytes of local memory per thread. With 32, eight"
        " blocks fit: 16 warps for each scheduler, 544 bytes of local memory per thread.",
        360,
    )
    drawing.text(24, 34, "The 65,536 registers of an SM, in blocks of 256 threads", "head")
    drawing.text(LEFT, 78, "registers of the resident blocks", "small")
    drawing.text(SCHEDULER, 62, "warps of one", "small")
    drawing.text(SCHEDULER, 78, "scheduler", "small")
    drawing.text(LOCAL, 62, "local memory", "small")
    drawing.text(LOCAL, 78, "of a thread", "small")
    for row, (kernel, registers, local) in enumerate(KERNELS):
        with drawing.group(kernel):
            _row(drawing, TOP + row * ROW, kernel, registers, local)
    y = TOP + len(KERNELS) * ROW + 2
    for x, look, words in [
        (LEFT, "sky", "a resident block"),
        (LEFT + 170, "pale", "too little for one more block"),
    ]:
        drawing.rect(x, y, 18, 14, look)
        drawing.text(x + 26, y + 12, words, "small")
    return drawing


def _row(drawing: Drawing, y: int, kernel: str, registers: int, local: int) -> None:
    drawing.text(24, y + 17, kernel, "code")
    drawing.text(24, y + 36, f"{registers} per thread", "small")
    warps_of_block = BLOCK // 32
    taken = of_warp(registers) * warps_of_block
    blocks = REGISTERS // taken
    width = LENGTH * taken / REGISTERS
    drawing.rect(LEFT, y, LENGTH, HEIGHT, "pale")
    for block in range(blocks):
        words = f"{taken:,}"
        drawing.cell(LEFT + block * width, y, width, HEIGHT, "sky", words, "number")
    drawing.rect(LEFT, y, LENGTH, HEIGHT, "frame")
    warps = blocks * warps_of_block
    drawing.text(LEFT, y + HEIGHT + 17, f"{blocks} blocks, {warps} of 64 warps", "small")
    for warp in range(warps // SCHEDULERS):
        x = SCHEDULER + warp % 8 * SQUARE
        drawing.rect(x, y + warp // 8 * SQUARE + 6, SQUARE - 3, SQUARE - 3, "green")
    drawing.text(LOCAL, y + 25, f"{local} bytes")
