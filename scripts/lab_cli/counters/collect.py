"""Counts what the kernels of a program do: with Nsight Compute on a GPU, with the emulation without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import catalogue, metrics
from ..building import instrumented, own_program, presets
from ..catalogue import Exercise
from ..errors import LabError
from ..machine import setup
from ..machine.gpu import Driver
from ..metrics import Metric
from ..process import say
from ..time_limit import TimeLimit
from ..verdicts import only_wrong
from . import metric_table, ncu, profilers, raw_csv
from .metric_table import MetricTable
from .raw_csv import RawTable

VARIABLE = "CUDA_EMULATOR_PROFILE"  # names the file that an instrumented program writes
CPU_SOURCE = "cpu back end: counted in an emulation, as the source says it (like a -G build)"
NO_REGISTERS = (
    "theoretical_occupancy: an upper bound, of block size and shared memory alone; how many registers "
    "a kernel takes is not known without a GPU's compiler"
)


def collect(
    names: Sequence[str],
    backend: str,
    debug: bool = False,
    metric_names: Sequence[str] = (),
    options: Sequence[str] = (),
    timeout: float | None = None,
    all_metrics: bool = True,
    wrong_too: bool = False,
) -> MetricTable:
    """Builds and profiles an exercise, or the .cu files of a program, on the back end gpu or cpu.

    `metric_names` are textbook or Nsight names; none stand for the default set. Without
    `all_metrics`, those that ncu does not have for this GPU are left out. `options` go to the
    program, which may run for `timeout` seconds. Raises LabError: status 2 for bad usage, 77 for gpu
    without a usable GPU, else 1. With `wrong_too`, WRONG rows are no reason to: the table has that error
    as its `failure`.
    """
    exercise = catalogue.at(*names)
    known = metrics.load()
    asked = known.find(metric_names or (exercise and exercise.facts.metrics) or known.own)
    if backend == "gpu":
        table = _on_gpu(exercise, names, debug, asked, options, timeout, all_metrics)
    else:
        if debug:
            say("note: --debug is for the gpu back end; the cpu back end counts like a debug build")
        table = _on_cpu(exercise, names, asked, options, timeout)
    if table.failure and not (wrong_too and table.rows):
        raise table.failure
    if not table.rows:
        raise LabError("no kernel was launched: there is nothing to show")
    return table


@dataclass(frozen=True)
class OnGpu:
    """A program that is built for the GPU, and the metrics that ncu counts of it."""

    command: list[str]  # launches each kernel of an exercise once
    ncu: str
    nvcc: str
    instead: str  # what to do where this fails
    counted: list[Metric]
    notes: list[str]
    kind: str  # of the build
    driver: Driver

    @property
    def nsight_names(self) -> list[str]:
        return [metric.nsight for metric in self.counted]

    def source(self, raw: RawTable) -> str:
        return f"gpu back end, {self.kind}, on {_device(raw, self.driver)}"

    def table(self, raw: RawTable, failure: LabError | None) -> MetricTable:
        return metric_table.build(raw, self.counted, self.source(raw), self.notes, failure)


def build_for_gpu(
    exercise: Exercise | None, sources: Sequence[str], debug: bool, asked: Sequence[Metric]
) -> OnGpu:
    """Builds the program. Raises LabError without a GPU, without ncu, or if ncu has no metric that is `asked` for."""
    name = exercise.name if exercise else " ".join(sources)
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
        command = instrumented.once_each(presets.build(cmake, preset, exercise.target), exercise)
    else:
        command = [str(own_program.for_gpu(sources, choice, cmake, debug))]
    kind = "debug build (nvcc -G)" if debug else "optimised build (nvcc -O3)"
    notes = [f"only the cpu back end counts {others}"] if others else []
    return OnGpu(command, program, choice.nvcc, instead, counted, notes, kind, driver)


def _on_gpu(
    exercise: Exercise | None,
    sources: Sequence[str],
    debug: bool,
    asked: Sequence[Metric],
    options: Sequence[str],
    timeout: float | None,
    all_metrics: bool,
) -> MetricTable:
    built = build_for_gpu(exercise, sources, debug, asked)
    run = ncu.run if all_metrics else ncu.run_with_known
    failure: LabError | None = None
    with TimeLimit(timeout):
        try:
            raw = run(built.ncu, built.nsight_names, [*built.command, *options], built.instead)
        except ncu.WrongResults as error:
            failure, raw = error, error.raw
    return built.table(raw, failure)


def _device(raw: RawTable, driver: Driver) -> str:
    ordinals = {int(launch.device) for launch in raw.launches if launch.device.isdigit()}
    known = [driver.gpus[i] for i in sorted(ordinals) if i < len(driver.gpus)]
    return ", ".join(f"{gpu.name} (sm_{gpu.architecture})" for gpu in known) or "an unknown GPU"


def _on_cpu(
    exercise: Exercise | None,
    sources: Sequence[str],
    asked: Sequence[Metric],
    options: Sequence[str],
    timeout: float | None,
) -> MetricTable:
    check_cpu(asked)
    program = [*instrumented.built(exercise, sources), *options]
    with TimeLimit(timeout):
        outcome = instrumented.run(program, VARIABLE)
    return table_of_cpu(outcome, asked)


def check_cpu(asked: Sequence[Metric]) -> None:
    """LabError (status 2) where the cpu back end counts none of them."""
    if not any(metric.cpu for metric in asked):
        others = ", ".join(metric.name for metric in asked)
        raise LabError(f"not available without a GPU: {others}", status=2)


def table_of_cpu(outcome: instrumented.Outcome, asked: Sequence[Metric]) -> MetricTable:
    """Of what an instrumented program has counted. LabError if it has failed in another way than by WRONG
    results."""
    failure = outcome.failure() if outcome.status != 0 else None
    if failure and not only_wrong(outcome.status, outcome.output):
        raise failure
    counted = [metric for metric in asked if metric.cpu]
    others = ", ".join(metric.name for metric in asked if not metric.cpu)
    notes = [f"not available without a GPU: {others}"] if others else []
    if any(metric.name == "theoretical_occupancy" for metric in counted):
        notes.append(NO_REGISTERS)
    raw = raw_csv.parse(outcome.report)
    return metric_table.build(raw, counted, CPU_SOURCE, notes, failure, on_cpu=True)
