"""Where a texture's linear filter looks, what address modes do, and which texels share a sector."""

from __future__ import annotations

from drawing import Drawing

CELL = 34
LOOKS = {"A": "sky", "B": "orange", "C": "green", "D": "purple"}
MODES = [
    ("border", "0000ABCD0000"),
    ("clamp", "AAAAABCDDDDD"),
    ("wrap", "ABCDABCDABCD"),
    ("mirror", "DCBAABCDDCBA"),
]


def draw_filter(drawing: Drawing) -> None:
    left, top, wide = 60, 78, 90
    drawing.text(24, 34, "Linear filter: tex2D() at x = 1.8", "head")
    for i, name in enumerate("ABCD"):
        drawing.cell(left + i * wide, top, wide, 44, LOOKS[name], name)
        middle = left + (i + 0.5) * wide
        drawing.line((middle, top + 44), (middle, top + 54))
        drawing.text(left + (i + 0.5) * wide, top + 70, f"{i}.5", "small middle")
    for i in range(5):
        drawing.line((left + i * wide, top - 6), (left + i * wide, top))
        drawing.text(left + i * wide, top - 12, str(i), "small middle")
    place = left + 1.8 * wide
    drawing.line((place, top + 102), (place, top + 46), look="line arrow")
    drawing.text(place, top + 118, "x = 1.8", "small middle")
    drawing.text(470, top + 12, "1.8 lies 0.3 behind the centre of B.", "small")
    drawing.text(470, top + 34, "0.3 is rounded to 77/256.", "small")
    drawing.text(470, top + 56, "result = 179/256 B + 77/256 C", "small")
    drawing.text(470, top + 78, "The centre of texel 0 is at 0.5.", "small")


def draw_modes(drawing: Drawing) -> None:
    left, top = 150, 262
    drawing.text(24, 240, "Address modes: a texture of 4 texels, at x = -4 to 8", "head")
    for row, (name, texels) in enumerate(MODES):
        y = top + row * (CELL + 8)
        drawing.text(24, y + 22, name)
        for i, texel in enumerate(texels):
            inside = 4 <= i < 8
            look = LOOKS.get(texel, "pale") if inside else "pale"
            drawing.cell(left + i * CELL, y, CELL, CELL, look, texel)
    drawing.text(580, top + 2 * (CELL + 8) + 8, "wrap and mirror need", "small")
    drawing.text(580, top + 2 * (CELL + 8) + 28, "normalised coordinates", "small")


def draw_sectors(drawing: Drawing) -> None:
    top, cell = 492, 22
    drawing.text(24, 464, "Texels of 4 bytes that share a sector of 32 bytes", "head")
    for left, title, width, height in (
        (24, "rows in linear memory: 8 x 1", 8, 1),
        (420, "CUDA array: 4 x 2", 4, 2),
    ):
        drawing.text(left, top, title, "small")
        for y in range(4):
            for x in range(16):
                number = (y // height) * (16 // width) + x // width
                look = ("sky", "orange")[(number + y // height * (height == 1)) % 2]
                if height == 2:
                    look = ("sky", "orange")[(x // width + y // height) % 2]
                drawing.rect(left + x * cell, top + 12 + y * cell, cell, cell, look)


def draw() -> Drawing:
    drawing = Drawing(
        "A texture's filter, its address modes, and the texels of a sector",
        "Four texels A to D have their centres at 0.5, 1.5, 2.5 and 3.5. A read at 1.8 gives 179/256"
        " of B and 77/256 of C. Outside the texture, border gives 0, and clamp gives the nearest"
        " texel. Wrap repeats the texture, and mirror reverses every second copy of it. A sector"
        " holds 8 texels of one row of linear memory, or 4 by 2 texels of a CUDA array.",
        612,
    )
    with drawing.group("filter"):
        draw_filter(drawing)
    with drawing.group("modes"):
        draw_modes(drawing)
    with drawing.group("sectors"):
        draw_sectors(drawing)
    return drawing
