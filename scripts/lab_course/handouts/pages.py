"""Pages as students get them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection
from pathlib import Path

from lab_cli.assignments import Assignment

from .choice import Choice, Part

ANSWER = re.compile(
    r"<details>\s*<summary>(?P<title>Answer[^<]*)</summary>.*?</details>\n?", re.DOTALL
)
LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s]*)\)")
IMAGE = re.compile(r"^!\[[^\]]*\]\((?P<target>[^()\s]*)\)\n+", re.MULTILINE)
GIVEN_AWAY = "It is not in this hand-out: it gives an assignment away."
TITLE = re.compile(r"\A# [^\n]*\n\n?")


def without_answers(
    text: str, gives_away: Callable[[str], bool], part: Part | None, all_of_them: bool
) -> str:
    """Without those that give something away: by their text, as the answer to an assignment that is handed
    out, or since an assignment says so. Or without any."""
    assignments = part.assignments if part else []
    tasks = {task for each in assignments for task in each.answers}
    own = {each.name for each in assignments}

    def kept(answer: re.Match[str]) -> str:
        if all_of_them:
            return ""
        words = {*answer["title"].split()}
        numbers = {int(word) for word in words if word.isdigit()}
        if words & own or numbers & tasks or gives_away(answer[0]):
            return f"<details><summary>{answer['title']}</summary>\n\n{GIVEN_AWAY}\n\n</details>\n"
        return answer[0]

    new = ANSWER.sub(kept, text)
    if all_of_them and new != text:
        new = re.sub(
            r"^## Answers\n\s*",
            "## Answers\n\nThey are not in this hand-out.\n\n",
            new,
            flags=re.MULTILINE,
        )
    return re.sub(r"\n{3,}", "\n\n", new).rstrip("\n") + "\n"


def with_plain_links(text: str, path: Path, files: Collection[str]) -> str:
    """Links of the page at `path` to files that are not there become their text; images go. `files` are
    all that there are, and their folders."""

    def is_there(target: str) -> bool:
        file = target.partition("#")[0]
        if not file or "://" in target or target.startswith("mailto:"):
            return True
        return posixpath.normpath(posixpath.join(path.parent.as_posix(), file)) in files

    text = IMAGE.sub(lambda image: image[0] if is_there(image["target"]) else "", text)
    return LINK.sub(lambda link: link[0] if is_there(link["target"]) else link["text"], text)


def noted(text: str, note: str) -> str:
    """With a note below the title."""
    title = TITLE.match(text)
    end = title.end() if title else 0
    return f"{text[:end]}{note}\n\n{text[end:]}"


def note_of_exercise(part: Part) -> str:
    """What students write, and what is not there."""
    lines = []
    for assignment in part.assignments:
        kernels = " and ".join(f"`{name}`" for name in assignment.kernels)
        lines.append(
            f"**You write {kernels}**: {assignment.sentence} "
            f"`./lab grade {assignment.name}` says how far you are."
        )
    if part.hidden:
        names = ", ".join(f"`{name}`" for name in part.hidden)
        lines.append(
            f"What this page says of {names} is about kernels that are not in this hand-out."
        )
    return _quoted(lines)


def note_of_readme(choice: Choice) -> str:
    lines = ["**This is a hand-out** with assignments:"]
    for part in choice.parts:
        for assignment in part.assignments:
            page = part.page.as_posix()
            lines.append(_item(assignment, f"[{part.exercise.name}]({page})"))
    lines.append(
        "It has the exercises and their tests; what is for teachers (`TEACHING.md`) is not there, nor "
        "the tests of the workspace itself, of which `CONTRIBUTING.md` speaks."
    )
    if choice.left_out:
        names = ", ".join(exercise.name for exercise in choice.left_out)
        lines.append(f"These exercises are left out: {names}.")
    return _quoted(lines)


def _item(assignment: Assignment, page: str) -> str:
    return f"`{assignment.name}` ({page}): {assignment.sentence}"


def _quoted(lines: list[str]) -> str:
    """A block of paragraphs, of lines that are not too long; links and code are not broken."""
    return "\n>\n".join("\n".join(f"> {line}" for line in wrapped(text)) for text in lines)


def wrapped(text: str, width: int = 98) -> list[str]:
    lines = [""]
    for word in re.findall(r"(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+", text):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
