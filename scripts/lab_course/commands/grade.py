"""./lab grade: what of an assignment is met, in one's own checkout or in what students have handed in."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lab_cli import assignment_catalogue, work
from lab_cli.assignments import Assignment
from lab_cli.building import instrumented, own_program, presets
from lab_cli.building.presets import shortest
from lab_cli.catalogue import Exercise
from lab_cli.commands import arguments as shared
from lab_cli.errors import BAD_USAGE, LabError, printable
from lab_cli.exercise_sources import sources
from lab_cli.files import make_folder, write
from lab_cli.machine import backend, setup
from lab_cli.paths import OUT, ROOT, shown
from lab_cli.process import run as run_shown
from lab_cli.process import say, show
from lab_cli.results import marks
from lab_cli.verdicts import styled

from ..cluster import job, settings, waiting
from ..cluster import options as on_cluster
from ..cluster.script import Work
from ..grading import batch, results, sandbox, submissions
from ..grading.batch import Batch
from ..grading.evaluate import Grade, Grader
from ..grading.programs import SECONDS, OnGpu, Workshop, gpu_of_this_machine, require_gpu
from ..grading.submissions import Submission
from ..handouts.workspace import MARK
from ..reporting import machine, page

GRADES = OUT / "grades"
REPORT = "report.html"  # beside results.json
NAME_WIDTH = 32
INTERRUPTED = "\ninterrupted; what is graded is kept: the same command goes on"
CHANGED = "graded, but not as it is now: it, the exercise or lab has changed meanwhile"


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "grade",
        prog="./lab grade",
        description="Says what of an assignment is met, and what to look at next: of the kernels in this "
        "checkout, or of what students have handed in. Of that, only the bodies of the assignment's kernels "
        "are taken, put into a copy of the exercise as it is here, built for the cpu back end and run in a "
        "sandbox, with limits. On a GPU, speed counts where the assignment says so. An exercise that runs on a GPU "
        "alone is graded there. Without an assignment, "
        "lists them all.",
        parents=[shared.shipped(), shared.backend(), shared.timeout()],
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
        "--only",
        type=shared.name,
        metavar="SUBMISSION",
        help="grades this one of the submissions, and leaves grades.csv as it is",
    )
    command.add_argument(
        "--also",
        action="append",
        default=[],
        type=_options,
        metavar="OPTIONS",
        help="the options of a further run whose result counts, behind an equals sign; reports do not name them",
    )
    command.add_argument(
        "--no-sandbox",
        action="store_true",
        help="runs programs of students without a sandbox: they may do whatever you may",
    )
    on_cluster.add_to(command)
    command.set_defaults(handler=run, takes=shared.NONE)


def _options(text: str) -> str:
    try:
        shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{printable(text)}: {error}") from error
    return text


def run(arguments: argparse.Namespace) -> int:
    on_cluster.check(arguments)
    if arguments.assignment is None:
        print("\n".join(marks.listed(assignment_catalogue.assignments())))
        return 0
    exercise, assignment = assignment_catalogue.one(arguments.assignment)
    if arguments.submissions:
        return grade_all(exercise, assignment, arguments)
    for option, given in {
        "-o": arguments.folder,
        "--only": arguments.only,
        "--no-sandbox": arguments.no_sandbox,
    }.items():
        if given:
            raise LabError(f"{option}: no submission is named", BAD_USAGE)
    if arguments.slurm:
        return job.there(arguments)
    return grade_own(exercise, assignment, arguments)


def workshop(
    exercise: Exercise, arguments: argparse.Namespace, sandboxed: bool, gpu: OnGpu | None
) -> Workshop:
    """Builds what programs of the exercise are linked with."""
    if exercise.facts.gpu_only:
        folder = gpu.build_folder if gpu else OUT / "gpu"
        return Workshop(exercise, folder, sandboxed, arguments.timeout or SECONDS, gpu)
    cmake = setup.ensure("cpu")
    instrumented.require_compiler()
    folder = presets.build(cmake, "cpu", *own_program.targets(own_program.INSTRUMENTED))
    return Workshop(exercise, folder, sandboxed, arguments.timeout or SECONDS, gpu)


def _on_gpu(
    exercise: Exercise, assignment: Assignment, arguments: argparse.Namespace
) -> OnGpu | None:
    """None where nothing is to be judged on a GPU. LabError where it has to be, and there is none."""
    if assignment.on_gpu:
        _refuse_cpu(exercise, arguments.backend == "cpu")
        return require_gpu(exercise)
    if not assignment.speed or backend.pick(arguments.backend) != "gpu":
        return None
    return gpu_of_this_machine()


def _refuse_cpu(exercise: Exercise, is_cpu: bool) -> None:
    """LabError (status 2) for an exercise that is gpu_only."""
    if is_cpu:
        raise LabError(
            f"{exercise.name} is graded on a GPU alone: the cpu back end lacks the hardware that it is about. "
            "Leave out --backend cpu; with --slurm, --gres=gpu:1 asks for a GPU",
            BAD_USAGE,
        )


def grade_own(exercise: Exercise, assignment: Assignment, arguments: argparse.Namespace) -> int:
    """Of the kernels in this checkout. 0: all points, else 1."""
    place = workshop(
        exercise, arguments, sandboxed=False, gpu=_on_gpu(exercise, assignment, arguments)
    )
    grader = Grader(assignment, place, arguments.also)
    own = Submission(exercise.name, _own_file(exercise))
    text = own.read()
    ((_, grade),) = batch.on_each_core(lambda each: (each.name, grader.grade(text)), [own])
    if own.file == work.copy_of(exercise.name) or (ROOT / MARK).exists():
        marks.record_points(assignment.name, grade.points)
    print(f"{assignment.name}: {assignment.sentence}\n")
    show("".join(f"{line}\n" for line in results.in_words(grade)))
    print(f"\n{marks.in_points(grade.points)} of {marks.in_points(grade.of)} points")
    for line in next_steps(exercise, assignment, grade):
        print(line)
    return 0 if grade.points == grade.of else 1


def _own_file(exercise: Exercise) -> Path:
    """The student's copy, or in a hand-out the exercise itself. LabError (status 2) for an exercise that is not
    started: its points would be those of the solution."""
    if work.is_meant(exercise.name) or work.means_shipped() or (ROOT / MARK).exists():
        return work.source_of(exercise)
    raise LabError(
        f"{exercise.name} is not started: ./lab start {exercise.name} makes your copy of it, and --shipped grades "
        "the exercise as it came",
        BAD_USAGE,
    )


def next_steps(exercise: Exercise, assignment: Assignment, grade: Grade) -> list[str]:
    """What to look at next; nothing where all is met."""
    page = shown(exercise.page)
    if grade.problem:
        return ["", grade.problem, "", f"The assignment: {page}"]
    missed = grade.missed
    if not missed:
        return []
    look = f"Look at it next: {missed[0].look}" if missed[0].look else ""
    return ["", *filter(None, [look, f"The assignment: {page}"])]


def grade_all(exercise: Exercise, assignment: Assignment, arguments: argparse.Namespace) -> int:
    """Of submissions. 0, whatever they are worth."""
    found = submissions.find(arguments.submissions, exercise.source.name)
    if arguments.only:
        found = [submissions.one(found, arguments.only)]
    python = setup.python_for([page.MODULE])
    if arguments.slurm:
        return grade_there(exercise, assignment, arguments, found)
    if python != sys.executable:  # the same once more, in the Python that can write the reports
        return run_shown([shortest(python), "-B", str(ROOT / "lab"), *arguments.words])
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
    gpu = _on_gpu(exercise, assignment, arguments)
    place = workshop(exercise, arguments, not arguments.no_sandbox, gpu)
    grader = _grader(assignment, place, arguments)
    run_of = Batch(grader, folder, _identity(grader, arguments.also, gpu is not None))
    try:
        grades, kept = run_of.run(found)
    except KeyboardInterrupt:
        say(INTERRUPTED)
        raise
    facts = machine.of("gpu" if place.gpu else "cpu")
    for name, grade in grades.items():
        text = results.page(name, assignment, exercise, grade, facts)
        write(folder / name / REPORT, text)
    _show(grades, folder, kept, with_table=not arguments.only)
    return 0


def _grader(assignment: Assignment, place: Workshop, arguments: argparse.Namespace) -> Grader:
    """Of submissions. Of several, whether there is a mistake in --also is seen first."""
    grader = Grader(assignment, place, arguments.also)
    if arguments.also and not arguments.only:
        grader.check_hidden()
    return grader


def grade_there(
    exercise: Exercise,
    assignment: Assignment,
    arguments: argparse.Namespace,
    found: Sequence[Submission],
) -> int:
    """Of submissions, each by an element of an array of Slurm. 1 where one got no grade, else 0, whatever
    they are worth."""
    asked = settings.load(arguments)
    words = on_cluster.words_without(arguments.words)
    on_gpu = bool(assignment.speed) and _asks_for_gpu(arguments.backend, asked.gres)
    _refuse_cpu(exercise, assignment.on_gpu and not on_gpu)
    if assignment.speed and arguments.backend == "auto":  # the same for all: nodes may differ
        words.append(f"--backend={'gpu' if on_gpu else 'cpu'}")
    # What all elements need is built once, and here.
    place = workshop(exercise, arguments, not arguments.no_sandbox, None)
    grader = _grader(assignment, place, arguments)
    folder = arguments.folder or GRADES / assignment.name
    run_of = Batch(grader, folder, _identity(grader, arguments.also, on_gpu))
    before = _complete(run_of, found)
    work = Work(words, asked, [each.name for each in found if each.name not in before])
    ends: dict[str, str] = {}
    if work.names and arguments.dry_run:
        return job.dry_run(work)
    if work.names:
        make_folder(folder)
        try:
            ends = job.run_each(work, "grading")
        except KeyboardInterrupt:
            say(INTERRUPTED)
            raise
    grades = _graded_there(run_of, found, ends)
    _show(grades, folder, len(before), with_table=not arguments.only)
    lost: dict[str, list[str]] = {}  # by what is wrong
    for each in found:
        if each.name not in grades:
            lost.setdefault(ends.get(each.name) or CHANGED, []).append(printable(each.name))
    for problem, names in lost.items():
        say(f"lab: {', '.join(names)}: {problem}")
    if lost:
        without = len(found) - len(grades)
        say(f"{without} of {len(found)} without a grade: the same command grades these alone")
    return 1 if lost else 0


def _graded_there(
    run_of: Batch, found: Sequence[Submission], ends: Mapping[str, str]
) -> dict[str, Grade]:
    """A network file system may take a while to show what has just been written."""
    grades = _complete(run_of, found)
    limit = time.monotonic() + waiting.GRACE
    while time.monotonic() < limit:
        late = [each for each in found if each.name not in grades and ends.get(each.name) == ""]
        if not late:
            break
        time.sleep(waiting.LOOK)
        grades.update(_complete(run_of, late))
    return {each.name: grades[each.name] for each in found if each.name in grades}


def _complete(run_of: Batch, found: Sequence[Submission]) -> dict[str, Grade]:
    """Of those that have a grade and its report, which is written after it: an element may have been
    ended in between. The next one keeps the grade."""
    kept = run_of.kept(found).items()
    return {name: grade for name, grade in kept if _has_report(run_of.results_of(name))}


def _has_report(graded: Path) -> bool:
    with suppress(OSError):
        return graded.with_name(REPORT).stat().st_mtime_ns >= graded.stat().st_mtime_ns
    return False


def _asks_for_gpu(chosen: str, gres: str) -> bool:
    """What auto is where there is no telling which nodes there are."""
    asks = chosen == "gpu" or (chosen == "auto" and "gpu" in gres)
    if chosen == "auto":
        why = f"--gres={gres}" if asks else "no --gres asks for a GPU"
        say(f"back end: {'gpu' if asks else 'cpu'} ({why})")
    return asks


def _identity(grader: Grader, also: Sequence[str], on_gpu: bool) -> str:
    """Of all that a grade depends on, but the submission."""
    place = grader.workshop
    libraries = ["emulator/libcuda_emulator.a", "common/liblab_common.a"]
    if place.exercise.facts.gpu_only:
        libraries = []  # a build for the GPU, which may be on another machine
    own = Path(__file__).parent.parent / "grading"
    files = [
        *sorted(sources(place.exercise.source)),
        *(place.build_folder / library for library in libraries),
        *sorted((ROOT / "common").glob("*.cuh")),
        *sorted(own.glob("*.py")),
    ]
    parts = [grader.assignment, [*also], place.sandboxed, place.seconds, on_gpu]
    return batch.identity(parts, files)


def _show(grades: dict[str, Grade], folder: Path, kept: int, with_table: bool) -> None:
    """`kept`: how many of them were there before. `with_table` writes grades.csv, too."""
    if with_table:
        write(folder / submissions.TABLE, results.table(grades))
    _print(grades)
    if kept:
        say(f"{kept} of them as graded before")
    table = f"{shown(folder / submissions.TABLE)}, and " if with_table else ""
    say(f"written: {table}for each submission {REPORT} and {batch.RESULTS}")


def _print(grades: dict[str, Grade]) -> None:
    print(f"{'submission':<{NAME_WIDTH}}  points")
    for name, grade in grades.items():
        points = f"{marks.in_points(grade.points)} of {marks.in_points(grade.of)}"
        row = f"{printable(name):<{NAME_WIDTH}}  {points:<12}  {printable(results.remark(grade) or 'ok')}"
        print(styled(row, sys.stdout))
