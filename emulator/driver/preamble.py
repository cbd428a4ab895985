"""Splits a source into its preamble, the includes at its head, and the rest.

Most of the time that a small program takes to compile goes into headers. Where only the rest has changed, a
precompiled preamble saves it (cc.py --preamble).
"""

import hashlib
import os
import re
from collections.abc import Iterable

DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)")
OPENS, CLOSES = {"if", "ifdef", "ifndef"}, {"endif"}


def split(text: str) -> tuple[str, str]:
    """The preamble, which ends behind the last include before the first line of code, and the rest, whose
    lines have their numbers still. `text` begins with a #line directive for its first line."""
    lines = text.splitlines(keepends=True)
    end = depth = 0
    in_comment = continues = False
    for number, line in enumerate(lines):
        code, in_comment = _without_comments(line, in_comment)
        directive = DIRECTIVE.match(code)
        if not continues and not directive and code.strip():
            break
        if directive and not continues:
            depth += (directive[1] in OPENS) - (directive[1] in CLOSES)
        continues = code.rstrip().endswith("\\")
        if directive and directive[1] == "include" and depth == 0 and not in_comment:
            end = number + 1
    file = lines[0].split(maxsplit=2)[2].strip() if lines else '""'
    return "".join(lines[:end]), f"#line {end} {file}\n" + "".join(lines[end:])


def _without_comments(line: str, inside: bool) -> tuple[str, bool]:
    """The line without its comments, and whether one that /* begins goes on behind it. `inside`: whether one
    went on before it."""
    code = ""
    while line:
        if inside:
            _, end, line = line.partition("*/")
            inside = not end
            continue
        start = re.search(r"//|/\*", line)
        if not start:
            return code + line, False
        code += line[: start.start()]
        if start[0] == "//":
            return code, False
        line, inside = line[start.end() :], True
    return code, inside


def digest(preamble: str, command: Iterable[str], files: Iterable[str]) -> str:
    """What a precompiled preamble depends on: its text, how it is compiled, and the files that it reads, of
    which the time of their last change counts."""
    parts = [preamble, *command]
    for path in sorted(files):
        try:
            parts.append(f"{path} {os.stat(path).st_mtime_ns}")
        except OSError:
            parts.append(path)
    return hashlib.sha256("\n".join(parts).encode(errors="surrogateescape")).hexdigest()
