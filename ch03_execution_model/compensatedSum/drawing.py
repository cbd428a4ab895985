"""What an addition with four digits rounds away, and where a compensated sum keeps it."""

from drawing import Drawing

LEFT, CELL, HEIGHT, POINT = 100, 40, 30, 14
KEPT = 4  # digits


def draw() -> Drawing:
    drawing = Drawing(
        "What falls off when 0.4567 is added to 1000 with four digits",
        "The exact sum 1000.4567 has eight digits. Four are kept, 1000; the other four, 0.4567, fall off."
        " A compensated sum computes them and keeps them in a rest of its own.",
        510,
    )
    drawing.text(24, 34, "An addition with four digits", "head")
    with drawing.group("addition"):
        draw_number(drawing, 56, "sum", "1000    ", "pale")
        draw_number(drawing, 96, "+ x", "   04567", "pale")
        drawing.line((24, 136), (LEFT + 8 * CELL + POINT, 136))
        draw_number(drawing, 146, "exact", "10004567", "sky", "orange")
        middle = LEFT + KEPT * CELL
        drawing.bracket(LEFT + 2, middle - 2, 188, "four digits are kept", below=True)
        right = (middle + POINT + 2, middle + POINT + 4 * CELL - 2)
        drawing.bracket(*right, 188, "the rest falls off", below=True)
        for x, end in [(LEFT + 2 * CELL, 240), (LEFT + 6 * CELL + POINT, 280)]:
            drawing.line((x, 214), (x, end), look="line arrow")
        draw_number(drawing, 248, "sum'", "1000    ", "sky")
        draw_number(drawing, 288, "lost", "   04567", "orange")
    with drawing.group("formulas"):
        draw_formulas(drawing)
    with drawing.group("three_additions"):
        draw_three(drawing)
    return drawing


def draw_number(
    drawing: Drawing, y: int, name: str, digits: str, look: str, look_behind: str = ""
) -> None:
    """`digits`: four before the point and four behind it; a space is no digit."""
    drawing.text(24, y + 20, name, "small")
    for place, digit in enumerate(digits):
        if digit != " ":
            behind = place >= 4
            x = LEFT + place * CELL + (POINT if behind else 0)
            shown = (look_behind or look) if behind else look
            drawing.cell(x + 2, y, CELL - 4, HEIGHT, shown, digit, "small")
    drawing.text(LEFT + 4 * CELL + POINT / 2, y + 22, ".", "middle head")


def draw_formulas(drawing: Drawing) -> None:
    drawing.text(470, 34, "Computed with the same digits", "head")
    for y, formula, words in [
        (74, "ofB = sum' - sum = 0", "the part of x in sum'"),
        (128, "ofA = sum' - ofB = 1000", "the part of the old sum in sum'"),
        (182, "lost = (sum - ofA) + (x - ofB)", "what falls off:"),
    ]:
        drawing.text(470, y, formula, "code")
        drawing.text(470, y + 20, words, "small")
    drawing.text(470, 224, "0 + 0.4567 = 0.4567", "code")
    drawing.text(470, 308, "goes to the rest", "small")
    drawing.line((LEFT + 8 * CELL + POINT + 6, 303), (462, 303), look="line arrow")


def draw_three(drawing: Drawing) -> None:
    drawing.line((24, 342), (776, 342), look="soft")
    drawing.text(24, 372, "0.4567 added three times to 1000 (exactly: 1001.3701)", "head")
    for y, name, parts, result in [
        (388, "a sum alone", [("1000", "sky")], "1000"),
        (430, "a sum and its rest", [("1000", "sky"), ("1.370", "orange")], "1001"),
    ]:
        drawing.text(24, y + 20, name, "small")
        for place, (number, look) in enumerate(parts):
            drawing.cell(190 + place * 124, y, 90, HEIGHT, look, number, "small")
            if place:
                drawing.text(190 + place * 124 - 17, y + 20, "+", "middle")
        drawing.line((190 + 224, y + 15), (470, y + 15), look="line arrow")
        drawing.cell(482, y, 90, HEIGHT, "frame", result, "small")
    drawing.text(590, 408, "0.4567 lost each time", "small")
    drawing.text(590, 450, "rounded once, at the end", "small")
    drawing.text(24, 488, "rest: 0.4567, then 0.9134, then 1.370 (1.3701 in four digits)", "small")
