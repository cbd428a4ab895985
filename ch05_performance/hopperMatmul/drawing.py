"""The levels of wgmmaCluster: two blocks share B, TMA fills four stages, and wgmma takes its operands from
shared memory."""

from __future__ import annotations

from drawing import Drawing
from tile_hierarchy import ALL, Panel, Product, Spot, block_tiles, device_memory, part, picture

STAGES = 4


def draw() -> Drawing:
    return picture(
        "Where wgmmaCluster keeps its data",
        "In device memory, C is cut into block tiles of 128 x 256. A cluster of two blocks has two tiles, one"
        " below the other. Each block loads its own tiles of A and half of their common tiles of B, which TMA"
        " writes to both blocks. The shared memory of a block has four stages, each with 128 x 64 elements of"
        " A and 64 x 256 of B. One is in use while TMA fills the others. Each of two warpgroups multiplies 64"
        " x 16 elements of A by 16 x 256 of B in one instruction, straight from shared memory. Its 64 x 256"
        " sums are in registers, 16 rows of them in each of its four warps, and 128 sums in each thread.",
        [
            Panel(
                "device memory",
                "all of A, B and C",
                lambda drawing, left: device_memory(drawing, left, blocks=2),
                [
                    "A cluster of 2 blocks",
                    "has 2 tiles of 128 x 256.",
                    "Both need the same",
                    "tiles of B: multicast.",
                ],
                new=[0, 1, 2, 3],
            ),
            Panel(
                "shared memory",
                "a block's tiles, 4 stages",
                lambda drawing, left: block_tiles(
                    drawing, left, (108, 54), 9, (2, 1), (0, 0), STAGES
                ),
                [
                    "One stage is in use.",
                    "TMA fills the others",
                    "(dashed): 128 x 64 of A,",
                    "64 x 256 of B each.",
                ],
                new=[1],
            ),
            Panel(
                "tensor core",
                "a wgmma, 64 x 256 x 16",
                tensor_core,
                [
                    "It multiplies straight",
                    "from shared memory,",
                    "4 instructions for the",
                    "64 of k in a stage.",
                ],
                new=[0, 1, 2, 3],
            ),
            Panel(
                "registers",
                "what a warpgroup holds",
                warpgroup,
                ["Only sums. Each of 4", "warps has 16 x 256,", "and each thread 128."],
                new=[0, 1, 2],
            ),
        ],
    )


def tensor_core(drawing: Drawing, left: float) -> Spot:
    tile = Product(drawing, left, 104, 26, 40)
    tile.a(ALL, depth=part(0, 4))
    tile.b(ALL, depth=part(0, 4))
    for i in range(1, 4):
        x, y = tile.left + 10 * i, tile.b_top + 10 * i
        drawing.line((x, tile.c_top), (x, tile.c_top + 26), look="soft")
        drawing.line((tile.c_left, y), (tile.c_left + 104, y), look="soft")
    return tile.c(ALL, ALL)


def warpgroup(drawing: Drawing, left: float) -> Spot:
    top, width, height = 116, 136, 30
    for warp in range(4):
        place = (left, top + warp * height, width, height)
        drawing.cell(*place, "green", f"warp {warp}: 16 x 256", "small")
    drawing.text(left + width / 2, 251, "C", "small middle")
    return Spot(left + width, top, top + 4 * height)
