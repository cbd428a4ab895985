"""A latency of four cycles: with one warp it is waiting, with four it is filled."""

from drawing import Drawing

CYCLES, LATENCY = 9, 4
CELL, HEIGHT, ROW = 31, 28, 40
TOP = 110
LOOKS = ["sky", "orange", "green", "purple"]


def draw() -> Drawing:
    drawing = Drawing(
        "A latency of 4 cycles, with one warp and with four",
        "Each instruction of a warp needs the result of the one before, 4 cycles later. With one warp"
        " the scheduler issues in cycles 0, 4 and 8 and has nothing to do in between; with four warps"
        " it issues in every cycle, each warp in turn.",
        368,
    )
    with drawing.group("labels"):
        drawing.text(24, TOP - 10, "cycle", "small")
        for warp in range(4):
            drawing.text(24, TOP + warp * ROW + 19, f"warp {warp}", "small")
        drawing.text(24, TOP + 4 * ROW + 41, "scheduler", "small")
    with drawing.group("one_warp"):
        draw_panel(drawing, 112, "One warp", 1, "issues in every 4th cycle")
    with drawing.group("four_warps"):
        draw_panel(drawing, 470, "Four warps", 4, "issues in every cycle")
    return drawing


def draw_panel(drawing: Drawing, left: int, head: str, warps: int, remark: str) -> None:
    drawing.text(left, 34, head, "head")
    drawing.bracket(left + 2, left + LATENCY * CELL - 2, 76, f"latency {LATENCY} cycles")
    for cycle in range(CYCLES):
        drawing.text(left + (cycle + 0.5) * CELL, TOP - 10, str(cycle), "number middle")
    for warp in range(warps):
        y = TOP + warp * ROW
        for issued in range(warp, CYCLES, LATENCY):
            x = left + issued * CELL
            waiting = min(LATENCY - 1, CYCLES - 1 - issued)
            if waiting:
                drawing.cell(x + CELL, y, waiting * CELL, HEIGHT, "pale", "waits" * (waiting > 1))
            drawing.cell(x, y, CELL, HEIGHT, LOOKS[warp], f"w{warp}")
    for cycle in range(CYCLES):
        warp = cycle % LATENCY
        place = (left + cycle * CELL, TOP + 4 * ROW + 22, CELL, HEIGHT)
        if warp < warps:
            drawing.cell(*place, f"{LOOKS[warp]} thick", f"w{warp}")
        else:
            drawing.cell(*place, "idle", "-")
    drawing.text(left, TOP + 4 * ROW + 74, remark, "small")
