"""The cases of each test of an exercise: which program runs with which options, and who judges what it
printed. All of it follows from exercise.toml."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import NamedTuple

import judges
import launches
from case_lines import SKIPPED
from program import Done, run, run_noting

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from lab_cli import catalogue, metrics  # noqa: E402
from lab_cli.counters import raw_csv  # noqa: E402
from lab_cli.counters.raw_csv import Launch  # noqa: E402
from lab_cli.exercise_facts import Cases, Facts, Hazards  # noqa: E402
from lab_cli.results import csv_file, store  # noqa: E402
from lab_cli.results.csv_file import Row  # noqa: E402

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
COMPARE = ROOT / "tests" / "emulator" / "profiler" / "compare.py"


class Outcome(NamedTuple):
    """What came of a case."""

    problem: str  # empty if all was right
    printed: str = ""
    skipped: bool = False
    notes: Sequence[str] = ()  # what a student may want to know, right or wrong


class Case(NamedTuple):
    """One run, by the name that a reader can type as a command."""

    name: str
    try_it: Callable[[], Outcome]


@dataclass(frozen=True)
class Exercise:
    """The exercise that is tested, and its program on one back end."""

    facts_file: Path
    facts: Facts
    program: Path

    @property
    def source(self) -> Path:
        return self.facts_file.with_name(f"{self.facts_file.parent.name}.cu")

    @property
    def recorded(self) -> Path:
        """The folder of what a GPU measured and counted; of a student's copy, that of the original."""
        folder = self.facts_file.parent
        original = catalogue.sources().get(folder.name)
        if original and not (folder / "results").exists():
            folder = original.parent
        return folder / "results" / "h200"

    @cached_property
    def shipped(self) -> set[str]:
        """The kernels that a GPU has measured: all others in the table are a student's. Empty where nothing
        was measured, or where the table has no kernels."""
        path = store.file(self.recorded)
        if not path.exists():
            return set()
        rows = csv_file.parse(csv_file.read_text(path), path).rows
        return {row["kernel"] for row in rows if "kernel" in row}


def results(exercise: Exercise, backend: str) -> Iterator[Case]:
    """Right rows at each of its runs."""
    tests = exercise.facts.tests
    runs = tests.runs if backend == "gpu" else _with_one_repetition(tests)
    for options in [*runs, f"{tests.runs[0]} --profile", f"{tests.runs[0]} --csv"]:
        yield _run(exercise, options, _table_or_csv(exercise, options))


def numbers(exercise: Exercise, backend: str) -> Iterator[Case]:
    """The right numbers in the rows of the kernels as they were shipped, what it must print, and which values of
    its options it must refuse."""
    tests = exercise.facts.tests
    runs = [options for options in tests.runs if "--csv" in options]
    runs += [f"{options} --csv --reps=4 --host-times" for options in tests.small_runs]
    runs.append(f"{tests.runs[0]} --csv --reps=1")  # where an emulation shows no times
    for options in runs:
        yield _numbers(exercise, options)
    yield from _matching(exercise, ("prints", f"prints_on_{backend}", "fails", "rejects"))


def _numbers(exercise: Exercise, options: str) -> Case:
    name = exercise.source.stem
    judge = partial(judges.numbers_problem, exercise=name, facts=exercise.facts)
    return _run(exercise, options, judge)


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
    yield _numbers(exercise, f"{exercise.facts.tests.runs[0]} --csv --reps=1")
    yield from _matching(exercise, ("prints_on_gpu",))


def options(exercise: Exercise) -> Iterator[Case]:
    """Its --help, and what every exercise must refuse."""
    tests = exercise.facts.tests
    named = re.findall(r"--[a-z]+", " ".join([*tests.runs, *tests.slow_runs]))
    yield _run(exercise, "--help", partial(judges.help_problem, options=named))
    rejected = list(REJECTED_BY_ALL.items())
    is_first = exercise.facts_file == min(exercise.facts_file.parents[1].glob("*/exercise.toml"))
    for words, regex in rejected if is_first else rejected[:1]:
        yield _run(exercise, words, partial(judges.rejects_problem, regexes=[regex]))


def hazards(exercise: Exercise) -> Iterator[Case]:
    """The hazard check must find no more than is there on purpose: by default nothing, with the small runs and
    the first whose blocks have four warps or more."""
    tests = exercise.facts.tests
    for entry in tests.hazards:
        yield _hazards(exercise, entry.options, entry.at_most)
    if not tests.hazards:
        warps = [run for run in tests.runs if WARPS.search(run)][:1]
        for words in dict.fromkeys([*exercise.facts.tests.small_runs, *warps]):
            yield _hazards(exercise, words, Hazards(words, 0).at_most)


def counts(exercise: Exercise) -> Iterator[Case]:
    """The rows must say what was launched, where the table has columns for it. Of kernels that a student has
    added, this says what the cpu profiler counts."""
    for options in exercise.facts.tests.small_runs:  # --block differs
        yield from _launches(exercise, options, "(launches)", launches.problem)


def as_shipped(exercise: Exercise) -> Iterator[Case]:
    """The hazard check must find what is there on purpose. Rows with numbers in their names must be launches of
    such kernels. The cpu profiler must count what a GPU counted, where there is a recording of that."""
    for entry in exercise.facts.tests.hazards:
        yield _hazards(exercise, entry.options, entry.exactly)
    odd = exercise.facts.tests.small_runs[-1]
    yield from _launches(exercise, odd, "(names)", launches.name_problem)
    if (exercise.recorded / "counts.debug.csv").exists():
        yield Case(_name(exercise, "(counts of a GPU)"), partial(_gpu_counts, exercise))


def _name(exercise: Exercise, options: str) -> str:
    return f"{exercise.program.name} {options}".rstrip()


def _run(exercise: Exercise, options: str, judge: Callable[[Done], str]) -> Case:
    command = [str(exercise.program), *shlex.split(options)]
    return Case(_name(exercise, options), partial(_judged, command, judge))


def _table_or_csv(exercise: Exercise, options: str) -> Callable[[Done], str]:
    if "--csv" in options:
        return partial(judges.csv_problem, exercise=exercise.source.stem)
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


def _launches(
    exercise: Exercise,
    options: str,
    about: str,
    judge: Callable[[Sequence[Row], Sequence[Launch]], str],
) -> Iterator[Case]:
    """Compares the rows of a run with what was launched, unless the table has no columns for it."""
    if "Columns::kPlain" in exercise.source.read_text(encoding="utf-8"):
        return
    yield Case(_name(exercise, f"{options} {about}"), partial(_compared, exercise, options, judge))


def _compared(
    exercise: Exercise, options: str, judge: Callable[[Sequence[Row], Sequence[Launch]], str]
) -> Outcome:
    command = [str(exercise.program), *shlex.split(options), "--csv", "--profile"]
    done, profile = run_noting(command, "CUDA_EMULATOR_PROFILE")
    printed = done.stdout + done.stderr
    if done.returncode != 0:
        return Outcome(f"exit status {done.returncode}, expected 0", printed)
    head, *cells = judges.csv_rows(done, exercise.source.stem) or [[]]
    rows = [dict(zip(head, row)) for row in cells]
    launched = raw_csv.parse(profile).launches
    known = metrics.load()
    asked = known.find(exercise.facts.metrics or known.own)
    is_last = options == exercise.facts.tests.small_runs[-1]
    notes = [*launches.descriptions(rows, launched, exercise.shipped, asked)] if is_last else []
    return Outcome(judge(rows, launched), printed, notes=notes)


def _gpu_counts(exercise: Exercise) -> Outcome:
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
    "as_shipped": as_shipped,
    "numbers": partial(numbers, backend="cpu"),
    "numbers_on_gpu": partial(numbers, backend="gpu"),
}
