"""Code that pages show, taken from the sources so that the two cannot differ. It stands between two comments:

    <!-- source reduceInteger.cu | function reduceNeighbored -->
    ...
    <!-- end of source -->

The file is named as seen from the page. Behind it stands what is shown:

    function NAME            the definition of a function
    signature NAME           its first lines, as far as the `{`: what a student's kernel is given
    `FIRST` ... `LAST`       whole lines, from the one with FIRST to the next one with LAST
    `TEXT`                   the line with this text
    in NAME, `TEXT` ...      lines of the function NAME

A text to begin with must stand there once. Lines are moved to the left as far as all of them go.
"""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

from ..errors import LabError
from ..paths import shown
from .csv_file import read_text

BLOCK = re.compile(r"(<!-- source (\S+) \| ([^\n]+?) -->\n).*?(<!-- end of source -->)", re.DOTALL)
WHAT = re.compile(
    r"(?P<part>function|signature) (?P<function>\w+)"
    r"|(?:in (?P<scope>\w+), )?`(?P<first>[^`]+)`(?: \.\.\. `(?P<last>[^`]+)`)?"
)


def definition_of(function: str) -> str:
    """A pattern, for re.MULTILINE and re.DOTALL, of a function that begins and ends at the left margin."""
    return rf"^(?:template <[^\n]*\n)?(?![ /#\n])[^;{{}}=]*\b{function}\([^;]*?\{{.*?^\}}\n"


def with_listings(text: str, folder: Path) -> str:
    """The text of a page in `folder`, its code as the sources have it now. LabError, which names the file,
    for code that is not there."""

    def replace(block: re.Match[str]) -> str:
        path = Path(os.path.normpath(folder / block[2]))
        try:
            code = select(read_text(path), block[3])
        except LabError as error:
            raise LabError(f"{shown(path)}: {error}") from error
        return f"{block[1]}\n```cpp\n{code}```\n\n{block[4]}"

    return BLOCK.sub(replace, text)


def select(text: str, what: str) -> str:
    """The lines of a source that `what` names."""
    parts = WHAT.fullmatch(what)
    if not parts:
        raise LabError(f"{what}: expected function NAME, signature NAME, or `FIRST` ... `LAST`")
    if parts["function"]:
        definition = _definition(text, parts["function"])
        return definition if parts["part"] == "function" else _signature(definition)
    if parts["scope"]:
        text = _definition(text, parts["scope"])
    if text.count(parts["first"]) != 1:
        raise LabError(
            f"{parts['first']} stands there {text.count(parts['first'])} times, not once"
        )
    at = text.index(parts["first"])
    end = text.find(parts["last"], at + len(parts["first"])) if parts["last"] else at
    if end < 0:
        raise LabError(f"there is no {parts['last']} behind {parts['first']}")
    lines = text[text.rfind("\n", 0, at) + 1 : text.index("\n", end) + 1]
    return textwrap.dedent(lines)


def _definition(text: str, function: str) -> str:
    found = re.findall(definition_of(function), text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise LabError(f"function {function} is defined {len(found)} times, not once")
    return str(found[0])


def _signature(definition: str) -> str:
    return definition[: definition.index("{")].rstrip() + ";\n"
