"""Times of two versions on a GPU: their runs alternate, and a test says whether the difference is more than chance."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import work
from ..building import own_program, presets
from ..counters import nsys, profilers, raw_csv, recording, rungs
from ..errors import BAD_USAGE, NO_GPU, LabError
from ..machine import setup
from ..process import cannot_run, describe, say, shown, status_of
from ..progress import Progress
from ..time_limit import TimeLimit
from ..verdicts import only_wrong
from . import significance
from .asked import Program

PAIRS = 10  # runs of each version
REPS = "--reps=20"  # measured runs of a kernel within one run of an exercise
NANOSECONDS = 1e6  # of a millisecond
WITHOUT_NSYS = ". Without it, programs that print no times cannot be timed"

Key = tuple[
    str, int
]  # a row of an exercise, and its number among those of its name; or a kernel, and 0
Times = Mapping[Key, float]  # milliseconds, of one run
Run = Callable[[], Times]


@dataclass(frozen=True)
class Timed:
    """Of two versions the times of their pairs of runs, in milliseconds."""

    before: Sequence[float]
    after: Sequence[float]
    differ: bool  # by more than chance
    probability: float

    @property
    def medians(self) -> tuple[float, float]:
        return statistics.median(self.before), statistics.median(self.after)

    @property
    def ratio(self) -> float:
        """The median of what the version after takes, of the time of its partner."""
        return statistics.median(b / a for a, b in zip(self.before, self.after))


def judged(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> list[Timed]:
    """Comparisons that are made together: `before` and `after` of each, run for run."""
    probabilities = [significance.probability(before, after) for before, after in pairs]
    differ = significance.shown_to_differ(probabilities)
    return [
        Timed(*pair, differs, chance) for pair, differs, chance in zip(pairs, differ, probabilities)
    ]


def in_words(timed: Timed) -> str:
    """'time 0.309 ms -> 0.149 ms (52 % less), in all 10 pairs of runs (p = 0.002)'"""
    before, after = timed.medians
    values = f"time {before:.4g} ms -> {after:.4g} ms"
    count = len(timed.before)
    if not timed.differ:
        return (
            f"{values}: no difference that these {count} pairs of runs can show (p = {_p(timed)})"
        )
    return f"{values} ({_change(timed.ratio)}; {count} pairs of runs, p = {_p(timed)})"


def _change(ratio: float) -> str:
    if ratio <= 0.5:
        return f"{1 / ratio:.3g} times faster"
    if ratio >= 2:
        return f"{ratio:.3g} times slower"
    share = 100 * abs(1 - ratio)
    return f"{share:.2g} % {'less' if ratio < 1 else 'more'}"


def _p(timed: Timed) -> str:
    return f"{timed.probability:.2g}"


def alternate(runs: Sequence[Run], pairs: int) -> Iterator[tuple[Times, Times]]:
    """Runs both versions in turns: A B, B A, A B ... A pair has both orders as often, since the second run of a
    pair may find the GPU warmer. One run of each that does not count comes first."""
    before, after = runs
    with Progress("measuring") as progress:
        for run in runs:
            run()
        for number in range(pairs):
            progress.update("", number, pairs)
            if number % 2:
                second = after()
                yield before(), second
            else:
                first = before()
                yield first, after()


def measure(
    programs: Sequence[Program],
    names: Sequence[Sequence[str]],
    options: Sequence[str],
    timeout: float | None,
    pairs: int = PAIRS,
) -> list[tuple[Times, Times]]:
    """The times of every row or kernel in the same pairs of runs of two programs. `names` are the rows that are
    wanted of each: where it is one, an exercise does not run those whose names are unlike it."""
    runs = [
        _limited(_runner(program, wanted, options, place), timeout)
        for program, wanted, place in zip(programs, names, ("before", "after"))
    ]
    return [*alternate(runs, pairs)]


def _limited(run: Run, timeout: float | None) -> Run:
    def limited() -> Times:
        with TimeLimit(timeout):
            return run()

    return limited


def _runner(program: Program, names: Sequence[str], options: Sequence[str], place: str) -> Run:
    if program.exercise is None:
        return _own(program.file, options, place)
    exercise = program.exercise
    with work.meaning_shipped(program.shipped):
        folder = presets.build(setup.ensure("gpu"), "gpu", exercise.target)
        only = [f"--kernel={names[0]}"] if len(names) == 1 else []
        command = [str(exercise.program(folder)), "--csv", REPS, *options, *only]
    return lambda: of_rows(rungs.rows_of(exercise.name, _output(command)))


def _own(file: str, options: Sequence[str], place: str) -> Run:
    """A program of somebody's own prints no times: Nsight Systems records what its kernels take."""
    choice, _ = profilers.require_gpu("")
    tool = nsys.find(choice.nvcc, WITHOUT_NSYS)
    built = own_program.for_gpu([file], choice, setup.ensure("gpu"), debug=False)
    kept = built.with_name(f"{built.name}.{place}")  # the other file may have the same name
    built.replace(kept)

    def run() -> Times:
        with tempfile.TemporaryDirectory(prefix="lab-") as folder:
            report = Path(folder) / f"run{nsys.SUFFIX}"
            nsys.record(tool, report, [str(kept), *options])
            return of_work(nsys.stats(tool, report, recording.WORK, recording.FIRST_OF_WORK))

    return run


def of_rows(rows: Sequence[Mapping[str, str]]) -> Times:
    """The medians in the rows of an exercise."""
    found: dict[Key, float] = {}
    seen: Counter[str] = Counter()
    for row in rows:
        name = row.get("kernel", "")
        value = raw_csv.number(row.get("median_ms") or "")
        if isinstance(value, float):
            found[name, seen[name]] = value
        seen[name] += 1
    return found


def of_work(rows: Sequence[dict[str, str]]) -> Times:
    """What all launches of a kernel take together, in a recording of Nsight Systems."""
    found: Counter[str] = Counter()
    for item in recording.read(rows, []).work:
        if item.kernel:
            found[item.name] += (item.end - item.begin) / NANOSECONDS
    return {(name, 0): time for name, time in found.items()}


def _output(command: Sequence[str]) -> str:
    """What an exercise prints. WRONG rows have times, too."""
    say("+ " + shown(command))
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise LabError(cannot_run(command[0], error)) from error
    status = status_of(done.returncode)
    if status and not only_wrong(status, done.stderr):
        say((done.stdout + done.stderr).rstrip())
        raise LabError(
            f"the program ended with {describe(status)}; what it printed is above",
            status if status in (BAD_USAGE, NO_GPU) else 1,
        )
    return done.stdout
