"""Text that a program printed: made harmless, without the paths of this machine, and not too long."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab_cli.paths import OUT, ROOT

MOST = 20_000  # characters of one text in a report
MOST_LINES = 240
LONGEST = 300  # characters of a cell

# What a terminal takes as a command: CSI sequences such as colours, OSC sequences such as titles and
# links, and the short ones (ECMA-48).
_TERMINAL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]"
)


@dataclass(frozen=True)
class Text:
    text: str
    left_out: int = 0  # characters, in whose place a line says how many


def plain(text: str) -> str:
    """Without commands to a terminal; other characters that cannot be seen are escaped, but for tabs and
    the ends of lines."""
    text = _TERMINAL.sub("", text.replace("\r\n", "\n"))
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def cut(text: str, most: int = MOST, most_lines: int = MOST_LINES) -> Text:
    """Its beginning and its end, where it has more than so many characters or lines."""
    lines = text.splitlines(keepends=True)
    if len(lines) > most_lines:
        half = most_lines // 2
        begin, end = "".join(lines[:half]), "".join(lines[-half:])
    else:
        begin, end = text, ""
    if len(begin) + len(end) > most:
        half = most // 2
        begin, end = begin[:half], (begin + end)[-half:]
    left_out = len(text) - len(begin) - len(end)
    return joined(begin, left_out, end) if left_out else Text(text)


def short(text: str) -> str:
    """What stands in a line or in a cell."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def joined(begin: str, left_out: int, end: str) -> Text:
    """With a line that says how many characters are missing in between."""
    begin = begin.rstrip("\n")
    return Text(f"{begin}\n[... {left_out:,} characters left out ...]\n{end}", left_out)


class Cleaner:
    """Takes the paths of this machine out of texts: what lies in the checkout is seen from there, a
    student's own files have their names alone."""

    def __init__(self, own_files: Iterable[str] = ()) -> None:
        of_home = {os.path.expanduser("~"): "~/"}
        of_own = {str(Path(file).absolute().parent): "" for file in own_files}
        of_lab = {str(OUT): "out/", str(ROOT): ""}
        found: dict[str, str] = {}
        for folders in (of_home, of_own, of_lab):
            for folder, name in folders.items():
                found.update({folder: name, os.path.realpath(folder): name})
        self._names = sorted(found.items(), key=lambda entry: -len(entry[0]))

    def __call__(self, text: str) -> str:
        for folder, name in self._names:
            if len(folder) > 1:
                text = text.replace(folder + os.sep, name)
        return plain(text)
