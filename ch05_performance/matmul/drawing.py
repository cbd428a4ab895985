"""The levels of the tiled product: block tile, tiles in shared memory, one element of a thread."""

from __future__ import annotations

from drawing import Drawing
from tile_hierarchy import Panel, Product, Spot, device_memory, part, picture, thread


def draw() -> Drawing:
    return picture(
        "Where the tiled product keeps its data",
        "In device memory, C is cut into tiles of 32 x 32. A block takes one of them, and needs a band of"
        " rows of A and a band of columns of B. It walks along these bands, a tile of each at a time. The two"
        " tiles lie in shared memory. A thread computes one element of C, from a row of one tile and a column"
        " of the other. In registers it has its sum, one element of A and one of B.",
        [
            Panel(
                "device memory",
                "all of A, B and C",
                device_memory,
                [
                    "A block has 32 x 32 of C.",
                    "It needs a band of A and of B,",
                    "and takes a tile of each at a time.",
                ],
            ),
            Panel(
                "shared memory",
                "a block's tiles of A and B",
                shared_memory,
                [
                    "Tiles of 32 x 32. A thread needs",
                    "a row of A and a column of B.",
                    "A warp's threads share the row.",
                ],
            ),
            Panel(
                "registers",
                "what a thread holds",
                lambda drawing, left: thread(drawing, left, 1, 1, 26),
                [
                    "A thread has 1 element of C:",
                    "2 loads from shared memory",
                    "for 1 multiply-add.",
                ],
            ),
        ],
    )


def shared_memory(drawing: Drawing, left: float) -> Spot:
    tile = Product(drawing, left, 78, 78, 78)
    tile.a(part(3, 8))
    tile.b(part(6, 8))
    return tile.c(part(3, 8), part(6, 8))
