"""Counts what a program costs at each line of its source, together with the totals of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import catalogue, metrics
from ..building import instrumented
from ..counters import metric_table, raw_csv
from ..counters.collect import CPU_SOURCE, NO_REGISTERS
from ..counters.collect import VARIABLE as TOTALS
from ..counters.metric_table import MetricTable
from ..errors import LabError
from ..time_limit import TimeLimit
from ..verdicts import only_wrong
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
    program = [*instrumented.built(exercise, names), *options]
    with TimeLimit(timeout):
        outcome = instrumented.run(program, TOTALS, recorded.VARIABLE)
    failure = outcome.failure() if outcome.status != 0 else None
    if failure and not only_wrong(outcome.status, outcome.output):
        raise failure
    counted = [metric for metric in asked if metric.cpu]
    raw = raw_csv.parse(outcome.report)
    if not raw.launches:
        raise LabError("no kernel was launched: there is nothing to show")
    table = metric_table.build(raw, counted, CPU_SOURCE, [NO_REGISTERS], failure)
    return table, recorded.parse(outcome.others[0], CPU_SOURCE, Path.cwd())
