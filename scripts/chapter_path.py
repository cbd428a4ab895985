"""The drawing on a chapter's page: groups of exercises, one below the other, and arrows from each to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from drawing import WIDTH, Drawing

TOP, LEFT = 24, 24
BOX, HEIGHT, GAP = 172, 34, 18


class Group(NamedTuple):
    look: str
    title: str
    question: str
    names: Sequence[str]  # of its exercises, in order


def draw_path(title: str, description: str, groups: Sequence[Group], row: int) -> Drawing:
    """`row` is the height that a group takes, in pixels."""
    drawing = Drawing(title, description, TOP + len(groups) * row)
    for number, group in enumerate(groups):
        top = TOP + number * row
        with drawing.group(group.title.replace(" ", "-")):
            drawing.text(LEFT, top + 14, group.title, "head")
            drawing.text(WIDTH - LEFT, top + 14, group.question, "end")
            for place, name in enumerate(group.names):
                left = LEFT + place * (BOX + GAP)
                drawing.cell(left, top + 26, BOX, HEIGHT, group.look, name, "code")
                if place:
                    middle = top + 26 + HEIGHT / 2
                    drawing.line((left - GAP, middle), (left - 1, middle), look="line arrow")
        if number + 1 < len(groups):
            below = top + 26 + HEIGHT
            drawing.line((LEFT + 60, below), (LEFT + 60, top + row - 2), look="line arrow")
    return drawing
