#!/usr/bin/env python3
"""Compares what the cpu profiler counts with what ncu read on a GPU.

    compare.py PROGRAM NAME SOURCE

runs the instrumented PROGRAM and compares it with what was recorded of a build with nvcc -G and, where
that is not what the source says, with -O3: of an exercise results/h200/counts.*.csv in its folder, of a
program of our own recorded/NAME.*.csv. Compared are grids, blocks, and every metric that both have, as
expected_counts.py says. A listed difference that is not there (any more) is an error, too, and so is
what is otherwise in the table of exercise_table.py. The counts by line must add up to these. Ends with 77 where PROGRAM is not built, or older
than SOURCE: someone builds one exercise at a time.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[3] / folder) for folder in ("cmake", "scripts")]

from expected_counts import (  # noqa: E402
    ANY,
    COMPUTED,
    COUNTS,
    DEBUG,
    DIFFERENCES,
    EFFICIENCY,
    FEWER,
    GENERIC,
    HIGHER,
    LOWER,
    NOISE,
    OPTIMISED,
    Difference,
)  # fmt: skip
from lab_cli import catalogue  # noqa: E402
from lab_cli.catalogue import Exercise  # noqa: E402
from program import outdated, run_noting  # noqa: E402

PROCESSORS = {62: "x86-64", 183: "AArch64"}
NOT_BUILT = 77  # ctest shows it as skipped
GPU = "h200"
RECORDED = Path(__file__).parent / "recorded"  # of our own programs

# Some grids are made for the device: the emulation gets as many multiprocessors as an H200 has.
DEVICE = {"CUDA_EMULATOR_SMS": "132"}

LINES = "CUDA_EMULATOR_LINES"  # names the file of the counts by line
# The members of these accesses add up to a metric.
SUMS = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": {"global store": "requests"},
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum": {"global atomic": "requests"},
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": {"global load": "units", "copy": "units"},
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": {"global store": "units"},
    "smsp__inst_executed_op_shared_ld.sum": {"shared load": "requests"},
    "smsp__inst_executed_op_shared_st.sum": {"shared store": "requests"},
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": {"shared load": "units"},
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": {"shared store": "units"},
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": {"shared load": "conflicts"},
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": {"shared store": "conflicts"},
    "smsp__inst_executed_op_ldgsts.sum": {"copy": "requests"},
    "emulator__barriers.sum": {"barrier": "requests"},
}

SECTOR, WAVEFRONT = 32, 128  # bytes of global memory, of shared memory


class Mismatch(Exception):
    """The message is for the person who reads the test's output."""


def read_table(text: str) -> list[dict[str, str]]:
    """The launches in the CSV of `ncu --csv --page raw`, whatever stands above it."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
    if not starts:
        raise Mismatch('no line begins with "ID"')
    rows = list(csv.reader(lines[starts[0] :]))
    return [dict(zip(rows[0], row)) for row in rows[2:] if len(row) == len(rows[0])]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def kernel_name(launch: dict[str, str]) -> str:
    return re.sub(r"^void ", "", launch["Kernel Name"].partition("(")[0])


def without_arguments(kernel: str) -> str:
    """Without those of the template, which the cpu back end knows only where a launch names them."""
    return kernel.partition("<")[0]


def run_profiled(
    program: str, name: str, settings: Mapping[str, str] = MappingProxyType({})
) -> list[dict[str, str]]:
    """The launches of `program`, which is profiled with the options for `name`; `settings` are
    variables of its environment."""
    known = exercise(name)
    options = ["--profile", *known.facts.counts.words] if known else []
    done, profile = run_noting([program, *options], "CUDA_EMULATOR_PROFILE", {**DEVICE, **settings})
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        raise Mismatch(f"{program} ended with status {done.returncode}")
    return read_table(profile)


def run_by_line(program: str, name: str) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """As run_profiled(), and the kernels in the file of the counts by line."""
    with tempfile.TemporaryDirectory(prefix="lines-") as folder:
        path = Path(folder) / "lines.json"
        counted = run_profiled(program, name, {LINES: str(path)})
        return counted, json.loads(path.read_text("utf-8"))["kernels"]


def not_sums_of_lines(counted: list[dict[str, str]], kernels: list[dict[str, Any]]) -> list[str]:
    """Says where the counts by line do not add up to those of the launches."""
    problems = []
    for metric, parts in SUMS.items():
        totals: Counter[tuple[str, ...]] = Counter()
        for launch in counted:
            totals[launch["Grid Size"], launch["Block Size"]] += int(number(launch[metric]))
        for kernel in kernels:
            grid, block = (f"({x}, {y}, {z})" for x, y, z in (kernel["grid"], kernel["block"]))
            for access in kernel["accesses"]:
                count = access[parts[access["kind"]]] if access["kind"] in parts else 0
                totals[grid, block] -= count
        wrong = {key: left for key, left in totals.items() if left != 0}
        problems += [f"{key}: {metric}: {left} in no line" for key, left in wrong.items()]
    return problems


def makers_of(program: str) -> str:
    """The compiler of a program, which leaves its name behind, and the processor that it is for."""
    content = Path(program).read_bytes()
    compiler = "clang++" if b"clang version" in content else "g++"
    machine = int.from_bytes(content[18:20], "little")  # of the ELF header
    return f"{compiler}, {PROCESSORS[machine]}"


def exercise(name: str) -> Exercise | None:
    """The exercise of this name; None for a program of our own."""
    return catalogue.one(name) if name in catalogue.sources() else None


def differences_of(name: str, makers: str) -> list[Difference]:
    known = exercise(name)
    listed = [Difference(name, **each) for each in known.facts.counts.differences] if known else []
    return [each for each in [*DIFFERENCES, *listed] if re.fullmatch(each.makers, makers)]


def difference_of(
    differences: list[Difference], name: str, kernel: str, count: str
) -> Difference | None:
    for difference in differences:
        if (
            difference.program == name
            and re.fullmatch(difference.kernels, kernel)
            and re.fullmatch(difference.counts, count)
        ):
            return difference
    return None


class Launch(NamedTuple):
    """One launch, as counted here and as ncu read it of both builds; a row of the CSV each."""

    counted: dict[str, str]
    debug: dict[str, str]
    optimised: dict[str, str]

    def here(self, count: str) -> float:
        return number(self.counted[COUNTS[count].metric])

    def of(self, build: str) -> dict[str, str]:
        return self.debug if build == DEBUG else self.optimised

    def has(self, build: str, count: str) -> bool:
        """Whether ncu was asked for it."""
        return COUNTS[count].metric in self.of(build)

    def read(self, build: str, count: str) -> float:
        return number(self.of(build)[COUNTS[count].metric])

    def build_for(self, count: str) -> str:
        """The build whose number stands for what the source does."""
        expected, near = COUNTS[count].expected, COUNTS[count].tolerance
        if expected == EFFICIENCY and self.here(count) < self.read(DEBUG, count) - near:
            return OPTIMISED
        return OPTIMISED if expected == OPTIMISED else DEBUG

    def shared_wavefronts(self) -> float:
        return self.here("shared load wavefronts") + self.here("shared store wavefronts")

    def without_branches(self) -> bool:
        """Here or there: ncu gives an efficiency of 0 where there is no branch."""
        return 0 in (self.here("branches"), self.read(DEBUG, "branches"))


def global_bytes(launch: Launch) -> float:
    """What the lanes of the warps load and store in global memory, as counted here."""
    return sum(
        launch.here(f"{kind} sectors") * SECTOR * launch.here(f"{kind} efficiency") / 100
        for kind in ("load", "store")
    )


def holds(expected: str, count: str, launch: Launch) -> bool:
    here = launch.here(count)
    debug, optimised = launch.read(DEBUG, count), launch.read(OPTIMISED, count)
    near = COUNTS[count].tolerance
    if expected == DEBUG:
        return abs(here - debug) <= near
    if expected == OPTIMISED:
        return abs(here - optimised) <= near
    if expected == EFFICIENCY:
        return abs(here - launch.read(launch.build_for(count), count)) <= near
    if expected == GENERIC:
        moved = launch.shared_wavefronts() * WAVEFRONT
        return abs(here + 100 * global_bytes(launch) / moved - debug) <= COMPUTED
    if expected == FEWER:
        return here <= debug
    if expected == LOWER:
        return here < optimised
    if expected == HIGHER:
        return here > optimised
    if expected == NOISE:
        kind = "store" if "store" in count else "load"
        return here <= debug <= here + 0.03 * launch.here(f"shared {kind} wavefronts")
    return True


def in_common(launch: Launch) -> set[str]:
    """The metrics that are numbers here and in both recordings."""
    rows = [launch.counted, launch.debug, launch.optimised]
    return {name for name in rows[0] if "__" in name and all(name in row for row in rows)}


def no_shares(counted: dict[str, str]) -> list[str]:
    """The metrics in percent that are more than 100, less than 0, or no number at all."""
    shares = [metric for metric in counted if metric.endswith("pct")]
    return [metric for metric in shares if not 0 <= number(counted[metric]) <= 100]


def compare(
    name: str,
    counted: list[dict[str, str]],
    debug: list[dict[str, str]],
    optimised: list[dict[str, str]],
    makers: str = "g++, x86-64",
) -> list[str]:
    """What is wrong, a line each."""
    if not len(counted) == len(debug) == len(optimised):
        read = f"{len(debug)} of the -G build, {len(optimised)} of the -O3 build"
        return [f"{len(counted)} launches were counted, ncu read {read}"]
    problems = []
    differences, used = differences_of(name, makers), set()
    for i, (mine, theirs, fast) in enumerate(zip(counted, debug, optimised)):
        kernel = kernel_name(theirs)
        if kernel_name(mine) not in (kernel, without_arguments(kernel)):
            problems.append(f"launch {i} is of {kernel_name(mine)}, ncu's of {kernel}")
            continue
        for shape in ("Block Size", "Grid Size"):
            if mine[shape] != theirs[shape]:
                problems.append(f"{kernel}: {shape}: {mine[shape]}, ncu {theirs[shape]}")
        launch = Launch(mine, theirs, fast)
        metrics = in_common(launch)
        unknown = metrics - {count.metric for count in COUNTS.values()}
        problems += [f"{kernel}: nobody says how to compare {metric}" for metric in sorted(unknown)]
        problems += [f"{kernel}: {metric}: {mine[metric]}: no share" for metric in no_shares(mine)]
        for what, count in COUNTS.items():
            if count.metric not in metrics or holds(count.expected, what, launch):
                continue
            if what == "branch efficiency" and launch.without_branches():
                continue
            difference = difference_of(differences, name, kernel, what)
            used.add((difference, kernel))
            if difference is None or not holds(difference.now, what, launch):
                read = f"of the -G build {launch.read(DEBUG, what):g}"
                read += f", of the -O3 build {launch.read(OPTIMISED, what):g}"
                problems.append(f"{kernel}: {what}: {launch.here(what):g}; {read}")
    kernels = {kernel_name(launch) for launch in debug}
    return problems + outlived(differences, name, kernels, used)


def outlived(
    differences: list[Difference],
    name: str,
    kernels: set[str],
    used: set[tuple[Difference | None, str]],
) -> list[str]:
    """The differences of which a kernel has none any more, a line each; `used` are those seen."""
    problems = []
    for difference in differences:
        if difference.program != name or difference.now == ANY:
            continue
        meant = {kernel for kernel in kernels if re.fullmatch(difference.kernels, kernel)}
        gone = sorted(kernel for kernel in meant if (difference, kernel) not in used)
        if gone or not meant:
            which = ", ".join(gone) or difference.kernels
            problems.append(f"no difference any more: {which}: {difference.reason}")
    return problems


def read_recorded(name: str, build: str) -> list[dict[str, str]]:
    """What ncu read of the program `name`, built as DEBUG or OPTIMISED."""
    known = exercise(name)
    path = (
        known.results / GPU / f"counts.{build}.csv" if known else RECORDED / f"{name}.{build}.csv"
    )
    return read_table(path.read_text())


def not_as_in_table(
    name: str, counted: list[dict[str, str]], program: str, makers: str
) -> list[str]:
    """What an exercise counts otherwise than the table says."""
    known = exercise(name)
    if known is None:
        return []
    import exercise_table  # which imports this file

    versions = exercise_table.versions_of_gcc(Path(program).read_bytes())
    return exercise_table.not_as_written(known, counted, makers, versions)


def main(program: str, name: str, source: str) -> int:
    reason = outdated(program, source)
    if reason:
        print(f"skipped: {reason}")
        return NOT_BUILT
    try:
        counted, lines = run_by_line(program, name)
        read = read_recorded(name, DEBUG), read_recorded(name, OPTIMISED)
        makers = makers_of(program)
        problems = compare(name, counted, *read, makers) + not_sums_of_lines(counted, lines)
        problems += problems or not_as_in_table(name, counted, program, makers)
    except Mismatch as error:
        problems = [str(error)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
