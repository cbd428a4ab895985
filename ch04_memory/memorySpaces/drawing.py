"""Where the variables of a program live: in registers, shared memory, and parts of device memory."""

from drawing import Drawing

LEFT, SM_WIDTH, GAP = 24, 292, 16
THREADS = 4  # of a block
DEVICE_WIDTH = 2 * SM_WIDTH + GAP
HOST = LEFT + DEVICE_WIDTH + 50


def draw() -> Drawing:
    drawing = Drawing(
        "The memories of a GPU, and which threads see them",
        "Two SMs, each with a block. Each thread of a block has registers of its own. Each block has"
        " shared memory, in its SM. Device memory has three parts: local memory, with a piece for each"
        " thread; global memory, for all threads; constant memory, which all threads read. Between an"
        " SM and device memory are the L1 cache, a cache for constants, and the L2 cache, which all"
        " SMs share. The host copies to and from global memory, and to constant memory.",
        430,
    )
    for number in range(2):
        with drawing.group(f"sm_{number}"):
            draw_sm(drawing, LEFT + number * (SM_WIDTH + GAP), number)
    with drawing.group("l2"):
        drawing.cell(LEFT, 236, DEVICE_WIDTH, 28, "pale", "L2 cache, for all SMs", "small")
    with drawing.group("device_memory"):
        draw_device_memory(drawing, 290)
    with drawing.group("host"):
        draw_host(drawing, 290)
    with drawing.group("key"):
        draw_key(drawing, 404)
    return drawing


def draw_sm(drawing: Drawing, x: int, number: int) -> None:
    drawing.rect(x, 18, SM_WIDTH, 200, "frame thick", radius=6)
    drawing.text(x + 12, 40, f"SM {number}, block {number}", "head")
    width = (SM_WIDTH - 24) / THREADS
    for thread in range(THREADS):
        left = x + 12 + thread * width
        drawing.text(left + width / 2, 64, f"thread {thread}", "small middle")
        drawing.cell(left + 3, 72, width - 6, 28, "orange", "registers")
    drawing.cell(x + 12, 114, SM_WIDTH - 24, 36, "green", "shared memory of the block", "small")
    half = (SM_WIDTH - 32) / 2
    drawing.cell(x + 12, 172, half, 28, "pale", "L1 cache", "small")
    drawing.cell(x + 20 + half, 172, half, 28, "pale", "constant cache", "small")


def draw_device_memory(drawing: Drawing, y: int) -> None:
    drawing.rect(LEFT, y, DEVICE_WIDTH, 92, "frame thick", radius=6)
    drawing.text(LEFT + 12, y + 22, "Device memory", "head")
    width = (DEVICE_WIDTH - 40) / 3
    pieces = 8  # of local memory: one for each thread that the drawing shows
    for piece in range(pieces):
        left = LEFT + 12 + piece * width / pieces
        drawing.rect(left, y + 34, width / pieces, 26, "orange")
    drawing.text(LEFT + 12 + width / 2, y + 80, "local: a piece for each thread", "small middle")
    middle = LEFT + 20 + width
    drawing.cell(middle, y + 34, width, 26, "sky", "__device__, cudaMalloc()")
    drawing.text(middle + width / 2, y + 80, "global", "small middle")
    right = LEFT + 28 + 2 * width
    drawing.cell(right, y + 34, width, 26, "purple", "__constant__")
    drawing.text(right + width / 2, y + 80, "constant: 64 KiB", "small middle")


def draw_host(drawing: Drawing, y: int) -> None:
    width = 776 - HOST
    drawing.rect(HOST, y, width, 92, "frame thick", radius=6)
    drawing.text(HOST + width / 2, y + 52, "Host", "head middle")
    drawing.line((HOST - 4, y + 47), (LEFT + DEVICE_WIDTH + 4, y + 47), look="line both")
    drawing.text(HOST + width, y - 12, "copies, by address or name", "small end")


def draw_key(drawing: Drawing, y: int) -> None:
    keys = [
        ("orange", "seen by one thread", 24),
        ("green", "by one block", 226),
        ("sky", "by all threads", 392),
    ]
    for look, words, x in [*keys, ("purple", "by all threads, for reading", 562)]:
        drawing.cell(x, y - 8, 18, 18, look)
        drawing.text(x + 26, y + 6, words, "small")
