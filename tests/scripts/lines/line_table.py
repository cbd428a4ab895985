"""A table of what the lines of kernels cost: the form in which recordings are kept and compared."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields

from lab_cli.lines import source_text
from lab_cli.lines.model import CONSTANT, COPY, SHARED, Access, Kernel, LineProfile, Place

OWN, CALLED = "own", "called"  # what a line does itself, and what the functions do that it calls


@dataclass(frozen=True, order=True)
class Key:
    exercise: str
    kernel: str
    grid: str
    block: str
    file: str  # its name
    function: str  # "" outside of all
    line: int  # from that of the function's name, which is 0; without a function, that of the file
    whose: str
    access: str  # "global load"

    @property
    def launch(self) -> tuple[str, str, str, str]:
        return self.exercise, self.kernel, self.grid, self.block

    def __str__(self) -> str:
        where = f"{self.file}, {self.function} + {self.line}"
        return f"{self.exercise}, {self.kernel}: {where}, {self.whose} {self.access}"


@dataclass(frozen=True)
class Amounts:
    requests: int = 0
    units: int = 0  # sectors or wavefronts
    least: int = 0
    at_most: int = 0  # 1: fewer requests, for all that is known

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(
            self.requests + other.requests,
            self.units + other.units,
            self.least + other.least,
            max(self.at_most, other.at_most),
        )


Table = dict[Key, Amounts]


def of_profile(exercise: str, profile: LineProfile) -> Table:
    """Makes the table of a profile, without constant memory: ncu has no counts by line for it."""
    table: Table = {}
    for kernel in profile.kernels:
        for place, line in kernel.lines.items():
            for whose, accesses in ((OWN, line.accesses), (CALLED, line.called)):
                for access, amounts in _amounts(accesses):
                    key = _key(exercise, kernel, place, whose, access)
                    table[key] = table.get(key, Amounts()) + amounts
    return table


def first_launches(table: Table) -> Table:
    """Keeps one grid and block of each kernel."""
    chosen: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for key in table:
        chosen.setdefault((key.exercise, key.kernel), key.launch)
    return {key: table[key] for key in table if key.launch in chosen.values()}


def text(table: Table) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([field.name for kind in (Key, Amounts) for field in fields(kind)])
    writer.writerows([*astuple(key), *astuple(table[key])] for key in sorted(table))
    return stream.getvalue()


def read(text: str) -> Table:
    table: Table = {}
    for row in csv.DictReader(io.StringIO(text)):
        own = {field.name: row[field.name] for field in fields(Key)}
        counts = {field.name: int(row[field.name]) for field in fields(Amounts)}
        table[Key(**{**own, "line": int(own["line"])})] = Amounts(**counts)
    return table


def _amounts(accesses: Iterable[Access]) -> Iterable[tuple[str, Amounts]]:
    for each in accesses:
        if each.space == CONSTANT:
            continue
        yield (
            f"{each.space} {each.kind}",
            Amounts(each.requests, each.units, each.least, int(each.at_most)),
        )
        if each.kind == COPY:
            least = each.wavefronts - each.conflicts
            yield f"{SHARED} {COPY}", Amounts(each.requests, each.wavefronts, least, each.at_most)


def _key(exercise: str, kernel: Kernel, place: Place, whose: str, access: str) -> Key:
    function = source_text.function_at(place.file, place.line)
    return Key(
        exercise,
        kernel.name,
        "x".join(map(str, kernel.grid)),
        "x".join(map(str, kernel.block)),
        place.file.name,
        function.name if function else "",
        place.line - (function.first if function else 0),
        whose,
        access,
    )
