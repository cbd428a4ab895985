"""The fields of 16 particles in three layouts, and the sectors that a load of the mass touches."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

FIELDS = "xyzmuvwc"
MASS = FIELDS.index("m")
LANES = 8  # of a warp, and particles of a tile; a GPU has 32
PARTICLES = 16
WORDS = 8  # of a sector, 4 bytes each
SECTORS = 4  # in a line of the drawing
CELL, ROW = 22, 20
LEFT = 48
PANEL = 150

# The particle and the field at a place of the array.
At = Callable[[int], "tuple[int, int]"]
LAYOUTS: list[tuple[str, At]] = [
    (
        "AoS, an array of structures: all fields of a particle, then the next",
        lambda i: (i // 8, i % 8),
    ),
    (
        "SoA, a structure of arrays: one field of all particles, then the next",
        lambda i: (i % PARTICLES, i // PARTICLES),
    ),
    (
        "AoSoA: the same for a tile of 8 particles, then the next tile",
        lambda i: (i // 64 * LANES + i % LANES, i // LANES % 8),
    ),
]


def draw() -> Drawing:
    drawing = Drawing(
        "Where the mass of eight particles lies in three layouts",
        "In the array of structures, the masses of eight particles lie in eight sectors, one word in each. In"
        " the structure of arrays and in the array of structures of arrays, they fill one sector.",
        24 + 3 * PANEL + 56,
    )
    for number, (name, at) in enumerate(LAYOUTS):
        with drawing.group(f"layout_{number}"):
            draw_layout(drawing, 34 + number * PANEL, name, at)
    with drawing.group("key"):
        draw_key(drawing, 34 + 3 * PANEL)
    return drawing


def is_wanted(at: At, place: int) -> bool:
    particle, field = at(place)
    return field == MASS and particle < LANES


def draw_layout(drawing: Drawing, top: float, name: str, at: At) -> None:
    count = PARTICLES * len(FIELDS) // WORDS
    touched = [
        sector
        for sector in range(count)
        if any(is_wanted(at, sector * WORDS + word) for word in range(WORDS))
    ]
    drawing.text(24, top, name, "small")
    drawing.text(776, top, f"{len(touched)} sector{'s' if len(touched) > 1 else ''}", "small end")
    for sector in range(count):
        x = LEFT + sector % SECTORS * WORDS * CELL
        y = top + 12 + sector // SECTORS * (ROW + 5)
        for word in range(WORDS):
            place = sector * WORDS + word
            look = "sky" if is_wanted(at, place) else "idle" if sector in touched else "pale"
            letter = FIELDS[at(place)[1]]
            drawing.cell(x + word * CELL, y, CELL, ROW, look, letter)
        drawing.rect(x, y, WORDS * CELL, ROW, "frame thick" if sector in touched else "frame soft")


def draw_key(drawing: Drawing, y: float) -> None:
    drawing.cell(24, y, CELL, ROW, "sky", "m")
    drawing.text(54, y + 15, "loaded by one of 8 lanes", "small")
    drawing.cell(250, y, CELL, ROW, "idle", "x")
    drawing.text(280, y + 15, "moved, not used by this load", "small")
    drawing.rect(500, y, 3 * CELL, ROW, "frame thick")
    drawing.text(574, y + 15, "a sector: 32 bytes", "small")
