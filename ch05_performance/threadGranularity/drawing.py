"""The levels of the tiled product when a thread has several elements of C: 2 x 2 here."""

from __future__ import annotations

from drawing import Drawing
from tile_hierarchy import Panel, Product, Spot, device_memory, part, picture, thread


def draw() -> Drawing:
    return picture(
        "Where granularity2x2 keeps its data",
        "In device memory, C is cut into tiles of 32 x 32, each of which four blocks of 16 x 16 had before."
        " The block's tiles of A and B lie in shared memory: 32 x 16 elements of A and 16 x 32 of B. A"
        " thread has 2 x 2 elements of C, which are 16 rows or columns apart, one in each of the four merged"
        " blocks. In registers it has its four sums, two elements of A and two of B.",
        [
            Panel(
                "device memory",
                "all of A, B and C",
                device_memory,
                [
                    "A block has 32 x 32 of C:",
                    "four blocks of 16 x 16, merged.",
                    "It loads their bands only once.",
                ],
                new=[1, 2],
            ),
            Panel(
                "shared memory",
                "a block's tiles of A and B",
                shared_memory,
                [
                    "32 x 16 of A, 16 x 32 of B.",
                    "A thread has an element in each",
                    "merged block, 16 apart.",
                ],
                new=[1, 2],
            ),
            Panel(
                "registers",
                "what a thread holds",
                lambda drawing, left: thread(drawing, left, 2, 2, 26),
                [
                    "A thread has 2 x 2 elements:",
                    "2 + 2 loads from shared memory",
                    "for 4 multiply-adds.",
                ],
                new=[0, 1, 2],
            ),
        ],
    )


def shared_memory(drawing: Drawing, left: float) -> Spot:
    tile = Product(drawing, left, 100, 100, 50)
    tile.cut(2, 2, "line dashed")  # the blocks that were merged
    places = [part(3, 16), part(11, 16)]
    for place in places:
        tile.a(place)
        tile.b(place)
    spots = [tile.c(row, col) for row in places for col in places]
    return spots[1]
