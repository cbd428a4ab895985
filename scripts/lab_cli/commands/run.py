"""./lab run: one exercise, several one after another and what came of each, or a student's own program."""

from __future__ import annotations

import argparse
import os
import random
import shlex
import signal
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .. import catalogue
from ..building import instrumented, own_program
from ..building.exercises import build
from ..catalogue import Exercise
from ..counters import rungs
from ..errors import BAD_USAGE, NO_GPU, LabError
from ..machine import backend, setup
from ..process import describe, each_line, say, show, shown
from ..process import run as run_shown
from ..progress import Progress
from ..results import story
from ..schedules import SEED
from ..time_limit import TimeLimit
from ..verdicts import WRONG_ROW, styled
from . import arguments as shared

TAIL_LINES = 8
HEAD = f"{'exercise':<24}  {'result':<8} seconds"
ALONE = {"--help", "-h", "--csv"}  # options with which the program's own output is all
OF_FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
BROKEN_PIPE = 141  # 128 + SIGPIPE: nobody reads on, as in `./lab run NAME | head`


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "run",
        prog="./lab run",
        description="Builds and runs exercises: of one all that it prints, of several a line for each. "
        "Or a CUDA program of your own, given by all its files. Options of the program follow after "
        "--. Several exercises get the same ones; those that refuse them are named, the others run, "
        "and the status is 2.",
        parents=[shared.shipped(), shared.backend(), shared.timeout()],
        allow_abbrev=False,
    )
    command.add_argument(
        "names",
        nargs="*",
        metavar="NAME|FILE.cu",
        help="an exercise or a chapter (its beginning will do: ch03), default: all; or a file of your "
        "own",
    )
    command.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="shows what each of several exercises prints, too",
    )
    command.add_argument(
        "--interleave",
        action="store_true",
        help="without a GPU, runs the threads of one program in another legal order, with loads and "
        f"stores of theirs between one another: what a missing barrier or atomic does. {SEED}=N in the "
        "environment says which order, else chance",
    )
    command.set_defaults(handler=run, beforehand=_check, takes=shared.AFTER_DASHES)


def _check(arguments: argparse.Namespace) -> None:
    """LabError (status 2) where nothing is named so."""
    names, _ = shared.exercises_or_files(arguments.names)
    catalogue.check(names)


def run(arguments: argparse.Namespace) -> int:
    names, files = shared.exercises_or_files(arguments.names)
    if arguments.interleave:
        return run_interleaved(names, files, arguments)
    if files:
        return run_own(files, arguments)
    built = build(names, arguments.backend)
    if len(built.exercises) != 1 or not names:
        return run_all(
            built.exercises, built.folder, arguments.options, arguments.timeout, arguments.verbose
        )
    (exercise,) = built.exercises
    status = run_one(exercise.program(built.folder), arguments.options, arguments.timeout)
    if built.backend == "cpu" and status in (0, 1) and not ALONE & {*arguments.options}:
        show(story_of(exercise, arguments.options, arguments.timeout))
    return status


def story_of(exercise: Exercise, options: Sequence[str], timeout: float | None) -> str:
    """In place of times, which an emulation has none of: counts, and what was recorded on a GPU."""
    if exercise.facts.story == []:
        return story.of_times(exercise)
    if not story.counted(exercise):
        return ""
    try:
        found = rungs.count(exercise, options, timeout)
    except LabError as error:
        say(f"lab: no counts: {error}")
        return ""
    return story.of_counts(exercise, found) if found else ""


def run_own(sources: Sequence[str], arguments: argparse.Namespace) -> int:
    """A program of a student's own, built for the back end that is asked for."""
    chosen = backend.pick(arguments.backend)
    cmake = setup.ensure(chosen)
    if chosen == "gpu":
        choice = backend.choose("gpu", backend.find_nvcc())
        program = own_program.for_gpu(sources, choice, cmake, debug=False)
    else:
        program = own_program.for_cpu(sources, cmake, instrument=False)
    return run_one(program, arguments.options, arguments.timeout)


def run_interleaved(
    names: Sequence[str], files: Sequence[str], arguments: argparse.Namespace
) -> int:
    """An exercise or a program of a student's own on the cpu back end, in the order of a seed."""
    exercises = catalogue.exercises(names) if names else []
    if len(exercises) + bool(files) != 1:
        raise LabError("--interleave takes one exercise, or one program of your own", BAD_USAGE)
    if arguments.backend == "gpu":
        raise LabError(
            "--interleave needs --backend cpu: on a GPU the order is not ours to choose", BAD_USAGE
        )
    program = instrumented.program(exercises[0] if exercises else None, files)
    seed = os.environ.get(SEED) or str(random.randrange(1, 10_000))
    again = interleaved(seed, arguments.names, arguments.options)
    status = run_one(program, arguments.options, arguments.timeout, {SEED: seed})
    say(
        f"lab: this was the order of seed {seed}. Again: {again}. Without the variable: another order"
    )
    return status


def interleaved(seed: str, names: Sequence[str], options: Sequence[str]) -> str:
    """The command that runs a program in the order of a seed."""
    words = ["./lab", "run", "--interleave", *names, *(["--", *options] if options else [])]
    return f"{SEED}={seed} {shlex.join(words)}"


def run_one(
    program: Path,
    options: Sequence[str],
    timeout: float | None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Its exit status. What it prints is the only thing on stdout."""
    with TimeLimit(timeout):
        status = run_shown([str(program), *options], variables=variables)
    killed = status - 128 in list(signal.Signals)
    if killed and status != BROKEN_PIPE:
        hint = ": ./lab check looks for the cause" if status - 128 in OF_FAULTS else ""
        say(f"lab: {program.name} was {describe(status)}{hint}")
    return status


@dataclass(frozen=True)
class Outcome:
    name: str
    status: int
    seconds: float
    last_lines: list[str]
    late: bool = False  # and ended for that
    wrong: int = 0  # rows whose result is wrong
    with_options: bool = False  # status 2 is about those, then

    @property
    def result(self) -> str:
        if self.late:
            return "FAILED"
        if self.status == BAD_USAGE and self.with_options:
            return "refused"
        return {0: "ok", NO_GPU: "skipped"}.get(self.status, "FAILED")

    @property
    def remark(self) -> str:
        if self.late:
            return "had not ended (--timeout)"
        if self.wrong:
            return f"{self.wrong} result{'s' if self.wrong > 1 else ''} WRONG"
        return {0: "", NO_GPU: "no usable GPU"}.get(self.status, describe(self.status))

    @property
    def row(self) -> str:
        return f"{self.name:<24}  {self.result:<8} {self.seconds:7.1f}  {self.remark}".rstrip()

    @property
    def refusal(self) -> str:
        """What it says of the options, without its name."""
        last = self.last_lines[-1].strip() if self.last_lines else describe(self.status)
        return last.removeprefix(f"{self.name}: ")


def run_showing(
    name: str, command: Sequence[str], timeout: float | None = None, verbose: bool = False
) -> Outcome:
    """Keeps the end of what the command prints; if `verbose`, shows all as it comes."""
    last: deque[str] = deque(maxlen=TAIL_LINES)
    wrong = 0

    def keep(line: str) -> None:
        nonlocal wrong
        last.append(line)
        wrong += line.startswith(WRONG_ROW)
        if verbose:
            show(line)

    if verbose:
        say("\n+ " + shown(command))
    start = time.monotonic()
    limit = TimeLimit(timeout)
    status = 1
    try:
        with limit:
            status = each_line(command, keep)
    except LabError:
        if not limit.passed:
            raise
    seconds = time.monotonic() - start
    return Outcome(name, status, seconds, list(last), limit.passed, wrong, len(command) > 1)


def run_all(
    exercises: Sequence[Exercise],
    folder: Path,
    options: Sequence[str],
    timeout: float | None = None,
    verbose: bool = False,
) -> int:
    """Returns 1 if one failed, 2 if one refused the options, 77 if all were skipped, else 0."""
    outcomes = []
    table = Table()
    with Progress("running") as progress:
        for number, exercise in enumerate(exercises):
            progress.update("", number, len(exercises), exercise.name)
            command = [str(exercise.program(folder)), *options]
            outcomes.append(run_showing(exercise.name, command, timeout, verbose))
            if not verbose:
                table.add(outcomes[-1])
    if verbose:
        show("\n")
        for outcome in outcomes:
            table.add(outcome)
    show(endings(outcomes) + styled(counts(outcomes, verbose), sys.stdout))
    for line in refusals(outcomes):
        say(f"lab: {line}")
    results = {outcome.result for outcome in outcomes}
    if "FAILED" in results:
        return 1
    return BAD_USAGE if "refused" in results else NO_GPU if results == {"skipped"} else 0


class Table:
    """A row for each exercise that ran, on stdout. refusals() tells the others."""

    def __init__(self) -> None:
        self._begun = False

    def add(self, outcome: Outcome) -> None:
        if outcome.result != "refused":
            show(("" if self._begun else HEAD + "\n") + styled(outcome.row, sys.stdout) + "\n")
            self._begun = True


def endings(outcomes: Sequence[Outcome]) -> str:
    """How those that failed ended."""
    text = ""
    for outcome in outcomes:
        if outcome.result == "FAILED":
            text += f"\n{outcome.name} ended with these lines:\n"
            text += "".join(f"    {line.rstrip()}".rstrip() + "\n" for line in outcome.last_lines)
    return text


def counts(outcomes: Sequence[Outcome], verbose: bool) -> str:
    """How many did what, in one line; empty if none ran."""
    names: dict[str, list[str]] = {}
    for outcome in outcomes:
        names.setdefault(outcome.result, []).append(outcome.name)
    if [*names] == ["refused"]:
        return ""
    parts = [f"{len(names.get('ok', []))} of {len(outcomes)} ok"]
    parts += [f"{len(names[other])} {other}" for other in ("skipped", "refused") if other in names]
    if "FAILED" in names:
        parts.append(f"{len(names['FAILED'])} FAILED: {', '.join(names['FAILED'])}")
    return f"\n{', '.join(parts)}{'' if verbose else ' (-v shows what they print)'}\n"


def refusals(outcomes: Sequence[Outcome]) -> list[str]:
    """What is wrong with the options, each message once."""
    of_message: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.result == "refused":
            of_message.setdefault(outcome.refusal, []).append(outcome.name)
    return [
        message if len(names) == len(outcomes) else f"{', '.join(names)}: {message}"
        for message, names in of_message.items()
    ]
