"""The one warp that a bounds check splits, and its share of longer vectors."""

from drawing import Drawing

WARP, BLOCK, N = 32, 64, 100
LENGTHS = [100, 1000, 10_000, 1_000_000]


def draw() -> Drawing:
    drawing = Drawing(
        "The one warp that splits at if (i < n)",
        "100 elements in two blocks of 64 threads are four warps. Three lie inside. In the last, lanes 0 to"
        " 3 have an element and lanes 4 to 31 have none: it splits. Of 1000 elements it is 1 warp of 32,"
        " of 10,000 1 of 313, of 1,000,000 none.",
        486,
    )
    with drawing.group("warps"):
        draw_warps(drawing)
    with drawing.group("border"):
        draw_border(drawing)
    with drawing.group("share"):
        draw_share(drawing)
    return drawing


def draw_warps(drawing: Drawing) -> None:
    drawing.text(24, 34, "n = 100, in blocks of 64: four warps", "head")
    for warp in range(4):
        block = warp * WARP // BLOCK
        x = 24 + warp * 182 + block * 24
        splits = warp * WARP < N < (warp + 1) * WARP
        drawing.cell(x, 82, 176, 34, "pale" if not splits else "ground")
        if splits:
            width = 176 * (N % WARP) / WARP
            drawing.rect(x, 82, width, 34, "sky")
            drawing.rect(x + width, 82, 176 - width, 34, "idle")
            drawing.text(x + 88 + 8, 104, f"warp {warp} splits", "small middle head")
        else:
            drawing.text(x + 88, 104, f"warp {warp}: all inside", "small middle")
        if warp % 2 == 0:
            drawing.bracket(x + 2, x + 182 + 176 - 2, 72, f"block {block}")


def draw_border(drawing: Drawing) -> None:
    left, cell, top, height = 92, 21, 190, 24
    x = 24 + 3 * 182 + 24
    drawing.line((x, 118), (left, top - 26), look="soft dashed")
    drawing.line((x + 176, 118), (left + WARP * cell, top - 26), look="soft dashed")
    drawing.text(24, top - 8, "i", "code")
    for lane, words in [(0, "96"), (4, "100"), (31, "127")]:
        look = "number middle"
        drawing.text(left + (lane + 0.5) * cell, top - 8, words, look)
    for row, (name, inside) in enumerate([("i < n", True), ("else", False)]):
        y = top + row * 30
        drawing.text(24, y + 17, name, "code")
        for lane in range(WARP):
            active = (lane < N % WARP) == inside
            look = ("sky" if inside else "orange") if active else "idle"
            drawing.cell(left + lane * cell, y, cell, height, look, lane if active else "")
    drawing.text(
        left,
        top + 78,
        "Lanes 4 to 31 have no element. They do nothing or, with an else, execute it later.",
        "small",
    )


def draw_share(drawing: Drawing) -> None:
    drawing.text(24, 312, "The share of warps that split", "head")
    left, length = 132, 470
    for row, n in enumerate(LENGTHS):
        y = 328 + row * 36
        warps = -(-n // WARP)
        split = 1 if n % WARP else 0
        drawing.text(120, y + 17, f"n = {n:,}", "small end")
        drawing.rect(left, y, length, 24, "pale")
        if split:
            drawing.rect(left + length * (1 - 1 / warps), y, length / warps, 24, "orange")
        share = f"{split} of {warps:,}" if split else f"none of {warps:,}"
        drawing.text(left + length + 14, y + 17, share, "small")
