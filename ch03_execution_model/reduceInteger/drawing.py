"""Three trees of additions over eight elements, and the threads that work in each step."""

from __future__ import annotations

from drawing import Drawing

ELEMENTS = 8
WARP = 4  # lanes; a real one does not fit in here
CELL, HEIGHT, ROW = 26, 24, 58
LEFT, PANEL = 84, 240

# For each step the additions of a kernel: the thread, the element that it adds to, and which it adds.
Step = list[tuple[int, int, int]]


def neighboured() -> list[Step]:
    return [[(t, t, t + stride) for t in range(0, ELEMENTS, 2 * stride)] for stride in (1, 2, 4)]


def neighboured_less() -> list[Step]:
    return [
        [(t, 2 * stride * t, 2 * stride * t + stride) for t in range(ELEMENTS // (2 * stride))]
        for stride in (1, 2, 4)
    ]


def interleaved() -> list[Step]:
    return [[(t, t, t + stride) for t in range(stride)] for stride in (4, 2, 1)]


PANELS = [
    ("reduceNeighbored", neighboured(), ["Step 1: both warps split,", "every second lane works."]),
    (
        "reduceNeighboredLess",
        neighboured_less(),
        ["Step 1: one warp, whole.", "It adds to every 2nd element."],
    ),
    ("reduceInterleaved", interleaved(), ["Step 1: one warp, whole.", "It adds to neighbours."]),
]


def look_of(thread: int) -> str:
    return ["sky", "orange"][thread // WARP]


def draw() -> Drawing:
    drawing = Drawing(
        "Which thread adds which pair, in three reductions of 8 elements",
        "Neighboured pairs added by threads 0, 2, 4 and 6 of both warps; the same pairs added by"
        " threads 0 to 3 of the first warp; and elements half an array apart added by threads 0 to 3,"
        " which then touch elements side by side. Each tree takes three steps.",
        510,
    )
    with drawing.group("labels"):
        drawing.text(24, 77, "element", "small")
        for step in (1, 2, 3):
            drawing.text(24, 77 + step * ROW, f"step {step}", "small")
            drawing.text(24, 356 + 17 + (step - 1) * 30, f"step {step}", "small")
        drawing.text(
            24, 312, "Which threads work (t0 is thread 0; warps have 4 lanes here, not 32)", "head"
        )
    for number, (name, steps, remark) in enumerate(PANELS):
        with drawing.group(name):
            left = LEFT + number * PANEL
            drawing.text(left, 34, name, "code")
            draw_tree(drawing, left, steps)
            draw_threads(drawing, left, steps)
            for line, words in enumerate(remark):
                drawing.text(left, 470 + line * 18, words, "small")
    return drawing


def draw_tree(drawing: Drawing, left: int, steps: list[Step]) -> None:
    def y_of(row: int) -> int:
        return 60 + row * ROW

    for element in range(ELEMENTS):
        drawing.cell(left + element * CELL, y_of(0), CELL, HEIGHT, "pale", element)
    for row, step in enumerate(steps, 1):
        workers = {to: thread for thread, to, _ in step}
        for _, to, what in step:
            for element in (to, what):
                drawing.line(
                    (left + (element + 0.5) * CELL, y_of(row - 1) + HEIGHT),
                    (left + (to + 0.5) * CELL, y_of(row)),
                    look="line",
                )
        for element in range(ELEMENTS):
            thread = workers.get(element)
            place = (left + element * CELL, y_of(row), CELL, HEIGHT)
            if thread is None:
                drawing.cell(*place, "idle")
            else:
                drawing.cell(*place, look_of(thread), f"t{thread}")


def draw_threads(drawing: Drawing, left: int, steps: list[Step]) -> None:
    for warp in range(ELEMENTS // WARP):
        x = left + warp * (WARP * CELL + 4)
        drawing.bracket(x + 2, x + WARP * CELL - 2, 346, f"warp {warp}")
        for row, step in enumerate(steps):
            working = {thread for thread, _, _ in step}
            for lane in range(WARP):
                thread = warp * WARP + lane
                place = (x + lane * CELL, 356 + row * 30, CELL, HEIGHT)
                if thread in working:
                    drawing.cell(*place, look_of(thread), f"t{thread}")
                else:
                    drawing.cell(*place, "idle")
