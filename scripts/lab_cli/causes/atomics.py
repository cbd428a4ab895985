"""Atomic operations that wait for each other, because lanes or blocks want the same few
addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..lines import weights
from ..lines.model import ATOMIC, GLOBAL, SHARED, Access, Kernel
from ..words import number, several
from . import kernel_work as work
from . import patterns
from .device import SMS
from .finding import Finding, percent
from .kernel_work import Work
from .source_lines import text

# One atomic of each block is what a sum over the grid takes at least: reduceAtomic does that, and
# reaches 94 % of the memory's bandwidth (reduceFloat/results/h200/table.csv).
OF_BLOCK = 4
OF_WORK = 0.20
# More than 64 addresses are not counted: those of an array that is no larger than this can be held
# in shared memory by each block (48 KiB without asking for more).
PRIVATE = 48 * 1024  # bytes
# Blocks add their own counters to those in global memory once, and one block for each SM is enough.
# There must be more atomics than that, or little is saved.
PER_COUNTER = 2
# Where all lanes want one word of shared memory at all times, the compiler adds up first, and
# sharedCounter costs as much as a register (memorySpaces/results/h200/table.csv).
ALL_TIMES = 0.95
SHARED_GROUP = 4
# One lane that does an atomic again and again may count what a queue has left: a hint.
RETURNED = re.compile(r"(?:[=(<>\[+*,]|return)\s*atomic\w+\s*\(")
# atomicAdd(&own[k], 1), and nobody uses what it returns: since Ampere, one instruction of shared
# memory adds 1 for all lanes of each word (countPerBlock in atomics/results/h200/table.csv).
COUNTED = re.compile(r"\batomicAdd\s*\([^;]*,\s*1u?\s*\)\s*;")
# 2^24 additions to one address, by a kernel of 65,536 blocks.
FLOATS = (
    " nvcc adds up the integers of a warp first, and lets one lane do the atomic; it does not do so "
    "with floats. On an H200, 16.8 million integers took 0.40 ms, and as many floats 29.4 ms."
)
PASS = 2.0  # cycles, of each lane after the first: a load and a store


def find(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    for index, access in enumerate(kernel.accesses):
        if access.kind == ATOMIC and access.requests:
            if access.space == GLOBAL:
                yield from _of_global(kernel, index, of_kernel)
            elif access.space == SHARED:
                yield from _of_shared(kernel, access, of_kernel)


def _of_global(kernel: Kernel, index: int, of_kernel: Work) -> Iterator[Finding]:
    access = kernel.accesses[index]
    if RETURNED.search(text(access.place)):
        yield from _of_returned(access, of_kernel)
        return
    blocks = work.blocks(kernel) * kernel.launches
    addresses = access.addresses or _of_array(kernel, index)
    if not addresses:
        return
    adding = blocks if addresses == 1 else min(blocks, SMS * kernel.launches)
    least = adding * addresses
    if access.lanes < PER_COUNTER * least or access.requests < OF_BLOCK * blocks:
        return
    waiting = work.atomic_cycles(access) or _of_many(access, addresses)
    saved = waiting * (1 - least / access.lanes)
    of_work = saved / (of_kernel.cycles - work.atomic_cycles(access) + waiting)
    if of_work < OF_WORK:
        return
    alike = access.alike / access.requests
    is_queue = access.lanes == access.requests > blocks * work.block_warps(kernel)
    yield Finding(
        "atomics on one address" if addresses == 1 else "atomics on few addresses",
        f"{several(access.lanes, 'atomic operation')} of {several(blocks, 'block')} go to "
        f"{several(addresses, 'address', 'addresses')}"
        + (
            f", and {number(alike)} lanes of a warp want the same one at a time"
            if alike >= 2
            else ""
        )
        + ". Operations on one address wait for each other."
        + (FLOATS if addresses == 1 and alike >= 2 and _are_floats(kernel, access) else ""),
        f"One operation of {'each' if adding == blocks else f'each of {adding}'} "
        f"block{'' if adding == blocks else 's'} for each address would be {number(least)}: that "
        f"removes {percent(1 - least / access.lanes)} of the atomics.",
        _remedy(addresses),
        ["atomics"] if addresses > 1 else ["atomics", "reduceFloat"],
        of_work,
        access.place,
        hint=is_queue,
    )


def _are_floats(kernel: Kernel, access: Access) -> bool:
    """Whether all atomics of the line are sums of floats."""
    line = kernel.lines.get(access.place)
    lanes = sum(
        each.lanes for each in kernel.accesses if each.kind == ATOMIC and each.place == access.place
    )
    return line is not None and line.operations.get("float_atomic", 0) >= lanes


def _of_returned(access: Access, of_kernel: Work) -> Iterator[Finding]:
    """What the atomic returns is used, as of a place in a list: a warp can ask once for all its
    lanes, but a block not. One lane that asks for a warp or a block is as it should be."""
    alike = access.alike / access.requests
    of_work = of_kernel.share(work.atomic_cycles(access))
    if alike < 2 or of_work < OF_WORK:
        return
    yield Finding(
        "atomics on few addresses",
        f"{number(alike)} lanes of a warp want the same address at a time, and wait for each "
        f"other: {several(access.lanes, 'atomic operation')} in {several(access.requests, 'request')}.",
        f"One operation of each warp removes {percent(1 - access.requests / access.lanes)} of the "
        "atomics.",
        "Let one lane of a warp add for all that want the same address (__ballot_sync and __popc "
        "tell how many, and which place is whose), or collect in shared memory first.",
        ["atomics"],
        of_work * (1 - access.requests / access.lanes),
        access.place,
    )


def _of_array(kernel: Kernel, index: int) -> int:
    """As many as the array has, where it is small; else 0."""
    memory = patterns.of(kernel, index).memory
    size = kernel.memories[memory].size if memory is not None else 0
    return size // kernel.accesses[index].size if size <= PRIVATE else 0


def _of_many(access: Access, addresses: int) -> float:
    return weights.ATOMIC_ON_ONE_ADDRESS * access.requests * work.groups(access) / addresses


def _remedy(addresses: int) -> str:
    if addresses == 1:
        return (
            "Add up within the block first, in registers with shuffles and in shared memory; "
            "then let one thread of each block do the atomic."
        )
    return (
        "Give each block counters of its own in shared memory, and add them to those in global "
        "memory once, at its end."
    )


def _of_shared(kernel: Kernel, access: Access, of_kernel: Work) -> Iterator[Finding]:
    alike, lanes = access.alike / access.requests, access.lanes / access.requests
    if alike < SHARED_GROUP or access.strides.get(0, 0) >= ALL_TIMES * access.requests:
        return
    line = text(access.place)
    if COUNTED.search(line) and not RETURNED.search(line):
        return
    waiting = (access.alike - access.requests) * PASS
    of_work = waiting / (of_kernel.cycles + waiting)
    if of_work < OF_WORK:
        return
    yield Finding(
        "atomics that collide in shared memory",
        f"Of {number(lanes)} lanes of a warp, {number(alike)} want the same address "
        f"at a time, and wait for each other ({several(access.requests, 'request')}).",
        f"Different addresses remove {number(alike - 1)} of {number(alike)} turns of this atomic.",
        "Keep several copies of the counters, one for each warp or group of lanes, and add them "
        "at the end; or add up neighbours in registers first.",
        ["atomics"],
        of_work,
        access.place,
    )
