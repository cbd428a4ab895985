"""Builds and runs what a report is about, and keeps what came of it. What goes wrong on the way is named in
the part that lacks it; the others are there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab_cli import catalogue, metrics, work
from lab_cli.assignments import Assignment
from lab_cli.building import instrumented, own_program, presets
from lab_cli.building.instrumented import CHECK, NO_HAZARDS, NO_LAUNCH
from lab_cli.catalogue import Exercise
from lab_cli.comparison import rung_before, versions
from lab_cli.counters import collect as counters
from lab_cli.counters.metric_table import MetricTable
from lab_cli.errors import BAD_USAGE, NO_GPU, LabError
from lab_cli.exercise_sources import sources
from lab_cli.lines import collect as by_line
from lab_cli.lines import source_text, worst
from lab_cli.lines.listing import size
from lab_cli.lines.model import LineProfile
from lab_cli.machine import backend as backends
from lab_cli.machine import zig
from lab_cli.machine.needs import find_compiler
from lab_cli.paths import shown
from lab_cli.process import describe
from lab_cli.progress import Progress
from lab_cli.results import reference
from lab_cli.testing import ctest
from lab_cli.testing.ctest_output import Reader
from lab_cli.testing.listing import ABOUT, tests_in
from lab_cli.testing.summary import Case as CtestCase
from lab_cli.time_limit import TimeLimit

from . import capture, changes, facts, figures, table, text
from .capture import Captured
from .facts import Check, Launch, Metric, Metrics, Program, Run, Tests
from .text import Cleaner, Text

MOST_CASES = 100  # failed tests that are named
MOST_OF_A_CASE = 4_000  # characters of what one of them printed
MOST_LAUNCHES = 200
MOST_DIFFERENCES = 4  # of a kernel from the one before
ABOVE = "; what it printed is above"
REASON_ABOVE = "; the reason is above"
WITHOUT_ZIG = "tests of hazards and counts are left out: they cannot be built with zig's compiler"
NOT_BUILT = "the program could not be built"
ON_PURPOSE = "the exercise, as it was shipped and without further options, has {} on purpose"
COUNTS = "counts"
COUNTS_ALONE = (
    "nothing but counts differs: from those of the exercise as it was shipped. That is so wherever a kernel "
    "was added, or does something else to memory or to branches now"
)


@dataclass(frozen=True)
class Setting:
    """What holds for all programs of a report."""

    backend: str  # gpu or cpu
    cmake: str
    options: Sequence[str]
    timeout: float | None
    figures: str  # the folder of results/ whose figures come first

    @property
    def emulated(self) -> bool:
        return self.backend == "cpu"


def exercise(found: Exercise, setting: Setting, progress: Progress) -> Program:
    clean = Cleaner()
    progress.update(item=found.name)
    compiles = True
    try:
        catalogue.of_backend([found], setting.backend, by_name=True)
        folder = _build(found, setting)
        run = _exercise_run(found, folder, setting, clean)
        tests = _tests(found, folder, setting, clean)
    except LabError as error:
        run = _not_run(error, clean)
        compiles = run.verdict != facts.FAILED
        tests = Tests(facts.NOT_KNOWN, run.problem if compiles else NOT_BUILT)
    source = work.source_of(found).read_text(encoding="utf-8", errors="replace")
    return Program(
        found.name,
        "exercise",
        [path.name for path in sorted(sources(found.source))],
        run,
        _check([found.name], found, setting, clean) if compiles else _unchecked(),
        _metrics([found.name], setting, clean) if compiles else Metrics(NOT_BUILT),
        found.chapter,
        clean(catalogue.sentence_about(source)),
        shown(found.page),
        tests,
        figures.of(found, setting.figures),
        changes.of(found, clean),
    )


def own(sources: Sequence[str], setting: Setting, progress: Progress) -> Program:
    clean = Cleaner(sources)
    name = Path(sources[0]).name
    progress.update(item=name)
    built = True
    try:
        run = _own_run(_own_program(sources, setting), setting, clean)
    except LabError as error:
        run = _not_run(error, clean)
        built = False
    return Program(
        name,
        "own",
        [clean(Path(source).name) for source in sources],
        run,
        _check(sources, None, setting, clean) if built else _unchecked(),
        _metrics(sources, setting, clean) if built else Metrics(NOT_BUILT),
    )


def _build(found: Exercise, setting: Setting) -> Path:
    """The programs of an exercise alone: another that does not compile is no reason to fail."""
    targets = [found.target]
    if setting.emulated and not zig.is_compiler(find_compiler()):
        targets.append(found.instrumented)
    return presets.build(setting.cmake, setting.backend, *targets)


def _own_program(sources: Sequence[str], setting: Setting) -> Path:
    if setting.emulated:
        return own_program.for_cpu(sources, setting.cmake, instrument=False)
    choice = backends.choose("gpu", backends.find_nvcc())
    return own_program.for_gpu(sources, choice, setting.cmake, debug=False)


def _problem(error: LabError, clean: Cleaner) -> str:
    """What the error says, where what it says to be above is not."""
    return clean(str(error).replace(ABOVE, "").replace(REASON_ABOVE, ""))


def _not_run(error: LabError, clean: Cleaner) -> Run:
    """A program that does not compile has failed; one that needs another machine is not known."""
    message = _problem(error, clean)
    if error.printed:
        message = f"it does not compile: {message}"
    failed = "not compile" in message
    verdict = facts.FAILED if failed else facts.NOT_KNOWN
    return Run(verdict, message, printed=text.cut(clean(error.printed)))


def _unchecked() -> Check:
    return Check(facts.NOT_KNOWN, NOT_BUILT)


def _exercise_run(found: Exercise, folder: Path, setting: Setting, clean: Cleaner) -> Run:
    command = [str(found.program(folder)), *setting.options, "--csv"]
    try:
        ran = capture.run(command, setting.timeout, together=False)
    except LabError as error:
        return Run(facts.FAILED, clean(str(error)))
    printed = _both(clean(ran.err.text), ran.err.left_out)
    if not ran.out.text.strip():
        return Run(*_verdict(ran, setting), ran.status, None, printed)
    try:
        if ran.out.left_out:
            raise LabError("it printed more than a table has")
        rows = table.read(found, ran.out.text, setting.emulated)
    except LabError as error:
        verdict, problem = _verdict(ran, setting)
        problem = "; ".join([*filter(None, [problem]), f"its table cannot be read: {error}"])
        everything = text.cut(clean(f"{ran.out.text}\n{ran.err.text}"))
        return Run(
            facts.FAILED if verdict == facts.OK else verdict,
            clean(problem),
            ran.status,
            None,
            everything,
        )
    built = table.build(rows, reference.load(found), clean)
    verdict, problem = _verdict(ran, setting)
    if table.wrong(rows) and verdict in (facts.OK, facts.FAILED):
        verdict, problem = facts.WRONG, "" if ran.status == 1 else problem
    return Run(verdict, problem, ran.status, built, printed)


def _both(printed: str, left_out: int) -> Text:
    """What is left out by now, and what is too long for a report."""
    found = text.cut(printed)
    return Text(found.text, found.left_out + left_out)


def _verdict(ran: Captured, setting: Setting) -> tuple[str, str]:
    """And why, where it is not ok."""
    if ran.late:
        return (
            facts.LATE,
            f"had not ended after {setting.timeout:g} seconds (--timeout), and was ended",
        )
    if ran.status == 0:
        return facts.OK, ""
    if ran.status == NO_GPU:
        return facts.NOT_KNOWN, "no usable GPU; --backend cpu runs without one"
    if ran.status == BAD_USAGE and setting.options:
        return facts.REFUSED, "it does not take these options"
    return facts.FAILED, describe(ran.status)


def _own_run(program: Path, setting: Setting, clean: Cleaner) -> Run:
    ran = capture.run([str(program), *setting.options], setting.timeout, together=True)
    verdict, problem = _verdict(ran, setting)
    if verdict == facts.REFUSED:  # 2 may mean anything
        verdict, problem = facts.FAILED, describe(ran.status)
    return Run(verdict, problem, ran.status, None, _both(clean(ran.out.text), ran.out.left_out))


def _tests(found: Exercise, folder: Path, setting: Setting, clean: Cleaner) -> Tests:
    limit = TimeLimit(setting.timeout)
    with Progress("testing") as progress:
        reader = Reader(progress, on_terminal=True, verbatim=False)

        def read(line: str) -> None:
            done = progress.state.done
            reader.shown(line)  # for the progress
            if progress.state.done != done:
                limit.begin()  # for the next test

        try:
            with limit:
                tests = tests_in(setting.cmake, folder)
                own = [test for test in tests if test.exercise == found.name and test.is_quick]
                ran = ctest.run(setting.cmake, folder, tests, own, [], read, True)
        except LabError as error:
            if limit.passed:
                return Tests(facts.LATE, clean(_late_test(progress.state.item, setting)))
            return Tests(facts.NOT_KNOWN, clean(str(error)))
    if not ran.cases:
        return Tests(facts.NOT_KNOWN, f"ctest says nothing of its tests ({describe(ran.status)})")
    return tests_of(ran.cases, clean, setting.emulated and zig.is_compiler(find_compiler()))


def _late_test(begun: str, setting: Setting) -> str:
    """Of several at the same time it may be another that does not end."""
    last = f"; {begun} began last" if begun else ""
    return (
        f"a test had not ended after {setting.timeout:g} seconds (--timeout), and all were ended{last}. "
        "./lab test says which of them pass"
    )


def tests_of(ran: Sequence[CtestCase], clean: Cleaner, without_instrumented: bool = False) -> Tests:
    """What the cases of an exercise that ran say."""
    counts = []
    for about in ABOUT:
        outcomes = [case.outcome for case in ran if case.about == about]
        passed, failed, skipped = (outcomes.count(word) for word in ("run", "fail", "notrun"))
        if outcomes:
            counts.append(facts.Count(about, passed, failed, skipped))
    failures = [case for case in ran if case.outcome == "fail"]
    first = {case.about: case for case in reversed(failures)}
    named = [
        facts.Case(
            text.short(clean(case.name)),
            case.about,
            _printed_by(case, case is first[case.about], clean),
        )
        for case in failures[:MOST_CASES]
    ]
    verdict = facts.FAILED if failures else facts.OK
    if not any(case.outcome == "run" for case in ran) and not failures:
        verdict = facts.NOT_KNOWN
    notes = [WITHOUT_ZIG] if without_instrumented else []
    if failures and all(case.about == COUNTS for case in failures):
        notes.append(COUNTS_ALONE)
    problem = "all of them were skipped" if verdict == facts.NOT_KNOWN else ""
    return Tests(verdict, problem, counts, named, len(failures) - len(named), notes)


def _printed_by(case: CtestCase, is_first: bool, clean: Cleaner) -> Text:
    """What a failed test printed; of all but the first about the same, how much it was."""
    if is_first:
        return text.cut(clean(case.printed), MOST_OF_A_CASE)
    return Text("", len(case.printed))


def _check(names: Sequence[str], found: Exercise | None, setting: Setting, clean: Cleaner) -> Check:
    limit = TimeLimit(setting.timeout)
    try:
        program = [*instrumented.built(found, names), *setting.options]
    except LabError as error:
        return Check(facts.NOT_KNOWN, _problem(error, clean))
    try:
        with limit:
            outcome = instrumented.run(program, CHECK)
    except LabError as error:
        if not limit.passed:
            return Check(facts.NOT_KNOWN, _problem(error, clean))
    check = check_of(outcome, limit, clean)
    if check.verdict == facts.HAZARDS and found and found.facts.hazards:
        many = f"{found.facts.hazards} hazard{'s' if found.facts.hazards > 1 else ''}"
        return replace(check, notes=[ON_PURPOSE.format(many)])
    return check


def check_of(outcome: instrumented.Outcome, limit: TimeLimit, clean: Cleaner) -> Check:
    """What the program that looked for hazards says."""
    findings, printed = text.cut(clean(outcome.report)), text.cut(clean(outcome.output))
    summary = findings.text.splitlines()[-1] if findings.text.strip() else ""
    if limit.passed:
        problem = f"it had not ended after {limit.seconds:g} seconds (--timeout), and was ended"
        return Check(facts.LATE, problem, "", findings, printed)
    nothing = summary.startswith((NO_HAZARDS, NO_LAUNCH))
    if not summary or (outcome.status != 0 and nothing):
        problem = f"the program ended with {describe(outcome.status)}"
        verdict = facts.REFUSED if outcome.status == BAD_USAGE else facts.FAILED
        return Check(verdict, problem, summary, findings, printed)
    if summary.startswith(NO_LAUNCH):
        return Check(
            facts.NOT_KNOWN,
            "no kernel was launched: there was nothing to look at",
            summary,
            findings,
        )
    return Check(facts.OK if nothing else facts.HAZARDS, "", summary, findings)


def _metrics(names: Sequence[str], setting: Setting, clean: Cleaner) -> Metrics:
    try:
        found = counters.collect(
            names,
            setting.backend,
            options=setting.options,
            timeout=setting.timeout,
            wrong_too=True,
        )
    except LabError as error:
        return Metrics(_problem(error, clean), printed=text.cut(clean(error.printed)))
    counted = metrics_of(found, clean)
    if setting.emulated and not found.failure:
        counted = _by_line(counted, names, setting, clean)
    return counted


def _by_line(counted: Metrics, names: Sequence[str], setting: Setting, clean: Cleaner) -> Metrics:
    """With the worst lines, and with what differs from the kernels before. Without both where lines cannot be
    counted here, as without objdump: the metrics say enough."""
    every = [metric.name for metric in metrics.load().metrics.values() if metric.cpu]
    try:
        table, profile = by_line.collect(
            names, setting.backend, setting.options, setting.timeout, every
        )
    except LabError:
        return counted
    found = catalogue.at(*names)
    assignments = found.facts.assignments if found else []
    return replace(
        counted,
        worst_lines=worst_lines_of(profile, clean),
        differs=differs_of(assignments, versions.of_table(table)),
    )


def differs_of(
    assignments: Sequence[Assignment], launches: Sequence[versions.Launch]
) -> list[facts.Differs]:
    """Of the kernels that were launched."""
    found = [(each, rung_before.told(each, launches, MOST_DIFFERENCES)) for each in assignments]
    return [
        facts.Differs(", ".join(each.launches), each.before, words)
        for each, words in found
        if words
    ]


def worst_lines_of(profile: LineProfile, clean: Cleaner) -> list[facts.WorstLine]:
    found = [(kernel, worst.of(kernel)) for kernel in profile.kernels]
    return [
        facts.WorstLine(
            text.short(clean(kernel.name)),
            size(kernel.grid),
            size(kernel.block),
            clean(line.place.file.name),
            line.place.line,
            text.short(clean(source_text.line_of(line.place.file, line.place.line).strip())),
            f"{line.reason}.",
        )
        for kernel, line in found[:MOST_LAUNCHES]
        if line
    ]


def metrics_of(found: MetricTable, clean: Cleaner) -> Metrics:
    shown_cells = list(zip(*(found.shown(index) for index in range(len(found.metrics)))))
    launches = [
        Launch(
            text.short(clean(row.kernel)),
            row.grid,
            row.block,
            [_finite(value) for value in row.values],
            [text.short(clean(cell)) for cell in cells],
        )
        for row, cells in zip(found.rows[:MOST_LAUNCHES], shown_cells)
    ]
    known = [Metric(m.name, m.unit, m.meaning, m.better) for m in found.metrics]
    left_out = len(found.rows) - len(launches)
    return Metrics("", found.source, [*found.notes], known, launches, left_out)


def _finite(value: facts.Cell) -> facts.Cell:
    """JSON has no other numbers."""
    return value if not isinstance(value, float) or math.isfinite(value) else None
