"""What ./lab profile --source prints: the source of each kernel, and beside each line what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..paths import shown
from ..words import CUT, cut, wrapped
from . import source_text, worst
from .model import ATOMIC, CONSTANT, GLOBAL, LOAD, SHARED, STORE, WARP, Kernel, Line, LineProfile
from .source_text import Function, name_of
from .sums import Traffic, active_lanes, number, per_request, traffic

MOST_KERNELS = 3  # that are listed where nobody has chosen; of more, there is a line for each
MOST_BETWEEN = 3  # lines that cost nothing between two that do; of more, there is "..."
ENOUGH_SOURCE = 48  # characters; for less, columns are left out
LEAST_SOURCE = 24
NARROW, WIDE = 60, 200  # characters of a line at least and at most
GAP = "  "
IN_CALLS = "  (in calls)"
NOTHING = "No line of {} costs anything to speak of in vain."
BOLD, WASTED = "1", "33"
SOME = 1.05  # times the least: what is wasted below that is not marked

Paint = Callable[[str, str], str]  # a text, and its style


def plain(text: str, _: str) -> str:
    return text


def coloured(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


@dataclass(frozen=True)
class Cost:
    """What a line costs itself, or in the functions that it calls."""

    line: Line | None  # None: in calls
    memory: dict[tuple[str, str], Traffic]

    def of(self, *sorts: tuple[str, str]) -> Traffic:
        return sum((self.memory[sort] for sort in sorts if sort in self.memory), Traffic())


@dataclass(frozen=True)
class Column:
    group: str  # stands above the headings of neighbours that share it
    heading: str
    cell: Callable[[Cost], str]
    legend: str  # of the group, where it has a name
    keep: int  # columns with the lowest go first where there is too little room
    wasted: Callable[[Cost], bool] = lambda cost: False


def text(
    profile: LineProfile,
    width: int,
    chosen: Sequence[Kernel] = (),
    paint: Paint = plain,
) -> str:
    """The worst line in words, then the listings. Of many kernels the worst is listed, or those that are
    `chosen`."""
    width = min(max(width, NARROW), WIDE)
    kernels = profile.kernels
    listed = [*chosen] or (kernels if len(kernels) <= MOST_KERNELS else [_worst_of(kernels)])
    parts = [_head(chosen or kernels, width, paint)]
    if len(listed) < len(kernels):
        parts.append(_overview(kernels, listed, width))
    sections = [_sections(kernel) for kernel in listed]
    rows = [row for each in sections for row in _all_rows(each)]
    columns = _columns([row.cost for row in rows], width, profile.exact)
    several = len(listed) > 1
    for kernel, own in zip(listed, sections):
        parts.append(_listing(kernel, own, several, columns, width, paint))
    parts += [_legend(columns, listed, width), "\n".join(wrapped(profile.source, width))]
    return "\n\n".join(filter(None, parts)) + "\n"


def _worst_of(kernels: Sequence[Kernel]) -> Kernel:
    found = worst.of_all(kernels)
    return found[0] if found else kernels[0]


# ---- in words


def _head(kernels: Sequence[Kernel], width: int, paint: Paint) -> str:
    found = worst.of_all(kernels)
    if not found:
        names = kernels[0].name if len(kernels) == 1 else "these kernels"
        return "\n".join(wrapped(NOTHING.format(names), width))
    kernel, line = found
    said = f"{line.sentence}" if len(kernels) == 1 else f"{kernel.name}: {line.sentence}"
    return "\n".join(paint(each, BOLD) for each in wrapped(said, width))


def _overview(kernels: Sequence[Kernel], listed: Sequence[Kernel], width: int) -> str:
    """A line for each kernel, in the order of their launches."""
    names = Counter(kernel.name for kernel in kernels)
    rows = [("", "kernel", "line", "what it costs most in vain")]
    for kernel in kernels:
        line = worst.of(kernel)
        mark = ">" if any(kernel is each for each in listed) else ""
        shape = f", {size(kernel.grid)}, {size(kernel.block)}" if names[kernel.name] > 1 else ""
        at = f"{line.place.line}" if line else ""
        rows.append((mark, kernel.name + shape, at, line.short if line else "nothing"))
    wide = min(max(len(row[1]) for row in rows), width // 2)
    lines = []
    for mark, name, at, why in rows:
        row = f"{mark:1} {cut(name, wide):<{wide}}  {at:>4}  "
        lines.append((row + cut(why, width - len(row))).rstrip())
    advice = "Below: the kernels with a >. --kernel NAME lists those whose names contain NAME."
    return "\n".join([*lines, "", *wrapped(advice, width)])


# ---- the listing


@dataclass(frozen=True)
class Row:
    number: int
    cost: Cost
    is_worst: bool = False

    @property
    def costs(self) -> bool:
        """More than its executions."""
        line = self.cost.line
        return bool(
            self.is_worst or self.cost.memory or (line and (line.divergent or line.barriers))
        )


@dataclass(frozen=True)
class Section:
    """The lines of a function that cost something."""

    file: Path
    function: Function | None
    rows: list[Row]
    is_own: bool  # of the kernel


def _all_rows(sections: Iterable[Section]) -> list[Row]:
    return [row for section in sections for row in section.rows]


def _sections(kernel: Kernel) -> list[Section]:
    """The kernel's own first, then those of functions that it calls."""
    found = worst.of(kernel)
    functions: dict[tuple[Path, Function | None], list[Row]] = {}
    for place, line in sorted(kernel.lines.items()):
        rows = _rows_of(line, bool(found and found.place == place))
        if rows:
            function = source_text.function_at(place.file, place.line)
            functions.setdefault((place.file, function), []).extend(rows)
    sections = [
        Section(file, function, rows, _is_own(kernel, file, function))
        for (file, function), rows in functions.items()
    ]
    return sorted(sections, key=lambda each: not each.is_own)


def _rows_of(line: Line, is_worst: bool) -> list[Row]:
    own = Cost(line, traffic(line.accesses))
    called = Cost(None, traffic(line.called))
    number_of = line.place.line
    rows = [Row(number_of, own, is_worst)] if line.executions or own.memory or called.memory else []
    return rows + ([Row(number_of, called)] if called.memory else [])


def _is_own(kernel: Kernel, file: Path, function: Function | None) -> bool:
    if kernel.definition is None:
        name = kernel.name.partition("<")[0]
        return function is not None and function.name == name.rpartition("::")[2]
    if kernel.definition.file != file:
        return False
    return function == source_text.function_at(file, kernel.definition.line)


def _listing(
    kernel: Kernel,
    sections: Sequence[Section],
    several: bool,
    columns: Sequence[Column],
    width: int,
    paint: Paint,
) -> str:
    """With its worst line in words, where `several` kernels have one."""
    found = worst.of(kernel) if several else None
    title = f"{kernel.name}, grid {size(kernel.grid)}, block {size(kernel.block)}"
    if kernel.launches > 1:
        title += f", {kernel.launches:,} launches"
    lines = [*wrapped(title, width)]
    if found:
        lines += wrapped(found.sentence, width, "  ")
    table = _Table(columns, _all_rows(sections), width, paint)
    lines += ["", *table.head()]
    for section in sections:
        if section.is_own:
            lines += table.lines(section)
        elif _is_shown(section, sections):
            lines += ["", *wrapped(f"{_about(section, sections)}:", width)]
            lines += table.lines(section)
    others = [
        _about(each, sections)
        for each in sections
        if not each.is_own and not _is_shown(each, sections)
    ]
    if others:
        lines += ["", *wrapped(f"without loads, stores or splits: {', '.join(others)}", width)]
    return "\n".join(lines)


def _is_shown(section: Section, sections: Sequence[Section]) -> bool:
    """Of a function in another file, which is often a small one of a library, only if it costs something."""
    of_own_file = any(each.is_own and each.file == section.file for each in sections)
    return of_own_file or any(row.costs for row in section.rows)


def _about(section: Section, sections: Sequence[Section]) -> str:
    """Which function that the kernel calls, and its file where that is another one."""
    own = any(each.is_own and each.file == section.file for each in sections)
    where = "" if own else f" in {shown(section.file)}"
    if section.function:
        return f"{name_of(section.function)}, called{where}"
    first, last = section.rows[0].number, section.rows[-1].number
    return f"lines {first} to {last}{where}" if first != last else f"line {first}{where}"


def size(size: tuple[int, int, int]) -> str:
    """As `./lab profile` shows grids and blocks."""
    last = max((i for i, each in enumerate(size) if each != 1), default=0)
    return "x".join(map(str, size[: last + 1]))


# ---- its columns


def _columns(costs: Sequence[Cost], width: int, exact: bool = True) -> list[Column]:
    """Those in which some line has a value, as far as there is room for them beside the source."""
    everything = ALL_COLUMNS if exact else [OF_GPU, *ALL_COLUMNS[1:]]
    columns = [each for each in everything if any(each.cell(cost) for cost in costs)]
    if all(cost.line is None or _lanes(cost) in ("", f"{WARP}") for cost in costs):
        columns = [each for each in columns if each.heading != "lanes"]
    while len(columns) > 1 and width - _width(columns, costs) < ENOUGH_SOURCE:
        least = min(columns, key=lambda each: each.keep)
        if least.keep >= ALWAYS and width - _width(columns, costs) >= LEAST_SOURCE:
            break
        columns.remove(least)
    return columns


def _width(columns: Sequence[Column], costs: Sequence[Cost]) -> int:
    """Of all that stands before the source."""
    cells = [
        len(GAP) + max(len(each.heading), *(len(each.cell(c)) for c in costs)) for each in columns
    ]
    return 2 + 5 + sum(cells) + len(GAP)


def _count(value: int) -> str:
    """Empty for none; of a million and more, three digits."""
    if value < 1_000_000:
        return f"{value:,}" if value else ""
    for factor, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return (
                f"{value / factor:.3g}{unit}"
                if value < 1000 * factor
                else f"{value / factor:.0f}{unit}"
            )
    return ""


def _lanes(cost: Cost) -> str:
    if not cost.line or not cost.line.executions:
        return ""
    return number(active_lanes(cost.line))


def _of_line(get: Callable[[Line], int]) -> Callable[[Cost], str]:
    return lambda cost: _count(get(cost.line)) if cost.line else ""


def _per_request(space: str, kind: str) -> Callable[[Cost], str]:
    def cell(cost: Cost) -> str:
        part = cost.of((space, kind))
        return "/".join(map(number, per_request(part))) if part.requests else ""

    return cell


def _wastes(space: str, kind: str) -> Callable[[Cost], bool]:
    def wasted(cost: Cost) -> bool:
        part = cost.of((space, kind))
        return part.units > SOME * part.least

    return wasted


def _alike(cost: Cost) -> str:
    part = cost.of(*ATOMICS)
    return f"{number(part.alike / part.requests)}/1" if part.alike else ""


def _requests(cost: Cost) -> str:
    return _count(sum(part.requests for part in cost.memory.values()))


def _conflicts(cost: Cost) -> str:
    return _count(sum(part.conflicts for part in cost.memory.values()))


ATOMICS = ((GLOBAL, ATOMIC), (SHARED, ATOMIC))
ALWAYS = 10  # such columns go only where there is no room for the source at all
OF_GLOBAL = (
    "sectors of 32 bytes for a request of a warp, and how many would do; on a GPU, L1 may have some of "
    "them already"
)
OF_SHARED = "wavefronts for a request of a warp, and how many would do"


def _memory(group: str, heading: str, sort: tuple[str, str], legend: str) -> Column:
    return Column(group, heading, _per_request(*sort), legend, 20, _wastes(*sort))


ALL_COLUMNS = [
    Column(
        "", "warps", _of_line(lambda line: line.executions), "how often warps executed the line", 12
    ),
    Column("", "lanes", _lanes, f"active lanes of these warps on average, of {WARP}", 13),
    Column(
        "", "splits", _of_line(lambda line: line.divergent), "branches in which a warp split", 14
    ),
    Column("", "requests", _requests, "loads, stores and atomics of warps", 1),
    _memory("global", "load", (GLOBAL, LOAD), OF_GLOBAL),
    _memory("global", "store", (GLOBAL, STORE), OF_GLOBAL),
    _memory("shared", "load", (SHARED, LOAD), OF_SHARED),
    _memory("shared", "store", (SHARED, STORE), OF_SHARED),
    Column("", "conflicts", _conflicts, "wavefronts because lanes meet in a bank", 3),
    Column(
        "",
        "atomic",
        _alike,
        "lanes of a warp that want the same address, and how many would not wait",
        15,
        lambda cost: cost.of(*ATOMICS).collisions > 0,
    ),
    _memory("", "constant", (CONSTANT, LOAD), "passes of the constant cache for a request"),
    Column(
        "", "barriers", _of_line(lambda line: line.barriers), "arrivals of warps at a barrier", 2
    ),
]


# ncu counts instructions, of which a line has several.
OF_GPU = replace(
    ALL_COLUMNS[0], heading="instr", legend="machine instructions of the line that warps executed"
)


# ---- its lines


class _Table:
    """Lines of a listing: a mark, the line's number, the columns, the source."""

    def __init__(
        self, columns: Sequence[Column], rows: Sequence[Row], width: int, paint: Paint
    ) -> None:
        self._columns = columns
        self._paint = paint
        self._number = max([4, *(len(str(row.number)) for row in rows)])
        self._widths = [
            max([len(each.heading), *(len(each.cell(row.cost)) for row in rows)])
            for each in columns
        ]
        self._room = width - (2 + self._number + sum(len(GAP) + w for w in self._widths) + len(GAP))

    def head(self) -> list[str]:
        groups = [each.group for each in self._columns]
        headings = [each.heading.rjust(w) for each, w in zip(self._columns, self._widths)]
        lines = ["  " + GAP.join(["line".rjust(self._number), *headings, "source"])]
        if any(groups):
            lines.insert(0, self._groups(groups))
        return lines

    def _groups(self, groups: Sequence[str]) -> str:
        line = " " * (2 + self._number)
        i = 0
        while i < len(groups):
            end = i + 1
            while groups[i] and end < len(groups) and groups[end] == groups[i]:
                end += 1
            span = sum(self._widths[i:end]) + len(GAP) * (end - i - 1)
            line += GAP + groups[i].rjust(span)
            i = end
        return line.rstrip()

    def lines(self, section: Section) -> list[str]:
        """From the first to the last that costs something; "..." stands for many that cost nothing."""
        source = source_text.lines_of(section.file)
        first, last = section.rows[0].number, section.rows[-1].number
        between = [source[i - 1] if i <= len(source) else "" for i in range(first, last + 1)]
        indent = _indent(between)
        found: list[str] = []
        before = first - 1
        for row in section.rows:
            found += self._free(between, first, before + 1, row.number, indent)
            code = between[row.number - first][indent:]
            found.append(self._line(row, code if row.cost.line else IN_CALLS))
            before = row.number
        return found

    def _free(
        self, between: Sequence[str], first: int, start: int, end: int, indent: int
    ) -> list[str]:
        """The lines from start to the one before end, which cost nothing."""
        empty = " " * (2 + self._number + sum(len(GAP) + width for width in self._widths))
        if end - start > MOST_BETWEEN:
            return [" " * (2 + self._number - len(CUT)) + CUT]
        return [
            f"  {number_of:>{self._number}}{empty[2 + self._number :]}{GAP}"
            f"{cut(between[number_of - first][indent:], self._room)}".rstrip()
            for number_of in range(start, end)
        ]

    def _line(self, row: Row, code: str) -> str:
        cells = [self._cell(each, row, width) for each, width in zip(self._columns, self._widths)]
        number_of = str(row.number) if row.cost.line else ""
        mark = ">" if row.is_worst else " "
        begin = f"{mark} {number_of:>{self._number}}"
        code = cut(code, self._room)
        if row.is_worst:
            begin, code = self._paint(begin, BOLD), self._paint(code, BOLD)
        return GAP.join([begin, *cells, code]).rstrip()

    def _cell(self, column: Column, row: Row, width: int) -> str:
        cell = column.cell(row.cost)
        padded = cell.rjust(width)
        return self._paint(padded, WASTED) if cell and column.wasted(row.cost) else padded


def _indent(lines: Sequence[str]) -> int:
    return min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)


def _legend(columns: Sequence[Column], kernels: Sequence[Kernel], width: int) -> str:
    words: dict[str, str] = {}
    for column in columns:
        words.setdefault(column.group or column.heading, column.legend)
    wide = max(map(len, words), default=0)
    lines = []
    for word, legend in words.items():
        lines += wrapped(legend, width, f"{word:<{wide}}  ", " " * (wide + 2))
    if any(line.called for kernel in kernels for line in kernel.lines.values()):
        meaning = "what the functions that the line calls cost for it; their own lines are below"
        lines += wrapped(meaning, width, f"{IN_CALLS.strip()}  ", " " * 4)
    return "\n".join(lines)
