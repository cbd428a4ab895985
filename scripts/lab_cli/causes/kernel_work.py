"""How much a kernel does of each kind of work, and what share of its work a part of it is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..lines import weights
from ..lines.model import ATOMIC, CONSTANT, GLOBAL, SHARED, WARP, Access, Kernel


def blocks(kernel: Kernel) -> int:
    """Of one launch."""
    return math.prod(kernel.grid)


def block_threads(kernel: Kernel) -> int:
    return math.prod(kernel.block)


def block_warps(kernel: Kernel) -> int:
    return -(-block_threads(kernel) // WARP)


def threads(kernel: Kernel) -> int:
    """Of all launches."""
    return block_threads(kernel) * blocks(kernel) * kernel.launches


def groups(access: Access) -> float:
    """Different addresses of a request, about: the largest group of lanes counts as one of them."""
    return (access.lanes - access.alike) / access.requests + 1 if access.requests else 0.0


def atomic_cycles(access: Access) -> float:
    """What global atomics wait for each other. More than 64 addresses count as no waiting."""
    if access.kind != ATOMIC or access.space != GLOBAL or not access.addresses:
        return 0.0
    waiting = weights.ATOMIC_ON_ONE_ADDRESS * access.requests * groups(access)
    return waiting / access.addresses


@dataclass(frozen=True)
class Work:
    """Of all launches of a kernel. `cycles` are those of lines/weights.py."""

    sectors: int
    wavefronts: int
    constant_passes: int
    requests: int  # of global memory
    lines: int  # executions of lines by warps
    lanes: int  # active ones in these
    cycles: float

    def share(self, cycles: float) -> float:
        return cycles / self.cycles if self.cycles else 0.0


def measure(kernel: Kernel) -> Work:
    of_global = [access for access in kernel.accesses if access.space == GLOBAL]
    sectors = sum(access.units for access in of_global)
    wavefronts = _units(kernel.accesses, SHARED) + sum(access.wavefronts for access in of_global)
    passes = _units(kernel.accesses, CONSTANT)
    lines = sum(line.executions for line in kernel.lines.values())
    cycles = (
        sectors * weights.SECTOR
        + wavefronts * weights.WAVEFRONT
        + passes * weights.CONSTANT_PASS
        + lines * weights.LINE
        + sum(map(atomic_cycles, kernel.accesses))
        + sum(map(arithmetic_cycles, (line.operations for line in kernel.lines.values())))
    )
    lanes = sum(line.lanes for line in kernel.lines.values())
    requests = sum(access.requests for access in of_global)
    return Work(sectors, wavefronts, passes, requests, lines, lanes, cycles)


def arithmetic_cycles(operations: dict[str, int]) -> float:
    """`operations` are those of threads."""
    per_warp = {
        "division": weights.DIVISION,
        "fp64": weights.FP64,
        "to_double": weights.CONVERSION,
        "fp32": weights.FP32 / 2,  # a multiply-add counts as two
    }
    return sum(operations.get(name, 0) / WARP * cycles for name, cycles in per_warp.items())


def _units(accesses: Iterable[Access], space: str) -> int:
    return sum(access.units for access in accesses if access.space == space)
