"""What sampled warps of an exercise did, as its figures of the chart "warps" show it: results/warps.csv.

The cpu back end counts it, and no GPU has a part in it: the file is the same wherever it is written. A row is a
line that a warp came to, or an access that it made. The keys of a panel are explained at plots.warps.Warps.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ..catalogue import Exercise
from ..errors import LabError
from ..lines import source_text
from ..lines.model import Kernel, LineProfile, Sample, Step
from ..lines.page import arrays
from .csv_file import Row, with_facts
from .figures import WARPS

COLUMNS = ("figure", "panel", "code", "lanes", "kind", "array", "size", "shift", "offsets")
FACTS = {"counted": "by the cpu back end, in an emulation"}
DIVERGENCE = "divergence"

Panel = Mapping[str, Any]
ProfileOf = Callable[[str], LineProfile]  # of a run with these options


def entries(exercise: Exercise) -> dict[str, dict[str, Any]]:
    """The figures that show warps, by name."""
    figures = exercise.facts.figures
    return {name: entry for name, entry in figures.items() if entry.get("chart") == WARPS}


def record(exercise: Exercise) -> str:
    """Runs the exercise on the cpu back end: the text of its file."""
    from ..lines.collect import collect

    return text_of(
        exercise, lambda options: collect([exercise.name], "cpu", shlex.split(options))[1]
    )


def text_of(exercise: Exercise, profile_of: ProfileOf) -> str:
    """That of the file. Each run is asked for once."""
    once = lru_cache(maxsize=None)(profile_of)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for name, entry in entries(exercise).items():
        for panel in entry["panels"]:
            first = {"figure": name, "panel": panel["title"]}
            kernel, sample = _sample(panel, once(panel.get("options", "")))
            is_of_lines = entry["picture"] == DIVERGENCE
            rows = _ways(panel, sample) if is_of_lines else [_access(panel, kernel, sample)]
            writer.writerows({**first, **row} for row in rows)
    return with_facts(FACTS, text.getvalue())


def _sample(panel: Panel, profile: LineProfile) -> tuple[Kernel, Sample]:
    name, block, warp = panel["kernel"], panel.get("block", "0"), panel.get("warp", 0)
    for kernel in profile.kernels:
        for sample in kernel.samples:
            if (kernel.name, _shape(sample.block), sample.warp) == (name, block, warp):
                return kernel, sample
    raise LabError(f"no sample of kernel {name}, block {block}, warp {warp}")


def _shape(block: tuple[int, int, int]) -> str:
    """It is like `3` or `3x1`: zeros at the end are left out."""
    numbers = [*block]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return "x".join(map(str, numbers))


def _ways(panel: Panel, sample: Sample) -> list[Row]:
    """The same line with the same lanes several times in a row is one row."""
    rows: list[Row] = []
    for step in sample.steps:
        row = _row(step)
        is_wanted = any(code in row["code"] for code in panel["lines"])
        if is_wanted and step.access is None and row not in rows[-1:]:
            rows.append(row)
    if not rows:
        raise LabError(f"{panel['title']}: the warp came to none of these lines")
    return rows[: panel.get("most", len(rows))]


def _access(panel: Panel, kernel: Kernel, sample: Sample) -> Row:
    found: dict[int, list[Step]] = {}
    for step in sample.steps:
        if step.access is None or panel["code"] not in _row(step)["code"]:
            continue
        if kernel.accesses[step.access].kind == panel["kind"]:
            found.setdefault(step.access, []).append(step)
    number, execution = panel.get("number", 1), panel.get("execution", 1)
    try:
        step = [*found.values()][number - 1][execution - 1]
    except IndexError:
        what = f"{panel['kind']} {number} of the line with {panel['code']}"
        raise LabError(f"{panel['title']}: no execution {execution} of {what}") from None
    assert step.access is not None and step.memory is not None
    access, memory = kernel.accesses[step.access], kernel.memories[step.memory]
    return {
        **_row(step),
        "kind": access.kind,
        "array": arrays.label(memory, kernel),
        "size": str(access.size),
        "shift": str(memory.shift),
        "offsets": " ".join(map(str, step.offsets)),
    }


def _row(step: Step) -> Row:
    line = source_text.line_of(step.place.file, step.place.line)
    return {"code": line.partition("//")[0].strip(), "lanes": f"{step.lanes:08x}"}
