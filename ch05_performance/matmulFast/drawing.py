"""The levels of matmulFast: two buffers in shared memory, larger tiles, and fragments a step ahead."""

from __future__ import annotations

from drawing import Drawing
from tile_hierarchy import ALL, Panel, Product, Spot, device_memory, part, picture, thread


def draw() -> Drawing:
    return picture(
        "Where fragmentsAhead keeps its data",
        "In device memory, C is cut into block tiles of 128 x 256. Shared memory has two buffers, each with"
        " 128 x 16 elements of A and 16 x 256 of B. Asynchronous copies fill one buffer while the block"
        " multiplies what is in the other. Each of eight warps has 64 x 64 elements of C. Its lanes stand in 4"
        " rows of 8, and a lane has eight pieces of 4 x 4 elements. So a thread has 16 x 8 sums in registers,"
        " and two sets of fragments: one is used while the next one is loaded.",
        [
            Panel(
                "device memory",
                "all of A, B and C",
                device_memory,
                ["A block has 128 x 256", "elements of C."],
                new=[0, 1],
            ),
            Panel(
                "shared memory",
                "a block's tiles, twice",
                shared_memory,
                [
                    "One buffer is in use.",
                    "Asynchronous copies",
                    "fill the other (dashed).",
                    "8 warps: 64 x 64 each.",
                ],
                new=[0, 1, 2],
            ),
            Panel(
                "registers",
                "what a warp holds",
                warp_tile,
                ["The lanes: 4 rows of 8.", "A lane has 8 pieces of", "4 x 4 elements of C."],
                new=[1, 2],
            ),
            Panel(
                "registers",
                "what a thread holds",
                lambda drawing, left: thread(drawing, left, 16, 8, 6.5, sets=2),
                [
                    "16 x 8 elements of C.",
                    "The next 16 + 8 of A",
                    "and B (dashed) come",
                    "a step ahead.",
                ],
                new=[0, 1, 2, 3],
            ),
        ],
    )


def shared_memory(drawing: Drawing, left: float) -> Spot:
    tile = Product(drawing, left, 116, 58, 12, stages=2)
    tile.a(ALL, 1, "under")
    tile.b(ALL, 1, "under")
    tile.a(ALL, 1, "idle")
    tile.b(ALL, 1, "idle")
    tile.a(part(0, 2))
    tile.b(part(3, 4))
    spot = tile.c(part(0, 2), part(3, 4))
    tile.cut(2, 4)
    return spot


def warp_tile(drawing: Drawing, left: float) -> Spot:
    """In pieces of 4 x 4 elements; those of one lane are marked."""
    tile = Product(drawing, left, 112, 112, 12)
    rows, cols = [part(1 + 4 * i, 16) for i in range(4)], [part(6, 16), part(14, 16)]
    for row in rows:
        tile.a(row)
    for col in cols:
        tile.b(col)
    tile.cut(16, 16)
    spots = [tile.c(row, col) for row in rows for col in cols]
    tile.cut(4, 2, "line")
    return spots[3]
