"""A chain through the lines of an array, and why dependent loads show the latency."""

from drawing import Drawing

NEXT = [3, 0, 1, 4, 2]  # by line
LEFT, LINE, GAP, TOP = 130, 108, 14, 96
LATENCY, ISSUE = 190, 26  # lengths of a load and of what issues it


def draw() -> Drawing:
    drawing = Drawing(
        "A chain of loads",
        "Five lines hold the numbers 3, 0, 1, 4, 2. A thread that begins at line 0 reads 3, goes to line 3,"
        " reads 4, goes to line 4, reads 2, goes to line 2, reads 1, goes to line 1, reads 0, and is back."
        " Below, a timeline: three dependent loads follow one another and take three latencies. Three"
        " independent loads overlap and take little more than one latency.",
        452,
    )
    with drawing.group("chain"):
        draw_chain(drawing)
    with drawing.group("dependent"):
        drawing.text(24, 268, "Each load needs the one before: 3 loads take 3 latencies", "head")
        for number, line in enumerate((0, 3, 4)):
            left = 24 + number * LATENCY
            drawing.cell(left, 282, LATENCY, 30, "sky", f"load of line {line}", "small")
            drawing.cell(left, 282, ISSUE, 30, "orange")
    with drawing.group("independent"):
        drawing.text(
            24, 346, "Independent loads overlap: the time says little about the latency", "head"
        )
        for number in range(3):
            left, top = 24 + number * ISSUE, 358 + number * 22
            drawing.cell(left, top, LATENCY, 20, "sky", f"load of line {number}", "number")
            drawing.cell(left, top, ISSUE, 20, "orange")
    with drawing.group("key"):
        drawing.cell(420, 366, 18, 18, "orange")
        drawing.text(446, 380, "compute the address, issue the load", "small")
        drawing.cell(420, 394, 18, 18, "sky")
        drawing.text(446, 408, "wait for the value", "small")
    return drawing


def middle_of(line: int) -> float:
    return LEFT + line * (LINE + GAP) + LINE / 2


def draw_chain(drawing: Drawing) -> None:
    drawing.text(24, 40, "i = next[i] goes 0, 3, 4, 2, 1, 0", "head")
    drawing.text(24, TOP + 26, "next[i]", "code")
    for line, target in enumerate(NEXT):
        left = LEFT + line * (LINE + GAP)
        drawing.cell(left, TOP, LINE, 42, "pale")
        drawing.cell(left, TOP, LINE / 4, 42, "sky", target, "small")
        drawing.text(left + LINE / 2, TOP - 14, f"line {line}", "small middle")
    for depth, (line, target) in enumerate(((0, 3), (3, 4), (4, 2), (2, 1), (1, 0))):
        bottom = TOP + 60 + depth * 17
        start, end = middle_of(line) - LINE / 2 + 14, middle_of(target) + 8 - 12 * (depth % 2)
        drawing.line(
            (start, TOP + 44), (start, bottom), (end, bottom), (end, TOP + 46), look="line arrow"
        )
