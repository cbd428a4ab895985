"""Bank conflicts of shared memory, line by line, with the rule that they follow."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from ..lines import weights
from ..lines.model import ATOMIC, COPY, LOAD, SHARED, Access, Kernel, Place
from ..words import number, several
from . import patterns
from .finding import Finding, percent
from .kernel_work import Work
from .source_lines import also

BANKS = 32
WORD = 4  # bytes
# The counters of a GPU pick up conflicts where the pattern has none, 14 % of the wavefronts of
# stores of tiledRowMajor (cornerTurning/results/h200/metrics.csv): the rule for totals has 20 %,
# too. Requests of global memory go through the same unit.
OF_WAVEFRONTS = 0.20
# Conflicts of a few accesses beside much other work: rectRowColPad1 loses 13 % of its work to them
# by these weights, and 2 % of its time (sharedBanks/results/h200/table.csv).
OF_WORK = 0.15


def find(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    """Accesses of one line are mended together, and so are those of several with one pattern."""
    together: dict[object, list[int]] = {}
    for members in _lines(kernel).values():
        stride = patterns.of(kernel, _first(kernel, members)).stride
        together.setdefault(stride, []).extend(members)
    for members in together.values():
        yield from _of_pattern(kernel, of_kernel, members)


def _lines(kernel: Kernel) -> dict[Place, list[int]]:
    found: dict[Place, list[int]] = {}
    for index, access in enumerate(kernel.accesses):
        if _conflicts(access) > 0:
            found.setdefault(access.place, []).append(index)
    return found


def _first(kernel: Kernel, members: list[int]) -> int:
    return max(members, key=lambda index: _conflicts(kernel.accesses[index]))


def _conflicts(access: Access) -> int:
    """Of an asynchronous copy those at its end in shared memory. Lanes that want one address of an
    atomic are no conflict of banks."""
    if access.kind == COPY:
        return access.conflicts
    return access.conflicts if access.space == SHARED and access.kind != ATOMIC else 0


def _of_pattern(kernel: Kernel, of_kernel: Work, members: list[int]) -> Iterator[Finding]:
    first = _first(kernel, members)
    accesses = [kernel.accesses[index] for index in members]
    saved = sum(map(_conflicts, accesses))
    of_wavefronts = saved / (of_kernel.wavefronts + of_kernel.requests)
    of_work = of_kernel.share(saved * weights.WAVEFRONT)
    if of_wavefronts < OF_WAVEFRONTS or of_work < OF_WORK:
        return
    access = kernel.accesses[first]
    wavefronts = (access.wavefronts if access.kind == COPY else access.units) / access.requests
    conflicts = _conflicts(access) / access.requests
    word = "load" if access.kind == LOAD else "copy" if access.kind == COPY else "store"
    stride = patterns.of(kernel, first).stride
    others = also(access.place, (each.place for each in accesses))
    why, remedy = _rule(access, stride, wavefronts)
    yield Finding(
        "bank conflicts",
        f"A warp's {word} takes {number(wavefronts)} wavefronts; {number(wavefronts - conflicts)} "
        f"would do ({several(access.requests, 'request')}). {why}{others}",
        f"Another layout removes {number(conflicts)} of {number(wavefronts)} wavefronts of each "
        f"{word}: {percent(saved / of_kernel.wavefronts)} of the kernel's wavefronts"
        + (", with the others." if len(members) > 1 else "."),
        remedy,
        ["sharedBanks", "transpose"],
        of_work,
        access.place,
    )


def _rule(access: Access, stride: int | str | None, wavefronts: float) -> tuple[str, str]:
    """The sentence with gcd(), where it explains what was counted; and a remedy."""
    pad = (
        "Let the lanes of a warp reach different banks: rows of another length (padding), or "
        "swizzled indices."
    )
    if not isinstance(stride, int) or not stride or stride % WORD:
        return "The lanes' words lie without one stride, and meet in banks.", pad
    words = abs(stride) // WORD
    meet = gcd(words, BANKS)
    if access.size != WORD or meet == 1 or abs(meet - wavefronts) > 0.5:
        return f"The lanes lie {several(words, 'word')} apart.", pad
    why = (
        f"The lanes lie {several(words, 'word')} apart, so gcd({words}, {BANKS}) = {meet} of them "
        "meet in each bank."
    )
    if words % 2 == 0:
        pad = f"Make this distance odd: pad rows of {words} words to {words + 1}. Or swizzle the indices."
    return why, pad
