"""Kernels that were counted, made by hand: what a cause is found in, and what it is not found
in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lab_cli.causes import kernel_work, ranking
from lab_cli.causes.finding import Finding
from lab_cli.lines.model import (
    GLOBAL,
    LOAD,
    SECTOR,
    WARP,
    Access,
    HostCall,
    Kernel,
    Line,
    LineProfile,
    Memory,
    Place,
    Sample,
    Step,
)

FILE = Path("/nowhere/sample.cu")  # cannot be read
ALL = 0xFFFFFFFF


def place(line: int, file: Path = FILE) -> Place:
    return Place(file, line)


def access(line: int = 10, requests: int = 1000, size: int = 4, **fields: Any) -> Access:
    """A coalesced load of global memory by all lanes, but for `fields`. `stride` is that of all
    requests."""
    lanes = fields.pop("lanes", WARP * requests)
    stride = fields.pop("stride", size)
    given = {
        "place": fields.pop("place", place(line)),
        "callers": (),
        "kind": LOAD,
        "space": GLOBAL,
        "size": size,
        "requests": requests,
        "lanes": lanes,
        "bytes": size * lanes,
        "units": size * lanes // SECTOR,
        "least": size * lanes // SECTOR,
        "strides": {} if stride is None else {stride: requests},
        "alike": requests,
        "sampled_lanes": lanes,
        "sampled_elements": lanes,
    }
    return Access(**{**given, **fields})


def line(number: int, executions: int, file: Path = FILE, **fields: Any) -> Line:
    return Line(place(number, file), executions, WARP * executions, **fields)


def kernel(accesses: Iterable[Access] = (), lines: Iterable[Line] = (), **fields: Any) -> Kernel:
    """With 264 blocks of 256 threads, 8 of which fit on an SM, but for `fields`."""
    given = {
        "name": "sample",
        "grid": (264, 1, 1),
        "block": (256, 1, 1),
        "launches": 1,
        "shared": 0,
        "blocks_per_sm": 8,
        "definition": None,
    }
    by_place = {each.place: each for each in lines}
    return Kernel(**{**given, **fields}, lines=by_place, accesses=list(accesses))


def sample(*steps: Step) -> Sample:
    return Sample((0, 0, 0), 0, list(steps))


def at(line: int, lanes: int = ALL) -> Step:
    """A warp comes to a line."""
    return Step(lanes, place(line))


def touch(index: int, offsets: Sequence[int], lanes: int = ALL, memory: int = 0) -> Step:
    """A warp's access of this number."""
    return Step(lanes, place(10), index, memory, tuple(offsets))


def array(size: int = 1 << 20) -> Memory:
    return Memory("", GLOBAL, size)


def symptoms(of: Kernel, active: float | None = None, **fields: Any) -> list[str]:
    """Of the findings and then of the hints, which are marked."""
    lanes = {} if active is None else {ranking.launch(of): active}
    (found,) = ranking.of_kernels(LineProfile([of]), lanes, **fields)
    return [
        *(finding.symptom for finding in found.findings),
        *(f"perhaps {hint.symptom}" for hint in found.hints),
    ]


def only(of: Kernel, active: float | None = None, **fields: Any) -> Finding:
    """The one finding, or the one hint."""
    lanes = {} if active is None else {ranking.launch(of): active}
    (found,) = ranking.of_kernels(LineProfile([of]), lanes, **fields)
    (finding,) = [*found.findings, *found.hints]
    return finding


def host(calls: Iterable[HostCall], kernels: Iterable[Kernel] = ()) -> list[Finding]:
    return ranking.of_host(LineProfile(list(kernels), list(calls)))


def share_of(of: Kernel, cycles: float) -> float:
    return kernel_work.measure(of).share(cycles)
