"""Adds up Nsight Compute's counts of machine instructions to costs of the source's lines.

A line's executions, lanes and branches count machine instructions (SASS): a statement takes several.
Requests, sectors and wavefronts can be compared with those of the cpu back end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..counters.raw_csv import Launch
from . import ncu_page, source_text
from .model import (
    ATOMIC,
    COPY,
    GLOBAL,
    LOAD,
    SECTOR,
    SHARED,
    STORE,
    WAVEFRONT,
    Access,
    Kernel,
    Line,
    LineProfile,
    Place,
)
from .ncu_chains import Chain, chains
from .ncu_page import Instruction
from .nvdisasm import Function

# Columns of the source page.
EXECUTED = "Instructions Executed"
ACTIVE = "Thread Instructions Executed"
TAKING_PART = "Predicated-On Thread Instructions Executed"
DIVERGENT = "Divergent Branches"
SPACE = "Address Space"
SIZE = "Access Size"  # bits of a lane
SECTORS, LEAST_SECTORS = "L2 Theoretical Sectors Global", "L2 Theoretical Sectors Global Ideal"
WAVEFRONTS, LEAST_WAVEFRONTS = "L1 Wavefronts Shared", "L1 Wavefronts Shared Ideal"

PREDICATED = "predicated"  # executions under a condition of each lane

# What the raw page tells of a launch.
SHARED_BYTES = ("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")
BLOCK_LIMITS = (
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
)

_KINDS = {
    "LDGSTS": COPY,
    **dict.fromkeys(("LD", "LDG", "LDS", "LDSM"), LOAD),
    **dict.fromkeys(("ST", "STG", "STS", "STSM"), STORE),
    **dict.fromkeys(("ATOM", "ATOMG", "ATOMS", "RED", "REDG"), ATOMIC),
}
_BRANCHES = ("BRA", "BRX", "JMP", "JMX")

Sort = tuple[Chain, str, str, int]  # lines, kind, space, bytes of a lane


def parse(
    page: str,
    launches: Sequence[Launch],
    functions: Sequence[Function],
    source: str,
    folder: Path,
) -> LineProfile:
    """Reads the source page. `launches` come from the raw page, `functions` from nvdisasm (there may be none).
    Relative names of files begin in `folder`."""
    names = [launch.kernel for launch in launches]
    readers: dict[tuple[str, str, str], _Reader] = {}
    for launch, code in zip(launches, ncu_page.launches(page, names, folder)):
        found = list(zip(code, chains(code, launch.kernel, functions)))
        if any(chain for _, chain in found):  # else it is a library's
            key = launch.kernel, launch.grid, launch.block
            readers.setdefault(key, _Reader(launch)).add(found)
    return LineProfile([reader.kernel() for reader in readers.values()], (), source, exact=False)


class _Reader:
    """Adds up the launches of a kernel."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._launches = 0
        self._lines: dict[Place, Line] = {}
        self._counts: dict[Sort, Counter[str]] = {}
        self._definition: Place | None = None

    def add(self, code: Sequence[tuple[Instruction, Chain]]) -> None:
        self._launches += 1
        for instruction, chain in code:
            if chain:
                self._add_to_line(instruction, self._line(chain[0]))
                self._add_access(instruction, chain)
                self._definition = self._definition or self._defined_at(chain[-1])

    def kernel(self) -> Kernel:
        accesses = [_access(sort, counts) for sort, counts in self._counts.items()]
        for access in accesses:
            self._line(access.place).accesses.append(access)
            for caller in dict.fromkeys(access.callers):
                self._line(caller).called.append(access)
        limits = [self._value(name) for name in BLOCK_LIMITS]
        return Kernel(
            name=self._launch.kernel,
            grid=_sizes(self._launch.grid),
            block=_sizes(self._launch.block),
            launches=self._launches,
            shared=sum(self._value(name) for name in SHARED_BYTES),
            blocks_per_sm=min((limit for limit in limits if limit), default=0),
            definition=self._definition,
            lines=dict(sorted(self._lines.items())),
            accesses=accesses,
        )

    def _line(self, place: Place) -> Line:
        return self._lines.setdefault(place, Line(place))

    def _value(self, name: str) -> int:
        value = self._launch.values.get(name)
        return int(value) if isinstance(value, float) else 0

    def _defined_at(self, place: Place) -> Place | None:
        function = source_text.function_at(place.file, place.line)
        return Place(place.file, function.first) if function and function.is_kernel else None

    def _add_to_line(self, instruction: Instruction, line: Line) -> None:
        executed = instruction.count(EXECUTED)
        line.executions += executed
        line.lanes += instruction.count(ACTIVE)
        line.divergent += instruction.count(DIVERGENT)
        if instruction.opcode in _BRANCHES and instruction.is_predicated:
            line.branches += executed
        if instruction.opcode == "BAR":
            line.barriers += executed

    def _add_access(self, instruction: Instruction, chain: Chain) -> None:
        kind, space = _KINDS.get(instruction.opcode), _space(instruction)
        if not kind or not space:
            return
        size = instruction.count(SIZE) // 8
        counts = self._counts.setdefault((chain, kind, space, size), Counter())
        for column in (EXECUTED, TAKING_PART, SECTORS, LEAST_SECTORS, WAVEFRONTS, LEAST_WAVEFRONTS):
            counts[column] += instruction.count(column)
        if instruction.is_predicated:
            counts[PREDICATED] += instruction.count(EXECUTED)


def _space(instruction: Instruction) -> str:
    """Returns GLOBAL, SHARED, or nothing for local memory. An asynchronous copy has two; the first is GLOBAL."""
    first = instruction.cells.get(SPACE, "").partition(",")[0].lower()
    return first if first in (GLOBAL, SHARED) else ""


def _access(sort: Sort, counts: Counter[str]) -> Access:
    chain, kind, space, size = sort
    in_shared = space == SHARED
    units = counts[WAVEFRONTS if in_shared else SECTORS]
    unit = WAVEFRONT if in_shared else SECTOR
    lanes = counts[TAKING_PART]
    executed, predicated = counts[EXECUTED], counts[PREDICATED]
    if (
        predicated
    ):  # each request has a lane and takes a unit; a warp that had no lane for it does not
        executed = max(executed - predicated, min(executed, lanes, units))
    return Access(
        place=chain[0],
        callers=chain[1:],
        kind=kind,
        space=space,
        size=size,
        requests=executed,
        lanes=lanes,
        bytes=min(lanes * size, units * unit),  # which lanes want the same, ncu does not say
        units=units,
        least=counts[LEAST_WAVEFRONTS if in_shared else LEAST_SECTORS],
        conflicts=max(0, counts[WAVEFRONTS] - counts[LEAST_WAVEFRONTS]),
        wavefronts=counts[WAVEFRONTS] if kind == COPY else 0,
        at_most=predicated > 0,
    )


def _sizes(shape: str) -> tuple[int, int, int]:
    """'64x8' -> (64, 8, 1)"""
    sizes = [int(size) for size in re.findall(r"\d+", shape)]
    x, y, z = [*sizes, 1, 1, 1][:3]
    return x, y, z
