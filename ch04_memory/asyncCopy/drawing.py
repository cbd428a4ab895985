"""When a block copies tiles and when it works on them: four kernels on one scale of time."""

from __future__ import annotations

from drawing import Drawing

LEFT, TOP = 170, 70
UNIT = 24  # pixels of a unit of time
LATENCY, WORK = 4, 2  # units that a copy and the work on a tile take
ROW, HEIGHT = 26, 20
END = 25  # units that the picture shows
LOOKS = ["sky", "orange", "green", "purple"]

# For each kernel its buffers, and for each tile: when its copy begins, and when the work on it does.
Tile = tuple[int, int]


def one_after_the_other() -> list[Tile]:
    return [(i * (LATENCY + WORK), i * (LATENCY + WORK) + LATENCY) for i in range(4)]


def ring(buffers: int) -> list[Tile]:
    """A tile's copy begins with the work on the tile that has just freed the way for it."""
    tiles: list[Tile] = []
    free = 0
    for i in range(12):
        begins = 0 if i < buffers - 1 else tiles[i - buffers + 1][1]
        works = max(free, begins + LATENCY)
        tiles.append((begins, works))
        free = works + WORK
    return tiles


PANELS = [
    ("synchronous", "one buffer", 1, one_after_the_other()),
    ("doubleBuffer, cpAsync2", "one tile ahead", 2, ring(2)),
    ("cpAsyncRing3", "two tiles ahead", 3, ring(3)),
]


def draw() -> Drawing:
    drawing = Drawing(
        "Copies of tiles and the work on them over time, with one, two and three buffers",
        "With one buffer the block waits for each tile and then works on it: 4 tiles in 24 units of time. With"
        " two buffers a copy runs during the work, and the block still waits for half of the copy: 5 tiles."
        " With three buffers two copies run at a time, and the block works without a break: 10 tiles.",
        TOP + 3 * 122 + 24,
    )
    with drawing.group("key"):
        drawing.cell(LEFT, 22, 3 * UNIT, HEIGHT, "idle", "copy")
        drawing.text(LEFT + 3 * UNIT + 8, 37, "a tile is on its way", "small")
        drawing.cell(LEFT + 240, 22, 2 * UNIT, HEIGHT, "sky", "work")
        drawing.text(
            LEFT + 240 + 2 * UNIT + 8, 37, "the block works on it; numbers are tiles", "small"
        )
    for number, (name, remark, buffers, tiles) in enumerate(PANELS):
        with drawing.group(name):
            draw_panel(drawing, TOP + number * 122, name, remark, buffers, tiles)
    return drawing


def draw_panel(
    drawing: Drawing, top: int, name: str, remark: str, buffers: int, tiles: list[Tile]
) -> None:
    drawing.text(20, top + 14, name.split(", ")[0], "code")
    if ", " in name:
        drawing.text(20, top + 32, name.split(", ")[1], "code")
    drawing.text(20, top + 54, remark, "small")
    for i, (begins, works) in enumerate(tiles):
        look = LOOKS[i % len(LOOKS)]
        y = top + i % buffers * ROW
        if begins + LATENCY <= END:
            drawing.cell(LEFT + begins * UNIT, y, LATENCY * UNIT, HEIGHT, "idle", i)
        if works + WORK <= END:
            drawing.cell(LEFT + works * UNIT, y, WORK * UNIT, HEIGHT, look, i)
    done = sum(works + WORK <= END - 1 for _, works in tiles)
    drawing.line((LEFT, top + 88), (LEFT + END * UNIT, top + 88), look="soft arrow")
    drawing.text(LEFT + END * UNIT, top + 106, f"{done} tiles done", "small end")
