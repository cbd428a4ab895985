"""Measures an exercise with the runs of its plan, and writes its results/<gpu>/table.csv."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import NO_GPU, LabError
from ..exercise_facts import Plan, Run
from ..files import make_folder, write
from ..paths import shown
from ..process import cannot_run, describe, say, status_of
from ..process import shown as shown_command
from ..verdicts import GOOD, OK
from . import images
from .csv_file import parse, with_facts
from .store import MAIN, Store, file


@dataclass(frozen=True)
class Job:
    """One exercise to measure."""

    name: str
    program: Path
    folder: Path  # of its results on this machine
    plan: Plan
    place: str  # "exercise 2 of 6"
    reps: str = ""  # an option for the runs that do not have it


class Failure(Exception):
    """A run that gave no results; the text says why."""


def _capture(command: Sequence[str]) -> str:
    """stdout of an exercise; what it says on stderr is shown."""
    with tempfile.TemporaryFile() as printed:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise Failure(cannot_run(command[0], error)) from error
        with process:
            for line in process.stderr or ():
                say(line.decode(errors="replace").rstrip("\n"))
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    status = status_of(process.returncode)
    if status == NO_GPU:
        raise LabError("no usable GPU; --backend cpu runs without one", NO_GPU)
    if status != 0:
        wrong = [line for line in text.splitlines()[1:] if line.rpartition(",")[2] not in GOOD]
        raise Failure("\n".join([f"{shown_command(command)}: {describe(status)}", *wrong]))
    return text


def _checked(text: str, path: Path) -> str:
    """`text`, if it is CSV and every row of it is correct."""
    try:
        table = parse(text, path)
    except LabError as error:
        raise Failure(str(error)) from error
    for row in table.rows:
        if row.get("check", OK) not in GOOD:
            raise Failure(f"{path.name}: wrong result: {','.join(row.values())}")
    return text if text.endswith("\n") else text + "\n"


def _run(job: Job, run: Run, store: Store, index: int) -> None:
    """Runs it, and keeps its table and its further files."""
    unfinished = {kind: store.folder / f"unfinished.{kind}.csv" for kind in job.plan.files}
    for path in unfinished.values():
        path.unlink(missing_ok=True)  # of a run that failed
    files = [f"--{kind}={path}" for kind, path in unfinished.items()]
    said = any(option.startswith("--reps") for option in run.options)
    reps = [] if said or not job.reps else [job.reps]
    text = _capture([str(job.program), *run.options, *reps, *files, "--csv"])
    texts = {MAIN: _checked(text, store.file(index))}
    for kind, path in unfinished.items():
        try:
            texts[kind] = _checked(path.read_text(errors="replace"), store.file(index, kind))
        except OSError as error:
            raise Failure(f"--{kind} wrote no file: {error.strerror}") from error
        path.unlink()
    store.keep(index, texts)


def _images(job: Job, store: Store) -> dict[str, bytes]:
    """Those of the plan, by kind, with the facts. They are not kept: it is a short run."""
    if job.plan.images is None:
        return {}
    run, kinds = job.plan.images.run, job.plan.images.files
    say(f"[{job.place}, images] {job.name} {run.text}")
    paths = {kind: store.folder / f"unfinished.{kind}.pgm" for kind in kinds}
    files = [f"--{kind}={path}" for kind, path in paths.items()]
    _checked(_capture([str(job.program), *run.options, *files, "--csv"]), store.folder / "images")
    drawn = {}
    for kind, path in paths.items():
        data = images.with_facts(store.facts, images.read(path))
        images.parse(data, path)
        drawn[kind] = data
        path.unlink()
    return drawn


def missing(job: Job, store: Store) -> list[int]:
    """The runs that are still to be done, by index."""
    return [i for i in range(len(job.plan.runs)) if not store.has(i, job.plan.files)]


def measure(job: Job, store: Store, each: Callable[[], None]) -> None:
    """All runs of an exercise, then its results: until then those of an earlier bench stay.

    `each` is called after each run that was done. Raises Failure where a run gives no results, LabError
    (77) without a GPU.
    """
    count = len(job.plan.runs)
    to_do = missing(job, store)
    for index, run in enumerate(job.plan.runs):
        title = f"[{job.place}, run {index + 1} of {count}] {job.name} {run.text}"
        if index not in to_do:
            say(f"{title}: kept from before")
            continue
        say(title)
        start = time.monotonic()
        _run(job, run, store, index)
        say(f"    {time.monotonic() - start:.1f} s")
        each()
    drawn = _images(job, store)
    make_folder(job.folder)
    tables = {kind: store.table(count, kind) for kind in [*job.plan.files, MAIN]}
    for kind, table in tables.items():
        path = file(job.folder, kind)
        write(path, with_facts(store.facts, table))
        say(f"    written: {shown(path)}")
    for kind, data in drawn.items():
        path = file(job.folder, kind, images.parse(data, job.folder / kind).suffix)
        write(path, data)
        say(f"    written: {shown(path)}")
