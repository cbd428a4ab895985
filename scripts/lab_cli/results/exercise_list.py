"""The list of exercises on the page of a chapter, between two comments:

<!-- exercises -->
...
<!-- end of exercises -->
"""

from __future__ import annotations

import re
from pathlib import Path

from .. import catalogue

BLOCK = re.compile(r"(<!-- exercises -->\n).*?(<!-- end of exercises -->)", re.DOTALL)


def with_lists(text: str, chapter: Path) -> str:
    """The text of a page in the folder of a chapter, its list as the exercises say it now."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{render(chapter)}\n{match[2]}", text)


def render(chapter: Path) -> str:
    lines = ["| exercise | idea |", "| --- | --- |"]
    for exercise in catalogue.of_chapter(chapter):
        link = exercise.page.relative_to(chapter).as_posix()
        lines.append(f"| [{exercise.name}]({link}) | {exercise.facts.idea} |")
    return "".join(f"{line}\n" for line in lines)
