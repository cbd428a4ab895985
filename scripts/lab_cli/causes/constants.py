"""Constant memory, which serves one word at a time, where lanes of a warp want different ones."""

from __future__ import annotations

from collections.abc import Iterator

from ..lines import weights
from ..lines.model import CONSTANT, Access, Kernel, Place
from ..words import number, several
from .finding import Finding, percent
from .kernel_work import Work

# Two words for a warp take twice the time of one, 32 words 32 times (lookupConstant in
# constantMemory/results/h200/table.csv), but only where the kernel does little else.
OF_WORK = 0.10
PASSES = 2


def find(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    """One finding of a line, which may read several members of a struct."""
    of_lines: dict[Place, list[Access]] = {}
    for access in kernel.accesses:
        if access.space == CONSTANT and access.units >= PASSES * access.requests:
            of_lines.setdefault(access.place, []).append(access)
    for place, accesses in of_lines.items():
        requests = sum(access.requests for access in accesses)
        units = sum(access.units for access in accesses)
        saved = units - sum(access.least for access in accesses)
        of_work = of_kernel.share(saved * weights.CONSTANT_PASS)
        if of_work < OF_WORK:
            continue
        passes = units / requests
        yield Finding(
            "divergent reads of constant memory",
            f"Lanes of a warp want {number(passes)} different words at a time, and "
            f"the constant cache serves one in each pass: {number(passes)} passes where 1 would do "
            f"({several(requests, 'request')}).",
            f"Shared memory removes {number(passes - 1)} of {number(passes)} passes of each load: "
            f"{percent(saved / of_kernel.constant_passes)} of the kernel's passes.",
            "Keep the table in shared memory, or in global memory behind const __restrict__; "
            "constant memory is for what all lanes of a warp read at the same time.",
            ["constantMemory"],
            of_work,
            place,
        )
