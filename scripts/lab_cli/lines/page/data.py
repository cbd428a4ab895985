"""All that a page shows, as one value that can be written as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...counters.explanation import ByLine, Counted
from ...counters.metric_table import MetricTable, Row
from ...paths import ROOT
from .. import source_text, worst
from ..model import ATOMIC, WARP, Access, Kernel, Line, LineProfile, Place
from ..worst import Worst
from . import arrays, columns, findings, links, roofline, samples, sentences
from .findings import Finding
from .sentences import Sentence

AROUND = 2  # lines shown before and behind one that is in no function
NEAR = 3  # lines between two parts of a source that are shown all the same
HEAD = 3  # lines of a function above its name: template <...>, __global__ ...
MICROSECOND = 1e-6
LIMIT = 2_500_000  # characters


def of(
    profile: LineProfile,
    table: MetricTable,
    page: Path | None,
    found: ByLine | None = None,
    limit: int = LIMIT,
) -> dict[str, Any]:
    """`page` is where the page will stand, for its links. `found` has the kernels of the profile."""
    files = _Files(profile)
    found = found or ByLine([Counted(("", "", ""), 0, ()) for _ in profile.kernels])
    of_kernels = [
        _kernel(kernel, each.sentences, table, files, page, profile.exact)
        for kernel, each in zip(profile.kernels, found.kernels)
    ]
    samples.fit(of_kernels, limit)
    return {
        "kernels": of_kernels,
        "first": _first(profile, of_kernels),
        "host": findings.of(found.host, {}, page),
        "files": files.texts(),
    }


def _first(profile: LineProfile, of_kernels: Sequence[dict[str, Any]]) -> int:
    """The kernel with the worst line; without one, the first in which anything was found."""
    bad = worst.of_all(profile.kernels)
    if bad:
        return profile.kernels.index(bad[0])
    return next((number for number, kernel in enumerate(of_kernels) if kernel["findings"]), 0)


class _Files:
    """The files that kernels have lines in, by number."""

    def __init__(self, profile: LineProfile) -> None:
        places = [place for kernel in profile.kernels for place in kernel.lines]
        self._numbers: dict[Path, int] = {}
        for kernel in profile.kernels:
            if kernel.definition:
                self._numbers.setdefault(kernel.definition.file, len(self._numbers))
        for place in sorted(places):
            self._numbers.setdefault(place.file, len(self._numbers))

    def number(self, file: Path) -> int:
        return self._numbers[file]

    def texts(self) -> list[dict[str, Any]]:
        return [
            {"name": name_of(file), "lines": [*source_text.lines_of(file)]}
            for file in self._numbers
        ]


def name_of(file: Path) -> str:
    """As seen from the checkout; of a file elsewhere, its name alone."""
    return file.relative_to(ROOT).as_posix() if ROOT in file.parents else file.name


def _kernel(
    kernel: Kernel,
    found: Sequence[Finding],
    table: MetricTable,
    files: _Files,
    page: Path | None,
    exact: bool,
) -> dict[str, Any]:
    bad = worst.of(kernel)
    is_found = bad is not None and bool(findings.at(found, bad.place))
    shown = columns.shown(kernel)
    lines = [line for _, line in sorted(kernel.lines.items())]
    numbers = {line.place: number for number, line in enumerate(lines)}
    return {
        "name": kernel.name,
        "facts": facts(kernel),
        "columns": [{"title": column.title, "about": column.about} for column in shown],
        "without": columns.without(kernel),
        "lines": [
            _line(line, kernel, shown, None if is_found else bad, found, files, page, exact)
            for line in lines
        ],
        "worst": numbers.get(bad.place, -1) if bad else -1,
        "verdict": None if is_found or (found and not bad) else _verdict(bad, page),
        "findings": findings.of(found, numbers, page),
        "short": found[0].title if found else bad.short if bad else "",
        "parts": _parts(kernel, files),
        "accesses": _accesses(kernel),
        "memories": [
            {
                "name": arrays.label(memory, kernel) or f"{memory.space} memory",
                "space": memory.space,
                "size": memory.size,
                "shift": memory.shift,
            }
            for memory in kernel.memories
        ],
        "samples": samples.of(kernel, numbers),
        "roofline": _roofline(kernel, table, exact),
        "totals": _totals(kernel, table),
    }


def facts(kernel: Kernel) -> dict[str, str]:
    return {
        "grid": size(kernel.grid),
        "block": size(kernel.block),
        "launches": f"{kernel.launches:,}",
        "shared memory of a block": f"{kernel.shared:,} bytes",
        "blocks per SM": f"{kernel.blocks_per_sm:,}",
    }


def size(shape: Sequence[int]) -> str:
    """It is like the tables' 64x64: dimensions of 1 at the end are left out, but for the first."""
    sizes = [*shape]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return "x".join(map(str, sizes))


def _line(
    line: Line,
    kernel: Kernel,
    shown: Sequence[columns.Column],
    bad: Worst | None,
    found: Sequence[Finding],
    files: _Files,
    page: Path | None,
    exact: bool,
) -> dict[str, Any]:
    cells = [column.of(line, kernel) for column in shown]
    says = findings.named(findings.at(found, line.place), sentences.of(line, kernel, bad, exact))
    return {
        "file": files.number(line.place.file),
        "line": line.place.line,
        "cells": [
            [cell.text, round(cell.good, 4), round(cell.bad, 4), cell.value] if cell else None
            for cell in cells
        ],
        "says": [said(sentence, page) for sentence in says],
        "accesses": _worst_first(
            {n: access for n, access in enumerate(kernel.accesses) if access.place == line.place}
        ),
        "cost": round(cost(line), 2),
    }


def cost(line: Line) -> float:
    """In vain: what its accesses cost, and warps' worth of idle lanes."""
    return sum(map(in_vain, line.accesses)) + (WARP * line.executions - line.lanes) / WARP


def in_vain(access: Access) -> int:
    """Sectors, wavefronts and passes, and of atomics lanes that wait for another."""
    of_copy = access.conflicts if access.wavefronts else 0
    waiting = max(0, access.alike - access.requests) if access.kind == ATOMIC else 0
    return max(0, access.units - access.least) + of_copy + waiting


def _worst_first(accesses: Mapping[int, Access]) -> list[int]:
    return sorted(accesses, key=lambda number: -in_vain(accesses[number]))


def said(sentence: Sentence, page: Path | None) -> dict[str, Any]:
    found: dict[str, Any] = {"text": sentence.text}
    if sentence.bad:
        found["bad"] = True
    link = links.shown(sentence.exercise, page) if sentence.exercise else None
    if link:
        found["link"] = link
    return found


def _verdict(bad: Worst | None, page: Path | None) -> dict[str, Any]:
    if bad is None:
        return {"text": "No line of this kernel costs anything to speak of in vain."}
    return said(Sentence(f"{bad.reason}.", bad.exercise, bad=True), page)


def _parts(kernel: Kernel, files: _Files) -> list[dict[str, Any]]:
    """Of each file the lines to show: whole functions of which the kernel executes something."""
    ranges: dict[Path, list[tuple[int, int]]] = {}
    own = kernel.definition
    places = [*kernel.lines, *([own] if own else [])]
    for place in sorted(places):
        ranges.setdefault(place.file, []).append(_around(place))
    names = sorted(ranges, key=lambda file: (own is None or file != own.file, file))
    return [{"file": files.number(file), "ranges": joined(ranges[file])} for file in names]


def _around(place: Place) -> tuple[int, int]:
    function = source_text.function_at(place.file, place.line)
    if function is None:
        return max(1, place.line - AROUND), place.line + AROUND
    first = function.first
    for _ in range(HEAD):
        above = source_text.line_of(place.file, first - 1).strip()
        if not above or above.startswith(("//", "#", "*")) or above.endswith((";", "}", "*/")):
            break
        first -= 1
    return first, function.last


def joined(ranges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Ranges that touch, or nearly so, become one."""
    found: list[list[int]] = []
    for first, last in sorted(set(ranges)):
        if found and first <= found[-1][1] + NEAR:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return found


def _accesses(kernel: Kernel) -> list[dict[str, Any]]:
    """Those of a line that would have one title are numbered."""
    titles = [sentences.short_title(access, kernel) for access in kernel.accesses]
    keys = [(access.place, title) for access, title in zip(kernel.accesses, titles)]
    found = []
    for number, (access, title) in enumerate(zip(kernel.accesses, titles)):
        several = keys.count(keys[number]) > 1
        numbered = f"{title} ({keys[: number + 1].count(keys[number])})" if several else title
        found.append(
            {"title": numbered, "kind": access.kind, "space": access.space, "size": access.size}
        )
    return found


# ---- the table of metrics


def _rows(kernel: Kernel, table: MetricTable) -> list[tuple[int, Row]]:
    """Of its launches, with their numbers in the table."""
    key = (kernel.name, size(kernel.grid), size(kernel.block))
    rows = enumerate(table.rows)
    return [(number, row) for number, row in rows if (row.kernel, row.grid, row.block) == key]


def _totals(kernel: Kernel, table: MetricTable) -> list[list[str]]:
    """Name, value with its unit, and meaning of each metric of the first launch."""
    rows = _rows(kernel, table)
    if not rows:
        return []
    number = rows[0][0]
    found = []
    for index, metric in enumerate(table.metrics):
        if table.rows[number].values[index] is not None:
            value = f"{table.shown(index)[number]} {metric.unit}".strip()
            found.append([metric.name, value, metric.meaning])
    return found


def _of_all_launches(name: str, kernel: Kernel, table: MetricTable) -> float | None:
    """A metric of which a row has that of one launch; None where it has no value."""
    index = next((i for i, metric in enumerate(table.metrics) if metric.name == name), None)
    if index is None:
        return None
    values = [row.values[index] for _, row in _rows(kernel, table)]
    known = [value for value in values if isinstance(value, float)]
    return kernel.launches * sum(known) / len(known) if known else None


def _roofline(kernel: Kernel, table: MetricTable, exact: bool) -> dict[str, Any]:
    roofs = roofline.recorded()
    spot = roofline.place(kernel)
    time = _of_all_launches("duration", kernel, table)
    counts = {
        name: _of_all_launches(name, kernel, table) for name in roofline.OPERATIONS_OF_METRICS
    }
    spot = roofline.measured(spot, time * MICROSECOND if time else None, counts)
    if not exact and all(count is None for count in counts.values()):
        return {"says": f"It takes operations: --metrics {','.join(roofline.METRICS)} counts them."}
    found: dict[str, Any] = {"says": roofline.words(spot, roofs)}
    if roofs and spot.moved and spot.operations:
        found["wide"] = roofline.svg(spot, roofs, 720)
        found["narrow"] = roofline.svg(spot, roofs, 340)
        found["from"] = f"The roofs are those of {roofs.gpu}, from {roofs.file}."
    return found
