"""./lab bench: measures exercises and writes results/<gpu>/NAME.csv."""

from __future__ import annotations

import argparse
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import bench_config, build, catalogue, facts, metric_table, profile, setup
from .bench_config import Plan, Run
from .bench_store import MAIN, Store
from .catalogue import Exercise
from .errors import LabError
from .files import make_folder, write
from .paths import BUILD, ROOT
from .process import describe, say, shown, status_of
from .results import parse, with_facts
from .runner import NO_GPU
from .targets import of_backend, pick_backend

RESULTS = ROOT / "results"
STORE = BUILD / "bench"
OPTIMISED, DEBUG = "optimised", "debug"  # in the column `build` of NAME.metrics.csv


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "bench",
        prog="./lab bench",
        description="Measures exercises with the runs of scripts/bench.toml and writes "
        "results/<gpu>/NAME.csv, on a GPU also the metrics of its kernels (NAME.metrics.csv; where "
        "bench.toml has debug = true, those of the debug build, too). "
        "./lab plot draws from these files. LAB_COMMIT names the commit for a copy without its history.",
        allow_abbrev=False,
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="default: every exercise")
    command.add_argument(
        "--backend",
        choices=["auto", "gpu", "cpu"],
        default="auto",
        help="cpu measures the emulation: each exercise once, into results/cpu",
    )
    command.add_argument(
        "--resume",
        action="store_true",
        help="goes on after an interruption: measures only what is missing",
    )
    command.set_defaults(handler=run)


def run(arguments: argparse.Namespace, options: list[str]) -> int:
    if options:
        raise LabError(f"{options[0]}: the options of exercises are those of bench.toml", status=2)
    chosen = catalogue.pick(arguments.names, catalogue.exercises())
    backend = pick_backend(arguments.backend)
    chosen = of_backend(chosen, backend, bool(arguments.names))
    cmake = setup.ensure(backend)
    folder = build.build(cmake, backend, chosen[0].name if len(chosen) == 1 else "exercises")
    return bench(chosen, backend, folder, arguments.resume)


@dataclass(frozen=True)
class Job:
    """One exercise to measure."""

    name: str
    program: Path
    plan: Plan
    place: str  # "exercise 2 of 6"


class Failure(Exception):
    """A run that gave no results; the text says why."""


def _capture(command: Sequence[str]) -> str:
    """stdout of an exercise; what it says on stderr is shown."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    except OSError as error:
        raise Failure(f"cannot run {command[0]}: {error.strerror}") from error
    status = status_of(done.returncode)
    text = done.stdout.decode(errors="replace")
    if status == NO_GPU:
        raise LabError("no usable GPU; --backend cpu runs without one", NO_GPU)
    if status != 0:
        wrong = [line for line in text.splitlines()[1:] if not line.endswith(",ok")]
        raise Failure("\n".join([f"{shown(command)}: {describe(status)}", *wrong]))
    return text


def _checked(text: str, path: Path) -> str:
    """`text`, if it is CSV and every row of it is correct."""
    try:
        table = parse(text, path)
    except LabError as error:
        raise Failure(str(error)) from error
    for row in table.rows:
        if row.get("check", "ok") != "ok":
            raise Failure(f"{path.name}: wrong result: {','.join(row.values())}")
    return text if text.endswith("\n") else text + "\n"


def _measure(job: Job, run: Run, store: Store, index: int) -> None:
    """Runs it, and keeps its table and its further files."""
    unfinished = {kind: store.folder / f"unfinished.{kind}.csv" for kind in job.plan.files}
    for path in unfinished.values():
        path.unlink(missing_ok=True)  # of a run that failed
    files = [f"--{kind}={path}" for kind, path in unfinished.items()]
    text = _capture([str(job.program), *run.options, *files, "--csv"])
    texts = {MAIN: _checked(text, store.file(index))}
    for kind, path in unfinished.items():
        try:
            texts[kind] = _checked(path.read_text(errors="replace"), store.file(index, kind))
        except OSError as error:
            raise Failure(f"--{kind} wrote no file: {error.strerror}") from error
        path.unlink()
    store.keep(index, texts)


def _bench(job: Job, store: Store, folder: Path) -> None:
    """All runs of an exercise, then its results: until then those of an earlier bench stay."""
    count = len(job.plan.runs)
    for index, run in enumerate(job.plan.runs):
        title = f"[{job.place}, run {index + 1} of {count}] {job.name} {run.text}"
        if store.has(index, job.plan.files):
            say(f"{title}: kept from before")
            continue
        say(title)
        start = time.monotonic()
        _measure(job, run, store, index)
        say(f"    {time.monotonic() - start:.1f} s")
    tables = {kind: store.table(count, kind) for kind in [*job.plan.files, MAIN]}
    for kind, table in tables.items():
        path = folder / (f"{job.name}.{kind}.csv" if kind else f"{job.name}.csv")
        write(path, with_facts(store.facts, table))
        say(f"    written: {path.relative_to(RESULTS.parent)}")


def _fitting(plan: Plan, name: str, memory: float | None) -> Plan:
    """Without the runs for which the GPU's memory is too small."""
    fits = [run for run in plan.runs if memory is None or run.gib <= memory]
    for run in plan.runs:
        if run not in fits:
            say(f"{name} {run.text}: left out, needs {run.gib:g} GiB of the GPU's {memory:.1f} GiB")
    if not fits:
        raise LabError(f"{name}: no run fits into the GPU's {memory:.1f} GiB")
    return replace(plan, runs=fits)


def _jobs(exercises: Sequence[Exercise], backend: str, build_folder: Path) -> list[Job]:
    plans = bench_config.load()
    memory = facts.memory_gib() if backend == "gpu" else None
    jobs = []
    for number, exercise in enumerate(exercises, 1):
        plan = bench_config.plan_of(exercise.name, plans, backend)
        program = build_folder / exercise.chapter / exercise.name
        place = f"exercise {number} of {len(exercises)}"
        jobs.append(Job(exercise.name, program, _fitting(plan, exercise.name, memory), place))
    return jobs


def _start(store: Store, job: Job, now: dict[str, str], resume: bool) -> None:
    anew = store.resume(job.program, job.plan, now) if resume else ""
    if anew:
        say(f"{job.name} starts anew: {anew}")
    if anew or not resume:
        store.begin(job.program, job.plan, now)


def bench(exercises: Sequence[Exercise], backend: str, build_folder: Path, resume: bool) -> int:
    """Measures built exercises. 1 if one failed: the others have their results all the same."""
    jobs = _jobs(exercises, backend, build_folder)
    slug, now = facts.measured_on(backend)
    folder = RESULTS / slug
    make_folder(folder)
    stores = {job.name: Store(STORE / slug / job.name, job.name) for job in jobs}
    for job in jobs:
        _start(stores[job.name], job, now, resume)

    failed = []
    try:
        for job in jobs:
            try:
                _bench(job, stores[job.name], folder)
            except (Failure, LabError) as error:
                if isinstance(error, LabError) and error.status == NO_GPU:
                    raise
                say(f"FAILED: {error}")
                failed.append(job.name)
    except KeyboardInterrupt:
        say("\ninterrupted; finished runs are kept: ./lab bench --resume goes on")
        raise
    measured = [job for job in jobs if job.name not in failed]
    if backend == "gpu":
        _store_metrics(measured, folder, stores)
    if failed:
        say(f"failed, and nothing of them written to results/: {', '.join(failed)}")
    return 1 if failed else 0


def _store_metrics(jobs: Sequence[Job], folder: Path, stores: dict[str, Store]) -> None:
    """results/<gpu>/NAME.metrics.csv. Where they cannot be had, the files that are there stay."""
    said = set()
    for job in jobs:
        tables = {}
        try:
            for kind in [OPTIMISED, DEBUG] if job.plan.debug else [OPTIMISED]:
                tables[kind] = profile.collect(job.name, "gpu", debug=kind == DEBUG)
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
        path = folder / f"{job.name}.metrics.csv"
        write(path, with_facts(stores[job.name].facts, metric_table.csv_of_builds(tables)))
        say(f"    written: {path.relative_to(RESULTS.parent)}")
