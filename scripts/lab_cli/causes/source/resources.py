"""What ptxas says of kernels: registers, spills and the stack frame; and how many warps the registers leave
an SM. (Of shared memory it says nothing as long as a program is not linked; the profile has that.)"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...building import registers

ENTRY = re.compile(r"Compiling entry function '(\w+)'")
PROPERTIES = re.compile(r"Function properties for (\w+)")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
DEMANGLERS = ("c++filt", "llvm-cxxfilt")
OPENERS = {")": "(", ">": "<"}

# Of compute capability 9.0, as common/occupancy_rules.h has them (a test compares the two).
REGISTERS = 65536  # of an SM
PARTITIONS = 4  # of an SM, each with its share of them; a warp lives in one
UNIT = 256  # registers that a warp gets at a time
WARP = 32
WARPS = 64  # resident on an SM


@dataclass(frozen=True)
class Resources:
    """`kernel` is its name without parameters, as lines.model.Kernel has it: reduce<512>."""

    kernel: str
    registers: int  # of a thread
    stack: int  # bytes of a thread in local memory: arrays, and registers that were spilled
    spill_stores: (
        int  # bytes that instructions store because registers are short, each counted once
    )
    spill_loads: int


@dataclass(frozen=True)
class Occupancy:
    """Of a kernel's blocks on one SM."""

    blocks: int
    warps: int
    share: float  # of the warps that an SM can hold, 0 to 1
    without: int  # warps if registers were no limit

    @property
    def is_limited_by_registers(self) -> bool:
        return self.warps < self.without


def of_sources(sources: Sequence[str]) -> list[Resources]:
    """Asks nvcc, which takes seconds. None of them where there is no nvcc, or it does not compile."""
    with registers.asked(sources) as asked:
        return read(asked.printed())


def read(printed: str) -> list[Resources]:
    """Out of what `nvcc -Xptxas -v` prints: registers.asked() tells it, while other work is done."""
    entry, function = "", ""
    frames: dict[str, tuple[int, int, int]] = {}
    found: dict[str, int] = {}
    for line in printed.splitlines():
        if match := ENTRY.search(line):
            entry = match[1]
        elif match := PROPERTIES.search(line):
            function = match[1]
        elif match := FRAME.search(line):
            frames[function] = (int(match[1]), int(match[2]), int(match[3]))
        elif entry and (match := USED.search(line)):
            found[entry] = int(match[1])
            entry = ""
    names = demangled(list(found))
    return [
        Resources(names[kernel], count, *frames.get(kernel, (0, 0, 0)))
        for kernel, count in found.items()
    ]


def demangled(symbols: Sequence[str]) -> Mapping[str, str]:
    """The names of kernels without parameters; those of the symbols where nothing can tell."""
    tool = next(filter(None, map(shutil.which, DEMANGLERS)), None)
    if tool is None or not symbols:
        return {symbol: symbol for symbol in symbols}
    here = [registers.as_compiled_here(symbol) for symbol in symbols]
    done = subprocess.run(
        [tool], input="\n".join(here), stdout=subprocess.PIPE, text=True, check=False
    )
    lines = done.stdout.splitlines()
    names = lines if len(lines) == len(here) else here
    return {symbol: without_parameters(name) for symbol, name in zip(symbols, names)}


def without_parameters(name: str) -> str:
    """reduce<512> of void reduce<512>(float*)."""
    unnamed = "(anonymous namespace)::"
    name = name.replace(unnamed, "")
    end = _opener(name, len(name) - 1) if name.endswith(")") else len(name)
    start = end
    while start > 0 and name[start - 1] != " ":
        start = _opener(name, start - 1) if name[start - 1] in OPENERS else start - 1
    return name[start:end]


def _opener(text: str, close: int) -> int:
    """Where the bracket begins that ends at `close`."""
    depth = 0
    for at in range(close, -1, -1):
        depth += (text[at] in OPENERS) - (text[at] in OPENERS.values())
        if depth == 0:
            return at
    return 0


def of_kernel(resources: Sequence[Resources], name: str) -> Resources | None:
    """Those of a kernel of the profile; None where they are not known, or there are several."""
    wanted = _plain(name)
    found = [one for one in resources if _plain(one.kernel) == wanted]
    return found[0] if len(found) == 1 else None


def _plain(name: str) -> str:
    """Compilers write template arguments differently: 4u or 4, with spaces or without."""
    name = name.replace("(anonymous namespace)::", "").replace(" ", "")
    name = re.sub(r"\((?:unsigned)?(?:int|long|bool|char)\)", "", name)
    return re.sub(r"\b(\d+)[uUlL]+\b", r"\1", name).replace("true", "1").replace("false", "0")


def blocks_by_registers(count: int, threads: int) -> int:
    """How many blocks an SM has registers for."""
    warps = -(-threads // WARP)
    of_warp = -(-count * WARP // UNIT) * UNIT
    resident = REGISTERS // PARTITIONS // of_warp * PARTITIONS
    launched = -(-warps // PARTITIONS) * PARTITIONS  # as if all partitions were as full
    return resident // warps if of_warp * launched <= REGISTERS else 0


def occupancy(count: int, threads: int, blocks_otherwise: int) -> Occupancy:
    """`blocks_otherwise` is what block size and shared memory allow, lines.model.Kernel.blocks_per_sm."""
    warps = -(-threads // WARP)
    blocks = min(blocks_otherwise, blocks_by_registers(count, threads))
    return Occupancy(blocks, blocks * warps, blocks * warps / WARPS, blocks_otherwise * warps)
