"""The levels of matmulFast: two buffers in shared memory, larger tiles, and fragments a step ahead."""

from __future__ import annotations

from drawing import Drawing
from tile_hierarchy import Panel, block_tiles, device_memory, picture, thread, warp_tile


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
                lambda drawing, left: block_tiles(
                    drawing, left, (116, 58), 12, (2, 4), (0, 3), stages=2
                ),
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
                lambda drawing, left: warp_tile(drawing, left, (112, 112), 4),
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
