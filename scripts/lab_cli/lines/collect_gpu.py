"""Counts by line on a GPU: one run of Nsight Compute gives the source counters and the totals."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
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
DETAILS_PAGE = ("details",)
OF_INSTRUCTIONS = "executions, lanes and branches are those of machine instructions (SASS), of which a line has several"


@dataclass(frozen=True)
class Report:
    """What ncu prints of one run of a program."""

    raw: RawTable
    source: str
    details: str = ""  # what its rules say, where their sections were asked for
    failure: LabError | None = None  # the program says that results are WRONG


def collect(
    exercise: Exercise | None,
    names: Sequence[str],
    asked: Sequence[Metric],
    options: Sequence[str],
    timeout: float | None,
) -> tuple[MetricTable, LineProfile]:
    """Profiles an exercise or, without one, the program of these .cu files. Errors are as in collect.collect()."""
    built = build_for_gpu(exercise, names, False, asked)
    report = run(built, built.nsight_names, options, timeout)
    return built.table(report.raw, report.failure), profile_of(built, report)


def run(
    built: OnGpu,
    metrics: Sequence[str],
    options: Sequence[str],
    timeout: float | None,
    sections: Sequence[str] = (),
) -> Report:
    """Profiles the program once. `metrics` are Nsight's names; the rules of `sections` are applied, too."""
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        file = Path(folder) / "lines.ncu-rep"
        with TimeLimit(timeout):
            failure = _record(built, file, metrics, options, sections)
        raw = raw_csv.parse(ncu.page(built.ncu, file, RAW_PAGE, built.instead))
        source = ncu.page(built.ncu, file, SOURCE_PAGE, built.instead)
        details = ncu.page(built.ncu, file, DETAILS_PAGE, built.instead) if sections else ""
    if not raw.launches:
        raise failure or LabError("no kernel was launched: there is nothing to show")
    return Report(raw, source, details, failure)


def _record(
    built: OnGpu,
    report: Path,
    metrics: Sequence[str],
    options: Sequence[str],
    sections: Sequence[str],
) -> LabError | None:
    """Writes the report. Returns the error if the program says that results are WRONG."""
    others = [word for section in sections for word in ("--section", section)]
    wanted = [*SECTION, *others, "--metrics", ",".join(metrics)]
    wanted += ["-f", "-o", str(report.with_suffix(""))]
    try:
        ncu.record(built.ncu, wanted, [*built.command, *options], built.instead)
    except ncu.WrongResults as error:
        return error
    return None


def profile_of(built: OnGpu, report: Report) -> LineProfile:
    functions = nvdisasm.read(Path(built.command[0]), built.nvcc)
    source = f"{built.source(report.raw)}; {OF_INSTRUCTIONS}"
    return ncu_source.parse(report.source, report.raw.launches, functions, source, Path.cwd())
