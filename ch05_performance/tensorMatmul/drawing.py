"""The levels of mmaPipelined: four stages in shared memory, a warp tile, and one product of a tensor core."""

from __future__ import annotations

from drawing import Drawing
from tile_hierarchy import Panel, Product, Spot, block_tiles, device_memory, part, picture

STAGES = 4
LANE = 6  # of which the parts are marked


def draw() -> Drawing:
    return picture(
        "Where mmaPipelined keeps its data",
        "In device memory, C is cut into block tiles of 128 x 128. Shared memory has four stages, each with"
        " 128 x 32 elements of A and 32 x 128 of B. One is in use while copies fill the others. Each of four"
        " warps has 64 x 64 elements of C in registers, cut into 4 x 8 tiles of 16 x 8. A tensor core"
        " multiplies 16 x 16 elements of A by 16 x 8 of B in one instruction. Each lane holds parts of all"
        f" three tiles. Those of lane {LANE} are marked: eight elements of A, four of B and four of C.",
        [
            Panel(
                "device memory",
                "all of A, B and C",
                device_memory,
                ["A block has 128 x 128", "elements of C."],
            ),
            Panel(
                "shared memory",
                "a block's tiles, 4 stages",
                lambda drawing, left: block_tiles(
                    drawing, left, (88, 88), 9, (2, 2), (0, 1), STAGES
                ),
                [
                    "4 stages. One is in use,",
                    "copies fill the others",
                    "(dashed). Each of 4",
                    "warps has 64 x 64 of C.",
                ],
                new=[0, 1, 2, 3],
            ),
            Panel(
                "registers",
                "what a warp holds",
                warp_tile,
                [
                    "4 x 8 mma tiles of C,",
                    "each 16 x 8 elements.",
                    "ldmatrix loads the",
                    "fragments of A and B.",
                ],
                new=[0, 1, 2, 3],
            ),
            Panel(
                "tensor core",
                "an mma of 16 x 8 x 16",
                tensor_core,
                [
                    "One instruction, 2,048",
                    "multiply-adds. A lane",
                    "holds parts: lane 6 has",
                    "8 of A, 4 of B, 4 of C.",
                ],
                new=[0, 1, 2, 3],
            ),
        ],
    )


def warp_tile(drawing: Drawing, left: float) -> Spot:
    tile = Product(drawing, left, 96, 96, 24)
    tile.a(part(1, 4))
    tile.b(part(7, 8))
    spot = tile.c(part(1, 4), part(7, 8))
    tile.cut(4, 8)
    return spot


def tensor_core(drawing: Drawing, left: float) -> Spot:
    """The pairs of elements that a lane holds, as mma.m16n8k16 lays them out."""
    tile = Product(drawing, left, 40, 80, 80)
    row, pair = LANE // 4, LANE % 4
    halves = (0, 8)
    for down in halves:
        for along in halves:
            tile.a(part(row + down, 16), depth=part(2 * pair + along, 16, 2))
        tile.b(part(row, 8), depth=part(2 * pair + down, 16, 2))
    spots = [tile.c(part(row + down, 16), part(2 * pair, 8, 2)) for down in halves]
    return spots[0]
