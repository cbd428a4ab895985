"""What ran when: kernels, copies and fills with their streams, and the NVTX ranges that they ran in, as
nsys recorded them on a GPU. The cpu back end writes the same form."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import LabError
from . import raw_csv

# The reports of nsys stats that tell it, and the first column of each.
WORK, FIRST_OF_WORK = "cuda_gpu_trace", "Start (ns)"
RANGES, FIRST_OF_RANGES = "nvtx_gpu_proj_trace", "Name"
WORK_COLUMNS = ["Start (ns)", "Duration (ns)", "Strm", "Name"]
RANGE_COLUMNS = ["Name", "Projected Start (ns)", "Projected Duration (ns)", "Orig Start (ns)"]

REPETITION = (
    "repetition"  # the range of a run that is measured, within that of its rung: common/nvtx.cuh
)
DEFAULT_STREAM = "7"  # as nsys numbers it
MOST_STREAMS = 24  # that have a lane of their own

# Lanes of what is not a kernel, below those of the streams, and how nsys has it in its versions.
ENGINES = {
    "host to device": r"memcpy.*(Host-to-Device|HtoD)",
    "device to host": r"memcpy.*(Device-to-Host|DtoH)",
    "device to device": r"memcpy.*(Device-to-Device|DtoD|Peer-to-Peer|PtoP)",
    "host to host": r"memcpy.*(Host-to-Host|HtoH)",
    "fill": r"memset",
}
PAGES = "pages, "  # before the lane, of managed memory


@dataclass(frozen=True)
class Work:
    """A kernel, a copy or a fill; times in nanoseconds."""

    name: str  # of a kernel, without its parameters; else that of its stream, if it has one
    lane: str
    place: tuple[int, int, str]  # of the lane among the others
    kernel: bool
    begin: float
    end: float


@dataclass(frozen=True)
class Range:
    """From the beginning to the end of the work that the host started in an NVTX range."""

    name: str
    begin: float
    end: float

    def within(self, other: Range) -> bool:
        return self is not other and other.begin <= self.begin and self.end <= other.end


@dataclass(frozen=True)
class Recording:
    work: list[Work]
    ranges: list[Range] = field(default_factory=list)  # an outer one before those within it
    device: str = ""


@dataclass(frozen=True)
class Panel:
    """A part of a recording. Times begin with 0 there."""

    title: str
    length: float
    work: list[Work]
    ranges: list[Range]


def read(work: Sequence[dict[str, str]], ranges: Sequence[dict[str, str]]) -> Recording:
    """From the rows of both reports. LabError where they are not as known, or there is no work."""
    if not work:
        raise LabError("nothing to draw: neither a kernel nor a copy was recorded")
    _require(work, WORK, WORK_COLUMNS)
    _require(ranges, RANGES, RANGE_COLUMNS)
    devices = sorted({row.get("Device", "") for row in work})
    found = [_work(row, row.get("Device", "") if len(devices) > 1 else "") for row in work]
    in_order = sorted(ranges, key=lambda row: _number(row, "Orig Start (ns)", RANGES))
    names = [re.sub(r" \(\d+\)$", "", device) for device in devices if device]
    return Recording(found, [_range(row) for row in in_order], ", ".join(names))


def _require(rows: Sequence[dict[str, str]], report: str, columns: Sequence[str]) -> None:
    missing = [column for column in columns if rows and column not in rows[0]]
    if missing:
        raise LabError(
            f"the report {report} has no column {', '.join(missing)}; it has {', '.join(rows[0])}. "
            "./lab trace knows the reports of Nsight Systems 2023 to 2025: take one of these"
        )


def _number(row: dict[str, str], column: str, report: str) -> float:
    value = raw_csv.number(row[column])
    if not isinstance(value, float):
        raise LabError(
            f"the report {report} has {column} = {row[column] or 'nothing'} for {row['Name']}: "
            "expected a number"
        )
    return value


def _work(row: dict[str, str], device: str) -> Work:
    begin = _number(row, "Start (ns)", WORK)
    end = begin + _number(row, "Duration (ns)", WORK)
    number = row["Strm"].strip()
    stream = f"stream {number}" if number else ""
    on_device = f" of {device}" if device else ""
    name = row["Name"]
    if name.startswith("["):
        place, lane = _engine(name)
        return Work(stream, lane + on_device, (1, place, device), False, begin, end)
    default = " (default)" if number == DEFAULT_STREAM else ""
    place = int(number) if number.isdigit() else 0
    lane = (stream or "no stream") + default + on_device
    return Work(raw_csv.short_name(name), lane, (0, place, device), True, begin, end)


def _engine(name: str) -> tuple[int, str]:
    """The lane of '[CUDA memcpy Host-to-Device]', and its place; the name itself if it is unknown."""
    for place, (lane, pattern) in enumerate(ENGINES.items()):
        if re.search(pattern, name):
            paged = "Unified" in name
            return place + len(ENGINES) * paged, PAGES * paged + lane
    return 2 * len(ENGINES), name.strip("[]")


def _range(row: dict[str, str]) -> Range:
    begin = _number(row, "Projected Start (ns)", RANGES)
    length = _number(row, "Projected Duration (ns)", RANGES)
    return Range(row["Name"].lstrip(":"), begin, begin + length)


def whole(recording: Recording) -> Panel:
    """From the first piece of work to the end of the last."""
    begin = min(work.begin for work in recording.work)
    end = max(work.end for work in recording.work)
    return _cut(recording, Range("", begin, end), "")


def rungs(recording: Recording, wanted: str) -> list[Panel]:
    """The last repetition of each rung whose name contains `wanted`; of one without repetitions, all
    of it. LabError (status 2) if there is none."""
    known = [range_ for range_ in recording.ranges if range_.name != REPETITION]
    chosen = [range_ for range_ in known if wanted in range_.name]
    if not chosen:
        names = ", ".join(dict.fromkeys(range_.name for range_ in known)) or "none"
        raise LabError(
            f"--rung {wanted}: no range with this in its name has work; with work there are: {names}",
            status=2,
        )
    panels = []
    for rung in chosen:
        runs = [run for run in recording.ranges if run.name == REPETITION and run.within(rung)]
        text = f"{rung.name}, the last of {len(runs)} repetitions" if runs else rung.name
        panels.append(_cut(recording, runs[-1] if runs else rung, text))
    return panels


def _cut(recording: Recording, window: Range, title: str) -> Panel:
    def cut(begin: float, end: float) -> tuple[float, float]:
        return max(begin, window.begin) - window.begin, min(end, window.end) - window.begin

    work = [
        Work(item.name, item.lane, item.place, item.kernel, *cut(item.begin, item.end))
        for item in recording.work
        if item.begin < window.end and item.end > window.begin
    ]
    ranges = [
        Range(item.name, *cut(item.begin, item.end))
        for item in recording.ranges
        if item.within(window) and not (title and item.name == REPETITION)
    ]
    return Panel(title, window.end - window.begin, _few_streams(work), ranges)


def _few_streams(work: Sequence[Work]) -> list[Work]:
    """Streams beyond the first MOST_STREAMS share a lane."""
    streams = sorted({item.place for item in work if item.kernel})
    others = set(streams[MOST_STREAMS:])
    lane = f"{len(others)} more streams"
    return [
        Work(item.name, lane, (0, 1 << 62, ""), True, item.begin, item.end)
        if item.kernel and item.place in others
        else item
        for item in work
    ]


def rows_of(items: Sequence[Work | Range], slack: float = 0) -> list[list[Work | Range]]:
    """What overlaps by more than `slack`, in rows of their own: the first that is free."""
    rows: list[list[Work | Range]] = []
    ends: list[float] = []
    for item in sorted(items, key=lambda item: (item.begin, -item.end)):
        free = [place for place, end in enumerate(ends) if item.begin >= end - slack]
        place = free[0] if free else len(rows)
        if not free:
            rows.append([])
            ends.append(-math.inf)
        rows[place].append(item)
        ends[place] = max(ends[place], item.end)
    return rows
