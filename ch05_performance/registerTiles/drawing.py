"""The levels of registerWarpTiles: block tile, warp tile, and a thread's 8 x 8 elements in four pieces."""

from __future__ import annotations

from drawing import Drawing
from tile_hierarchy import Panel, block_tiles, device_memory, picture, thread, warp_tile


def draw() -> Drawing:
    return picture(
        "Where registerWarpTiles keeps its data",
        "In device memory, C is cut into block tiles of 128 x 128. In shared memory, a block has 128 x 8"
        " elements of A and 8 x 128 of B. Its eight warps have 32 x 64 elements of C each. The lanes of a warp"
        " stand in 4 rows of 8. Each lane has four pieces of 4 x 4 elements, 16 rows or 32 columns apart. So a"
        " thread has 8 x 8 sums in registers. For each step along k it loads 8 elements of A and 8 of B, and"
        " adds their outer product.",
        [
            Panel(
                "device memory",
                "all of A, B and C",
                device_memory,
                ["A block has 128 x 128", "elements of C."],
                new=[0, 1],
            ),
            Panel(
                "shared memory",
                "a block's tiles",
                lambda drawing, left: block_tiles(drawing, left, (104, 104), 12, (4, 2), (1, 1)),
                ["128 x 8 of A, 8 x 128", "of B. Each of 8 warps", "has 32 x 64 of C."],
                new=[1, 2],
            ),
            Panel(
                "registers",
                "what a warp holds",
                lambda drawing, left: warp_tile(drawing, left, (128, 64), 2),
                ["The lanes: 4 rows of 8.", "A lane has 4 pieces of", "4 x 4 elements of C."],
                new=[0, 1, 2],
            ),
            Panel(
                "registers",
                "what a thread holds",
                lambda drawing, left: thread(drawing, left, 8, 8, 11),
                [
                    "8 x 8 elements of C.",
                    "The outer product:",
                    "8 + 8 elements for 64",
                    "multiply-adds.",
                ],
                new=[0, 1, 2, 3],
            ),
        ],
    )
