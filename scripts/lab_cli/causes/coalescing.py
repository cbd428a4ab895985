"""Loads and stores of global memory that touch more sectors than their bytes take."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from ..lines import weights
from ..lines.model import (
    COPY,
    GLOBAL,
    IRREGULAR,
    LOAD,
    SECTOR,
    STORE,
    Access,
    Kernel,
    Place,
)
from ..words import number, several
from . import patterns
from .finding import Finding, percent
from .kernel_work import Work
from .patterns import Pattern
from .source_lines import also, text

# An offset alone costs a sector in five and nearly no time: 3 % (readOffset with an offset of 1:
# misalignedAccess/results/h200/table.csv).
OF_TRAFFIC = 0.20
MISALIGNED = 0.10
MORE_THAN_ONE = 1.1  # sectors of a request: an offset alone costs one
# fmaChains store their results badly, but once, after all their work (latencyHiding).
OF_WORK = 0.10
# massAos reads one of eight fields, and takes 4.3 times as long as massSoa. allAos reads all, and
# takes 2 % longer than allSoa, allAosFloat2 0.3 %, allAosFloat4Pairs 0.1 %, but allAosFloat4 28 %
# (structLayouts/results/h200/table.csv).
ALL_FIELDS = 0.90
# Of a request: as many as blocks of 4 x 8 threads want of a matrix's column. Each takes a sector of
# its own.
FEW_ELEMENTS = 8
SAME = 0.9  # of the requests: a struct has one size, whereas a reduction's stride grows
STRUCT = 128  # bytes: what is farther apart is not a struct but a row
MEMBER = re.compile(r"\]\s*\.\s*[A-Za-z_]\w*|->\s*[A-Za-z_]\w*")

WORDS = {LOAD: "load", STORE: "store", COPY: "copy"}
PLURALS = {LOAD: "loads", STORE: "stores", COPY: "copies"}


@dataclass(frozen=True)
class Group:
    """Accesses with one pattern to one array, or of one line. The first of them loses the most."""

    accesses: Sequence[Access]
    pattern: Pattern  # of the first of them
    bytes_used: frozenset[int]  # of each stride, by their places in it
    fields: (
        int  # places in a stride at which accesses begin, each always at one; 0 if one moves about
    )

    @property
    def first(self) -> Access:
        return self.accesses[0]

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(access.kind for access in self.accesses))

    @property
    def places(self) -> set[Place]:
        return {access.place for access in self.accesses}

    @property
    def saved(self) -> int:
        return sum(access.units - access.least for access in self.accesses)


def find(kernel: Kernel, of_kernel: Work, without: Collection[int] = ()) -> Iterator[Finding]:
    """`without`: indices of accesses that another finding takes away."""
    for group in _groups(kernel, without):
        of_traffic = group.saved / of_kernel.sectors
        of_work = of_kernel.share(group.saved * weights.SECTOR)
        if group.pattern.stride == group.first.size:
            if of_traffic >= MISALIGNED and _begins_between(group):
                yield _misaligned(group, of_traffic)
        elif of_traffic >= OF_TRAFFIC and of_work >= OF_WORK:
            yield _uncoalesced(kernel, group, of_traffic, of_work)


def _groups(kernel: Kernel, without: Collection[int]) -> list[Group]:
    """Without what is as good as it can be, and what lies well but lacks lanes."""
    found: dict[object, list[tuple[int, Pattern]]] = {}
    for index, access in enumerate(kernel.accesses):
        if access.space != GLOBAL or access.kind not in WORDS or index in without:
            continue
        pattern = patterns.of(kernel, index)
        if _is_fine(access, pattern):
            continue
        if pattern.stride == access.size and _excess(access) > access.requests * MORE_THAN_ONE:
            pattern = replace(pattern, stride=IRREGULAR)
        where = pattern.memory if pattern.memory is not None else access.place
        found.setdefault((access.kind, where, pattern.stride), []).append((index, pattern))
    groups = [_group(kernel, members) for members in found.values()]
    return _joined([group for group in groups if group.saved > 0])


def _joined(groups: list[Group]) -> list[Group]:
    """Accesses of one pattern in the same lines become one: a[i] += b[i]."""
    joined: list[Group] = []
    for group in sorted(groups, key=lambda each: -each.saved):
        for index, other in enumerate(joined):
            if other.pattern.stride == group.pattern.stride and other.places == group.places:
                both = [*other.accesses, *group.accesses]
                joined[index] = Group(both, other.pattern, other.bytes_used, other.fields)
                break
        else:
            joined.append(group)
    return joined


def _is_fine(access: Access, pattern: Pattern) -> bool:
    """Also where a split warp has lanes beside each other that are not active, and where a few
    elements serve all lanes, so that most of a sector is lost whatever one does."""
    lacks_lanes = access.lanes < 31 * access.requests
    elements = access.bytes / access.size
    return (
        pattern.stride == 0
        or (pattern.stride == access.size and lacks_lanes)
        or elements < FEW_ELEMENTS * access.requests
    )


def _group(kernel: Kernel, members: list[tuple[int, Pattern]]) -> Group:
    members.sort(key=lambda each: -_excess(kernel.accesses[each[0]]))
    accesses = [kernel.accesses[index] for index, _ in members]
    patterns_of = [pattern for _, pattern in members]
    used = _bytes_used(accesses, patterns_of)
    return Group(accesses, patterns_of[0], used, _fields(patterns_of))


def _fields(found: Sequence[Pattern]) -> int:
    stride = found[0].stride
    if not isinstance(stride, int) or not stride:
        return 0
    places = [{offset % abs(stride) for offset in pattern.offsets} for pattern in found]
    return len(set.union(*places)) if all(len(each) == 1 for each in places) else 0


def _excess(access: Access) -> int:
    return access.units - access.least


def _bytes_used(accesses: Sequence[Access], found: Sequence[Pattern]) -> frozenset[int]:
    stride = found[0].stride
    if not isinstance(stride, int) or not stride:
        return frozenset()
    return frozenset(
        (offset + byte) % abs(stride)
        for access, pattern in zip(accesses, found)
        for offset in pattern.offsets
        for byte in range(access.size)
    )


def _begins_between(group: Group) -> bool:
    """One access that always begins between two sectors. Of several, as of the points of a stencil,
    some begin there wherever the array does."""
    return len(group.accesses) == 1 and _excess(group.first) > 0.99 * group.first.requests


def _misaligned(group: Group, of_traffic: float) -> Finding:
    access = group.first
    return Finding(
        "misaligned accesses",
        "Neighbouring lanes touch neighbouring addresses, but begin between two sectors of "
        f"{SECTOR} bytes. {_per_request(access)}",
        f"An aligned beginning removes {percent(of_traffic)} of the kernel's sectors. Caches have "
        "most of them: on an H200, a kernel that only reads loses 1 to 3 % of its time.",
        "Let rows begin at multiples of 32 bytes (cudaMallocPitch, padding), if it costs nothing "
        "else.",
        ["misalignedAccess"],
        0.0,
        access.place,
        hint=True,
    )


def _per_request(access: Access) -> str:
    word = WORDS[access.kind]
    touched, least = access.units / access.requests, access.least / access.requests
    return (
        f"A warp's {word} touches {number(touched)} sectors of {SECTOR} bytes; {number(least)} "
        f"would hold what it uses ({several(access.requests, 'request')})."
    )


def _uncoalesced(kernel: Kernel, group: Group, of_traffic: float, of_work: float) -> Finding:
    access = group.first
    what, why, remedy, exercises = _kind(kernel, group)
    units, excess = access.units / access.requests, _excess(access) / access.requests
    others = also(access.place, group.places)
    of = f"each {' and '.join(WORDS[kind] for kind in group.kinds)}"
    gain = (
        f"Coalescing removes {number(excess)} of {number(units)} sectors of {of}: "
        f"{percent(of_traffic)} of "
        "the kernel's traffic" + (", with the other lines." if others else ".")
    )
    hint = group.kinds == [LOAD] and _uses_all(group)
    if hint:
        gain += (
            " But the loads use all bytes of the structs together, and L1 keeps them for each "
            "other: on an H200, kernels that only read lost 0 to 2 % in most layouts, and 28 % "
            "with two float4."
        )
    return Finding(
        f"uncoalesced {' and '.join(PLURALS[kind] for kind in group.kinds)}, {what}",
        f"{why} {_per_request(access)}{others}",
        gain,
        remedy,
        exercises,
        of_work,
        access.place,
        hint,
    )


def _uses_all(group: Group) -> bool:
    stride = group.pattern.stride
    if not isinstance(stride, int) or not _is_struct(group):
        return False
    return len(group.bytes_used) >= ALL_FIELDS * abs(stride)


def _is_struct(group: Group) -> bool:
    """By the fields that accesses use, or by what the line says."""
    stride, access = group.pattern.stride, group.first
    if not isinstance(stride, int) or not access.size < abs(stride) <= STRUCT:
        return False
    if access.strides.get(stride, 0) < SAME * sum(access.strides.values()):
        return False
    return group.fields > 1 or bool(MEMBER.search(text(access.place)))


def _kind(kernel: Kernel, group: Group) -> tuple[str, str, str, list[str]]:
    """In a few words, as a sentence, the remedy, and who teaches it."""
    access, pattern = group.first, group.pattern
    stride = pattern.stride
    if not isinstance(stride, int):
        return _irregular(kernel, access, pattern)
    gap = f"{number(abs(stride))} bytes"
    if _is_struct(group):
        return (
            "array of structs",
            f"Neighbouring lanes access structs of {gap}, {access.size} bytes of each at a time.",
            "Keep each field in an array of its own (struct of arrays), or access the whole "
            "struct with wide loads.",
            ["structLayouts"],
        )
    elements = stride / access.size
    apart = f"{number(abs(elements))} elements ({gap})" if float(elements).is_integer() else gap
    walks = pattern.step is not None and abs(pattern.step) == access.size
    is_flat = kernel.block[1] == kernel.grid[1] == 1
    if not walks and (abs(stride) <= STRUCT or is_flat):
        return (
            f"strided by {apart}",
            f"Neighbouring lanes touch addresses that lie {apart} apart.",
            "Let neighbouring lanes touch neighbouring elements: another index, or another "
            "layout of the data.",
            ["stridedAccess"],
        )
    each = ", and each thread walks along its own" if walks else ""
    remedy = (
        "Let lanes go along a row (threadIdx.x in the last index), or load a tile as it lies "
        "into shared memory and turn it there."
    )
    teaches = ["transpose", "cornerTurning"] if access.kind == STORE else ["matmul", "transpose"]
    return f"across rows of {gap}", f"Each lane is in another row of {gap}{each}.", remedy, teaches


def _irregular(kernel: Kernel, access: Access, pattern: Pattern) -> tuple[str, str, str, list[str]]:
    width = kernel.block[0]
    if pattern.stride == IRREGULAR and 0 < pattern.run == width < SECTOR // access.size:
        return (
            f"rows of {several(width, 'thread')}",
            f"A block is {several(width, 'thread')} wide, so {width * access.size} bytes lie side "
            "by side.",
            f"Make blocks {SECTOR // access.size} threads wide at least (blockDim.x), better 32.",
            ["transpose", "stridedAccess"],
        )
    return (
        "scattered",
        "Neighbouring lanes touch addresses without a pattern.",
        "Sort the work by address, or copy what is used often into shared memory; scattered "
        "accesses of whole sectors cost less than those of single words.",
        ["stridedAccess"],
    )
