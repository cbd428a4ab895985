"""CMakeLists.txt of a chapter as students get it."""

from __future__ import annotations

import re
from collections.abc import Collection

CASE = re.compile(r'^[ \t]+"(?P<case>[^"]*)"')
# A keyword of a call that has no case any more.
EMPTY = re.compile(
    r"^    (?:RUNS|PRINTS|EMULATION|GPU|REJECTS|PER_THREAD|HAZARDS)\n(?=    [A-Z_]+|\s*\Z)",
    re.MULTILINE,
)
CLOSED = re.compile(r"\)[ \t]*(?:#[^\n]*)?\s*\Z")
KERNEL = re.compile(r"--kernel=([^\s\"]+)")


# A command with what is indented below it, and the comment above; from if() to endif().
COMMAND = re.compile(
    r"(?:^#[^\n]*\n)*^(?P<first>if\([^\n]*)\n.*?^endif\(\)[^\n]*\n\n*"
    r"|(?:^#[^\n]*\n)*^(?P<other>\w+\([^\n]*)\n(?:[ \t][^\n]*\n)*\n*",
    re.MULTILINE | re.DOTALL,
)


def without_exercises(text: str, names: Collection[str]) -> str:
    """Without the commands whose first line names one of these, or a program of it."""

    def kept(command: re.Match[str]) -> str:
        words = re.findall(r"\w+", command["first"] or command["other"])
        return (
            ""
            if any(word == n or word.startswith(f"{n}_") for word in words for n in names)
            else command[0]
        )

    return COMMAND.sub(kept, text)


def without_rows(text: str, exercise: str, removed: Collection[str], rows: Collection[str]) -> str:
    """Without the cases of the exercise that name a row which is `removed`, or choose such rows alone;
    `rows` are those that it has."""
    start = re.search(rf"^lab_add_exercise\({exercise}\s", text, re.MULTILINE)
    if not start:
        return text
    following = re.search(r"^\S", text[start.end() :], re.MULTILINE)
    end = start.end() + following.start() if following else len(text)
    call = text[start.start() : end]
    lines = call.splitlines(keepends=True)
    kept = [line for line in lines if not _is_about(line, removed, rows)]
    new = EMPTY.sub("", "".join(kept))
    if not CLOSED.search(new):  # with the last case the bracket has gone
        new = re.sub(r'(["\w])([ \t]*(?:#[^\n]*)?\n\s*)\Z', r"\1)\2", new)
    return text[: start.start()] + new + text[end:]


def _is_about(line: str, removed: Collection[str], rows: Collection[str]) -> bool:
    case = CASE.match(line)
    if not case:
        return False
    if any(re.search(rf"\b{re.escape(name)}\b", case["case"]) for name in removed):
        return True
    chosen = KERNEL.search(case["case"])
    return bool(
        chosen
        and any(chosen[1] in name for name in removed)
        and not any(chosen[1] in name for name in rows)
    )
