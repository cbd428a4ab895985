"""The cases of each test of an exercise: which program runs with which options, and who judges what it
printed. All of it follows from exercise.toml."""

from __future__ import annotations

import csv
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import judges
import launches
from case_lines import SKIPPED
from program import Done, run, run_noting

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from lab_cli.counters import raw_csv  # noqa: E402
from lab_cli.exercise_facts import Cases, Facts  # noqa: E402

# Options that every exercise must refuse. They come from common/, so one exercise of a chapter tries all of
# them, and each other exercise the first.
REJECTED_BY_ALL = {
    "--bogus": "--bogus",
    "--rep=1": "--rep=1: no such option.* did you mean --reps[?]",
    "stray": "stray",
    "--reps=0": "--reps.*0",
    "--reps=abc": "--reps.*abc",
    "--seed=x": "--seed.*x",
    "--device=1023": "--device.*1023",
    "--kernel=nosuch": "--kernel.*nosuch",
}
WARPS = re.compile(
    r"--block[ =](128|256|512|1024)( |$)"
)  # whose warps wait for one another at a barrier
COMPARE = ROOT / "tests" / "emulator" / "profiler" / "compare.py"  # which a hand-out has not


class Outcome(NamedTuple):
    """What came of a case."""

    problem: str  # empty if all was right
    printed: str = ""
    skipped: bool = False


class Case(NamedTuple):
    """One run, by the name that a reader can type as a command."""

    name: str
    try_it: Callable[[], Outcome]


class Exercise(NamedTuple):
    """The exercise that is tested, and its program on one back end."""

    facts_file: Path
    facts: Facts
    program: Path

    @property
    def source(self) -> Path:
        return self.facts_file.with_name(f"{self.facts_file.parent.name}.cu")


def results(exercise: Exercise, backend: str) -> Iterator[Case]:
    """Right rows at each of its runs, right numbers in them, and what it must print."""
    tests = exercise.facts.tests
    numbers = [f"{options} --csv --reps=4 --host-times" for options in tests.small_runs]
    numbers.append(f"{tests.runs[0]} --csv --reps=1")  # where an emulation shows no times
    runs = tests.runs if backend == "gpu" else _with_one_repetition(tests)
    for options in [*runs, f"{tests.runs[0]} --profile", *numbers]:
        yield _run(exercise, options, _table_or_csv(exercise, options))
    yield from _matching(exercise, ("prints", f"prints_on_{backend}", "fails"))


def _with_one_repetition(tests: Cases) -> list[str]:
    """The runs. The small ones repeat each kernel; the others do so only where they say it themselves."""
    return [
        run if run in tests.small_runs or re.search("--(reps|profile)", run) else f"{run} --reps=1"
        for run in tests.runs
    ]


def few_results(exercise: Exercise) -> Iterator[Case]:
    """Right rows at the small runs, for a build in which everything takes long."""
    for options in exercise.facts.tests.small_runs:
        yield _run(exercise, options, _table_or_csv(exercise, options))


def slow_results(exercise: Exercise) -> Iterator[Case]:
    """Right rows at the runs that take long."""
    for options in exercise.facts.tests.slow_runs:
        yield _run(exercise, options, _table_or_csv(exercise, options))


def per_thread(exercise: Exercise) -> Iterator[Case]:
    """What its program must print that was compiled with --default-stream per-thread."""
    yield from _matching(exercise, ("prints_per_thread",))


def as_gpu(exercise: Exercise) -> Iterator[Case]:
    """The numbers and texts that NAME_as_gpu must print as on a GPU."""
    options = f"{exercise.facts.tests.runs[0]} --csv --reps=1"
    yield _run(exercise, options, _table_or_csv(exercise, options))
    yield from _matching(exercise, ("prints_on_gpu",))


def options(exercise: Exercise) -> Iterator[Case]:
    """Its --help, and what it must refuse."""
    tests = exercise.facts.tests
    named = re.findall(r"--[a-z]+", " ".join([*tests.runs, *tests.slow_runs]))
    yield _run(exercise, "--help", partial(judges.help_problem, options=named))
    rejected = list(REJECTED_BY_ALL.items())
    is_first = exercise.facts_file == min(exercise.facts_file.parents[1].glob("*/exercise.toml"))
    for words, regex in rejected if is_first else rejected[:1]:
        yield _run(exercise, words, partial(judges.rejects_problem, regexes=[regex]))
    yield from _matching(exercise, ("rejects",))


def hazards(exercise: Exercise) -> Iterator[Case]:
    """What the hazard check must say: by default nothing, with the small runs and the first whose blocks
    have four warps or more."""
    tests = exercise.facts.tests
    for entry in tests.hazards:
        yield _hazards(exercise, entry.options, entry.regex)
    if not tests.hazards:
        warps = [run for run in tests.runs if WARPS.search(run)][:1]
        for words in dict.fromkeys([*exercise.facts.tests.small_runs, *warps]):
            yield _hazards(exercise, words, "^no hazards found in [0-9]+ kernel launch")


def counts(exercise: Exercise) -> Iterator[Case]:
    """The rows must say what was launched, where the table has columns for it. The cpu profiler must count
    what a GPU counted, where there is a recording of that."""
    if "Columns::kPlain" not in exercise.source.read_text(encoding="utf-8"):
        odd = exercise.facts.tests.small_runs[-1]
        yield Case(_name(exercise, f"{odd} (launches)"), partial(_launches, exercise, odd))
    recorded = exercise.source.parent / "results" / "h200" / "counts.debug.csv"
    if recorded.exists() and COMPARE.exists():
        yield Case(_name(exercise, "(counts of a GPU)"), partial(_compare, exercise))


def _name(exercise: Exercise, options: str) -> str:
    return f"{exercise.program.name} {options}".rstrip()


def _run(exercise: Exercise, options: str, judge: Callable[[Done], str]) -> Case:
    command = [str(exercise.program), *shlex.split(options)]
    return Case(_name(exercise, options), partial(_judged, command, judge))


def _table_or_csv(exercise: Exercise, options: str) -> Callable[[Done], str]:
    if "--csv" in options:
        return partial(judges.csv_problem, facts=exercise.facts)
    return judges.table_problem


def _matching(exercise: Exercise, kinds: Sequence[str]) -> Iterator[Case]:
    """What [tests.KIND] says of each of its options."""
    for kind in kinds:
        judge = {"fails": judges.fails_problem, "rejects": judges.rejects_problem}.get(
            kind, judges.prints_problem
        )
        for options, regexes in exercise.facts.tests.matches[kind].items():
            yield _run(exercise, options, partial(judge, regexes=regexes))


def _judged(command: Sequence[str], judge: Callable[[Done], str]) -> Outcome:
    done = _done(tuple(command))
    printed = done.stdout + done.stderr
    if done.returncode == SKIPPED:
        return Outcome("", printed, skipped=True)
    return Outcome(judge(done), printed)


# Two cases may ask different things of the same run. It runs once.
_done = cache(run)


def _hazards(exercise: Exercise, options: str, regex: str) -> Case:
    words = shlex.split(options)
    if "--reps=" not in options:  # whose runs wait for each other less
        words.append("--profile")

    def try_it() -> Outcome:
        command = [str(exercise.program), *words]
        done, report = run_noting(command, "CUDA_EMULATOR_CHECK")
        printed = done.stdout + done.stderr + report
        return Outcome(judges.hazards_problem(done, report, regex), printed)

    return Case(_name(exercise, options), try_it)


def _launches(exercise: Exercise, options: str) -> Outcome:
    command = [str(exercise.program), *shlex.split(options), "--csv", "--profile"]
    done, profile = run_noting(command, "CUDA_EMULATOR_PROFILE")
    printed = done.stdout + done.stderr
    if done.returncode != 0:
        return Outcome(f"exit status {done.returncode}, expected 0", printed)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    return Outcome(launches.problem(rows, raw_csv.parse(profile).launches), printed)


def _compare(exercise: Exercise) -> Outcome:
    name = exercise.source.stem
    python = [sys.executable, "-B", "-S"]
    done = run([*python, str(COMPARE), str(exercise.program), name, str(exercise.source)])
    problem = "" if done.returncode == 0 else f"exit status {done.returncode}, expected 0"
    return Outcome(problem, done.stdout + done.stderr)


KINDS: dict[str, Callable[[Exercise], Iterator[Case]]] = {
    "results": partial(results, backend="cpu"),
    "results_on_gpu": partial(results, backend="gpu"),
    "few_results": few_results,
    "slow_results": slow_results,
    "per_thread": per_thread,
    "as_gpu": as_gpu,
    "options": options,
    "hazards": hazards,
    "counts": counts,
}
