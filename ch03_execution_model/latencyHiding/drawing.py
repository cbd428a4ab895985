"""A latency of four cycles: the scheduler waits with one warp, and is busy with four warps or four chains."""

from __future__ import annotations

from dataclasses import dataclass

from drawing import Drawing

CYCLES, LATENCY = 9, 4
CELL, HEIGHT, ROW = 31, 26, 34
LEFT, RIGHT = 112, 476
LOOKS = ["sky", "orange", "green", "purple"]


@dataclass(frozen=True)
class Panel:
    """What the scheduler sees of one warp or more: rows of instructions that depend on each other."""

    left: int
    top: int
    head: str
    rows: list[str]
    remark: str


def draw() -> Drawing:
    drawing = Drawing(
        "A latency of 4 cycles, hidden by warps or by chains",
        "Each instruction of a chain needs the result of the one before, 4 cycles later. One warp with"
        " one chain issues in cycles 0, 4 and 8, and the scheduler has nothing to do in between. Four"
        " warps with one chain each fill every cycle, and so does one warp with four chains.",
        478,
    )
    one = Panel(LEFT, 30, "One warp, one chain", ["warp 0"], "issues in every 4th cycle")
    warps = [f"warp {warp}" for warp in range(4)]
    chains = [f"chain {chain}" for chain in range(4)]
    by_warps = Panel(LEFT, 218, "TLP: four warps, one chain each", warps, "issues in every cycle")
    by_chains = Panel(RIGHT, 218, "ILP: one warp, four chains", chains, "issues in every cycle")
    with drawing.group("one_warp"):
        draw_panel(drawing, one)
    with drawing.group("legend"):
        draw_legend(drawing, RIGHT, 66)
    with drawing.group("four_warps"):
        draw_panel(drawing, by_warps)
    with drawing.group("four_chains"):
        draw_panel(drawing, by_chains)
    return drawing


def draw_legend(drawing: Drawing, left: int, top: int) -> None:
    for number, (look, words) in enumerate(
        [
            ("sky", "issues an instruction"),
            ("pale", "waits for its result"),
            ("idle", "nothing to issue: a lost cycle"),
        ]
    ):
        y = top + number * 26
        drawing.rect(left, y, 18, 18, look)
        drawing.text(left + 28, y + 14, words, "small")


def draw_panel(drawing: Drawing, panel: Panel) -> None:
    left, top = panel.left, panel.top
    labels = left - 88 if left == LEFT else left - 60
    drawing.text(left, top, panel.head, "head")
    if len(panel.rows) == 1:
        drawing.bracket(left + 2, left + LATENCY * CELL - 2, top + 32, f"latency {LATENCY} cycles")
    first = top + (62 if len(panel.rows) == 1 else 44)
    drawing.text(labels, first - 10, "cycle", "small")
    for cycle in range(CYCLES):
        drawing.text(left + (cycle + 0.5) * CELL, first - 10, str(cycle), "number middle")
    for row, name in enumerate(panel.rows):
        y = first + row * ROW
        drawing.text(labels, y + 18, name, "small")
        draw_row(drawing, left, y, row, short(name))
    bottom = first + len(panel.rows) * ROW + 10
    drawing.text(labels, bottom + 18, "scheduler" if left == LEFT else "sched.", "small")
    for cycle in range(CYCLES):
        row = cycle % LATENCY
        place = (left + cycle * CELL, bottom, CELL, HEIGHT)
        if row < len(panel.rows):
            drawing.cell(*place, f"{LOOKS[row]} thick", short(panel.rows[row]))
        else:
            drawing.cell(*place, "idle", "-")
    drawing.text(left, bottom + HEIGHT + 20, panel.remark, "small")


def draw_row(drawing: Drawing, left: int, y: int, row: int, name: str) -> None:
    for issued in range(row, CYCLES, LATENCY):
        x = left + issued * CELL
        waiting = min(LATENCY - 1, CYCLES - 1 - issued)
        if waiting:
            drawing.cell(x + CELL, y, waiting * CELL, HEIGHT, "pale", "waits" * (waiting > 1))
        drawing.cell(x, y, CELL, HEIGHT, LOOKS[row], name)


def short(name: str) -> str:
    """warp 2 is w2, chain 2 is c2."""
    return name[0] + name[-1]
