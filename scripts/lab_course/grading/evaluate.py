"""What a submission of an assignment is worth."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab_cli import metrics
from lab_cli.assignments import OF_SPEED, POINTS, Assignment, Bound, Speed, points_of
from lab_cli.building.instrumented import NO_HAZARDS
from lab_cli.counters import metric_table
from lab_cli.counters.raw_csv import RawTable
from lab_cli.errors import BAD_USAGE, LabError
from lab_cli.exercise_sources import sources
from lab_cli.paths import ROOT
from lab_cli.results.csv_file import Row
from lab_cli.results.rows import number, positive
from lab_cli.verdicts import GOOD, WRONG_ROW

from . import gate
from .bubblewrap import NOBODY
from .kernel_source import KernelSource
from .programs import (
    CHECK,
    PROFILE,
    REPORTS,
    RESULTS,
    TIMES,
    Endless,
    Failed,
    Refused,
    Run,
    Workshop,
    steady,
)

SHAPE = ("parameters", "kernel", "grid", "block")  # columns in which rows of one run differ
WHOLE = " (relative error of the whole"
HAZARDS = "no hazards"
OF_REPORT = 6  # lines of the hazard check's
MOST_SEEN = 4000  # characters
NOT_TRIED = "not tried"
ENOUGH = 20  # seconds for somebody who looks at a program that does not end
SHIPPED = (
    "shipped/"  # before the name of the file in what is said of lines that are not the student's
)


# What a criterion is for. All that is of RIGHT must be met, or there are no points. A bound that is KEPT is a
# condition for those of a GOAL. SPEED is worth points of its own.
RIGHT, KEPT, GOAL, SPEED = "right", "kept", "goal", "speed"


@dataclass(frozen=True)
class Criterion:
    role: str
    about: str
    options: str
    purpose: str = RESULTS  # of the run that it takes
    on_gpu: bool = False  # that run is one of the GPU's program
    bound: Bound | None = None
    speed: Speed | None = None
    report: str = f"^{NO_HAZARDS}"  # a line of the hazard check's, as a regular expression
    command: str = ""  # that shows a student what is wrong


@dataclass(frozen=True)
class Finding:
    """What came of one criterion."""

    role: str
    about: str
    met: bool
    seen: str = ""  # where it is not met
    look: str = ""  # the command that shows it
    hazard: bool = False  # what is seen is what the hazard check reported, and not a wrong result


@dataclass(frozen=True)
class Grade:
    findings: list[Finding]
    problem: str = ""  # for which nothing could be judged
    kernels: dict[str, str] = field(default_factory=dict)  # bodies, as they were handed in

    @property
    def points(self) -> float:
        met = points_of(all(self._of(RIGHT)), all(self._of(KEPT)), self._of(GOAL))
        if met == POINTS and any(self._of(SPEED)):
            met += OF_SPEED
        return round(met, 2)

    @property
    def of(self) -> int:
        return POINTS + OF_SPEED * bool(self._of(SPEED))

    @property
    def missed(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.met]

    def _of(self, role: str) -> list[bool]:
        return [finding.met for finding in self.findings if finding.role == role]


def criteria(
    assignment: Assignment, exercise: str, hidden: Sequence[str], gpu: bool
) -> list[Criterion]:
    """All that counts, in the order in which it is told."""
    on_gpu = assignment.on_gpu
    found = [right(exercise, f"right with {size}", size, on_gpu) for size in assignment.sizes]
    found += [
        Criterion(RIGHT, f"right with further options ({number})", size, on_gpu=on_gpu)
        for number, size in enumerate(hidden, 1)
    ]
    check = assignment.check
    command = f"./lab check {exercise} -- {check}"
    if not on_gpu:
        found.append(Criterion(RIGHT, HAZARDS, check, CHECK, command=command))
    for bound in sorted(assignment.bounds, key=lambda each: each.goal):
        role = GOAL if bound.goal else KEPT
        command = f"./lab profile {exercise} --metrics {bound.metric} -- {bound.options}"
        found.append(
            Criterion(role, bound.count, bound.options, PROFILE, bound=bound, command=command)
        )
    speed = assignment.speed
    if speed and (gpu or on_gpu):
        role = GOAL if on_gpu else SPEED
        about = f"{speed.least:.0%} of the speed of {speed.of}"
        command = f"./lab run {exercise} -- {speed.options}"
        found.append(
            Criterion(role, about, speed.options, TIMES, True, speed=speed, command=command)
        )
    return found


def right(exercise: str, about: str, options: str, on_gpu: bool) -> Criterion:
    """Rows that must be right with these options."""
    command = f"./lab run {exercise} -- {options}"
    return Criterion(RIGHT, about, options, on_gpu=on_gpu, command=command)


class Grader:
    """Of one assignment, and the exercise as it is in this checkout. `hidden` are options of further runs
    whose results count, which a grade does not tell."""

    def __init__(
        self, assignment: Assignment, workshop: Workshop, hidden: Sequence[str] = ()
    ) -> None:
        self.assignment = assignment
        self.workshop = workshop
        self._hidden = hidden
        self.criteria = criteria(
            assignment, workshop.exercise.name, hidden, workshop.gpu is not None
        )
        source = workshop.exercise.source
        self._clean = KernelSource(source.read_text(encoding="utf-8"), source.name)
        headers = [*sources(source), *sorted((ROOT / "common").glob("*.cuh"))]
        self._known = gate.names_of_device_code(
            KernelSource(path.read_text(encoding="utf-8"), path.name) for path in headers
        )

    def check_hidden(self) -> None:
        """LabError (status 2) where the exercise, as it is here, does not take the hidden options."""
        if self.assignment.on_gpu and self.workshop.gpu is None:
            return  # a node with a GPU judges
        with _folder() as place:
            try:
                kind = program_for(self.criteria[0])
                program = self.workshop.build(self._clean.text, place, kind)
            except Failed as failure:
                raise LabError(f"{self._clean.path} {failure}") from failure
            for options in self._hidden:
                self._try(program, options)

    def _try(self, program: Path, options: str) -> None:
        try:
            self.workshop.run(program, options, RESULTS)
        except Refused as failure:
            said = str(failure).splitlines()[-1]
            raise LabError(f"--also={options}: {said}", BAD_USAGE) from failure
        except Failed:  # a result that is missing, as in a hand-out
            return

    def grade(self, text: str) -> Grade:
        """Of a student's NAME.cu, of which nothing is taken but the bodies of the assignment's kernels."""
        kernels: dict[str, str] = {}
        try:
            copy = self.copy(text, kernels)
        except LabError as error:
            return self.nothing(str(error), kernels)
        with _folder() as place:
            # Where what is said of a line finds it.
            (place / self._clean.path).write_text(text, encoding="utf-8")
            try:
                programs = {
                    program: self.workshop.build(copy, place, program)
                    for program in dict.fromkeys(map(program_for, self.criteria))
                }
            except Failed as failure:
                return self.nothing(str(failure), kernels)
            judge = Judge(self.assignment, self.workshop, programs)
            return Grade([judge.finding(each) for each in self.criteria], kernels=kernels)

    def nothing(self, problem: str, kernels: Mapping[str, str] | None = None) -> Grade:
        """Of a submission in which there is nothing to judge."""
        findings = [Finding(each.role, each.about, False) for each in self.criteria]
        return Grade(findings, problem, dict(kernels or {}))

    def copy(self, text: str, kernels: dict[str, str]) -> str:
        """The exercise with the student's bodies, which are added to `kernels`; their lines are those of
        the student's file. LabError says what is not taken."""
        name_of_file = self._clean.path
        submitted = KernelSource(text, name_of_file)
        bodies = {}
        for name in self.assignment.kernels:
            theirs, ours = submitted.function(name), self._clean.function(name)
            kernels[name] = submitted.body(name)
            if theirs.signature != ours.signature:
                raise LabError(
                    f"{name}: what stands before its body is not as it was handed out: only the body is yours"
                )
            first, after = submitted.line(theirs.body), self._clean.line(ours.end)
            known = self._known | (gate.names_of_host_code(ours) if ours.of_host else set())
            body = gate.taken(submitted.body(name), known, first, f"{name_of_file}: {name}")
            bodies[name] = (
                f'\n#line {first} "{name_of_file}"\n{body}\n#line {after} "{SHIPPED}{name_of_file}"\n'
            )
        return self._clean.with_bodies(bodies)


@contextmanager
def _folder() -> Iterator[Path]:
    """That nobody can read but who builds and runs what is in it, which root has done by another user."""
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)


def program_for(criterion: Criterion) -> str:
    """One program checks, counts, and says what is right. The other one is that of the GPU."""
    return TIMES if criterion.on_gpu else CHECK


class Judge:
    """Runs the programs of one submission, in each way once. Without an assignment all rows are judged."""

    def __init__(
        self, assignment: Assignment | None, workshop: Workshop, programs: Mapping[str, Path]
    ) -> None:
        self._assignment = assignment
        self._workshop = workshop
        self._programs = programs
        self._runs: dict[tuple[str, str], Run | str] = {}  # or why there is none
        self._endless = ""  # the options with which a run came to no end: no other is begun

    def finding(self, criterion: Criterion) -> Finding:
        hazard = self._hazard(criterion)
        seen = hazard or self._wrong_with(criterion)
        if not seen:
            return Finding(criterion.role, criterion.about, True)
        seen, look = seen[:MOST_SEEN], criterion.command
        if self._endless:
            look = look.replace(" -- ", f" --timeout {ENOUGH} -- ", 1)
        return Finding(criterion.role, criterion.about, False, seen, look, bool(hazard))

    def _hazard(self, criterion: Criterion) -> str:
        """Of the hazard check's report; empty if it is as it should be."""
        run = self._run(criterion)
        if (
            isinstance(run, str)
            or criterion.purpose != CHECK
            or re.search(criterion.report, _last_line(run.report))
        ):
            return ""
        report = "\n".join(run.report.splitlines()[:OF_REPORT])
        return steady(report) or "the check reported nothing"

    def _wrong_with(self, criterion: Criterion) -> str:
        """Empty if it is met."""
        run = self._run(criterion)
        if isinstance(run, str):
            return run
        if self._assignment is None:
            return _wrong_verdict(run, run.rows)
        wrong = _wrong_rows(run, self._assignment.rows)
        if not wrong and criterion.bound:
            return _beyond(criterion.bound, run, self._assignment.launches)
        if not wrong and criterion.speed:
            return _slow(criterion.speed, run, self._assignment.rows)
        return wrong

    def run_all(self, criteria: Sequence[Criterion]) -> None:
        """Makes the runs that these take, several at a time. Results that a report shows as well take none."""
        reports = sorted(criteria, key=lambda each: each.purpose == RESULTS)
        wanted = {(each.options, each.purpose): each for each in reversed(reports)}
        for each in reports:
            if any((each.options, kind) in wanted for kind in REPORTS):
                wanted.pop((each.options, RESULTS), None)
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for key, run in zip(wanted, threads.map(self._workshop_run, wanted.values())):
                self._runs[key] = run

    def closer(self, criterion: Criterion, finding: Finding) -> Finding:
        """A wrong result as the hazard check's run tells it, which may know the thread that wrote it."""
        key = (criterion.options, CHECK)
        if key not in self._runs and not self._endless:
            self._runs[key] = self._workshop_run(replace(criterion, purpose=CHECK))
        if not isinstance(self._runs.get(key), Run):
            return finding
        seen = self._wrong_with(criterion)[:MOST_SEEN]
        return replace(finding, seen=seen) if seen else finding

    def values(self, bound: Bound, kernel: str) -> list[float]:
        """What the launches of a kernel come to; empty where that is not known."""
        run = self._runs.get((bound.options, PROFILE))
        if not isinstance(run, Run):
            return []
        try:
            return [value for _, value in _counted(bound, run, [kernel])]
        except LabError:
            return []

    def timed(self, options: str) -> list[Row]:
        """The rows of the run for times with these options, if there was one."""
        run = self._runs.get((options, TIMES))
        return run.rows if isinstance(run, Run) else []

    def counts(self, options: str) -> RawTable | None:
        """What was counted with these options, if it was."""
        run = self._runs.get((options, PROFILE))
        return run.counts if isinstance(run, Run) else None

    def _run(self, criterion: Criterion) -> Run | str:
        options, purpose = criterion.options, criterion.purpose
        kinds = [*REPORTS, RESULTS] if purpose == RESULTS else [purpose]
        for kind in kinds:  # each shows the rows
            if (options, kind) in self._runs:
                return self._runs[options, kind]
        ran = self._workshop_run(criterion)
        self._runs[options, purpose] = ran
        return ran

    def _workshop_run(self, criterion: Criterion) -> Run | str:
        program = self._programs[program_for(criterion)]
        if self._endless:
            return f"{NOT_TRIED}: {self._endless}"
        try:
            return self._workshop.run(program, criterion.options, criterion.purpose)
        except Endless as failure:
            self._endless = f"with {criterion.options} it {str(failure).splitlines()[0]}"
            return str(failure)
        except Failed as failure:
            return str(failure)


def _last_line(text: str) -> str:
    return text.splitlines()[-1] if text else ""


def _wrong_rows(run: Run, names: Sequence[str]) -> str:
    """What is wrong with the rows of these names; empty if nothing is."""
    for name in names:
        rows = [row for row in run.rows if row.get("kernel") == name]
        shapes = [tuple(row.get(column, "") for column in SHAPE) for row in rows]
        if not rows:
            return "\n".join([f"there is no row {name}: the program ended before", *run.said[-2:]])
        if len(set(shapes)) < len(shapes):
            return f"the row {name} is there twice"
        wrong = _wrong_verdict(run, rows)
        if wrong:
            return wrong
    return ""


def _wrong_verdict(run: Run, rows: Sequence[Row]) -> str:
    """What is wrong with the first of these rows whose verdict is no good one; empty if there is none."""
    for row in rows:
        if row.get("check") not in GOOD:
            name = row.get("kernel", "")
            said = [line.strip() for line in run.said if line.startswith(f"{WRONG_ROW}{name}")]
            # The error of the whole depends on what stands in memory that a kernel reads by mistake.
            return said[0].partition(WHOLE)[0] if said else f"{name} is WRONG"
    return ""


def _beyond(bound: Bound, run: Run, kernels: Sequence[str]) -> str:
    """The first launch for which the bound does not hold; empty if there is none."""
    try:
        launched = _counted(bound, run, kernels)
    except LabError as error:
        return str(error)
    if not launched:
        return f"{', '.join(kernels)}: not launched"
    for kernel, value in launched:
        if not bound.holds(value):
            unit = f" {metrics.load().find([bound.metric])[0].unit}".rstrip()
            return f"{bound.metric} of {kernel} is {value:,.10g}{unit}"
    return ""


def _counted(bound: Bound, run: Run, kernels: Sequence[str]) -> list[tuple[str, float]]:
    """Each launch of these kernels, and what it comes to. LabError where that could not be counted."""
    assert run.counts is not None
    asked = metrics.load().find([bound.metric])
    found = []
    for row in metric_table.build(run.counts, asked, "", []).rows:
        if row.kernel.partition("<")[0] in kernels:
            value = row.values[0]
            if not isinstance(value, float):
                raise LabError(f"{bound.metric} of {row.kernel} could not be counted")
            found.append((row.kernel, value))
    return found


def _slow(speed: Speed, run: Run, names: Sequence[str]) -> str:
    """The first row that is too slow; empty if there is none."""
    try:
        (other,) = [number(row, "median_ms") for row in run.rows if row["kernel"] == speed.of]
        for row in run.rows:
            if row["kernel"] in names:
                share = other / positive(row, "median_ms")
                if share < speed.least:
                    return f"{row['kernel']} has {share:.1%} of the speed of {speed.of}"
    except ValueError:
        return f"there is no row {speed.of} to compare with, or more than one"
    except LabError as error:
        return str(error)
    return ""
