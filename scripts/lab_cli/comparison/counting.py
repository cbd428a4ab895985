"""Runs the programs that are compared, and finds the versions in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import work
from ..building import instrumented
from ..counters import collect as counters
from ..counters import raw_csv, rungs
from ..counters.raw_csv import RawTable
from ..errors import LabError
from ..lines import recorded
from ..lines.model import Kernel
from ..time_limit import TimeLimit
from ..verdicts import only_wrong
from . import versions
from .asked import Program
from .versions import Launch, Version


class TooLong(LabError):
    """The program had not ended in time."""


@dataclass(frozen=True)
class Counted:
    """What was counted in a program."""

    rows: dict[
        str, list[Version]
    ]  # of an exercise, by the name of the row; empty for other programs
    kernels: dict[str, list[Version]]  # by the name of the kernel
    source: str  # which back end, build and device
    notes: list[str] = field(default_factory=list)
    failure: LabError | None = None  # where results are WRONG, and have been counted all the same

    @property
    def main(self) -> dict[str, list[Version]]:
        """The rows where there are any, else the kernels."""
        return self.rows or self.kernels


def count(program: Program, options: Sequence[str], timeout: float | None, backend: str) -> Counted:
    """Builds and runs it. On the cpu back end, whatever `backend` is: its counts are those of ncu, it tells the
    lines and the rows of the launches, and it needs no permission to read a GPU's counters. What needs a GPU's
    hardware is counted with ncu."""
    with work.meaning_shipped(program.shipped):
        if program.exercise and program.exercise.facts.gpu_only and backend == "gpu":
            return _with_ncu(program.exercise.name, options, timeout)
        return _emulated(program, options, timeout)


def _with_ncu(name: str, options: Sequence[str], timeout: float | None) -> Counted:
    table = counters.collect([name], "gpu", options=options, timeout=timeout, wrong_too=True)
    kernels = _by_kernel(versions.of_table(table), name, [])
    known = {kernel: _as_row(kernel, kernels) for kernel in kernels}
    return Counted({}, known, table.source, table.notes, table.failure)


def _as_row(kernel: str, kernels: Mapping[str, Sequence[Version]]) -> list[Version]:
    """Without the rows of the launches, a kernel is taken for the row of its name, if no other has this name."""
    base = kernel.partition("<")[0]
    alone = sum(each.partition("<")[0] == base for each in kernels) == 1
    return [replace(each, key=(base, 0)) if alone else each for each in kernels[kernel]]


def _emulated(program: Program, options: Sequence[str], timeout: float | None) -> Counted:
    exercise = program.exercise
    command = [*instrumented.built(exercise, program.sources), *options]
    command += ["--csv"] if exercise else []
    limit = TimeLimit(timeout)
    try:
        with limit:
            outcome = instrumented.run(command, counters.VARIABLE, rungs.TRACE, recorded.VARIABLE)
    except LabError as error:
        if limit.passed:
            raise TooLong(str(error)) from error
        raise
    failure = outcome.failure() if outcome.status != 0 else None
    if failure and not only_wrong(outcome.status, outcome.output):
        raise failure
    counts = raw_csv.parse(outcome.report)
    if not counts.launches:
        raise LabError(f"{program.title}: no kernel was launched: there is nothing to compare")
    trace, of_lines = outcome.others
    lines = _lines(of_lines)
    rows: dict[str, list[Version]] = {}
    if exercise:
        printed = rungs.rows_of(exercise.name, outcome.output)
        rows = _by_row(printed, counts, trace, program.title, lines)
    kernels = _by_kernel(versions.of_raw(counts), program.title, lines)
    return Counted(rows, kernels, counters.CPU_SOURCE, [counters.NO_REGISTERS], failure)


def _lines(text: str) -> Sequence[Kernel]:
    """Empty also where lines cannot be told here, as without objdump: the counts say enough."""
    try:
        return recorded.parse(text, counters.CPU_SOURCE, Path.cwd()).kernels if text else []
    except (LabError, ValueError):
        return []


def _by_row(
    printed: Sequence[dict[str, str]],
    counts: RawTable,
    trace: str,
    place: str,
    lines: Sequence[Kernel],
) -> dict[str, list[Version]]:
    """Of rows of the same name, each says with which options it was made."""
    found = rungs.launches_of(printed, counts, trace)
    by_name: dict[str, list[Version]] = {}
    for row, launched in found:
        own = [each for each, _ in found if each["kernel"] == row["kernel"]]
        launches = versions.of_raw(counts, launched)
        name = row["kernel"] + _options(row, own)
        same = by_name.setdefault(row["kernel"], [])
        key = (row["kernel"], len(same))
        same.append(Version(name, place, launches, _of(launches, lines), key))
    return by_name


def _options(row: dict[str, str], others: Sequence[dict[str, str]]) -> str:
    """Those of the row's parameters that not all rows of its name have."""
    sets = [set(each.get("parameters", "").split()) for each in others]
    common = set.intersection(*sets)
    own = [word for word in row.get("parameters", "").split() if word not in common]
    return f" ({' '.join(own)})" if own else ""


def _by_kernel(
    launches: Sequence[Launch], place: str, lines: Sequence[Kernel]
) -> dict[str, list[Version]]:
    names = dict.fromkeys(launch.kernel for launch in launches)
    found = {}
    for name in names:
        own = [launch for launch in launches if launch.kernel == name]
        found[name] = [Version(name, place, own, _of(own, lines), (name, 0))]
    return found


def _of(launches: Sequence[Launch], lines: Sequence[Kernel]) -> list[Kernel]:
    """The lines of these launches' kernels."""
    wanted = {(each.kernel, each.grid, each.block) for each in launches}
    return [
        kernel
        for kernel in lines
        if (kernel.name, _shape(kernel.grid), _shape(kernel.block)) in wanted
    ]


def _shape(sizes: tuple[int, int, int]) -> str:
    return raw_csv.shape(str(sizes))
