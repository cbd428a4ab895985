"""A profile as one page of HTML: the source with what each line costs, and pictures of what warps do.

The page takes nothing from elsewhere. Its data are JSON in a script element that no browser executes, and
page.js draws them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from ...counters import unseen
from ...counters.explanation import ByLine
from ...counters.metric_table import MetricTable
from ...files import write as write_file
from ..model import LineProfile
from . import data, roofline

METRICS = roofline.METRICS  # a GPU has to count these for the roofline
FOLDER = Path(__file__).parent
SAMPLED = (
    "Counts are those of all warps. The maps show a few warps: the first and the last ones of the first blocks "
    "and of the last one, with their first steps, and of each access the first eight."
)
WITHOUT_GPU = (
    "Not counted: times, cache hits, registers, instructions, and what warps wait for. These take a GPU: "
    "./lab profile with --backend gpu."
)
WITHOUT_SAMPLES = (
    "Nsight Compute counts for each line, but records no addresses: the maps take the cpu back end, "
    "./lab profile with --backend cpu. What its totals point at is said by ./lab profile with --explain."
)


def write(
    profile: LineProfile, table: MetricTable, path: Path, found: ByLine | None = None
) -> None:
    """LabError where the file cannot be written."""
    write_file(path, html(profile, table, path, found))


def html(
    profile: LineProfile,
    table: MetricTable,
    path: Path | None = None,
    found: ByLine | None = None,
) -> str:
    """The page, as it will stand in `path`: links to the exercises' pages begin there. `found` is what
    --explain says of the same kernels."""
    shown = data.of(profile, table, path, found)
    parts = {
        "title": escape(title(shown)),
        "style": _file("page.css"),
        "data": as_json(shown),
        "script": _file("page.js"),
        "footer": "\n".join(f"<p>{escape(text)}</p>" for text in footer(profile, table, found)),
    }
    # In one go: what is put in may look like a place of the template, too.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def title(shown: dict[str, Any]) -> str:
    """It names the file of the first kernel."""
    files = shown["files"]
    return (
        f"{Path(files[0]['name']).name}: what each line costs" if files else "What each line costs"
    )


def footer(profile: LineProfile, table: MetricTable, found: ByLine | None = None) -> Iterator[str]:
    """What was counted where, and what was not."""
    for source in dict.fromkeys(filter(None, [profile.source, table.source])):
        yield _sentence(source)
    if profile.exact:
        known = found is not None and found.registers_known
        yield WITHOUT_GPU.replace(" registers,", "") if known else WITHOUT_GPU
        yield SAMPLED
    else:
        yield WITHOUT_SAMPLES
    if found:
        yield unseen.LOOKED_AT
    yield from map(_sentence, table.notes)


def _sentence(text: str) -> str:
    return text.rstrip(".") + "."


def as_json(value: object) -> str:
    """JSON that can stand within an element script: nothing in it ends the element or begins a comment."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
