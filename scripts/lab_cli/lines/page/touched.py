"""What one access of a warp touches: sectors and cache lines of global memory, or wavefronts and banks of shared
memory.

The emulator counts the same (emulator/src/instrument/profile/access_pattern.cpp), for all accesses; this is for
those that a page draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..model import SECTOR, STORE, WARP, WAVEFRONT

LINE = 128  # bytes of a cache line
BANKS = 32
WORD = WAVEFRONT // BANKS  # bytes of a bank

Elements = dict[int, int]  # lane -> bytes from the memory's beginning


@dataclass(frozen=True)
class Global:
    """Sectors by number, each with the bytes of it that a lane wants, a bit each."""

    sectors: dict[int, int]

    @property
    def lines(self) -> int:
        return len({sector * SECTOR // LINE for sector in self.sectors})

    @property
    def used(self) -> int:
        """Bytes that some lane wants."""
        return sum(bin(mask).count("1") for mask in self.sectors.values())

    @property
    def moved(self) -> int:
        return SECTOR * len(self.sectors)

    @property
    def least(self) -> int:
        """Sectors that would hold these bytes."""
        return -(-self.used // SECTOR)


def active(lanes: int) -> list[int]:
    """The lanes whose bit is set."""
    return [lane for lane in range(WARP) if lanes >> lane & 1]


def elements(lanes: int, offsets: Sequence[int]) -> Elements:
    return dict(zip(active(lanes), offsets))


def in_global(wanted: Elements, size: int) -> Global:
    sectors: dict[int, int] = {}
    for offset in wanted.values():
        for byte in range(offset, offset + size):
            sectors[byte // SECTOR] = sectors.get(byte // SECTOR, 0) | 1 << byte % SECTOR
    return Global(dict(sorted(sectors.items())))


def words(offset: int, size: int, shift: int = 0) -> range:
    """Those of shared memory that an element lies in."""
    return range((offset + shift) // WORD, (offset + shift + size - 1) // WORD + 1)


def in_shared(wanted: Elements, size: int, kind: str, shift: int = 0) -> list[list[int]]:
    """The wavefronts: each is a list of the words that it delivers, at most one from each bank.

    A warp that loads 8 or 16 bytes for each lane goes in halves or quarters, unless its lanes want in
    pairs the same.
    """
    most = WARP * (1 if kind == STORE else 2) // max(1, -(-size // WORD))
    most = max(1, min(WARP, most))
    found = []
    for first in range(0, WARP, most):
        group = {lane: at for lane, at in wanted.items() if first <= lane < first + most}
        if not group:
            continue
        together = _passes(group.values(), size, shift)
        pairs = _paired(group, 1) or _paired(group, 2)
        if size <= WORD or kind == STORE or (pairs and len(together) == 1):
            found += together
            continue
        middle = first + most // 2
        for half in (True, False):
            part = [at for lane, at in group.items() if (lane < middle) == half]
            found += _passes(part, size, shift)
    return found


def _passes(offsets: Iterable[int], size: int, shift: int) -> list[list[int]]:
    """Each bank delivers its different words one after the other."""
    different = dict.fromkeys(word for at in offsets for word in words(at, size, shift))
    passes: list[list[int]] = []
    delivered: dict[int, int] = {}
    for word in different:
        number = delivered.get(word % BANKS, 0)
        delivered[word % BANKS] = number + 1
        if number == len(passes):
            passes.append([])
        passes[number].append(word)
    return passes


def _paired(group: Elements, apart: int) -> bool:
    return all(
        group[lane ^ apart] == offset for lane, offset in group.items() if lane ^ apart in group
    )


def in_bank(wanted: Elements, size: int, shift: int = 0) -> dict[int, int]:
    """How many different words the lanes want of each bank that they touch."""
    different = {word for at in wanted.values() for word in words(at, size, shift)}
    counts: dict[int, int] = {}
    for word in different:
        counts[word % BANKS] = counts.get(word % BANKS, 0) + 1
    return counts
