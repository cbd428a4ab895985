"""Integer divisions that loops repeat, and double precision where the data are floats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..lines import weights
from ..lines.model import WARP, Kernel, Line
from ..words import number, several
from . import device
from . import kernel_work as work
from .finding import Finding
from .kernel_work import Work
from .source import divisions as source_divisions
from .source import double_literals
from .source.double_literals import DoubleLiteral
from .source_lines import also, parsed

# A thread that finds its row and column divides twice. In a kernel that moves data, that takes no
# longer than its loads (8 cycles of an SM for a warp's division, 1.9 for each sector from device
# memory); a loop that does it each time takes longer.
OF_THREAD = 4
OF_WORK = 0.20
# Literals are named for the sake of GPUs that have few units for double precision: two results in a
# cycle of an SM (compute capability 8.6 and 8.9, table "Throughput of Native Arithmetic
# Instructions" of CUDA's guide), so 16 cycles for each of a warp's conversions and operations.
CONSUMER = 16.0
OF_CONSUMER_WORK = 0.10
RATES = (
    f"The {device.GPU} does 64 operations in double in a cycle of an SM, and 128 in float; "
    "consumer GPUs do 2 (compute capability 8.6, 8.9)."
)
SUFFIX = "Write the suffix f at literals, and call the functions for float (sinf, or std::sin of a float)."


def divisions(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    """The compiler makes multiplications of divisions by constants: they are not counted."""
    lines = [line for line in kernel.lines.values() if _divides(line)]
    count = sum(line.operations["division"] for line in lines)
    of_thread = count / work.threads(kernel)
    of_work = of_kernel.share(count / WARP * weights.DIVISION)
    if of_thread < OF_THREAD or of_work < OF_WORK:
        return
    first = max(lines, key=lambda line: line.operations["division"])
    yield Finding(
        "integer divisions in a loop",
        f"A thread does {number(of_thread)} divisions and moduli of integers, by what is no "
        f"constant. The {device.GPU} finishes 4 of them in a cycle of an SM, and 126 "
        f"multiply-adds.{also(first.place, (line.place for line in lines))}",
        f"Dividing once removes up to {number(of_thread - 1)} of {number(of_thread)} divisions of "
        "each thread.",
        "Divide once before the loop and step the index along, use a grid of two dimensions, or "
        "make the divisor a constant (a template's parameter); powers of two take a shift and a "
        "mask.",
        ["instructionRates"],
        of_work,
        first.place,
    )


def _divides(line: Line) -> bool:
    """In a loop, and not to the same value each time around, which the compiler takes out of the
    loop."""
    if not line.operations.get("division"):
        return False
    source = parsed(line.place.file)
    found = source_divisions.find(source, line.place.line, line.place.line) if source else []
    return source is None or any(not division.again for division in found)


def doubles(kernel: Kernel, of_kernel: Work) -> Iterator[Finding]:
    """Where a literal is the reason. A kernel that means to compute in double precision has
    none."""
    found = [
        (line, literals)
        for line in kernel.lines.values()
        if _in_double(line) and (literals := _literals(line))
    ]
    cycles = sum(map(_in_double, (line for line, _ in found))) / WARP
    if not found or not of_kernel.cycles:
        return
    if cycles * CONSUMER / (of_kernel.cycles + cycles * CONSUMER) < OF_CONSUMER_WORK:
        return
    first, literals = max(found, key=lambda each: _in_double(each[0]))
    of_thread = cycles * WARP / work.threads(kernel)
    yield Finding(
        "double precision in float code",
        f"{_are_doubles(literals)}: {_operations(kernel, found)}. The data are floats."
        f"{also(first.place, (line.place for line, _ in found))}",
        f"Writing {_instead(literals)} removes {number(of_thread)} conversions and operations in "
        f"double of each thread. {RATES}",
        SUFFIX,
        ["instructionRates"],
        of_kernel.share(sum(work.arithmetic_cycles(line.operations) for line, _ in found)),
        first.place,
    )


def written_doubles(kernel: Kernel) -> Iterator[Finding]:
    """Where operations are not counted: literals that make double precision of float code for
    sure."""
    found = [
        (line, literals)
        for line in kernel.lines.values()
        if (literals := [each for each in _literals(line) if each.certain])
    ]
    if not found:
        return
    first, literals = max(found, key=lambda each: each[0].executions)
    yield Finding(
        "double precision in float code",
        f"{_are_doubles(literals)}. Warps execute {several(first.executions, 'instruction')} of this "
        f"line.{also(first.place, (line.place for line, _ in found))}",
        f"Writing {_instead(literals)} makes floats of them. {RATES}",
        SUFFIX,
        ["instructionRates"],
        0.0,
        first.place,
    )


def _are_doubles(literals: Sequence[DoubleLiteral]) -> str:
    written = ", ".join(dict.fromkeys(literal.literal for literal in literals))
    verb = "are" if ", " in written else "is"
    return f"{written} {verb} of type double, so {literals[0].expression} is computed in double precision"


def _instead(literals: Sequence[DoubleLiteral]) -> str:
    return ", ".join(dict.fromkeys(literal.instead for literal in literals))


def _in_double(line: Line) -> int:
    return line.operations.get("to_double", 0) + line.operations.get("fp64", 0)


def _literals(line: Line) -> list[DoubleLiteral]:
    source = parsed(line.place.file)
    return double_literals.find(source, line.place.line, line.place.line) if source else []


def _operations(kernel: Kernel, found: Sequence[tuple[Line, list[DoubleLiteral]]]) -> str:
    """How many of each kind a thread does."""
    threads = work.threads(kernel)
    counts = {
        name: sum(line.operations.get(name, 0) for line, _ in found) / threads
        for name in ("to_double", "fp64")
    }
    listed = [
        several(counts["to_double"], "conversion") if counts["to_double"] else "",
        several(counts["fp64"], "operation") + " in double" if counts["fp64"] else "",
    ]
    return " and ".join(filter(None, listed)) + " of a thread"
