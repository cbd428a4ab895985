"""./lab profile --explain: what its kernels cost, and why they are slow, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import catalogue, metrics
from ..building import registers
from ..catalogue import Exercise
from ..causes import on_gpu, sentences
from ..causes.source import resources
from ..counters import diagnosis, explanation
from ..counters.collect import build_for_gpu
from ..counters.explanation import ByLine
from ..counters.metric_table import MetricTable
from ..errors import LabError
from ..lines.collect import collect as collect_lines

# On a GPU the lines are counted as well, if the emulation can: data may be as large as a GPU takes them.
LONGEST_COUNTING = 60.0  # seconds


def explained(
    names: Sequence[str],
    backend: str,
    options: Sequence[str],
    timeout: float | None,
    wrong_too: bool,
    width: int,
) -> tuple[MetricTable, str]:
    """The table of an exercise or of the .cu files of a program, and the text; the arguments are
    those of counters.collect.collect(), and so are the errors."""
    exercise = catalogue.at(*names)
    own = [] if exercise else names  # of exercises, the registers are part of what they measure
    if backend == "gpu":
        table, by_line = _on_gpu(exercise, names, own, options, timeout)
    else:
        table, by_line = _on_cpu(names, own, options, timeout)
    if table.failure and not (wrong_too and table.rows):
        raise table.failure
    return table, explanation.text(table, backend, width, by_line)


def _on_cpu(
    names: Sequence[str], own: Sequence[str], options: Sequence[str], timeout: float | None
) -> tuple[MetricTable, ByLine]:
    asked = diagnosis.load().metrics("cpu")
    with registers.asked(own) as compiler:
        table, profile = collect_lines(names, "cpu", options, timeout, asked)
    known = resources.read(compiler.printed())
    return table, sentences.by_line(profile, table, small=not own, known=known)


def _on_gpu(
    exercise: Exercise | None,
    names: Sequence[str],
    own: Sequence[str],
    options: Sequence[str],
    timeout: float | None,
) -> tuple[MetricTable, ByLine]:
    asked = metrics.load().find(diagnosis.load().metrics("gpu"))
    built = build_for_gpu(exercise, names, False, asked)
    with registers.asked(own) as compiler:
        report = on_gpu.run(built, options, timeout)
    known = resources.read(compiler.printed())
    by_line = on_gpu.by_line(built, report, known)
    emulated = _emulated(names, own, options, timeout)
    return built.table(report.raw, report.failure), replace(by_line, emulated=emulated)


def _emulated(
    names: Sequence[str], own: Sequence[str], options: Sequence[str], timeout: float | None
) -> ByLine | None:
    """None where the cpu back end cannot count the program, or not in time."""
    try:
        return _on_cpu(names, own, options, min(timeout or LONGEST_COUNTING, LONGEST_COUNTING))[1]
    except LabError:
        return None
