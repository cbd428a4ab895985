"""Counts what a program costs at each line of its source, together with the totals of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import catalogue, metrics
from ..building import instrumented
from ..counters.collect import CPU_SOURCE, check_cpu, table_of_cpu
from ..counters.collect import VARIABLE as TOTALS
from ..counters.metric_table import MetricTable
from ..errors import LabError
from ..time_limit import TimeLimit
from . import collect_gpu, recorded
from .model import LineProfile


def collect(
    names: Sequence[str],
    backend: str,
    options: Sequence[str] = (),
    timeout: float | None = None,
    metric_names: Sequence[str] = (),
) -> tuple[MetricTable, LineProfile]:
    """Builds an exercise, or the .cu files of a program, and runs it once, each kernel of an exercise once.

    `metric_names`, `options` and `timeout` are those of counters.collect.collect(), and so are the
    errors. Where results are WRONG the table has that as its `failure`.
    """
    exercise = catalogue.at(*names)
    known = metrics.load()
    asked = known.find(metric_names or (exercise and exercise.facts.metrics) or known.own)
    if backend == "gpu":
        return collect_gpu.collect(exercise, names, asked, options, timeout)
    check_cpu(asked)
    program = [*instrumented.built(exercise, names), *options]
    with TimeLimit(timeout):
        outcome = instrumented.run(program, TOTALS, recorded.VARIABLE)
    table = table_of_cpu(outcome, asked)
    (lines,) = outcome.others
    if not table.rows or not lines:
        raise LabError("no kernel was launched: there is nothing to show")
    return table, recorded.parse(lines, CPU_SOURCE, Path.cwd())
