"""Constant memory, which serves one word at a time, where lanes of a warp want different ones."""

from __future__ import annotations

from collections.abc import Iterator

from ..lines import weights
from ..lines.model import CONSTANT, Kernel
from .finding import Finding, number, percent, times
from .kernel_work import Work

# Two words for a warp take twice the time of one, 32 words 32 times (lookupConstant in
# constantMemory/results/h200/table.csv), but only where the kernel does little else.
OF_WORK = 0.10
PASSES = 2


def find(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    for access in kernel.accesses:
        saved = access.units - access.least
        of_work = of_kernel.share(saved * weights.CONSTANT_PASS)
        if access.space != CONSTANT or access.units < PASSES * access.requests or of_work < OF_WORK:
            continue
        passes = access.units / access.requests
        yield Finding(
            "divergent reads of constant memory",
            f"Lanes of a warp want {number(passes)} different words at a time, and "
            f"the constant cache serves one in each pass: {number(passes)} passes where 1 would do "
            f"({times(access.requests, 'request')}).",
            f"Shared memory removes {number(passes - 1)} of {number(passes)} passes of this load: "
            f"{percent(saved / of_kernel.constant_passes)} of the kernel's passes.",
            "Keep the table in shared memory, or in global memory behind const __restrict__; "
            "constant memory is for what all lanes of a warp read at the same time.",
            ["constantMemory"],
            of_work,
            access.place,
        )
