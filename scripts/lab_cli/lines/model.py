"""What a kernel costs at each line of its source, as the cpu back end counts it or as ncu reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

WARP = 32
SECTOR = 32  # bytes
WAVEFRONT = 128  # bytes of shared memory: a word from each bank

LOAD, STORE, ATOMIC, COPY = "load", "store", "atomic", "copy"
GLOBAL, SHARED, CONSTANT = "global", "shared", "constant"
IRREGULAR = "irregular"  # a stride: the lanes' addresses have no constant distance


@dataclass(frozen=True, order=True)
class Place:
    """A line of a source file."""

    file: Path  # absolute
    line: int  # from 1


@dataclass(frozen=True)
class Memory:
    """An array that a kernel touches."""

    name: str  # a __shared__ or __device__ variable, else "" (then `parameter` may tell)
    space: str
    size: int  # bytes
    parameter: int | None = None  # number of the kernel's parameter that points into it, from 0
    shift: int = 0  # bytes by which a shared array begins behind bank 0


@dataclass(frozen=True)
class Access:
    """What one load, store or the like of the source did in all launches of a kernel together.

    Counts are those of warps: a request is one execution by a warp. `units` are sectors of global
    memory, wavefronts of shared memory, or passes of the constant cache; `least` is what the same
    bytes would take at best.
    """

    place: Place
    callers: tuple[Place, ...]  # of the function that the line is in, up to the kernel's own line
    kind: str  # LOAD, STORE, ATOMIC, COPY (asynchronous, from global to shared memory)
    space: str  # of a COPY: GLOBAL
    size: int  # bytes of a lane
    requests: int
    lanes: int  # active ones, summed over the requests
    bytes: int  # different ones of a request, summed
    units: int
    least: int
    conflicts: int = 0  # wavefronts because lanes meet in a bank
    wavefronts: int = 0  # of a COPY: of shared memory; `conflicts` are among them
    strides: Mapping[int | str, int] = field(default_factory=dict)
    # bytes from a lane to the next, or IRREGULAR -> requests; those of one lane have none
    alike: int = 0  # lanes of the largest group that wants one address, summed over the requests
    addresses: int | None = None  # different ones in the whole grid; None: more than 64
    # Of the blocks that were looked at closely (the first two and the last):
    sampled_lanes: int = 0  # accesses of threads
    sampled_elements: int = 0  # different addresses among them, each block by itself
    repeats: int = 0  # accesses of a thread to the address that it accessed here the time before
    at_most: bool = False  # so many requests: ncu may count some by warps that had no lane for it


@dataclass
class Line:
    """One line of the source, in one kernel."""

    place: Place
    executions: int = 0  # by warps
    lanes: int = 0  # active ones, summed over these
    branches: int = 0  # executions of blocks that end here with a condition
    divergent: int = 0  # branches in which a warp split
    barriers: int = 0  # arrivals of warps
    accesses: list[Access] = field(default_factory=list)  # made here
    called: list[Access] = field(
        default_factory=list
    )  # made in functions that are called from here
    operations: dict[str, int] = field(default_factory=dict)
    # by threads: fp32, fp64, to_double, special, division (of integers), float_atomic (atomicAdd); fma counts
    # two


@dataclass(frozen=True)
class Step:
    """What a warp did next: `access` (an index of Kernel.accesses), or it came to a line."""

    lanes: int  # active ones, a bit each
    place: Place
    access: int | None = None
    memory: int | None = None  # an index of Kernel.memories
    offsets: tuple[int, ...] = ()  # bytes from the memory's beginning, of the active lanes in order


@dataclass(frozen=True)
class Sample:
    """The first steps of one warp. Of each access it has the first eight."""

    block: tuple[int, int, int]
    warp: int
    steps: list[Step]


@dataclass
class Kernel:
    """All launches of a kernel with one grid and block."""

    name: str  # without its parameters: reduce<512>
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    launches: int
    shared: int  # bytes of a block
    blocks_per_sm: int  # as block size and shared memory allow
    definition: Place | None
    lines: dict[Place, Line]
    accesses: list[Access]
    memories: list[Memory] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)


@dataclass(frozen=True)
class HostCall:
    """Calls of the host from one line: `what` is launch, copy, fill, synchronize or allocate."""

    what: str
    place: Place | None
    calls: int
    bytes: int = 0
    direction: str = ""  # of a copy: "host to device" ...
    asynchronous: bool = False
    pageable: bool = False  # the host's memory is not page-locked
    after_launch: int = 0  # of synchronize: calls that follow right behind a launch
    kernel: str = ""  # of launch


@dataclass(frozen=True)
class LineProfile:
    kernels: list[Kernel]
    host: Sequence[HostCall] = ()
    source: str = ""  # which back end, build and device
    exact: bool = True  # counted on the cpu back end; else ncu's, which lack some of this
