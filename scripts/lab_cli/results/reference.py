"""Which row that was measured on the GPU of the pages stands beside a row of another run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..catalogue import Exercise
from ..errors import LabError
from ..exercise_facts import Facts
from . import csv_file, store
from .csv_file import Row
from .numbers import names_of
from .rows import in_binary, with_parameters

GPU = "h200"  # the folder of results
# Columns that stand in front of an exercise's own, and those behind them.
BEFORE = ("exercise", "device", "parameters", "kernel", "grid", "block")
BEHIND = (
    "reps",
    "median_ms",
    "min_ms",
    "max_ms",
    "gbps",
    "gflops",
    "percent_peak",
    "speedup",
    "check",
)


@dataclass(frozen=True)
class References:
    gpu: str = ""
    rows: Sequence[Row] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

    def beside(self, rows: Sequence[Row], exercise: Facts) -> list[Row | None]:
        """One for each of `rows`, or None: of the same kernel and, where a sweep has several rows of it, of
        the same place in the sweep; of these the one with the most work."""
        places = [
            {"kernel": row["kernel"], **identity(row, rows, exercise)} if row.get("kernel") else {}
            for row in rows
        ]
        return [
            self._of(row, place, places[:number].count(place), places.count(place), exercise)
            for number, (row, place) in enumerate(zip(rows, places))
        ]

    def _of(
        self, row: Row, place: Mapping[str, str], index: int, count: int, exercise: Facts
    ) -> Row | None:
        """`row` is one of `count` in the same place, from 0. They are told apart by their order, if the
        largest run has as many of them."""
        candidates = [other for other in self.rows if place and _is_in(other, place)]
        if not candidates:
            return None
        best = max(
            reversed(candidates), key=lambda other: (_work(other, exercise), _alike(other, row))
        )
        run = [other for other in candidates if other["parameters"] == best["parameters"]]
        if count > 1:
            best = run[index] if len(run) == count else {}
        return best if best.get("median_ms") else None


def load(exercise: Exercise) -> References:
    """What was measured of the exercise; nothing where there is no such file."""
    path = store.file(exercise.results / GPU)
    if not path.exists():
        return References()
    try:
        found = csv_file.parse(csv_file.read_text(path), path)
    except LabError:  # tests of the project see to it; whoever asks goes on without
        return References()
    return References(found.facts.get("gpu", GPU), found.rows, found.facts)


def sizes(words: str) -> str:
    """'rows=16384 tile=32' -> 'rows=16K tile=32'."""
    pairs = [word.partition("=") for word in words.split()]
    return " ".join(
        name + equals + (in_binary(int(value)) if re.fullmatch("[0-9]{1,18}", value) else value)
        for name, equals, value in pairs
    )


def common(parameters: Sequence[str]) -> list[str]:
    """The words that all of them have."""
    lists = [words.split() for words in parameters]
    return [word for word in lists[0] if all(word in words for words in lists)] if lists else []


def identity(row: Row, rows: Sequence[Row], exercise: Facts) -> dict[str, str]:
    """What tells the row from the others of its kernel: options that differ, the block, and the first of
    the exercise's own columns that does. What was measured tells nothing."""
    alike = [with_parameters(other) for other in rows if other.get("kernel") == row.get("kernel")]
    own = with_parameters(row)
    options = [word.partition("=")[0] for word in row.get("parameters", "").split()]
    columns = [name for name in row if name not in BEFORE + BEHIND]
    found = [name for name in [*options, "block"] if _differ(alike, name)]
    for name in columns:
        column = exercise.columns.get(name)
        if not (column and column.gpu) and _differ(alike, name):
            found.append(name)
            break
    return {name: own[name] for name in found}


def _is_in(row: Row, place: Mapping[str, str]) -> bool:
    values = with_parameters(row)
    return all(values.get(name) == value for name, value in place.items())


def _alike(row: Row, other: Row) -> int:
    """How many options and columns have the same value."""
    a, b = with_parameters(row), with_parameters(other)
    return sum(a[name] == b.get(name) for name in a)


def _differ(rows: Sequence[Row], name: str) -> bool:
    return len({row.get(name) for row in rows}) > 1


def _work(row: Row, exercise: Facts) -> float:
    """Bytes or operations; 0 where the exercise does not say."""
    for formulas in (exercise.work.bytes, exercise.work.flops):
        formula = formulas.of(row.get("kernel", ""))
        if formula:
            try:
                return formula.value(names_of(row))
            except ValueError:
                pass
    return 0.0
