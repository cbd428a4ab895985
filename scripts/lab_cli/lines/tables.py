"""What a kernel costs per line as JSON and as CSV, for scripts and spreadsheets.

JSON has all that is known but the samples of warps. Counts are sums over all launches of a kernel with this
grid and block; `active_lanes` is a sum over the executions or requests, `units` are sectors of global memory,
wavefronts of shared memory or passes of the constant cache, and `least_units` what the same bytes would take
at best. CSV has a row for each kernel and line. What a line calls is at the lines of the called function there,
so that sums over the rows are those of the kernel.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from ..paths import shown
from . import source_text, worst
from .model import Access, HostCall, Kernel, Line, LineProfile, Memory, Place
from .sums import SORTS, UNITS, Traffic, traffic
from .worst import Worst

SCHEMA = "lab-lines/1"  # changes when a key changes its meaning, or goes
OPERATIONS = ("fp32", "fp64", "to_double", "special", "division")


def json_text(profile: LineProfile, notes: Sequence[str] = ()) -> str:
    found = {
        "schema": SCHEMA,
        "source": profile.source,
        "counted_exactly": profile.exact,
        "notes": [*notes],
        "kernels": [_kernel(each) for each in profile.kernels],
        "host_calls": [_host_call(each) for each in profile.host],
    }
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def csv_text(profile: LineProfile) -> str:
    """Empty cells where a line has nothing of the sort."""
    header = ["kernel", "grid", "block", "launches", "file", "line", *_names(), "source"]
    rows = [
        [
            kernel.name,
            "x".join(map(str, kernel.grid)),
            "x".join(map(str, kernel.block)),
            kernel.launches,
            shown(place.file),
            place.line,
            *_cells(line),
            source_text.line_of(place.file, place.line).strip(),
        ]
        for kernel in profile.kernels
        for place, line in sorted(kernel.lines.items())
        if line.executions or line.accesses
    ]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


# ---- CSV


def _names() -> list[str]:
    names = ["executions", "active_lanes", "branches", "divergent_branches", "barriers"]
    for space, kind in SORTS:
        names += [f"{space}_{kind}_{what}" for what in ("requests", UNITS[space], "least")]
    return [*names, "bank_conflicts", "colliding_lanes", *OPERATIONS]


def _cells(line: Line) -> list[int | str]:
    cells: list[int] = [line.executions, line.lanes, line.branches, line.divergent, line.barriers]
    sums = traffic(line.accesses)
    for sort in SORTS:
        part = sums.get(sort, Traffic())
        cells += [part.requests, part.units, part.least]
    cells.append(sum(part.conflicts for part in sums.values()))
    cells.append(sum(part.collisions for (_, kind), part in sums.items() if kind == "atomic"))
    cells += [line.operations.get(name, 0) for name in OPERATIONS]
    return [cell or "" for cell in cells]


# ---- JSON


def _kernel(kernel: Kernel) -> dict[str, Any]:
    found = worst.of(kernel)
    return {
        "kernel": kernel.name,
        "grid": [*kernel.grid],
        "block": [*kernel.block],
        "launches": kernel.launches,
        "shared_bytes_per_block": kernel.shared,
        "blocks_per_multiprocessor": kernel.blocks_per_sm,
        "definition": _place(kernel.definition),
        "worst_line": _worst(found) if found else None,
        "lines": [_line(line) for _, line in sorted(kernel.lines.items())],
        "memories": [_memory(each) for each in kernel.memories],
    }


def _worst(found: Worst) -> dict[str, Any]:
    return {
        **_place(found.place),
        "sentence": found.sentence,
        "share": found.share,
        "in_vain": found.in_vain,
        "exercise": found.exercise,
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        **_place(line.place),
        "text": source_text.line_of(line.place.file, line.place.line),
        "executions": line.executions,
        "active_lanes": line.lanes,
        "branches": line.branches,
        "divergent_branches": line.divergent,
        "barriers": line.barriers,
        "operations": dict(line.operations),
        "accesses": [_access(each) for each in line.accesses],
        "accesses_in_calls": [_access(each) for each in line.called],
    }


def _access(access: Access) -> dict[str, Any]:
    return {
        **_place(access.place),
        "called_from": [_place(each) for each in access.callers],
        "kind": access.kind,
        "memory": access.space,
        "bytes_per_lane": access.size,
        "requests": access.requests,
        "requests_are_at_most": access.at_most,
        "active_lanes": access.lanes,
        "different_bytes": access.bytes,
        "units": access.units,
        "least_units": access.least,
        "bank_conflicts": access.conflicts,
        "shared_wavefronts_of_copy": access.wavefronts,
        "requests_by_stride": {str(stride): count for stride, count in access.strides.items()},
        "lanes_with_the_same_address": access.alike,
        "different_addresses_in_grid": access.addresses,
        "sampled_accesses": access.sampled_lanes,
        "sampled_addresses": access.sampled_elements,
        "sampled_repetitions": access.repeats,
    }


def _memory(memory: Memory) -> dict[str, Any]:
    return {
        "name": memory.name,
        "memory": memory.space,
        "bytes": memory.size,
        "parameter": memory.parameter,
        "bytes_behind_bank_0": memory.shift,
    }


def _host_call(call: HostCall) -> dict[str, Any]:
    return {
        "call": call.what,
        "place": _place(call.place),
        "calls": call.calls,
        "bytes": call.bytes,
        "direction": call.direction,
        "asynchronous": call.asynchronous,
        "pageable": call.pageable,
        "calls_right_after_a_launch": call.after_launch,
        "kernel": call.kernel,
    }


def _place(place: Place | None) -> Any:
    return {"file": shown(place.file), "line": place.line} if place else None
