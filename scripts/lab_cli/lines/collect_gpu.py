"""Counts by line on a GPU: one run of Nsight Compute gives the source counters and the totals."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..catalogue import Exercise
from ..counters import ncu, raw_csv
from ..counters.collect import OnGpu, build_for_gpu
from ..counters.metric_table import MetricTable
from ..counters.raw_csv import RawTable
from ..errors import LabError
from ..metrics import Metric
from ..time_limit import TimeLimit
from . import ncu_source, nvdisasm
from .model import LineProfile

SECTION = ("--section", "SourceCounters", "--import-source", "yes")
SOURCE_PAGE = ("source", "--print-source", "cuda,sass")
RAW_PAGE = ("raw", "--print-units", "base")
OF_INSTRUCTIONS = "executions, lanes and branches are those of machine instructions (SASS), of which a line has several"


def collect(
    exercise: Exercise | None,
    names: Sequence[str],
    asked: Sequence[Metric],
    options: Sequence[str],
    timeout: float | None,
) -> tuple[MetricTable, LineProfile]:
    """Profiles an exercise or, without one, the program of these .cu files. Errors are as in collect.collect()."""
    built = build_for_gpu(exercise, names, False, asked)
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        report = Path(folder) / "lines.ncu-rep"
        with TimeLimit(timeout):
            failure = _record(built, report, options)
        raw = raw_csv.parse(ncu.page(built.ncu, report, RAW_PAGE, built.instead))
        page = ncu.page(built.ncu, report, SOURCE_PAGE, built.instead)
    if not raw.launches:
        raise failure or LabError("no kernel was launched: there is nothing to show")
    return built.table(raw, failure), _profile(built, raw, page)


def _record(built: OnGpu, report: Path, options: Sequence[str]) -> LabError | None:
    """Writes the report. Returns the error if the program says that results are WRONG."""
    metrics = ("--metrics", ",".join(built.nsight_names))
    wanted = [*SECTION, *metrics, "-f", "-o", str(report.with_suffix(""))]
    try:
        ncu.record(built.ncu, wanted, [*built.command, *options], built.instead)
    except ncu.WrongResults as error:
        return error
    return None


def _profile(built: OnGpu, raw: RawTable, page: str) -> LineProfile:
    functions = nvdisasm.read(Path(built.command[0]), built.nvcc)
    source = f"{built.source(raw)}; {OF_INSTRUCTIONS}"
    return ncu_source.parse(page, raw.launches, functions, source, Path.cwd())
