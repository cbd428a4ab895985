"""What ./lab run shows below the table of an exercise where there is no GPU: counts that tell what its
kernels do, and times that were recorded on a GPU."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from .. import metrics
from ..catalogue import Exercise
from ..counters import metric_table
from ..counters.rungs import Rungs
from ..errors import LabError
from ..exercise_facts import Facts
from ..metrics import Metric
from ..paths import shown
from . import csv_file, reference, store, tables
from .csv_file import Row
from .rows import short, with_parameters

WIDTH = 80
MOST_COUNTS = 4
GAP = "  "
Column = list[str]  # its heading, then a cell for each row


def counted(exercise: Exercise) -> list[Metric]:
    """The metrics that may tell the story, as far as the cpu back end counts them; none where the rows of
    the exercise are no kernels."""
    if "Columns::kPlain" in exercise.source.read_text(encoding="utf-8"):
        return []
    story = exercise.facts.story
    names = exercise.facts.metrics if story is None else story
    return [metric for metric in metrics.load().find(names) if metric.cpu]


def of_counts(exercise: Exercise, rungs: Rungs) -> str:
    """A row for each rung: the counts that are not the same for all, and the recorded time. Empty where all
    counts are the same."""
    table = metric_table.build(rungs.counts, counted(exercise), source="", notes=[], on_cpu=True)
    references = reference.load(exercise)
    beside = references.beside(rungs.rows, exercise.facts)
    names = ["kernel", *_labels(rungs.rows, exercise.facts)]
    times = ["H200 [ms]", *map(_time, beside)] if any(beside) else []
    room = WIDTH - _width(names) - (len(GAP) + _width(times) if times else 0)
    told: list[Metric] = []
    columns: list[Column] = []
    for index, metric in enumerate(table.metrics):
        cells = table.shown(index)
        column = [metric.short or metric.name, *_changes(cells)]
        needed = len(GAP) + _width(column)
        if len(set(cells)) > 1 and needed <= room and len(told) < MOST_COUNTS:
            told.append(metric)
            columns.append(column)
            room -= needed
    if not told:
        return ""
    about = _about_counts(rungs.rows)
    if times:
        about += f" {_about_times(exercise, references, [row for row in beside if row])}"
    legend = [f"{metric.short or metric.name}: {metric.meaning}" for metric in told]
    lines = [*_lines([names], [*columns, *([times] if times else [])]), ""]
    lines += [
        line for text in legend for line in textwrap.wrap(text, WIDTH, subsequent_indent="  ")
    ]
    return _text([*textwrap.wrap(about, WIDTH), "", *lines])


def of_times(exercise: Exercise) -> str:
    """The first table of the page, of an exercise whose story only times tell. Empty where the page has
    none of recorded times, or they are not there."""
    try:
        marker = tables.BLOCK.search(csv_file.read_text(exercise.page))
        path = store.file(exercise.results / reference.GPU)
        if marker is None or tables.parts_of(marker, exercise.folder)[0] != [path]:
            return ""
        _, names, words = tables.parts_of(marker, exercise.folder)
        table = tables.select(path, names, words, tables.columns_of(path))
    except LabError:  # tests of the project see to it; ./lab run goes on without
        return ""
    where = " ".join(word for word in words if not word.startswith("kernel="))
    about = (
        "Only a GPU has times. These were recorded on an "
        f"{reference.load(exercise).gpu}{f' with {reference.sizes(where)}' if where else ''} "
        f"({shown(path)}):"
    )
    columns = [list(column) for column in zip(table.titles, *table.rows)]
    left = table.is_text.index(False) if False in table.is_text else len(columns)
    return _text([*textwrap.wrap(about, WIDTH), "", *_lines(columns[:left], columns[left:])])


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in ["", *lines])


def _labels(rows: Sequence[Row], facts: Facts) -> list[str]:
    """The kernels, each with as much of what tells a row from the others of its kernel as that takes."""
    found = []
    for row in rows:
        alike = [other for other in rows if other["kernel"] == row["kernel"]]
        words: list[str] = []
        for name, value in reference.identity(row, rows, facts).items():
            words.append(f"{name}={value}")
            alike = [other for other in alike if with_parameters(other).get(name) == value]
            if len(alike) == 1:
                break
        found.append(" ".join([row["kernel"], *words]))
    return found


def _changes(cells: Sequence[str]) -> list[str]:
    """Each with the one above where that is another: 4 -> 32."""
    above = [*cells[:1], *cells]
    return [cell if cell == old else f"{old} -> {cell}" for old, cell in zip(above, cells)]


def _time(row: Row | None) -> str:
    return short(float(row["median_ms"])) if row else "-"


def _about_counts(rows: Sequence[Row]) -> str:
    of_all = " ".join(reference.common([row.get("parameters", "") for row in rows]))
    where = f" with {reference.sizes(of_all)}" if of_all else ""
    return f'What the kernels do, counted{where}; "4 -> 32" is 32 where the row above has 4.'


def _about_times(exercise: Exercise, found: reference.References, rows: Sequence[Row]) -> str:
    of_all = reference.sizes(" ".join(reference.common([row["parameters"] for row in rows])))
    path = shown(store.file(exercise.results / reference.GPU))
    return f"Times: of the shipped kernels, recorded on an {found.gpu}{f' with {of_all}' if of_all else ''} ({path})."


def _width(column: Column) -> int:
    """The least that has room for each cell, and each word of the heading."""
    return max(map(len, [*column[0].split(), *column[1:]]))


def _lines(left: Sequence[Column], right: Sequence[Column]) -> list[str]:
    """A table with its headings broken into several lines; those of `left` and their cells stand there."""
    texts = []
    for column in [*left, *right]:
        width = _width(column)
        heading = textwrap.wrap(column[0], width)
        texts.append((width, heading, column[1:]))
    height = max(len(heading) for _, heading, _ in texts)
    padded = [
        [
            cell.ljust(width) if number < len(left) else cell.rjust(width)
            for cell in [""] * (height - len(heading)) + heading + cells
        ]
        for number, (width, heading, cells) in enumerate(texts)
    ]
    fits = sum(width for width, *_ in texts) + len(GAP) * (len(texts) - 1) <= WIDTH
    return [(GAP if fits else " ").join(cells).rstrip() for cells in zip(*padded)]
