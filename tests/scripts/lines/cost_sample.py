"""Kernels with the costs of their lines, as the profiler would find them, made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab_cli.lines.model import (
    ATOMIC,
    GLOBAL,
    LOAD,
    SHARED,
    STORE,
    Access,
    Kernel,
    Line,
    LineProfile,
    Memory,
    Place,
    Sample,
    Step,
)

SOURCE = """\
#include <cstdio>

__device__ float half(const float* in, int i) {
    return 0.5f * in[i];
}

// Turns a tile.
__global__ void turn(const float* in, float* out, int n) {
    __shared__ float tile[32][32];
    const int lane = threadIdx.x;
    for (int row = 0; row < 32; ++row) {
        tile[row][lane] = in[row * 32 + lane];
    }
    __syncthreads();




    // Columns of the tile: all in one bank.
    for (int row = 0; row < 32; ++row) {
        out[row * 32 + lane] = tile[lane][row];
    }
}

__global__ void spread(const float* in, float* out) {
    const int i = threadIdx.x;
    out[32 * i] = in[i];
}

__global__ void odd(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 2) {
        for (int k = 0; k < n; ++k) {
            out[i] += k;
        }
    }
}

__global__ void count(const int* in, int* sum) {
    atomicAdd(sum, in[threadIdx.x]);
}

__global__ void halve(const float* in, float* out) {
    const int i = threadIdx.x;
    out[i] = half(in, i);
}
"""
ALL = 0xFFFFFFFF


class Made:
    """A kernel that grows."""

    def __init__(self, file: Path, name: str, definition: str, threads: int = 32) -> None:
        self.file = file
        self.kernel = Kernel(
            name=name,
            grid=(1, 1, 1),
            block=(threads, 1, 1),
            launches=1,
            shared=0,
            blocks_per_sm=32,
            definition=self.place(definition),
            lines={},
            accesses=[],
        )

    def place(self, code: str, number: int = 0) -> Place:
        """The line that has this code, or a later one."""
        lines = self.file.read_text().split("\n")
        found = [i for i, line in enumerate(lines, 1) if code in line]
        return Place(self.file, found[number])

    def line(self, code: str, executions: int, lanes: int = 32, number: int = 0, **other) -> Line:
        """`lanes` of each execution."""
        place = self.place(code, number)
        line = Line(place, executions, executions * lanes, **other)
        self.kernel.lines[place] = line
        return line

    def access(
        self,
        code: str,
        kind: str,
        space: str,
        requests: int,
        each: int,
        least: int,
        called_from: str = "",
        **other,
    ) -> Access:
        """`each` and `least` of each request."""
        place = self.place(code)
        callers = (self.place(called_from),) if called_from else ()
        access = Access(
            place=place,
            callers=callers,
            kind=kind,
            space=space,
            size=4,
            requests=requests,
            lanes=32 * requests,
            bytes=128 * requests,
            units=each * requests,
            least=least * requests,
        )
        access = replace(access, **other)
        self.kernel.accesses.append(access)
        self.kernel.lines[place].accesses.append(access)
        for caller in callers:
            self.kernel.lines[caller].called.append(access)
        return access


def written(folder: Path) -> Path:
    file = folder / "mine.cu"
    file.write_text(SOURCE)
    return file


def turn(file: Path) -> Kernel:
    """A transposition whose loads from shared memory meet in a bank."""
    made = Made(file, "turn", "void turn")
    made.line("void turn", 1)
    made.line("int lane", 1)
    made.line("row < 32", 33)
    made.line("tile[row][lane]", 32)
    made.line("__syncthreads", 1, barriers=1)
    made.line("row < 32", 33, number=1)
    made.line("tile[lane][row]", 32)
    made.access("tile[row][lane]", LOAD, GLOBAL, 32, 4, 4, strides={4: 32})
    made.access("tile[row][lane]", STORE, SHARED, 32, 1, 1, strides={4: 32})
    made.access("tile[lane][row]", LOAD, SHARED, 32, 32, 1, conflicts=31 * 32, strides={128: 32})
    made.access("tile[lane][row]", STORE, GLOBAL, 32, 4, 4, strides={4: 32})
    made.kernel.memories += [
        Memory("", GLOBAL, 4096, parameter=0),
        Memory("tile", SHARED, 4096),
        Memory("", GLOBAL, 4096, parameter=1),
    ]
    made.kernel.samples.append(Sample((0, 0, 0), 0, _steps_of_turn(made)))
    return made.kernel


def _steps_of_turn(made: Made) -> list[Step]:
    steps = []
    fill, read = made.place("tile[row][lane]"), made.place("tile[lane][row]")
    for row in range(8):
        along = tuple(128 * row + 4 * lane for lane in range(32))
        steps += [Step(ALL, fill), Step(ALL, fill, 0, 0, along), Step(ALL, fill, 1, 1, along)]
    for row in range(8):
        down = tuple(128 * lane + 4 * row for lane in range(32))
        along = tuple(128 * row + 4 * lane for lane in range(32))
        steps += [Step(ALL, read), Step(ALL, read, 2, 1, down), Step(ALL, read, 3, 2, along)]
    return steps


def spread(file: Path) -> Kernel:
    """A kernel whose store takes a sector for each lane."""
    made = Made(file, "spread", "void spread")
    made.line("void spread", 1)
    made.line("int i = threadIdx.x", 1)
    made.line("out[32 * i]", 1)
    made.access("out[32 * i]", LOAD, GLOBAL, 1, 4, 4)
    made.access("out[32 * i]", STORE, GLOBAL, 1, 32, 4, strides={128: 1})
    made.kernel.memories += [
        Memory("", GLOBAL, 128, parameter=0),
        Memory("", GLOBAL, 4096, parameter=1),
    ]
    place = made.place("out[32 * i]")
    steps = [
        Step(ALL, place),
        Step(ALL, place, 0, 0, tuple(4 * lane for lane in range(32))),
        Step(ALL, place, 1, 1, tuple(128 * lane for lane in range(32))),
    ]
    made.kernel.samples.append(Sample((0, 0, 0), 0, steps))
    return made.kernel


def odd(file: Path) -> Kernel:
    """Half of the lanes go through a loop."""
    made = Made(file, "odd", "void odd")
    made.line("void odd", 100)
    made.line("blockDim.x", 100)
    made.line("i % 2", 100, branches=200, divergent=100)
    made.line("k < n", 1100, lanes=16, branches=1100)
    made.line("+= k", 1000, lanes=16)
    half = {"lanes": 16_000, "bytes": 64_000}
    made.access("+= k", LOAD, GLOBAL, 1000, 4, 4, **half)
    made.access("+= k", STORE, GLOBAL, 1000, 4, 4, **half)
    return made.kernel


def count(file: Path) -> Kernel:
    """All lanes add to one word."""
    made = Made(file, "count", "void count")
    made.line("void count", 64)
    made.line("atomicAdd", 64)
    made.access("atomicAdd", LOAD, GLOBAL, 64, 4, 4)
    made.access("atomicAdd", ATOMIC, GLOBAL, 64, 1, 1, bytes=64 * 4, alike=64 * 32, addresses=1)
    return made.kernel


def halve(file: Path) -> Kernel:
    """A kernel that wastes nothing, and calls a function."""
    made = Made(file, "halve", "void halve")
    made.line("void halve", 5)
    made.line("half(in, i)", 5)
    made.line("float half", 5)
    made.line("0.5f * in[i]", 5)
    made.access("half(in, i)", STORE, GLOBAL, 5, 4, 4)
    made.access("0.5f * in[i]", LOAD, GLOBAL, 5, 4, 4, called_from="half(in, i)")
    return made.kernel


ALL_KERNELS = (turn, spread, odd, count, halve)


def profile(*kernels: Kernel) -> LineProfile:
    return LineProfile([*kernels], source="counted by hand")
