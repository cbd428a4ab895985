"""./lab profile: the metrics of an exercise's kernels, or of those of a student's own program."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import (
    build,
    catalogue,
    files,
    instrumented,
    metric_table,
    metrics,
    ncu,
    own_program,
    profilers,
    raw_csv,
    setup,
    targets,
)
from .catalogue import Exercise
from .errors import LabError
from .gpu import Driver
from .metric_table import MetricTable
from .metrics import Metric
from .paths import ROOT
from .process import say
from .raw_csv import RawTable

VARIABLE = "CUDA_EMULATOR_PROFILE"  # names the file that an instrumented program writes
WIDTH_OF_A_FILE = 100  # characters of a line where stdout is no terminal
NO_REGISTERS = (
    "theoretical_occupancy: of block size and shared memory alone; how many registers a kernel "
    "takes is not known without a GPU's compiler"
)


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "profile",
        prog="./lab profile",
        description="Profiles the kernels of an exercise, each launched once, or those of a CUDA "
        "program of your own. Options of the program follow after --.",
        allow_abbrev=False,
    )
    command.add_argument("name", metavar="NAME|FILE.cu", help="an exercise, or a file of your own")
    command.add_argument(
        "--metrics",
        default="",
        metavar="A,B",
        help="names as in textbooks (scripts/metrics.toml) or of Nsight Compute; by default those "
        "that tell the story of the exercise",
    )
    command.add_argument(
        "--backend",
        choices=["auto", "gpu", "cpu"],
        default="auto",
        help="gpu: Nsight Compute; cpu: counted by the emulation; auto (the default): gpu where "
        "nvcc and a usable GPU are there, else cpu",
    )
    command.add_argument(
        "--debug", action="store_true", help="gpu: the debug build (-G), which keeps every branch"
    )
    command.add_argument("--csv", action="store_true", help="CSV in place of the table")
    command.add_argument("--output", type=Path, metavar="FILE", help="writes the CSV to FILE, too")
    command.set_defaults(handler=run)


def run(arguments: argparse.Namespace, options: list[str]) -> int:
    if arguments.output:
        files.check_writable(arguments.output)
    names = [name.strip() for name in arguments.metrics.split(",") if name.strip()]
    table = collect(arguments.name, arguments.backend, arguments.debug, names, options)
    if arguments.output:
        files.write(arguments.output, table.csv_text())
    print(table.csv_text() if arguments.csv else table.text(_width()), end="", flush=True)
    if arguments.csv:
        for line in [table.source, *table.notes]:
            say(line)
    return 0


def _width() -> int:
    if not sys.stdout.isatty():
        return WIDTH_OF_A_FILE
    return shutil.get_terminal_size((WIDTH_OF_A_FILE, 0)).columns


def collect(
    name_or_path: str,
    backend: str = "auto",
    debug: bool = False,
    metric_names: Sequence[str] = (),
    options: Sequence[str] = (),
) -> MetricTable:
    """Builds and profiles an exercise or a .cu file on the back end auto, gpu or cpu.

    `metric_names` are textbook or Nsight names; none stand for the default set. `options` go to the
    program. Raises LabError: status 2 for bad usage, 77 for gpu without a usable GPU, else 1.
    """
    exercise = find_exercise(name_or_path)
    known = metrics.load()
    default_set = exercise.name if exercise else metrics.OWN_PROGRAM
    asked = known.find(metric_names) if metric_names else known.default_set(default_set)
    if backend == "auto":
        backend = targets.pick_backend("auto")
    source = Path(name_or_path)
    if backend == "gpu":
        table = _on_gpu(exercise, source, debug, asked, options)
    else:
        if debug:
            say("note: --debug is for the gpu back end; the cpu back end counts like a debug build")
        table = _on_cpu(exercise, source, asked, options)
    if not table.rows:
        raise LabError("no kernel was launched: there is nothing to show")
    return table


def find_exercise(name_or_path: str) -> Exercise | None:
    """The exercise of this name or with this source file; None for any other .cu file."""
    known = catalogue.exercises()
    if not name_or_path.endswith(".cu"):
        return catalogue.pick([name_or_path], known)[0]
    path = Path(name_or_path)
    if not path.is_file():
        raise LabError(f"there is no file {name_or_path}", status=2)
    for exercise in known:
        if path.resolve() == (ROOT / exercise.chapter / f"{exercise.name}.cu").resolve():
            return exercise
    return None


def _on_gpu(
    exercise: Exercise | None,
    source: Path,
    debug: bool,
    asked: Sequence[Metric],
    options: Sequence[str],
) -> MetricTable:
    name = exercise.name if exercise else source
    instead = (
        f"\n\n    ./lab profile {name} --backend cpu\n\n"
        "gives the metrics that can be counted without a GPU."
    )
    counted = [metric for metric in asked if metric.gpu]
    others = ", ".join(metric.name for metric in asked if not metric.gpu)
    if not counted:
        raise LabError(f"no counter of a GPU gives {others}{instead}", status=2)
    choice, driver = profilers.require_gpu(instead)
    program = ncu.find(choice.nvcc, instead)  # before a build that would be for nothing
    cmake = setup.ensure("gpu")
    preset = "gpu-debug" if debug else "gpu"
    if exercise:
        command = instrumented.once_each(build.build(cmake, preset, exercise.name), exercise)
    else:
        command = [str(own_program.for_gpu(source, choice, debug))]
    nsight = [metric.nsight for metric in counted]
    raw = ncu.run(program, nsight, [*command, *options], instead)
    kind = "debug build (nvcc -G)" if debug else "optimised build (nvcc -O3)"
    notes = [f"only the cpu back end counts {others}"] if others else []
    where = f"gpu back end, {kind}, on {_device(raw, driver)}"
    return metric_table.build(raw, counted, where, notes)


def _device(raw: RawTable, driver: Driver) -> str:
    ordinals = {int(launch.device) for launch in raw.launches if launch.device.isdigit()}
    known = [driver.gpus[i] for i in sorted(ordinals) if i < len(driver.gpus)]
    return ", ".join(f"{gpu.name} (sm_{gpu.architecture})" for gpu in known) or "an unknown GPU"


def _on_cpu(
    exercise: Exercise | None, source: Path, asked: Sequence[Metric], options: Sequence[str]
) -> MetricTable:
    counted = [metric for metric in asked if metric.cpu]
    others = ", ".join(metric.name for metric in asked if not metric.cpu)
    if not counted:
        raise LabError(f"not available without a GPU: {others}", status=2)
    outcome = instrumented.run([*instrumented.built(exercise, source), *options], VARIABLE)
    if outcome.status != 0:
        raise outcome.failure()
    raw = raw_csv.parse(outcome.report)
    notes = [f"not available without a GPU: {others}"] if others else []
    if any(metric.name == "theoretical_occupancy" for metric in counted):
        notes.append(NO_REGISTERS)
    where = "cpu back end: counted in an emulation, as the source says it (like a -G build)"
    return metric_table.build(raw, counted, where, notes)
