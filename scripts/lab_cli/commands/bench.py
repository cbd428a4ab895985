"""./lab bench: measures exercises and writes table.csv and metrics.csv into their results/<gpu>/."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import catalogue
from ..building.exercises import build
from ..catalogue import Exercise
from ..counters import metric_table
from ..counters.collect import collect
from ..errors import NO_GPU, LabError
from ..exercise_facts import Plan, Run
from ..files import write
from ..machine import facts
from ..paths import OUT, shown
from ..process import say
from ..progress import Progress
from ..results.csv_file import with_facts
from ..results.measure import Failure, Job, measure, missing
from ..results.store import METRICS, Store, file
from . import arguments as shared

STORE = OUT / "bench"
REPS = "--reps=20"  # by default an exercise runs a kernel that takes long less often
OPTIMISED, DEBUG = "optimised", "debug"  # in the column `build` of metrics.csv


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "bench",
        prog="./lab bench",
        description="Measures exercises with the runs of [bench] in exercise.toml and writes "
        "results/<gpu>/table.csv into the exercise's folder, on a GPU also the metrics of its kernels "
        "(metrics.csv; where exercise.toml has debug = true, those of the debug build, too). On the cpu "
        "back end each exercise runs once, with its defaults, into results/cpu. ./lab plot draws from "
        "these files. "
        "LAB_COMMIT names the commit for a copy without its history.",
        parents=[shared.backend()],
        allow_abbrev=False,
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="default: every exercise")
    command.add_argument(
        "--resume",
        action="store_true",
        help="goes on after an interruption: measures only what is missing",
    )
    command.set_defaults(handler=run, beforehand=_check, takes=shared.NONE)


def _check(arguments: argparse.Namespace) -> None:
    """LabError (status 2) where nothing is named so."""
    catalogue.check(arguments.names)


def run(arguments: argparse.Namespace) -> int:
    built = build(arguments.names, arguments.backend)
    return bench(built.exercises, built.backend, built.folder, arguments.resume)


def _fitting(plan: Plan, name: str, memory: float | None) -> Plan:
    """Without the runs for which the GPU's memory is too small."""
    fits = [run for run in plan.runs if memory is None or run.gib <= memory]
    for run in plan.runs:
        if run not in fits:
            say(f"{name} {run.text}: left out, needs {run.gib:g} GiB of the GPU's {memory:.1f} GiB")
    if not fits:
        raise LabError(f"{name}: no run fits into the GPU's {memory:.1f} GiB")
    return replace(plan, runs=fits)


def _jobs(exercises: Sequence[Exercise], backend: str, build_folder: Path, slug: str) -> list[Job]:
    memory = facts.memory_gib() if backend == "gpu" else None
    jobs = []
    for number, exercise in enumerate(exercises, 1):
        plan = exercise.facts.bench
        if (
            backend == "cpu"
        ):  # with the defaults, which are small there; times are shown if asked for
            plan = Plan([Run(["--host-times"])], plan.files)
        plan = _fitting(plan, exercise.name, memory)
        place = f"exercise {number} of {len(exercises)}"
        program, folder = exercise.program(build_folder), exercise.results / slug
        reps = REPS if backend == "gpu" else ""
        jobs.append(Job(exercise.name, program, folder, plan, place, reps))
    return jobs


def _start(store: Store, job: Job, now: dict[str, str], resume: bool) -> None:
    anew = store.resume(job.program, job.plan, now) if resume else ""
    if anew:
        say(f"{job.name} starts anew: {anew}")
    if anew or not resume:
        store.begin(job.program, job.plan, now)


def bench(exercises: Sequence[Exercise], backend: str, build_folder: Path, resume: bool) -> int:
    """Measures built exercises. 1 if one failed: the others have their results all the same."""
    slug, now = facts.measured_on(backend)
    jobs = _jobs(exercises, backend, build_folder, slug)
    stores = {job.name: Store(STORE / slug / job.name, job.name) for job in jobs}
    for job in jobs:
        _start(stores[job.name], job, now, resume)

    try:
        failed = _measure(jobs, stores)
    except KeyboardInterrupt:
        say("\ninterrupted; finished runs are kept: ./lab bench --resume goes on")
        raise
    measured = [job for job in jobs if job.name not in failed]
    if backend == "gpu":
        _store_metrics(measured, stores)
    if failed:
        say(f"failed, and nothing of them written: {', '.join(failed)}")
    return 1 if failed else 0


def _measure(jobs: Sequence[Job], stores: dict[str, Store]) -> list[str]:
    """The names of those that failed."""
    failed = []
    runs = {job.name: len(missing(job, stores[job.name])) for job in jobs}
    done, total = 0, sum(runs.values())
    with Progress("measuring") as progress:
        for number, job in enumerate(jobs):

            def each(name: str = job.name) -> None:
                nonlocal done
                done += 1
                progress.update("", done, total, name)

            progress.update("", done, total, job.name)
            try:
                measure(job, stores[job.name], each)
            except (Failure, LabError) as error:
                if isinstance(error, LabError) and error.status == NO_GPU:
                    raise
                say(f"FAILED: {error}")
                failed.append(job.name)
            done = sum(runs[earlier.name] for earlier in jobs[: number + 1])
    return failed


def _store_metrics(jobs: Sequence[Job], stores: dict[str, Store]) -> None:
    """Writes metrics.csv. Where they cannot be had, the files that are there stay."""
    said = set()
    for job in jobs:
        tables = {}
        try:
            for kind in [OPTIMISED, DEBUG] if job.plan.debug else [OPTIMISED]:
                tables[kind] = collect([job.name], "gpu", debug=kind == DEBUG)
        except LabError as error:
            of_build, flag = (" of the debug build", " --debug") if tables else ("", "")
            reason = re.split(r"[:.]?\n|\. ", str(error), maxsplit=1)[0]
            if reason not in said:
                say(
                    f"no metrics{of_build} of {job.name}: {reason} "
                    f"(./lab profile {job.name}{flag} says more)"
                )
                said.add(reason)
            continue
        path = file(job.folder, METRICS)
        write(path, with_facts(stores[job.name].facts, metric_table.csv_of_builds(tables)))
        say(f"    written: {shown(path)}")
