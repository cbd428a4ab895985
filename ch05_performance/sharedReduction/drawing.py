"""Three trees over eight words of shared memory: which thread adds which words, and in which banks they lie."""

from __future__ import annotations

from drawing import Drawing

WORDS = 8
LANES = 4  # of a warp, and banks; a GPU has 32
CELL, HEIGHT = 44, 26
LEFT, PANEL = 84, 240
TOP, STEP = 92, 104

# For each step the additions: the thread, the word that it adds to, and the word that it adds.
Step = list[tuple[int, int, int]]


def neighbored() -> list[Step]:
    return [[(t, t, t + stride) for t in range(0, WORDS, 2 * stride)] for stride in (1, 2, 4)]


def consecutive() -> list[Step]:
    return [
        [(t, 2 * stride * t, 2 * stride * t + stride) for t in range(WORDS // (2 * stride))]
        for stride in (1, 2, 4)
    ]


def sequential() -> list[Step]:
    return [[(t, t, t + stride) for t in range(stride)] for stride in (4, 2, 1)]


TREES = [
    ("neighbored", neighbored()),
    ("consecutive", consecutive()),
    ("sequential", sequential()),
]


def warps_of(step: Step) -> dict[int, Step]:
    found: dict[int, Step] = {}
    for addition in step:
        found.setdefault(addition[0] // LANES, []).append(addition)
    return found


def wavefronts(words: list[int]) -> int:
    """The most words that one bank serves."""
    banks = [word % LANES for word in words]
    return max(map(banks.count, banks))


def costs(step: Step) -> tuple[int, int, int]:
    """Warps that add, passes of all warps, and wavefronts of two loads and a store."""
    warps = warps_of(step)
    passes = WORDS // LANES + sum(len(adds) < LANES for adds in warps.values())
    fronts = sum(
        2 * wavefronts([to for _, to, _ in adds]) + wavefronts([what for _, _, what in adds])
        for adds in warps.values()
    )
    return len(warps), passes, fronts


def draw() -> Drawing:
    drawing = Drawing(
        "Three trees over eight words of shared memory, in four banks",
        "In neighbored, the threads that add belong to both warps, and their words lie in every second"
        " bank, then in one bank. In consecutive, threads 0 to 3 of one warp add the same words, so"
        " several lanes want words of the same bank. In sequential, these threads add words that lie"
        " side by side, in four banks.",
        448,
    )
    with drawing.group("labels"):
        for step in range(3):
            drawing.text(24, TOP + step * STEP + 32, f"step {step + 1}", "small")
        drawing.text(24, 414, "t0", "code")
        drawing.text(
            50, 414, "thread 0 adds another word to this word; (t0) is the other word.", "small"
        )
        drawing.text(
            24,
            432,
            "Blue: warp 0. Orange: warp 1. Warps have 4 lanes here, not 32, and there are 4 banks.",
            "small",
        )
    for number, (name, steps) in enumerate(TREES):
        with drawing.group(name):
            left = LEFT + number * PANEL
            drawing.text(left, 34, name, "code")
            for bank in range(LANES):
                drawing.text(left + (bank + 0.5) * CELL, 80, f"bank {bank}", "number middle")
            drawing.text(left, 60, "words 0 to 3, and below them 4 to 7", "number")
            for row, step in enumerate(steps):
                draw_step(drawing, left, TOP + row * STEP, step)
    return drawing


def draw_step(drawing: Drawing, left: int, top: int, step: Step) -> None:
    to = {word: thread for thread, word, _ in step}
    added = {word: thread for thread, _, word in step}
    for word in range(WORDS):
        place = (left + word % LANES * CELL, top + word // LANES * HEIGHT, CELL, HEIGHT)
        if word in to:
            drawing.cell(*place, ["sky", "orange"][to[word] // LANES], f"t{to[word]}", "small")
        elif word in added:
            drawing.cell(*place, "pale", f"(t{added[word]})", "small")
        else:
            drawing.cell(*place, "idle")
    warps, passes, fronts = costs(step)
    words = f"{warps} warp{'s' * (warps > 1)}, {passes} passes,"
    drawing.text(left, top + 2 * HEIGHT + 17, f"{words} {fronts} wavefronts", "number")
