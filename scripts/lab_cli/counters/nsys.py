"""Runs Nsight Systems, and reads the summaries that it makes of a recording."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import takewhile
from pathlib import Path

from ..errors import LabError
from ..files import make_build_folder
from ..process import describe
from . import profilers, raw_csv, recording
from .recording import Recording

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")  # but ends of lines
SUFFIX = ".nsys-rep"


@dataclass(frozen=True)
class Summary:
    """One report of nsys stats: what it is about, and the column that names its rows."""

    report: str
    title: str
    names: str
    count: str


SUMMARIES = [
    Summary("cuda_gpu_kern_sum", "kernels", "Name", "Instances"),
    Summary("cuda_gpu_mem_time_sum", "copies and fills of memory", "Operation", "Count"),
    Summary("nvtx_sum", "ranges of the host program (NVTX)", "Range", "Instances"),
]
# Of managed memory, all in one row: what is said of each column, in this order.
PAGES = "um_total_sum"
PAGE_COLUMNS = {
    "Total HtoD Migration Size (MB)": "{} MB to the device",
    "Total DtoH Migration Size (MB)": "{} MB to the host",
    "Total GPU PageFaults": "{} page faults of the device",
    "Total CPU Page Faults": "{} of the host",
}
TIMES = {"Total Time (ns)": "total", "Med (ns)": "median", "Min (ns)": "min", "Max (ns)": "max"}


def find(nvcc: str, instead: str) -> str:
    """The path of nsys; LabError, with what to do `instead`, if it is not there."""
    nsys = profilers.find("nsys", nvcc)
    if nsys is None:
        raise LabError(
            "no nsys: not on PATH, not beside nvcc, not in the usual places. Install Nsight Systems "
            f"(https://developer.nvidia.com/nsight-systems){instead}"
        )
    return nsys


def record(nsys: str, report: Path, program: Sequence[str]) -> None:
    """Runs `program` and records it in `report`, a file whose name ends with SUFFIX."""
    make_build_folder(report.parent)
    report.unlink(missing_ok=True)  # so that one that is there afterwards is of this run
    stem = str(report)[: -len(SUFFIX)]
    options = ["--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true"]
    options += ["--cuda-um-gpu-page-faults=true", "--cuda-um-cpu-page-faults=true"]
    options += ["--cuda-graph-trace=node"]  # a graph's kernels and copies, each by itself
    command = [nsys, "profile", *options, f"--output={stem}", *program]
    status, output = profilers.run(command)
    last = profilers.tail(output.splitlines())
    if status != 0 and status in (2, 77):  # of the exercise: bad options, no usable GPU
        raise LabError(f"the program ended with {describe(status)}:{last}", status)
    if not report.exists():
        raise LabError(
            f"nsys wrote no report. Its last lines:{last}\n"
            "If it says that it cannot import: it needs the libraries libdw and libelf "
            "(sudo apt-get install libdw1 libelf1)."
        )
    if status != 0:
        raise LabError(f"under nsys, the program ended with {describe(status)}:{last}")


def summarise(nsys: str, report: Path, summary: Summary) -> str:
    """One summary as a table; a line that says so where nothing of the kind was recorded."""
    rows = stats(nsys, report, summary.report, first="Time (%)")
    rows = without_repetitions(rows, summary.names)
    return table(summary, rows) if rows else f"{summary.title}: none recorded\n"


def without_repetitions(rows: Sequence[dict[str, str]], names: str) -> list[dict[str, str]]:
    """The ranges of the rungs, and their shares, without those of the repetitions within them."""
    kept = [row for row in rows if row.get(names, "").lstrip(":") != recording.REPETITION]
    if len(kept) == len(rows):
        return kept
    times = [raw_csv.number(row.get("Total Time (ns)", "")) for row in kept]
    total = sum(time for time in times if isinstance(time, float))
    return [
        {**row, "Time (%)": f"{100 * time / total:.1f}"} if isinstance(time, float) else row
        for row, time in zip(kept, times)
    ]


def page_moves(nsys: str, report: Path) -> str:
    """What managed memory moved, and how often a page was missing; empty where none moved."""
    rows = stats(nsys, report, PAGES, first=next(iter(PAGE_COLUMNS)))
    parts = []
    for column, text in PAGE_COLUMNS.items() if rows else ():
        value = raw_csv.number(rows[0].get(column, ""))
        parts.append(text.format(f"{value:,.10g}" if isinstance(value, float) else "no"))
    return f"managed memory: {', '.join(parts)}\n" if parts else ""


def recording_of(nsys: str, report: Path) -> Recording:
    """What ran when. LabError where that was nothing."""
    work = stats(nsys, report, recording.WORK, recording.FIRST_OF_WORK)
    ranges = stats(nsys, report, recording.RANGES, recording.FIRST_OF_RANGES)
    return recording.read(work, ranges)


def stats(nsys: str, report: Path, name: str, first: str) -> list[dict[str, str]]:
    """The rows of a report whose first column is `first`; none where nothing was recorded."""
    command = [nsys, "stats", "--report", name, "--format", "csv", "--output", "-"]
    status, output = profilers.run([*command, "--force-export=true", str(report)])
    rows = parse(output, first)
    if not rows and not ("SKIPPED" in output and status == 0):
        last = profilers.tail(output.splitlines())
        raise LabError(f"nsys stats --report {name} gave no table:{last}")
    return rows


def parse(output: str, first: str) -> list[dict[str, str]]:
    """The rows of the CSV in what nsys stats prints, which begins with its own lines; up to an empty
    line. Control characters, which names of ranges may have, even ends of lines, are spaces in it: no
    figure may contain them."""
    lines = StringIO(CONTROL.sub(" ", output.replace("\r\n", "\n"))).readlines()
    for start, line in enumerate(lines):
        if line.replace('"', "").startswith(f"{first},"):
            names, *table = takewhile(_is_row, csv.reader(lines[start:]))
            rows = [row for row in table if len(row) == len(names)]
            return [{n: cell.replace("\n", " ") for n, cell in zip(names, row)} for row in rows]
    return []


def _is_row(cells: Sequence[str]) -> bool:
    return len(cells) > 1 or any(cell.strip() for cell in cells)


def table(summary: Summary, rows: Sequence[dict[str, str]]) -> str:
    """Times in microseconds, the longest in total first, as nsys has them."""
    heading = ["share [%]", "count", *(f"{name} [us]" for name in TIMES.values())]
    cells = [heading]
    for row in rows:
        times = [_microseconds(row.get(column, "")) for column in TIMES]
        cells.append([row["Time (%)"], row.get(summary.count, ""), *times])
    widths = [max(map(len, column)) for column in zip(*cells)]
    names = [summary.title, *(_name(row.get(summary.names, "")) for row in rows)]
    lines = []
    for line, name in zip(cells, names):
        padded = [cell.rjust(width) for cell, width in zip(line, widths)]
        lines.append("  ".join([*padded, name]) + "\n")
    return "".join(lines)


def _microseconds(nanoseconds: str) -> str:
    value = raw_csv.number(nanoseconds)
    return f"{value / 1000:,.2f}" if isinstance(value, float) else nanoseconds


def _name(text: str) -> str:
    """Kernels without their parameters; ranges without the colon that stands for no domain."""
    return raw_csv.short_name(text.lstrip(":")) if not text.startswith("[") else text
