"""./lab grade: what of an assignment is met, in one's own checkout or in what students have handed in."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import toml_file
from ..assignments import Assignment
from ..building import own_program, presets
from ..building.presets import shortest
from ..catalogue import Exercise
from ..errors import BAD_USAGE, LabError, printable
from ..files import make_folder, write
from ..grading import batch, catalogue, marks, results, sandbox, submissions
from ..grading.batch import Batch
from ..grading.evaluate import Grade, Grader
from ..grading.programs import SECONDS, OnGpu, Workshop
from ..grading.submissions import Submission
from ..machine import backend, setup, zig
from ..machine.needs import find_compiler
from ..paths import OUT, ROOT, shown
from ..process import run as run_shown
from ..process import say, show
from ..reporting import machine, page
from ..results import standing
from ..results.verdicts import styled
from . import arguments as shared

GRADES = OUT / "grades"
NAME_WIDTH = 32


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "grade",
        prog="./lab grade",
        description="Says what of an assignment is met, and what to look at next: of the kernels in this "
        "checkout, or of what students have handed in. Of that, only the bodies of the assignment's kernels "
        "are taken, put into a copy of the exercise as it is here, built for the cpu back end and run in a "
        "sandbox, with limits. On a GPU, speed counts where the assignment says so. Without an assignment, "
        "lists them all.",
        parents=[shared.backend(), shared.timeout()],
        allow_abbrev=False,
    )
    command.add_argument("assignment", nargs="?", metavar="ASSIGNMENT", type=shared.name)
    command.add_argument(
        "submissions",
        nargs="*",
        metavar="FOLDER|FILE.cu",
        help="what a student has handed in, or a folder with a file or a folder for each student",
    )
    command.add_argument(
        "-o",
        dest="folder",
        type=shared.file,
        metavar="FOLDER",
        help="for the grades (default: grades/ASSIGNMENT where builds are): grades.csv, and for each "
        "submission report.html and results.json, as Gradescope takes it. What is there of the same "
        "submission is kept: an interrupted run goes on",
    )
    command.add_argument(
        "--also",
        action="append",
        default=[],
        type=_options,
        metavar="OPTIONS",
        help="the options of a further run whose result counts; reports do not name them",
    )
    command.add_argument(
        "--no-sandbox",
        action="store_true",
        help="runs programs of students without a sandbox: they may do whatever you may",
    )
    command.set_defaults(handler=run, takes=shared.NONE)


def _options(text: str) -> str:
    try:
        shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{printable(text)}: {error}") from error
    return text


def run(arguments: argparse.Namespace) -> int:
    setup.toml_reader("cpu")
    if arguments.assignment is None:
        print("\n".join(marks.listed(catalogue.assignments())))
        return 0
    exercise, assignment = catalogue.one(arguments.assignment)
    if arguments.submissions:
        return grade_all(exercise, assignment, arguments)
    for option, given in (("-o", arguments.folder), ("--no-sandbox", arguments.no_sandbox)):
        if given:
            raise LabError(f"{option}: no submission is named", BAD_USAGE)
    return grade_own(exercise, assignment, arguments)


def workshop(
    exercise: Exercise, assignment: Assignment, arguments: argparse.Namespace, sandboxed: bool
) -> Workshop:
    """Builds what programs of the exercise are linked with."""
    cmake = setup.ensure("cpu")
    if zig.is_compiler(find_compiler()):
        raise LabError(
            "what checks and counts cannot be built with zig's compiler: install g++ (./lab doctor says "
            "where the compiler comes from)"
        )
    kinds = (own_program.OPTIMISED, own_program.INSTRUMENTED)
    wanted = dict.fromkeys(target for kind in kinds for target in own_program.targets(kind))
    folder = presets.build(cmake, "cpu", *wanted)
    gpu = _on_gpu() if assignment.speed and backend.pick(arguments.backend) == "gpu" else None
    return Workshop(exercise, folder, sandboxed, arguments.timeout or SECONDS, gpu)


def _on_gpu() -> OnGpu:
    choice = backend.choose("gpu", backend.find_nvcc())
    return OnGpu(choice, presets.build(setup.ensure("gpu"), "gpu", "lab_common"))


def grade_own(exercise: Exercise, assignment: Assignment, arguments: argparse.Namespace) -> int:
    """Of the kernels in this checkout. 0: all points, else 1."""
    place = workshop(exercise, assignment, arguments, sandboxed=False)
    grader = Grader(assignment, place, arguments.also)
    own = Submission(exercise.name, exercise.source)
    graded = marks.digest(assignment, exercise.source)
    text = own.read()
    ((_, grade),) = batch.on_each_core(lambda each: (each.name, grader.grade(text)), [own])
    marks.record(assignment.name, grade, graded)
    print(f"{assignment.name}: {assignment.sentence}\n")
    show("".join(f"{line}\n" for line in results.in_words(grade)))
    print(f"\n{results.in_points(grade.points)} of {results.in_points(grade.of)} points")
    for line in next_steps(exercise, assignment, grade):
        print(line)
    return 0 if grade.points == grade.of else 1


def next_steps(exercise: Exercise, assignment: Assignment, grade: Grade) -> list[str]:
    """What to look at next; nothing where all is met."""
    page = f"{shown(exercise.source.with_suffix('.md'))}, task {assignment.task}"
    if grade.problem:
        return ["", grade.problem, "", f"The task: {page}"]
    missed = [finding for finding in grade.findings if finding.points < finding.of]
    if not missed:
        return []
    look = f"Look at it next: {missed[0].look}" if missed[0].look else ""
    return ["", *filter(None, [look, f"The task: {page}"])]


def grade_all(exercise: Exercise, assignment: Assignment, arguments: argparse.Namespace) -> int:
    """Of submissions. 0, whatever they are worth."""
    found = submissions.find(arguments.submissions, exercise.source.name)
    python = setup.python_for([page.MODULE, *toml_file.packages()])
    if python != sys.executable:  # the same once more, in the Python that can write the reports
        return run_shown([shortest(python), "-B", str(ROOT / "lab"), "grade", *_words(arguments)])
    if arguments.no_sandbox:
        say("note: --no-sandbox: the programs of students may do whatever you may")
    else:
        setup.sandbox()
        problem = sandbox.problem()
        if problem:
            raise LabError(
                f"{problem}. Submissions are not run without a sandbox, unless --no-sandbox says so"
            )
    folder = arguments.folder or GRADES / assignment.name
    make_folder(folder)
    place = workshop(exercise, assignment, arguments, not arguments.no_sandbox)
    grader = Grader(assignment, place, arguments.also)
    run_of = Batch(grader, folder, _identity(grader, arguments.also))
    try:
        grades, kept = run_of.run(found)
    except KeyboardInterrupt:
        say("\ninterrupted; what is graded is kept: the same command goes on")
        raise
    facts = machine.of("gpu" if place.gpu else "cpu")
    for name, grade in grades.items():
        text = results.page(name, assignment, exercise, grade, facts)
        write(folder / name / "report.html", text)
    write(folder / "grades.csv", results.table(grades))
    _print(grades)
    if kept:
        say(f"{kept} of them as graded before")
    say(
        f"written: {shown(folder / 'grades.csv')}, and for each submission report.html and results.json"
    )
    return 0


def _words(arguments: argparse.Namespace) -> list[str]:
    """The command line again."""
    words = [arguments.assignment, *arguments.submissions, f"--backend={arguments.backend}"]
    words += [f"--also={options}" for options in arguments.also]
    words += [f"--timeout={arguments.timeout!r}"] if arguments.timeout else []
    words += ["-o", str(arguments.folder)] if arguments.folder else []
    return [*words, *(["--no-sandbox"] if arguments.no_sandbox else [])]


def _identity(grader: Grader, also: Sequence[str]) -> str:
    """Of all that a grade depends on, but the submission."""
    place = grader.workshop
    libraries = ["emulator/libcuda_emulator.a", "common/liblab_common.a"]
    own = Path(__file__).parent.parent / "grading"
    files = [
        *sorted(standing.sources(place.exercise.source)),
        *(place.build_folder / library for library in libraries),
        *sorted((ROOT / "common").glob("*.cuh")),
        *sorted(own.glob("*.py")),
    ]
    parts = [grader.assignment, [*also], place.sandboxed, place.seconds, place.gpu is not None]
    return batch.identity(parts, files)


def _print(grades: dict[str, Grade]) -> None:
    print(f"{'submission':<{NAME_WIDTH}}  points")
    for name, grade in grades.items():
        points = f"{results.in_points(grade.points)} of {results.in_points(grade.of)}"
        row = f"{printable(name):<{NAME_WIDTH}}  {points:<12}  {printable(results.remark(grade) or 'ok')}"
        print(styled(row, sys.stdout))
