"""Pages of Nsight Compute for tests.

Those of data/ are of an H200 (ncu 2025.3.1, -O3 -lineinfo; debug: -G), with columns of stalls, policies and
other metrics left out: reduceFloat has two kernels with functions that were put in line, and its code as
nvdisasm prints it; oneStep two kernels of sharedReduction, one of them launched twice; copies two kernels of
tests/emulator/profiler/async_copies.cu; debug two of sharedReduction. The checkout is /work/lab in them.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab_cli.counters import raw_csv
from lab_cli.lines import ncu_source, nvdisasm
from lab_cli.lines.model import Access, Kernel, LineProfile

CHECKOUT = Path("/work/lab")
DATA = Path(__file__).parent / "data"
COLUMNS = [
    "# Samples",
    ncu_source.EXECUTED,
    ncu_source.ACTIVE,
    ncu_source.TAKING_PART,
    ncu_source.DIVERGENT,
    ncu_source.SPACE,
    ncu_source.SIZE,
    ncu_source.SECTORS,
    ncu_source.LEAST_SECTORS,
]
# By opcode, one execution of a whole warp: the cells of SPACE and SIZE, then sectors and the least of them.
CELLS = {"LDG": ["Global", "32", "8", "4"], "STG": ["Global", "32", "4", "4"]}
Code = Mapping[int, str]  # by address


def data(name: str) -> str:
    return gzip.decompress((DATA / f"{name}.gz").read_bytes()).decode()


def recorded(name: str, with_code: bool = False) -> LineProfile:
    code = data(f"{name}.sass") if with_code else ""
    functions = [*nvdisasm.parsed(code.splitlines())]
    launches = raw_csv.parse(data(f"{name}.raw.csv")).launches
    return ncu_source.parse(data(f"{name}.source.csv"), launches, functions, "an H200", Path("/"))


def section(
    file: Path | str, function: str, lines: Mapping[int, Code], columns: Sequence[str] = COLUMNS
) -> str:
    """As ncu prints it: each instruction is executed by one whole warp."""
    rows = [["File Path", str(file)], ["Function Name", function]]
    rows.append(["Line No", "Source", "Address", "Source", *columns])
    for line, code in lines.items():
        rows.append([str(line), f"line {line}", "-", "-", *["0"] * len(columns)])
        rows += [["", "", f"{address:#x}", text, *_cells(text)] for address, text in code.items()]
        rows.append(["", "", "...", "...", *["-"] * len(columns)])
        rows += [["", "", f"{address:#x}", text, *_cells(text)] for address, text in code.items()]
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _cells(text: str) -> list[str]:
    opcode = text.split()[-1 if len(text.split()) == 1 else text.startswith("@")].split(".")[0]
    return ["3", "1", "32", "32", "0", *CELLS.get(opcode, ["-", "-", "0", "0"])]


def launch(kernel: str, grid: str = "1", block: str = "32") -> raw_csv.Launch:
    return raw_csv.Launch(kernel, grid, block, "0", {})


def profile(page: str, *launches: raw_csv.Launch) -> LineProfile:
    return ncu_source.parse(page, launches, (), "an H200", Path("/"))


def kernel_of(profile: LineProfile, name: str) -> Kernel:
    (found,) = (kernel for kernel in profile.kernels if kernel.name == name)
    return found


def summary(access: Access) -> tuple[str, list[str], str, str]:
    """Where, who calls, what, and how much."""
    where, *callers = (
        f"{place.file.name}:{place.line}" for place in (access.place, *access.callers)
    )
    counts = f"{access.requests} requests, {access.lanes} lanes, {access.units} of {access.least}"
    return where, callers, f"{access.space} {access.kind} of {access.size}", counts
