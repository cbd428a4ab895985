"""CMakeLists.txt of a chapter as students get it."""

from __future__ import annotations

import re
from collections.abc import Collection

CASE = re.compile(r'^[ \t]+"(?P<case>[^"]*)"')
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
    if lines and lines[-1] not in kept:  # it closed the call
        last = max(i for i, line in enumerate(kept) if line.strip())
        kept[last] = kept[last].rstrip("\n") + ")\n"
    return text[: start.start()] + _without_empty("".join(kept)) + text[end:]


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


def _without_empty(call: str) -> str:
    """Without the keywords that have no case any more."""
    return re.sub(r"^    [A-Z_]+\n(?=    [A-Z_]+|\s*\))", "", call, flags=re.MULTILINE)
