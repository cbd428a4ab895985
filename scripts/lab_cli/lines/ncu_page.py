"""Reads the source page of Nsight Compute: the machine instructions (SASS) of each launch, with their lines.

The page has a section for each launch, file and function. A section begins with the path, the name and a
row of column names. Then each line of the source has a row, and the rows of its instructions follow, twice.
An instruction of an inlined function follows the function's line and often the calling lines as well.
Columns that a kernel does not need are missing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..counters import raw_csv
from ..counters.raw_csv import short_name
from .model import Place

ADDRESS = "Address"


@dataclass
class Instruction:
    """An instruction of SASS, with the counts of one launch."""

    address: int
    text: str
    cells: Mapping[str, str]  # by the names of the columns
    places: list[Place] = field(default_factory=list)  # as far as ncu knows; in no order

    @property
    def is_predicated(self) -> bool:
        """Whether warps execute it that have no lane for it."""
        return self.text.startswith("@")

    @property
    def opcode(self) -> str:
        return opcode_of(self.text)

    def count(self, column: str) -> int:
        value = raw_csv.number(self.cells.get(column, ""))
        return int(value) if isinstance(value, float) else 0


def opcode_of(text: str) -> str:
    """Returns an instruction's name without its predicate (@P0) and its suffixes (.E.64)."""
    words = [word for word in text.split() if not word.startswith("@")]
    return words[0].split(".")[0] if words else ""


@dataclass(frozen=True)
class _Section:
    file: Path
    function: str
    rows: list[tuple[int, Instruction]]  # line, and an instruction of it

    def places(self) -> set[tuple[int, int]]:
        return {(line, instruction.address) for line, instruction in self.rows}


def launches(text: str, kernels: Sequence[str], folder: Path) -> list[list[Instruction]]:
    """Returns the instructions of each launch in the order of their addresses, or none without source.

    `kernels` are the kernels' names in the order of the launches, as raw_csv has them. Relative names
    of files begin in `folder`.
    """
    groups = _groups(list(_sections(text, folder)), set(kernels))
    if len(groups) != len(kernels):
        groups = _matched(groups, kernels)
    return [_joined(group) for group in groups]


def _sections(text: str, folder: Path) -> Iterator[_Section]:
    file, function, line = Path(), "", 0
    columns: list[str] = []
    section: _Section | None = None
    for (
        text_line
    ) in text.splitlines():  # each by itself: quotes of the source are as they stand there
        first, *others = next(csv.reader([text_line]), [""])
        if first == "File Path":
            file = (folder / others[0]).resolve()
        elif first == "Function Name":
            function = short_name(others[0])
        elif first == "Line No":
            if section:
                yield section
            section = _Section(file, function, [])
            columns = others
        elif section and first.isdigit():
            line = int(first)
        elif section and ADDRESS in columns:
            instruction = _instruction(columns, others)
            if instruction:
                section.rows.append((line, instruction))
    if section:
        yield section


def _instruction(columns: Sequence[str], cells: Sequence[str]) -> Instruction | None:
    """Returns None for "...", which stands for instructions of other lines."""
    at = columns.index(ADDRESS)
    if len(cells) < len(columns) or not cells[at].startswith("0x"):
        return None
    values = dict(zip(columns[at + 2 :], cells[at + 2 :]))
    return Instruction(int(cells[at], 16), cells[at + 1].strip(), values)


def _groups(sections: Sequence[_Section], kernels: set[str]) -> list[list[_Section]]:
    """Finds where the sections of the next launch begin. Within a launch the names of the files are in order.
    A function that is not inlined has sections of its own; `kernels` tells them from kernels."""
    groups: list[list[_Section]] = []
    seen: set[tuple[Path, int, int]] = set()
    kernel = ""
    for section in sections:
        places = {(section.file, *place) for place in section.places()}
        if section.function in kernels:
            begins = kernel not in ("", section.function)
        else:
            begins = bool(groups) and str(section.file) < str(groups[-1][-1].file)
        if not groups or begins or places & seen:
            groups.append([])
            seen = set()
            kernel = ""
        groups[-1].append(section)
        seen |= places
        kernel = section.function if section.function in kernels else kernel
    return groups


def _matched(groups: Sequence[list[_Section]], kernels: Sequence[str]) -> list[list[_Section]]:
    """Matches launches and sections by name, since a kernel of a library may have no section."""
    found: list[list[_Section]] = [[] for _ in kernels]
    begin = 0
    for group in groups:
        names = {section.function for section in group}
        at = next((i for i in range(begin, len(kernels)) if kernels[i] in names), None)
        if at is not None:
            found[at] = group
            begin = at + 1
    return found


def _joined(group: Sequence[_Section]) -> list[Instruction]:
    found: dict[int, Instruction] = {}
    for section in group:
        for line, instruction in section.rows:
            known = found.setdefault(instruction.address, instruction)
            place = Place(section.file, line)
            if place not in known.places:
                known.places.append(place)
    return [found[address] for address in sorted(found)]
