"""Which lanes of a warp share a wavefront when each loads 16 bytes from shared memory."""

from __future__ import annotations

from collections.abc import Callable

from drawing import WIDTH, Drawing

LANES, LEFT, CELLS, SIDE, GAP, TOP, ROW = 32, 24, 118, 17, 8, 92, 66

PATTERNS: list[tuple[str, Callable[[int], int], int, str]] = [
    ("all different", lambda lane: lane, 4, "16 lanes want 256 bytes: too much for one wavefront"),
    ("lane % 8", lambda lane: lane % 8, 4, "16 lanes want 128 bytes, but no pairs: equal pieces are 8 lanes apart"),
    ("lane / 2", lambda lane: lane // 2, 2, "16 lanes want 128 bytes, and lane i wants the same as lane i ^ 1"),
    ("all the same", lambda _: 0, 2, "lane i wants the same as lane i ^ 1; still a wavefront for 16 lanes"),
]  # fmt: skip


def draw() -> Drawing:
    drawing = Drawing(
        "Which lanes share a wavefront in a load of 16 bytes",
        "A load of 16 bytes is served for 8 lanes at a time. If all lanes want different pieces, or if lanes"
        " that want the same piece are 8 apart, it takes four wavefronts. If neighbouring lanes want the same"
        " piece in pairs, 16 lanes share a wavefront, and the load takes two. If all lanes want the same piece,"
        " it takes two as well.",
        TOP + ROW * len(PATTERNS) + 6,
    )
    drawing.text(LEFT, 32, "Each lane loads a piece of 16 bytes from shared memory", "head")
    drawing.text(
        LEFT, 54, "32 lanes from left to right. A number is the piece that a lane wants.", "small"
    )
    drawing.text(LEFT, 72, "Lanes that stand together share a wavefront.", "small")
    for number, (name, piece, wavefronts, why) in enumerate(PATTERNS):
        top = TOP + number * ROW
        with drawing.group(name.replace(" ", "-").replace("%", "modulo").replace("/", "by")):
            drawing.text(LEFT, top + 14, name, "small")
            for lane in range(LANES):
                part = lane * wavefronts // LANES
                look = "orange" if part % 2 else "sky"
                x = CELLS + lane * SIDE + part * GAP
                drawing.cell(x, top, SIDE, SIDE + 4, look, piece(lane))
            drawing.text(WIDTH - 16, top + 14, f"{wavefronts} wavefronts", "small end")
            drawing.text(CELLS, top + 38, why, "small")
    return drawing
