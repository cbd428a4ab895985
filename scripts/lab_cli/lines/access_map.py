"""What ./lab profile --map prints: which addresses the lanes of one warp touch in a load, a store or an atomic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import BAD_USAGE, LabError
from ..words import several, wrapped
from . import source_text
from .model import (
    ATOMIC,
    CONSTANT,
    COPY,
    LOAD,
    SECTOR,
    SHARED,
    WAVEFRONT,
    Access,
    Kernel,
    LineProfile,
    Place,
    Sample,
    Step,
)
from .page import touched
from .worst import name_of

Block = tuple[int, int, int]

LANES = "0123456789abcdefghijklmnopqrstuv"
SEVERAL, WASTED, FREE = "*", ".", " "
WORD = 4  # bytes that a character stands for
SECTORS_OF_LINE = touched.LINE // SECTOR
MOST_ROWS = 40
VERBS = {LOAD: "load", ATOMIC: "atomic", COPY: "copy"}
LEGEND_OF_GLOBAL = (
    "A row is a cache line of 128 bytes with its sectors of 32, a character 4 bytes of it. 0 to 9 and a to v "
    "are what lanes 0 to 31 want, * what several want, . what is moved in vain. Sectors without a mark are "
    "not touched."
)
LEGEND_OF_SHARED = (
    "A row is a wavefront, a column a bank, which delivers one word of 4 bytes in each. 0 to 9 and a to v are "
    "what lanes 0 to 31 want, * what several want, . a bank that delivers nothing."
)


@dataclass(frozen=True)
class Wanted:
    """What somebody asks for; None stands for the first that there is."""

    line: int
    file: str = ""  # its name; empty: of the kernel
    block: Block | None = None
    warp: int | None = None
    step: int = 1  # of the executions of an access


def text(profile: LineProfile, wanted: Wanted, width: int) -> str:
    """The accesses of one execution of a line, in the first kernel that has some there. LabError (status 2) says
    what there is where something was not sampled."""
    kernels = profile.kernels
    found = [(kernel, place) for kernel in kernels for place in _places(kernel, wanted)]
    if not found:
        raise LabError(_no_access(kernels, wanted), BAD_USAGE)
    kernel, place = found[0]
    numbers = [i for i, access in enumerate(kernel.accesses) if access.place == place]
    sample = _sample(kernel, place, numbers, wanted)
    most = max(_count(sample, number) for number in numbers)
    if not 1 <= wanted.step <= most:
        raise LabError(
            f"--step {wanted.step}: of {_who(sample)}, executions 1 to {most} of {name_of(place)} were looked "
            "at",
            BAD_USAGE,
        )
    parts = [
        _heading(kernel, place, sample, most, wanted.step, numbers),
        *(_drawn(kernel, number, sample, wanted.step) for number in numbers),
        *_legend([kernel.accesses[number] for number in numbers], width),
    ]
    others = list(dict.fromkeys(other.name for other, _ in found[1:] if other.name != kernel.name))
    if others:
        says = f"--kernel NAME draws this line in another kernel: {', '.join(others)}"
        parts.append("\n".join(wrapped(says, width)))
    return "\n\n".join(parts) + "\n"


# ---- what is asked for


def _places(kernel: Kernel, wanted: Wanted) -> list[Place]:
    """Lines of this number where the kernel accesses memory: of its own file, if there are any."""
    places = dict.fromkeys(access.place for access in kernel.accesses)
    found = [place for place in places if place.line == wanted.line]
    if wanted.file:
        return [place for place in found if place.file.name == Path(wanted.file).name]
    own = kernel.definition.file if kernel.definition else None
    return sorted(found, key=lambda place: place.file != own)[:1]


def _no_access(kernels: Sequence[Kernel], wanted: Wanted) -> str:
    at = f"{wanted.file}:{wanted.line}" if wanted.file else f"line {wanted.line}"
    lines: dict[str, set[int]] = {}
    for kernel in kernels:
        for access in kernel.accesses:
            lines.setdefault(access.place.file.name, set()).add(access.place.line)
    if not lines:
        return f"--map: no load, store or atomic was executed, at {at} or elsewhere"
    known = [f"{file}: {', '.join(map(str, sorted(found)))}" for file, found in lines.items()]
    others = "; ".join(known)
    return f"--map: no load, store or atomic was executed at {at}. These lines have some: {others}"


def _sample(kernel: Kernel, place: Place, numbers: Sequence[int], wanted: Wanted) -> Sample:
    at = name_of(place)
    samples = [each for each in kernel.samples if any(_count(each, number) for number in numbers)]
    samples.sort(key=lambda each: (each.block[::-1], each.warp))
    if not samples:
        raise LabError(
            f"--map: no warp that was looked at came to {at} in {kernel.name}: these are warps of the first "
            "two blocks and of the last",
            BAD_USAGE,
        )
    block = wanted.block or samples[0].block
    of_block = [each for each in samples if each.block == block]
    if not of_block:
        known = ", ".join(dict.fromkeys(_comma(each.block) for each in samples))
        shown = _comma(block)
        raise LabError(
            f"--block {shown}: at {at}, these blocks were looked at: {known.replace(', ', ' ')}",
            BAD_USAGE,
        )
    if wanted.warp is None:
        return of_block[0]
    of_warp = [each for each in of_block if each.warp == wanted.warp]
    if not of_warp:
        known = ", ".join(str(each.warp) for each in of_block)
        raise LabError(
            f"--warp {wanted.warp}: at {at}, these warps of block {_comma(block)} were looked at: {known}",
            BAD_USAGE,
        )
    return of_warp[0]


def _steps(sample: Sample, number: int) -> list[Step]:
    return [step for step in sample.steps if step.access == number]


def _count(sample: Sample, number: int) -> int:
    return len(_steps(sample, number))


def _comma(block: Block) -> str:
    return ",".join(map(str, block))


def _who(sample: Sample) -> str:
    return f"block {_comma(sample.block)}, warp {sample.warp}"


def _heading(
    kernel: Kernel, place: Place, sample: Sample, most: int, step: int, numbers: Sequence[int]
) -> str:
    code = source_text.line_of(place.file, place.line).strip()
    lines = [f"{kernel.name}, {name_of(place)}", f"    {code}", ""]
    others = [each for each in kernel.samples if any(_count(each, number) for number in numbers)]
    blocks = sorted({each.block[::-1] for each in others})
    warps = sorted({each.warp for each in others if each.block == sample.block})
    lines.append(f"{_who(sample)}, execution {step} of the line. Others that can be drawn:")
    if len(blocks) > 1:
        lines.append(f"    --block  {'  '.join(_comma(block[::-1]) for block in blocks)}")
    if len(warps) > 1:
        lines.append(f"    --warp   {'  '.join(map(str, warps))}")
    if most > 1:
        lines.append(f"    --step   1 to {most}")
    if not lines[-1].startswith(" "):
        lines[-1] = f"{_who(sample)}, execution {step} of the line"
    return "\n".join(lines)


# ---- the drawings


def _drawn(kernel: Kernel, number: int, sample: Sample, step: int) -> str:
    access = kernel.accesses[number]
    steps = _steps(sample, number)
    what = VERBS.get(access.kind, access.kind)
    if len(steps) < step:
        times = f"{len(steps)} times" if len(steps) != 1 else "once"
        return f"{what}: this warp made it {times}"
    found = steps[step - 1]
    wanted = touched.elements(found.lanes, found.offsets)
    title = f"{what} of {several(access.size, 'byte')} by {several(len(wanted), 'lane')}, {_memory(kernel, found)}"
    rows = _rows(kernel, access, found, wanted)
    if len(rows) > MOST_ROWS:
        rows = [*rows[: MOST_ROWS - 1], f"  ... and {len(rows) - MOST_ROWS + 1} more rows"]
    return "\n".join([title, *rows, *_sums(kernel, access, found, wanted)])


def _memory(kernel: Kernel, step: Step) -> str:
    """Which array."""
    if step.memory is None:
        return "of memory that is not known"
    memory = kernel.memories[step.memory]
    name = memory.name
    if not name and memory.parameter is not None:
        function = None
        if kernel.definition:
            function = source_text.function_at(kernel.definition.file, kernel.definition.line)
        names = function.parameters if function else ()
        known = memory.parameter < len(names)
        name = names[memory.parameter] if known else f"parameter {memory.parameter + 1}"
    where = f"{memory.space} memory"
    return f"{name} ({where})" if name and name != f"dynamic {where}" else name or where


def _shift(kernel: Kernel, step: Step) -> int:
    return kernel.memories[step.memory].shift if step.memory is not None else 0


def _rows(kernel: Kernel, access: Access, step: Step, wanted: touched.Elements) -> list[str]:
    if access.space == SHARED:
        return _wavefronts(access, wanted, _shift(kernel, step))
    if access.space == CONSTANT:
        return _constants(wanted)
    return _cache_lines(access, wanted)


def _lanes_by_word(wanted: touched.Elements, size: int, shift: int = 0) -> dict[int, list[int]]:
    lanes: dict[int, list[int]] = {}
    for lane, offset in wanted.items():
        for word in touched.words(offset, size, shift):
            lanes.setdefault(word, []).append(lane)
    return lanes


def _mark(lanes: Sequence[int]) -> str:
    return LANES[lanes[0]] if len(lanes) == 1 else SEVERAL


def _cache_lines(access: Access, wanted: touched.Elements) -> list[str]:
    lanes = _lanes_by_word(wanted, access.size)
    sectors = touched.in_global(wanted, access.size).sectors
    lines = sorted({sector // SECTORS_OF_LINE for sector in sectors})
    words = SECTOR // WORD
    wide = max([len("byte"), *(len(f"{line * touched.LINE:,}") for line in lines)])
    sector_names = "|".join(f"sector {i}".ljust(words) for i in range(SECTORS_OF_LINE))
    rows = [f"  {'byte':>{wide}}  {sector_names}  lanes"]
    for line in lines:
        cells = []
        of_line: list[int] = []
        for sector in range(line * SECTORS_OF_LINE, (line + 1) * SECTORS_OF_LINE):
            first = sector * words
            of_line += [
                lane for word in range(first, first + words) for lane in lanes.get(word, [])
            ]
            empty = WASTED if sector in sectors else FREE
            cells.append(
                "".join(
                    _mark(lanes[w]) if w in lanes else empty for w in range(first, first + words)
                )
            )
        rows.append(f"  {line * touched.LINE:>{wide},}  {'|'.join(cells)}  {_ranges(of_line)}")
    return rows


def _wavefronts(access: Access, wanted: touched.Elements, shift: int) -> list[str]:
    """Lanes of halves or quarters of a warp may want the same word in several wavefronts: each shows those that
    it serves first."""
    lanes = _lanes_by_word(wanted, access.size, shift)
    tens = "".join(f"{bank:<10}" for bank in range(0, touched.BANKS, 10))[: touched.BANKS]
    rows = [f"  {'bank':>9}  {tens.rstrip()}"]
    for number, words in enumerate(touched.in_shared(wanted, access.size, access.kind, shift), 1):
        marks = {word % touched.BANKS: _mark(lanes[word]) for word in words}
        row = "".join(marks.get(bank, WASTED) for bank in range(touched.BANKS))
        served = [lane for word in words for lane in lanes[word]]
        name = f"wavefront {number}" if number == 1 else f"{number}"
        rows.append(f"  {name:>12}  {row}  {_ranges(served)}")
    rows[0] = f"  {'bank':>12}  {tens.rstrip():<{touched.BANKS}}  lanes"
    return rows


def _constants(wanted: touched.Elements) -> list[str]:
    lanes: dict[int, list[int]] = {}
    for lane, offset in wanted.items():
        lanes.setdefault(offset, []).append(lane)
    wide = max([len("byte"), *(len(f"{offset:,}") for offset in lanes)])
    rows = [f"  {'byte':>{wide}}  lanes"]
    return rows + [f"  {offset:>{wide},}  {_ranges(found)}" for offset, found in lanes.items()]


def _ranges(lanes: Iterable[int]) -> str:
    """0-7 16"""
    found: list[list[int]] = []
    for lane in sorted(set(lanes)):
        if found and found[-1][1] == lane - 1:
            found[-1][1] = lane
        else:
            found.append([lane, lane])
    parts = [f"{first}-{last}" if last > first else f"{first}" for first, last in found]
    if len(parts) > 6:
        parts = [*parts[:3], "...", parts[-1]]
    return " ".join(parts)


def _sums(kernel: Kernel, access: Access, step: Step, wanted: touched.Elements) -> list[str]:
    """What it costs, and what the same bytes would take at best."""
    of_bytes = touched.in_global(wanted, access.size)
    used = of_bytes.used
    lines = []
    if access.space == SHARED:
        shift = _shift(kernel, step)
        wavefronts = len(touched.in_shared(wanted, access.size, access.kind, shift))
        least = -(-used // WAVEFRONT)
        banks = touched.in_bank(wanted, access.size, shift)
        bank, words = max(banks.items(), key=lambda each: each[1])
        lines.append(f"{several(wavefronts, 'wavefront')}, {least} would do")
        if words > 1 and wavefronts > least:
            lines.append(f"bank {bank} has to deliver {words} different words")
    elif access.space == CONSTANT:
        passes = len(set(wanted.values()))
        lines.append(f"{several(passes, 'pass', 'passes')}, 1 would do")
    else:
        sectors = len(of_bytes.sectors)
        lines.append(
            f"{several(sectors, 'sector')} in {several(of_bytes.lines, 'cache line')}, "
            f"{of_bytes.least} would do: {used:,} of {of_bytes.moved:,} bytes are used"
        )
    same = _largest_group(wanted)
    if access.kind == ATOMIC and same > 1:
        lines.append(f"{same} lanes want the same address: one after the other")
    if access.kind == COPY:
        lines.append("only what the copy reads is drawn")
    return [f"  {line}" for line in lines]


def _largest_group(wanted: touched.Elements) -> int:
    addresses = list(wanted.values())
    return max((addresses.count(each) for each in set(addresses)), default=0)


def _legend(accesses: Sequence[Access], width: int) -> list[str]:
    spaces = {access.space for access in accesses}
    found = []
    if spaces - {SHARED, CONSTANT}:
        found.append("\n".join(wrapped(LEGEND_OF_GLOBAL, width)))
    if SHARED in spaces:
        found.append("\n".join(wrapped(LEGEND_OF_SHARED, width)))
    return found
