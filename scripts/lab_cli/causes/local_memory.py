"""Arrays of a thread that the compiler cannot keep in registers, because an index is not known to
it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..lines import weights
from ..lines.model import Kernel, Place
from ..words import several
from .finding import Finding
from .kernel_work import Work
from .source import local_arrays
from .source.local_arrays import LocalArray
from .source.resources import Resources
from .source_lines import also, parsed

# Of a warp that wants the same index in all lanes: their elements lie side by side. More with
# others.
SECTORS = 4
# variableIndex takes 1.8 times as long as constantIndex, whose array is in registers: 16 stores and
# 16 loads beside 17 accesses of global memory (memorySpaces/results/h200/table.csv). An array that
# is used once beside much other work costs little.
OF_WORK = 0.10


def find(kernel: Kernel, of_kernel: Work, resources: Resources | None = None) -> Iterator[Finding]:
    """Where ptxas has been asked, it tells whether there are such arrays at all."""
    if resources and not resources.stack:
        return
    for file in {place.file for place in kernel.lines}:
        source = parsed(file)
        for array in local_arrays.find(source) if source else []:
            executions = sum(_executions(kernel, Place(file, line)) for line in array.lines)
            cycles = executions * (SECTORS * weights.SECTOR)
            of_work = cycles / (of_kernel.cycles + cycles) if executions else 0.0
            if of_work >= OF_WORK:
                is_certain = array.certain or resources is not None
                yield _found(array, file, executions, of_work, is_certain)


def _executions(kernel: Kernel, place: Place) -> int:
    line = kernel.lines.get(place)
    return line.executions if line else 0


def _found(
    array: LocalArray, file: Path, executions: int, of_work: float, is_certain: bool
) -> Finding:
    place = Place(file, array.line)
    elements = f" of {array.elements} elements" if array.elements else ""
    sure = "is in" if is_certain else "may be in"
    others = also(place, [Place(file, line) for line in array.lines])
    return Finding(
        "a local array with a dynamic index",
        f"The index of {array.name}[{array.index}] is not known to the compiler, and registers "
        f"have none. So the array{elements} (line {array.declared}) {sure} local memory, which is "
        f"device memory behind the caches. Warps access it {several(executions, 'time')}.{others}",
        f"In registers, it removes {SECTORS} sectors of local memory and more of each of these "
        "accesses.",
        "Let the compiler know the index: unroll the loop (#pragma unroll) with a constant "
        "number of steps, or keep the array in shared memory, a column for each thread.",
        ["memorySpaces"],
        of_work,
        place,
        hint=not is_certain,
    )
