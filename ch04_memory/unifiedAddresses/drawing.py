"""Six kinds of memory in one address space, and who can use each of them."""

from __future__ import annotations

from drawing import WIDTH, Drawing

LEFT, BOX, HEIGHT = 96, 113, 50
# The function or qualifier in two lines; then what the host and the device do.
KINDS = [
    ("malloc()", "", "uses it", ""),
    ("cudaMalloc-", "Host()", "uses it", "over the link"),
    ("cudaHost-", "Register()", "uses it", "over the link"),
    ("cudaMalloc-", "Managed()", "pages move", "pages move"),
    ("cudaMalloc()", "", "", "uses it"),
    ("__device__", "", "", "uses it"),
]
PLACES = [("host memory", 3, "orange"), ("both", 1, "purple"), ("device memory", 2, "sky")]


def draw() -> Drawing:
    drawing = Drawing(
        "One address space, six kinds of memory",
        "One row of addresses: malloc(), cudaMallocHost() and cudaHostRegister() are in host memory,"
        " cudaMallocManaged() is in both, cudaMalloc() and __device__ are in device memory. The host"
        " uses the first four, the device uses all but malloc().",
        308,
    )
    drawing.text(24, 34, "One address space", "head")
    with drawing.group("addresses"):
        draw_places(drawing, 66)
        for number, (first, second, _, _) in enumerate(KINDS):
            left = LEFT + number * BOX
            drawing.cell(left, 80, BOX, HEIGHT, look_of(number))
            middle = left + BOX / 2
            lines = [(first, 109)] if not second else [(first, 100), (second, 118)]
            for words, y in lines:
                drawing.text(middle, y, words, "code middle on")
        drawing.line((LEFT, 152), (WIDTH - 20, 152), look="line arrow")
        drawing.text(WIDTH - 24, 168, "addresses (their real order differs)", "small end")
    for line, who in enumerate(["host", "device"]):
        y = 186 + line * 52
        with drawing.group(who):
            drawing.text(24, y + 23, who, "head")
            for number, kind in enumerate(KINDS):
                words = kind[2 + line]
                left = LEFT + number * BOX + 3
                look = "pale" if words else "idle"
                drawing.cell(left, y, BOX - 6, 36, look, words or "cannot use it", "small")
    return drawing


def look_of(number: int) -> str:
    for _, count, look in PLACES:
        if number < count:
            return look
        number -= count
    return ""


def draw_places(drawing: Drawing, y: float) -> None:
    left = LEFT
    for name, count, _ in PLACES:
        drawing.bracket(left + 4, left + count * BOX - 4, y, name)
        left += count * BOX
