"""Runs Nsight Compute, and says what is the matter when it does not give metrics."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..errors import LabError
from ..process import describe
from ..verdicts import only_wrong
from . import profilers, raw_csv

PERMISSION = """\
this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM). An administrator can allow \
it to everyone: put the line

    options nvidia NVreg_RestrictProfilingToAdminUsers=0

into /etc/modprobe.d/nvidia.conf and restart (or reload the module nvidia). Or run lab as root; in a \
container, that takes --cap-add=SYS_ADMIN as well"""

_OWN_LINE = re.compile(r"==[A-Z]+==|\"")  # of ncu, and not of the program
_BAD_METRIC = re.compile(r"Failed to find metric (?:regex:\^)?([\w\\.]+)")


class UnknownMetrics(LabError):
    """ncu does not have some of the metrics for the GPU; `names` may lack their last parts (.sum)."""

    def __init__(self, names: Sequence[str], instead: str) -> None:
        listed = ", ".join(names)
        super().__init__(f"ncu does not have this metric for this GPU: {listed}{instead}")
        self.names = names


class WrongResults(LabError):
    """The program has said that results are WRONG; what it launched has been profiled: `raw`."""

    def __init__(self, message: str, raw: raw_csv.RawTable) -> None:
        super().__init__(message)
        self.raw = raw


def find(nvcc: str, instead: str) -> str:
    """The path of ncu, or LabError."""
    ncu = profilers.find("ncu", nvcc)
    if ncu is None:
        raise LabError(
            "no ncu: not on PATH, not beside nvcc, not in the usual places. Install Nsight Compute "
            "(part of the CUDA toolkit; https://developer.nvidia.com/nsight-compute)" + instead
        )
    return ncu


def run(
    ncu: str, nsight_names: Sequence[str], program: Sequence[str], instead: str
) -> raw_csv.RawTable:
    """Profiles every kernel of `program`, at the clock rate that the GPU chooses. LabError says what came
    in between, WrongResults of it that results are WRONG."""
    options = ["--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    command = [ncu, *options, "--metrics", ",".join(nsight_names), *program]
    status, output = profilers.run(command, progress="==PROF== Profiling")
    _check(status, output, instead)
    return raw_csv.parse(output)


def run_with_known(
    ncu: str, nsight_names: Sequence[str], program: Sequence[str], instead: str
) -> raw_csv.RawTable:
    """As run(), without the metrics that ncu does not have for this GPU."""
    names = list(nsight_names)
    while True:
        try:
            return run(ncu, names, program, instead)
        except UnknownMetrics as error:
            names = without_unknown(names, error)


def without_unknown(names: Sequence[str], error: UnknownMetrics) -> list[str]:
    """Those that ncu has not complained of. Raises the error if that leaves none, or all."""
    known = [name for name in names if not _is_one_of(name, error.names)]
    if not known or len(known) == len(names):
        raise error
    return known


def record(ncu: str, options: Sequence[str], program: Sequence[str], instead: str) -> None:
    """Writes the report that `options` name, at the clock rate that the GPU chooses. Errors are as in run(), but
    WrongResults comes without a table: the report has it."""
    command = [ncu, "--clock-control", "none", *options, *program]
    _check(*profilers.run(command, progress="==PROF== Profiling"), instead)


def page(ncu: str, report: Path, options: Sequence[str], instead: str) -> str:
    """Returns a page of a report. Raises LabError if ncu cannot print it."""
    command = [ncu, "--import", str(report), "--csv", "--page", *options]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    if done.returncode != 0:
        lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
        raise LabError(f"ncu cannot read its report:{profilers.tail(lines)}{instead}")
    return done.stdout


def _is_one_of(name: str, unknown: Sequence[str]) -> bool:
    return any(name == other or name.startswith(other + ".") for other in unknown)


def _check(status: int, output: str, instead: str) -> None:
    """Raises LabError for all that stands between a run of ncu and its table."""
    if "ERR_NVGPUCTRPERM" in output:
        raise LabError(PERMISSION + instead)
    lines = output.splitlines()
    unknown = [match.group(1).replace("\\", "") for match in _BAD_METRIC.finditer(output)]
    if unknown:
        raise UnknownMetrics(list(dict.fromkeys(name.rstrip(".") for name in unknown)), instead)
    errors = [line for line in lines if line.startswith("==ERROR==")]
    ended = next((line for line in errors if "application returned an error code" in line), "")
    others = [line for line in errors if line != ended]
    if others:
        raise LabError("ncu reports:" + profilers.tail(others) + instead)
    if ended or status != 0:
        raise _program_failed(status, ended, output)
    if "No kernels were profiled" in output:
        raise LabError("ncu saw no kernel: the program launched none with these options")


def _program_failed(status: int, ended: str, output: str) -> LabError:
    """What an exercise says of bad options (2) and of a GPU that cannot be used (77) is passed on."""
    code = re.search(r"\((\d+)\)", ended)
    if code:
        status = int(code.group(1))
    last = profilers.tail([line for line in output.splitlines() if not _OWN_LINE.match(line)])
    message = f"under ncu, the program ended with {describe(status)}"
    message += f", after these lines:{last}" if last else ""
    if only_wrong(status, output):
        return WrongResults(message, raw_csv.parse(output))
    return LabError(message, status if status in (2, 77) else 1)
