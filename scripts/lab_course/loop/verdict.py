"""What a student's copy is worth now: whether it compiles, is right and free of hazards, and what its kernels
count beside the goal. One instrumented program tells all of it. An exercise that is gpu_only is judged on a GPU
instead, by its results and its speed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab_cli.assignments import Assignment
from lab_cli.building import instrumented, own_program, presets
from lab_cli.catalogue import Exercise
from lab_cli.comparison import rung_before, versions
from lab_cli.counters import raw_csv
from lab_cli.errors import LabError
from lab_cli.exercise_facts import Hazards
from lab_cli.files import make_build_folder
from lab_cli.lines import recorded, worst
from lab_cli.machine import backend, setup
from lab_cli.paths import OUT
from lab_cli.results.csv_file import Row

from ..grading.evaluate import (
    GOAL,
    HAZARDS,
    KEPT,
    NOT_TRIED,
    RIGHT,
    Criterion,
    Finding,
    Grade,
    Judge,
    criteria,
    right,
)
from ..grading.programs import (
    CHECK,
    TIMES,
    Failed,
    Workshop,
    gpu_of_this_machine,
    require_gpu,
)
from .copy import Copy
from .times import Times

IN_USE = 600  # seconds
PREAMBLES = OUT / "watch"  # what copies include, compiled: of one exercise, since it takes 70 MB
NOT_KNOWN = "-"  # a count of a kernel that was not launched
SECONDS = 10.0  # that a run may take
MOST_DIFFERENCES = 2  # from the kernel before, of which the first matter most


@dataclass(frozen=True)
class Count:
    """A bound, and what it bounds."""

    bound: str
    options: str  # with which it was counted
    yours: str  # of the student's kernel
    before: str  # of the kernel before it in the ladder
    met: bool


@dataclass(frozen=True)
class Verdict:
    assignment: Assignment | None
    seconds: float
    problem: str = ""  # for which nothing could be judged: the compiler's message
    findings: list[Finding] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    blank: bool = False  # there is nothing to judge yet
    differs: list[str] = field(default_factory=list)  # in counts, from the kernel before it
    worst: str = (
        ""  # where a count misses its bound, the line that costs most in vain, and what it costs
    )
    times: Times | None = None  # where the verdict itself rests on them

    @property
    def points(self) -> float:
        return Grade(self.findings).points if self.assignment and self.findings else 0

    @property
    def right(self) -> list[Finding]:
        """What was found at each size."""
        return [each for each in self.findings if each.about.startswith("right")]

    @property
    def is_right(self) -> bool:
        """At all sizes, and without a hazard."""
        return bool(self.findings) and all(each.met for each in self.findings if each.role == RIGHT)

    @property
    def wrong_result(self) -> Finding | None:
        """The first, which may be one that the run of the hazard check has."""
        missed = [each for each in self.findings if not each.met and each.role == RIGHT]
        return min((each for each in missed if not each.hazard), key=_place, default=None)

    @property
    def speed(self) -> Finding | None:
        """The goal of an assignment that is judged on a GPU."""
        goals = [each for each in self.findings if each.role == GOAL]
        return goals[0] if self.assignment and self.assignment.on_gpu and goals else None

    @property
    def hazards(self) -> list[Finding]:
        return [each for each in self.findings if each.about.startswith(HAZARDS)]

    @property
    def first_miss(self) -> Finding | None:
        """In the order in which all is shown: goals come before other bounds, and what was not even tried
        comes after the reason for that."""
        missed = [each for each in self.findings if not each.met]
        return min(missed, key=_place, default=None)


def _place(finding: Finding) -> tuple[int, bool]:
    return [RIGHT, GOAL, KEPT].index(finding.role), finding.seen.startswith(NOT_TRIED)


class Bench:
    """Where verdicts on one exercise are made."""

    def __init__(self, exercise: Exercise) -> None:
        """LabError for an exercise that is judged on a GPU, where there is none."""
        self.copy = Copy(exercise)
        if exercise.facts.gpu_only:
            gpu = require_gpu(exercise)
            self._workshop = Workshop(exercise, gpu.build_folder, False, SECONDS, gpu)
            return
        cmake = setup.ensure("cpu")
        instrumented.require_compiler()
        folder = presets.build(cmake, "cpu", *own_program.targets(own_program.INSTRUMENTED))
        self._preamble = PREAMBLES / exercise.name
        self._workshop = Workshop(
            exercise, folder, sandboxed=False, seconds=SECONDS, preamble=self._preamble
        )

    def verdict(self, assignment: Assignment | None) -> Verdict:
        """On the copy as it is now."""
        start = time.monotonic()
        if self.copy.exercise.facts.gpu_only:
            return self._on_gpu(assignment, start)
        wanted = _criteria(self.copy.exercise, assignment)
        make_room(self._preamble)
        with tempfile.TemporaryDirectory(prefix="lab-") as place:
            try:
                program = self._workshop.compile(self.copy.file, Path(place), CHECK)
            except Failed as failure:
                return Verdict(assignment, time.monotonic() - start, str(failure))
            if assignment and self.copy.is_blank:
                return Verdict(assignment, time.monotonic() - start, blank=True)
            judge = Judge(assignment, self._workshop, {CHECK: program})
            judge.run_all(wanted)
            findings = [judge.finding(each) for each in wanted]
            told = Verdict(assignment, 0, findings=findings).wrong_result
            if told:
                number = findings.index(told)
                findings[number] = judge.closer(wanted[number], told)
            counts = _counts(assignment, judge, findings) if assignment else []
            differs = _differs(assignment, judge) if assignment else []
            line = "" if told else self._worst(assignment, program, counts)
        seconds = time.monotonic() - start
        return Verdict(assignment, seconds, "", findings, counts, differs=differs, worst=line)

    def _on_gpu(self, assignment: Assignment | None, start: float) -> Verdict:
        """By one program, whose runs come one after the other: two at a time would disturb each other's times."""
        wanted = _criteria(self.copy.exercise, assignment)
        if assignment and self.copy.is_blank:
            return Verdict(assignment, time.monotonic() - start, blank=True)
        with tempfile.TemporaryDirectory(prefix="lab-") as place:
            try:
                program = self._workshop.compile(self.copy.file, Path(place), TIMES)
            except Failed as failure:
                return Verdict(assignment, time.monotonic() - start, str(failure))
            judge = Judge(assignment, self._workshop, {TIMES: program})
            findings = [judge.finding(each) for each in wanted]
        speed = assignment.speed if assignment else None
        rows = judge.timed(speed.options) if speed else []
        times = _times(assignment, rows) if assignment and rows else None
        return Verdict(assignment, time.monotonic() - start, findings=findings, times=times)

    def _worst(self, assignment: Assignment | None, program: Path, counts: Sequence[Count]) -> str:
        """It takes one more run, with the options of the first bound that is missed."""
        missed = next((count for count in counts if not count.met), None)
        if not assignment or not missed:
            return ""
        try:
            run = self._workshop.run(program, missed.options, recorded.VARIABLE)
            wanted = _of_kernels(run.report, assignment.launches)
            profile = recorded.parse(wanted, "", program.parent)
        except (Failed, LabError, ValueError):  # the counts themselves are there
            return ""
        found = worst.of_all(profile.kernels)
        return f"{found[1].name} {found[1].reason}" if found else ""

    def times(self, assignment: Assignment) -> Iterator[Times]:
        """Of the student's rows, the one before and the one to beat, where there is a GPU and the verdict does not
        rest on them."""
        if assignment.on_gpu or not backend.has_gpu():
            return
        workshop = replace(self._workshop, gpu=gpu_of_this_machine())
        options = assignment.speed.options if assignment.speed else ""
        with tempfile.TemporaryDirectory(prefix="lab-") as place:
            try:
                program = workshop.compile(self.copy.file, Path(place), TIMES)
                run = workshop.run(program, options, TIMES)
            except Failed:  # what is wrong there, ./lab run tells
                return
        yield _times(assignment, run.rows)


def _times(assignment: Assignment, rows: Sequence[Row]) -> Times:
    """Of a run with the options of its speed."""
    speed = assignment.speed
    wanted = [*assignment.rows, assignment.before, *([speed.of] if speed else [])]
    found = [
        (row["kernel"], float(row["median_ms"]))
        for name in dict.fromkeys(wanted)
        for row in rows
        if row.get("kernel") == name and row.get("median_ms")
    ]
    device = rows[0].get("device", "GPU") if rows else "GPU"
    return Times(f"{device} {speed.options if speed else ''}".strip(), found)


def _of_kernels(report: str, names: Sequence[str]) -> str:
    """Of the counts by line, those of these kernels: it takes time to find the lines of all."""
    data = json.loads(report)
    data["kernels"] = [
        kernel
        for kernel in data["kernels"]
        if raw_csv.short_name(kernel["name"]).partition("<")[0] in names
    ]
    return json.dumps(data)


def make_room(folder: Path) -> None:
    """Makes the folder of one preamble. Those of other exercises go, unless they were in use within the last ten
    minutes: another `./lab watch` may just compile with one."""
    make_build_folder(folder)
    os.utime(folder)
    for other in folder.parent.glob("*"):
        with suppress(FileNotFoundError):  # another watch has just removed it
            if other.stat().st_mtime < folder.stat().st_mtime - IN_USE:
                shutil.rmtree(other, ignore_errors=True)


def _criteria(exercise: Exercise, assignment: Assignment | None) -> Sequence[Criterion]:
    if assignment:
        return criteria(assignment, exercise.name, [], gpu=False)
    tests = exercise.facts.tests
    on_gpu = exercise.facts.gpu_only
    found = [
        right(exercise.name, f"right with {options}", options, on_gpu)
        for options in tests.small_runs
    ]
    if on_gpu:
        return found
    for expected in tests.hazards or [Hazards(tests.small_runs[0], 0)]:
        about = f"{HAZARDS} but those on purpose" if expected.hazards else HAZARDS
        options, report = expected.options, expected.at_most
        command = f"./lab check {exercise.name} -- {options}"
        found.append(Criterion(RIGHT, about, options, CHECK, report=report, command=command))
    return found


def _counts(assignment: Assignment, judge: Judge, findings: Sequence[Finding]) -> list[Count]:
    """Of all bounds, the goals first."""
    met = {each.about: each.met for each in findings}
    found = []
    for bound in sorted(assignment.bounds, key=lambda each: not each.goal):
        own = [value for kernel in assignment.launches for value in judge.values(bound, kernel)]
        before = judge.values(bound, assignment.before)
        shown, before_it = _shown(bound.worst(own)), _shown(bound.worst(before))
        found.append(Count(bound.count, bound.options, shown, before_it, met[bound.count]))
    return found


def _differs(assignment: Assignment, judge: Judge) -> list[str]:
    """With the options of the first goal."""
    goals = [bound for bound in assignment.bounds if bound.goal]
    counts = judge.counts(goals[0].options) if goals else None
    if counts is None:
        return []
    return rung_before.told(assignment, versions.of_raw(counts), MOST_DIFFERENCES)


def _shown(value: float | None) -> str:
    return NOT_KNOWN if value is None else f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
