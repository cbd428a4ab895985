"""./lab trace: what ran when in an exercise, summarised and drawn."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import catalogue, files
from ..building import instrumented, presets
from ..catalogue import Exercise
from ..counters import nsys, profilers, recording
from ..counters.recording import Panel, Recording
from ..errors import LabError
from ..machine import backend, setup
from ..paths import OUT, ROOT, shown
from ..process import run as run_shown
from ..process import say
from . import arguments as shared

REPS = "--reps=5"  # before the options, the last of which wins: a recording needs no statistics
VARIABLE = "CUDA_EMULATOR_TRACE"  # names the file that a program of the cpu back end writes
MOST_PANELS = 8

OF_RANGES = "Ranges go from the beginning to the end of the work that the host started in them."
OF_CHILDREN = "Kernels that a kernel launches have no bars of their own."
OF_EMULATION = (
    "An emulation ran this, on the host CPU, one piece of work after the other at the host's call:\n"
    "what overlaps on a GPU, and how long anything takes there, is not to be seen here."
)


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "trace",
        prog="./lab trace",
        description="Draws what ran when in an exercise: a lane for each stream and each direction of "
        "copies, and the rungs above. With a GPU, Nsight Systems records it, and kernels, copies and "
        "rungs are summarised; on the cpu back end it is the order of the emulation. Options of the "
        "exercise follow after --.",
        parents=[shared.shipped(), shared.backend()],
        allow_abbrev=False,
    )
    command.add_argument("name", metavar="NAME", help="an exercise")
    command.add_argument(
        "--rung",
        type=shared.name,
        metavar="TEXT",
        help="draws the last repetition of each rung whose name contains TEXT, one below the other; "
        "by default the whole run is drawn",
    )
    command.set_defaults(handler=run, takes=shared.AFTER_DASHES)


def run(arguments: argparse.Namespace) -> int:
    catalogue.check([arguments.name])
    chosen = backend.pick("auto") if arguments.backend == "auto" else arguments.backend
    exercise = catalogue.one(arguments.name)
    if chosen == "cpu":
        catalogue.of_backend([exercise], "cpu", by_name=True)
    else:
        instead = f"\n\n    ./lab trace {exercise.name} --backend cpu\n\nshows the order of the emulation."
        choice, _ = profilers.require_gpu(instead)
        program = nsys.find(choice.nvcc, instead)
    python = python_that_draws()
    if python not in ("", sys.executable):  # the same once more, in the Python that can draw
        rung = [] if arguments.rung is None else [f"--rung={arguments.rung}"]
        command = [exercise.name, f"--backend={chosen}", *rung, "--", *arguments.options]
        return run_shown([presets.shortest(python), "-B", str(ROOT / "lab"), "trace", *command])
    options = [REPS, *arguments.options]
    if chosen == "cpu":
        recorded = on_cpu(exercise, options)
    else:
        recorded = on_gpu(exercise, options, program)
    if python:
        draw(exercise, recorded, arguments.rung, chosen)
    return 0


def python_that_draws() -> str:
    """A Python with matplotlib; empty, and why, if there is none and none can be had."""
    try:
        return setup.python_for(["matplotlib"])
    except LabError as error:
        say(f"lab: {error}")
        say(
            "without matplotlib no figure is drawn: ./lab doctor says how to get it, and then the same "
            "command draws it"
        )
        return ""


def on_gpu(exercise: Exercise, options: Sequence[str], program: str) -> Recording:
    """Recorded with `program`, nsys, and its summaries printed."""
    folder = presets.build(setup.ensure("gpu"), "gpu", exercise.target)
    report = OUT / "trace" / (exercise.name + nsys.SUFFIX)
    nsys.record(program, report, [str(exercise.program(folder)), *options])
    parts = [nsys.summarise(program, report, summary) for summary in nsys.SUMMARIES]
    parts.append(nsys.page_moves(program, report))
    print("\n".join(filter(None, parts)), end="", flush=True)
    say(f"the recording is {shown(report)}: nsys-ui opens it, too")
    return nsys.recording_of(program, report)


def on_cpu(exercise: Exercise, options: Sequence[str]) -> Recording:
    """Recorded by the emulation."""
    folder = presets.build(setup.ensure("cpu"), "cpu", exercise.target)
    outcome = instrumented.run([str(exercise.program(folder)), *options], VARIABLE)
    if outcome.status != 0:
        raise outcome.failure()
    if not outcome.report:
        raise LabError(
            f"the program wrote no recording:{profilers.tail(outcome.output.splitlines())}"
        )
    return recording.read(
        nsys.parse(outcome.report, recording.FIRST_OF_WORK),
        nsys.parse(outcome.report, recording.FIRST_OF_RANGES),
    )


def draw(exercise: Exercise, recorded: Recording, rung: str | None, chosen: str) -> None:
    """Writes the figure, and says where it is."""
    from ..results.plots import recorded as plot  # takes matplotlib
    from ..results.plots import style

    if rung is None:
        panels = [recording.whole(recorded)]
    else:
        panels = recording.rungs(recorded, rung)
    notes = notes_of(exercise, panels, chosen)
    if len(panels) > MOST_PANELS:
        notes.insert(
            0, f"Of {len(panels)} rungs with {rung} in their name, the last {MOST_PANELS}."
        )
        panels = panels[-MOST_PANELS:]
    device = "the cpu back end (emulation)" if chosen == "cpu" else recorded.device
    with style.settings():
        title = f"{exercise.name}: what ran when, {device}"
        figure = plot.draw(panels, title, "\n".join(notes), emulated=chosen == "cpu")
    path = file_of(exercise.name, rung, chosen)
    files.make_build_folder(path.parent)
    files.write(path, style.svg(figure, exercise.name, "./lab trace"))
    for note in notes:
        say(note)
    say(f"drawn: {shown(path)}")


def notes_of(exercise: Exercise, panels: Sequence[Panel], chosen: str) -> list[str]:
    notes = []
    if chosen == "cpu":
        notes.append(OF_EMULATION)
    if exercise.facts.rdc:
        notes.append(OF_CHILDREN)
    if any(panel.ranges for panel in panels):
        notes.append(OF_RANGES)
    return notes


def file_of(exercise: str, rung: str | None, chosen: str) -> Path:
    of_rung = "" if rung is None else "." + re.sub(r"[^\w-]", "_", rung)
    of_backend = ".cpu" if chosen == "cpu" else ""
    return OUT / "trace" / f"{exercise}{of_rung}{of_backend}.svg"
