"""A branch that splits a warp, and the same branch where whole warps agree."""

from __future__ import annotations

from drawing import Drawing

TOP = 122  # of the part before the branch
WORK = 66  # the height of a branch
LANES = 8  # of 32
ACTIVE, OTHER, BOTH = "sky", "orange", "pale"


def draw() -> Drawing:
    drawing = Drawing(
        "A branch by thread, and by warp",
        "On the left the lanes of one warp disagree: the even lanes do A while the odd ones are"
        " switched off, then the odd ones do B while the even ones are. On the right one warp does A"
        " and another one B, at the same time: it takes half as long.",
        408,
    )
    with drawing.group("time"):
        draw_time(drawing)
    with drawing.group("by_thread"):
        drawing.text(100, 34, "By thread: one warp splits", "head")
        drawing.text(100, 58, "if (tid % 2 == 0) A; else B;", "code")
        draw_warp(drawing, 100, 32, "warp 0", [("A", 0), ("B", 1)])
        for y, words in [(0, "even lanes"), (WORK, "odd lanes")]:
            drawing.text(366, TOP + 26 + y + WORK / 2 + 5, words, "small")
        for line, words in enumerate(["together again:", "promised only by"]):
            drawing.text(366, TOP + 26 + 2 * WORK + 20 + line * 18, words, "small")
        drawing.text(366, TOP + 26 + 2 * WORK + 56, "__syncwarp()", "code")
    with drawing.group("by_warp"):
        drawing.text(500, 34, "By warp: no warp splits", "head")
        drawing.text(500, 58, "even warps do A, odd warps do B", "small")
        draw_warp(drawing, 500, 16, "warp 0", [("A", None)])
        draw_warp(drawing, 648, 16, "warp 1", [("B", None)])
        drawing.text(500, TOP + 26 + WORK + 54, "done in half the time", "small")
        drawing.text(216, 84, "8 of 32 lanes are drawn", "small")
    with drawing.group("key"):
        draw_key(drawing)
    return drawing


def draw_time(drawing: Drawing) -> None:
    drawing.text(24, TOP - 8, "time", "small")
    begin, end = TOP + 26, TOP + 26 + 2 * WORK
    drawing.line((72, TOP), (72, end + 52), look="line arrow")
    for y, words in [(begin, "0"), (begin + WORK, "t"), (end, "2 t")]:
        drawing.line((66, y), (78, y))
        drawing.text(58, y + 5, words, "small end")
        drawing.line((84, y), (776, y), look="soft dashed")


def draw_warp(
    drawing: Drawing, left: int, cell: int, name: str, branches: list[tuple[str, int | None]]
) -> None:
    """`branches`: what is done one after the other, and by the lanes of which parity (None: all)."""
    drawing.text(left, 84, name, "small")
    for lane in range(LANES):
        x = left + lane * cell
        drawing.text(x + cell / 2, TOP - 8, str(lane), "number middle")
        drawing.cell(x, TOP, cell, 22, BOTH)
        for step, (branch, parity) in enumerate(branches):
            active = parity is None or lane % 2 == parity
            look = (ACTIVE if branch == "A" else OTHER) if active else "idle"
            y = TOP + 26 + step * WORK
            drawing.cell(x, y + 2, cell, WORK - 4, look, branch if active else "", "small")
        drawing.cell(x, TOP + 30 + len(branches) * WORK, cell, 22, BOTH)


def draw_key(drawing: Drawing) -> None:
    y = 366
    for x, look, words in [
        (100, ACTIVE, "does A"),
        (210, OTHER, "does B"),
        (320, "idle", "switched off"),
        (468, BOTH, "before and after the branch"),
    ]:
        drawing.rect(x, y, 18, 18, look)
        drawing.text(x + 26, y + 14, words, "small")
