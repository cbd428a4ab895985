"""What a submission is worth, with a workshop that builds nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from exercise_sample import FACTS
from grading_sample import (
    ASSIGNMENT_ON_GPU,
    ENTRY,
    ENTRY_ON_GPU,
    GOOD_ROWS,
    SILENT,
    SOURCE,
    FakeWorkshop,
    assignment,
    assignment_on_gpu,
    counted,
    exercise_at,
    row,
)
from lab_cli import assignments
from lab_cli.counters.raw_csv import RawTable
from lab_cli.errors import LabError
from lab_course.grading import programs
from lab_course.grading.evaluate import MOST_SEEN, Grader, Judge, criteria
from lab_course.grading.programs import (
    CHECK,
    PROFILE,
    RESULTS,
    TIMES,
    Endless,
    Failed,
    Refused,
    Run,
)


@pytest.fixture
def workshop(exercises) -> FakeWorkshop:
    return FakeWorkshop(exercise_at(exercises("chapter/order")))


def missed(grade) -> dict[str, str]:
    """What was seen of what is not met."""
    return {each.about: each.seen for each in grade.missed}


def test_all_is_met(workshop) -> None:
    grade = Grader(assignment(), workshop).grade(SOURCE)
    assert [(each.about, each.met) for each in grade.findings] == [
        ("right with --size=10", True),
        ("right with --size=33", True),
        ("no hazards", True),
        ("gst_efficiency >= 95 %", True),
    ]
    assert (grade.points, grade.of, grade.problem) == (10, 10, "")
    assert grade.kernels == {"better": "\n    out[threadIdx.x] = in[threadIdx.x];\n"}


def test_nobody_else_reads_what_is_graded(workshop, monkeypatch) -> None:
    modes: list[int] = []

    def build(text: str, folder: Path, purpose: str) -> Path:
        modes.append(folder.stat().st_mode & 0o777)
        return folder / f"for {purpose}"

    monkeypatch.setattr(workshop, "build", build)
    assert Grader(assignment(), workshop).grade(SOURCE).points == 10
    assert modes == [0o700]


def test_nothing_but_bodies_is_taken(workshop) -> None:
    submitted = "#define kBlock 1\n" + SOURCE.replace("= 64", "= 65").replace(
        "* 2] =", "* 3] ="
    ).replace("out[threadIdx.x] = in", "/* mine */ out[threadIdx.x + 0] = in").replace(
        "About order", "ok ok ok"
    )
    Grader(assignment(), workshop).grade(submitted)
    (text,) = workshop.built
    assert "out[threadIdx.x + 0] = in[threadIdx.x];" in text
    rest = text[: text.index("{", text.index("void better"))]
    assert rest == SOURCE[: SOURCE.index("{", SOURCE.index("void better"))]
    assert text[text.index("}\n\nlab::Exercise") :] == SOURCE[SOURCE.index("}\n\nlab::Exercise") :]


def test_lines_are_those_of_the_students_file(workshop) -> None:
    Grader(assignment(), workshop).grade("\n\n\n" + SOURCE)
    lines = workshop.built[0].splitlines()
    place = next(i for i, line in enumerate(lines) if "out[threadIdx.x] = in" in line)
    directive = next(i for i in range(place, 0, -1) if lines[i].startswith("#line"))
    first = int(lines[directive].split()[1])
    submitted = ("\n\n\n" + SOURCE).splitlines()
    assert submitted[first + place - directive - 2] == "    out[threadIdx.x] = in[threadIdx.x];"


@pytest.mark.parametrize(
    ("submitted", "problem"),
    [
        ("", "order.cu: better is not there"),
        (SOURCE + SOURCE[SOURCE.index("__global__ void better") :], "better is defined 2 times"),
        (SOURCE.replace("void better(const", "void better("), "what stands before its body"),
        (
            SOURCE.replace("out[threadIdx.x] = in", "\ngoto x; out[threadIdx.x] = in"),
            "order.cu: better, line 13: goto is not taken",
        ),
        ("/*", "order.cu:1: error: this comment never ends"),
    ],
)
def test_what_cannot_be_taken_is_worth_nothing(workshop, submitted: str, problem: str) -> None:
    grade = Grader(assignment(), workshop).grade(submitted)
    assert problem in grade.problem
    assert (grade.points, grade.of) == (0, 10)
    assert workshop.built == []


def test_one_wrong_size_is_worth_nothing(workshop) -> None:
    said = "    WRONG: better: element 3 is 4 (relative error of the whole 1.39e+00, tolerance 0)"
    workshop.runs["--size=33", ""] = Run([row("before"), row("better", "WRONG")], [said])
    grade = Grader(assignment(), workshop).grade(SOURCE)
    assert missed(grade) == {"right with --size=33": "WRONG: better: element 3 is 4"}
    assert grade.points == 0


COUNT = "gst_efficiency >= 95 %"
GOALS = [{"count": COUNT, "options": f"--size={size}", "goal": True} for size in (64, 65)]
KEPT = {"count": COUNT, "options": "--size=66"}


@pytest.mark.parametrize(
    ("missed", "points"),
    [
        ([], 10),
        (["--size=65"], 4),  # one of two goals
        (["--size=64", "--size=65"], 3),
        (["--size=66"], 3),  # a bound that is no goal
        (["--size=64", "--size=66"], 3),
        (["no hazards"], 0),
    ],
)
def test_what_bounds_are_worth(workshop, missed: list[str], points: float) -> None:
    for options in missed:
        workshop.runs[options, PROFILE] = Run(GOOD_ROWS, counts=counted(50.0))
    if "no hazards" in missed:
        workshop.runs["--size=10", CHECK] = Run(GOOD_ROWS, report="1 hazard found in 2 launches.")
    grader = Grader(assignment(bounds=[KEPT, *GOALS]), workshop)
    assert grader.grade(SOURCE).points == points


@pytest.mark.parametrize(("size", "points"), [("--size=12", 10), ("--size=33", 0)])
def test_without_bounds_right_rows_are_all_that_counts(workshop, size: str, points: int) -> None:
    workshop.runs[size, ""] = Run([row("before"), row("better", "WRONG")])
    assert Grader(assignment(bounds=[]), workshop).grade(SOURCE).points == points


def of_another_unit() -> RawTable:
    counts = counted(100.0)
    return RawTable(dict.fromkeys(counts.units, "byte"), counts.launches)


WRONG_ROWS = [row("before"), row("better", "WRONG")]
SMALL, BOUND = ("--size=10", CHECK), ("--size=64", PROFILE)
NOT_LAUNCHED = "better: not launched"
NO_COUNT = "gst_efficiency of better<64> could not be counted"
TOO_LOW = "gst_efficiency of better<64> is 50 %"
NO_ROW = "there is no row better: the program ended before"
NO_REPORT = "the check reported nothing"
HAZARD = "1. race in shared memory at {}\n\n1 hazard found in 2 launches."


@pytest.mark.parametrize(
    ("options", "purpose", "run", "seen"),
    [
        ("--size=10", "", Run([row("before", "WRONG"), row("better")]), None),  # of another kernel
        ("--size=10", "", Run([row("better"), row("better", "ok", "size=10 tile=8")]), None),
        ("--size=10", "", Run([row("before")]), NO_ROW),
        ("--size=10", "", Run([*GOOD_ROWS, row("better")]), "the row better is there twice"),
        ("--size=10", "", Run([row("before"), row("better", "")]), "better is WRONG"),
        ("--size=10", "", Failed("killed by SIGSEGV"), "killed by SIGSEGV"),
        ("--size=10", "", Refused("ended with exit status 2"), "ended with exit status 2"),
        (*SMALL, Run(GOOD_ROWS, report=HAZARD.format("0x7f0011223344")), HAZARD.format("0x...")),
        (*SMALL, Run(GOOD_ROWS), NO_REPORT),
        (*SMALL, Run(GOOD_ROWS, report="no kernel was launched"), "no kernel was launched"),
        (*SMALL, Run(GOOD_ROWS, report="x" * 10**6), "x" * MOST_SEEN),
        (*SMALL, Run(WRONG_ROWS, report=SILENT), "better is WRONG"),
        (*BOUND, Run(WRONG_ROWS, counts=counted(100.0)), "better is WRONG"),
        (*BOUND, Run(GOOD_ROWS, counts=counted(100.0, 50.0)), TOO_LOW),
        (*BOUND, Run(GOOD_ROWS, counts=counted()), NOT_LAUNCHED),
        (*BOUND, Run(GOOD_ROWS, counts=counted(100.0, kernel="betterThan")), NOT_LAUNCHED),
        (*BOUND, Run(GOOD_ROWS, counts=counted(None)), NO_COUNT),
        (
            *BOUND,
            Run(GOOD_ROWS, counts=of_another_unit()),
            "a value in 'byte' cannot be shown in '%'",
        ),
    ],
)
def test_what_a_run_is_worth(
    workshop, options: str, purpose: str, run: Run | Failed, seen: str | None
) -> None:
    """Each criterion by itself: of one that is missed, why."""
    about = {"": "right with --size=10", CHECK: "no hazards", PROFILE: "gst_efficiency >= 95 %"}
    command = {
        "": "./lab run order -- --size=10",
        CHECK: "./lab check order -- --size=10",
        PROFILE: "./lab profile order --metrics gst_efficiency -- --size=64",
    }
    workshop.runs[options, purpose] = run
    reports = [HAZARD.format("0x..."), "no kernel was launched", "x" * MOST_SEEN, NO_REPORT]
    grade = Grader(assignment(), workshop).grade(SOURCE)
    assert missed(grade) == ({about[purpose]: seen} if seen else {})
    assert any(each.hazard for each in grade.missed) == (seen in reports)
    looks = [each.look for each in grade.missed]
    assert looks == ([command[purpose]] if seen else [])


def test_who_wrote_a_wrong_value_is_told_where_the_check_knows_it(workshop) -> None:
    size = "--size=33"
    (wanted,) = [
        each
        for each in criteria(assignment(), "order", [], gpu=False)
        if each.options == size and each.purpose == RESULTS
    ]
    said = "    WRONG: better: element 3 is 4, expected 5"
    rows = [row("before"), row("better", "WRONG")]
    workshop.runs[size, RESULTS] = Run(rows, [said])
    judge = Judge(assignment(), workshop, {CHECK: workshop.build("", Path(), CHECK)})
    found = judge.finding(wanted)
    for check, seen in [
        (
            Run(rows, [f"{said}; thread (0,0,0) wrote it"]),
            f"{said.strip()}; thread (0,0,0) wrote it",
        ),
        (Run(GOOD_ROWS), said.strip()),
        (Failed("killed"), said.strip()),
    ]:
        workshop.runs[size, CHECK] = check
        judge = Judge(assignment(), workshop, {CHECK: workshop.build("", Path(), CHECK)})
        assert judge.closer(wanted, judge.finding(wanted)) == replace(found, seen=seen)


def test_further_sizes_count_and_are_not_told(workshop) -> None:
    workshop.runs["--size=77", ""] = Run([row("before"), row("better", "WRONG")])
    grade = Grader(assignment(), workshop, ["--size=77"]).grade(SOURCE)
    assert (grade.points, grade.of) == (0, 10)
    assert "77" not in str(grade)


@pytest.mark.parametrize("before", ["", "\f", "\r", "\u2028", "\n", "\n" * 9])
def test_what_counts_is_the_last_line_of_the_report(workshop, before: str) -> None:
    """A comment of a line that races is in the report, too."""
    report = f"1. race\n         s[0] = 1; // {before}{SILENT}\n\n1 hazard found, and not {SILENT}"
    workshop.runs["--size=10", CHECK] = Run(GOOD_ROWS, [SILENT], report)
    assert [*missed(Grader(assignment(), workshop).grade(SOURCE))] == ["no hazards"]
    workshop.runs["--size=10", CHECK] = Run(GOOD_ROWS, report=f"note: 1 hazard found\n\n{SILENT}")
    assert missed(Grader(assignment(), workshop).grade(SOURCE)) == {}


def test_after_a_run_without_an_end_nothing_is_run(workshop) -> None:
    workshop.runs["--size=33", ""] = Endless("had not ended after 5 s")
    grade = Grader(assignment(), workshop).grade(SOURCE)
    assert workshop.asked == [("--size=10", ""), ("--size=33", "")]
    assert grade.points == 0
    assert missed(grade)["no hazards"] == "not tried: with --size=33 it had not ended after 5 s"


SPEED = {"of": "before", "least": 0.9, "options": "--size=1M"}


@pytest.mark.parametrize(
    ("before", "better", "seen"),
    [
        ("0.9", "1.0", None),
        ("0.89", "1.0", "better has 89.0% of the speed of before"),
        ("0.8996", "1.0", "better has 90.0% of the speed of before"),
        ("", "1.0", "before has no number in column median_ms: ''"),
        ("1.0", "0", "better has no positive number in column median_ms: '0'"),
        (None, "1.0", "there is no row before to compare with, or more than one"),
    ],
)
def test_speed_on_a_gpu(workshop, before: str | None, better: str, seen: str | None) -> None:
    workshop.gpu = "a GPU"
    times = {"before": before, "better": better}
    workshop.runs["--size=1M", TIMES] = Run(
        [{**row(name), "median_ms": time} for name, time in times.items() if time is not None]
    )
    grade = Grader(assignment(speed=SPEED), workshop).grade(SOURCE)
    assert (grade.points, grade.of) == (10 if seen else 12, 12)
    assert missed(grade) == ({"90% of the speed of before": seen} if seen else {})


def test_without_a_gpu_speed_does_not_count(workshop) -> None:
    grade = Grader(assignment(speed=SPEED), workshop).grade(SOURCE)
    assert (grade.points, grade.of) == (10, 10)
    assert not any(purpose == TIMES for _, purpose in workshop.asked)


@pytest.mark.parametrize(
    ("verdict", "better", "points", "seen"),
    [
        ("ok", "0.4", 10, None),
        ("ok", "0.8", 3, "better has 125.0% of the speed of before"),
        ("WRONG", "0.1", 0, "better is WRONG"),
    ],
)
def test_an_exercise_of_a_gpu_is_graded_there_by_its_speed(
    exercises, verdict: str, better: str, points: float, seen: str | None
) -> None:
    place = exercises("ch09/order", "gpu_only = true\n" + FACTS + ASSIGNMENT_ON_GPU)
    workshop = FakeWorkshop(exercise_at(place), gpu="a GPU")
    rows = [row("before"), row("better", verdict)]
    workshop.runs["--size=33", ""] = Run(rows)
    times = {"before": "1.0", "better": better}
    workshop.runs["--size=1M", TIMES] = Run(
        [{**each, "median_ms": times[each["kernel"]]} for each in rows]
    )
    (given,) = workshop.exercise.facts.assignments
    grade = Grader(given, workshop).grade(SOURCE)
    assert (grade.points, grade.of) == (points, 10)
    assert missed(grade).get("200% of the speed of before") == seen
    assert [purpose for _, purpose in workshop.asked] == ["", "", TIMES]


def test_hidden_options_are_not_tried_where_there_is_no_gpu_for_them(exercises) -> None:
    place = exercises("ch09/order", "gpu_only = true\n" + FACTS)
    workshop = FakeWorkshop(exercise_at(place), does_not_compile="no nvcc")
    Grader(assignment_on_gpu(), workshop, ["--size=7"]).check_hidden()
    assert workshop.built == []


def test_an_assignment_of_a_gpu_has_a_speed_and_nothing_for_the_cpu() -> None:
    problems: list[str] = []
    entries = [ENTRY, {key: ENTRY_ON_GPU[key] for key in ENTRY_ON_GPU if key != "speed"}]
    assert assignments.of_file(entries, problems, gpu_only=True) == []
    assert [word for word in ("check", "bounds", "speed") if word in "\n".join(problems)] == [
        "check",
        "bounds",
        "speed",
    ]


def test_hidden_options_that_the_exercise_does_not_take(workshop) -> None:
    Grader(assignment(), workshop, ["--size=7"]).check_hidden()
    assert workshop.asked == [("--size=7", "")]
    workshop.runs["--size=7", ""] = Failed("ended with exit status 1")  # it is not solved here
    Grader(assignment(), workshop, ["--size=7"]).check_hidden()
    workshop.runs["--sizes=7", ""] = Refused(
        "ended with exit status 2\norder: --sizes=7: no such option"
    )
    with pytest.raises(LabError, match="^--also=--sizes=7: order: --sizes=7: no such") as problem:
        Grader(assignment(), workshop, ["--size=7", "--sizes=7"]).check_hidden()
    assert problem.value.status == 2


def test_of_what_is_said_the_beginning_alone_is_looked_at(monkeypatch) -> None:
    looked_at: list[str] = []
    monkeypatch.setattr(programs, "steady", lambda text: looked_at.append(text) or text)
    assert programs.excerpt("\n /a/b\n" + "c\n" * 1000, "/a/") == [" b", *["c"] * 11]
    assert len(looked_at) == 12


@pytest.mark.parametrize("compiler", ["bin/c++", "opt/bin/c++"])
def test_a_compiler_beside_what_is_nobodys_business(tmp_path, monkeypatch, compiler: str) -> None:
    path = tmp_path / compiler
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    os.chmod(path, 0o755)
    monkeypatch.setenv("CXX", str(path))
    monkeypatch.setenv("HOME", str(tmp_path))
    if compiler == "opt/bin/c++":
        assert programs.of_compiler() == [tmp_path / "opt"]
    else:
        with pytest.raises(LabError, match=f"all files of {tmp_path} at hand"):
            programs.of_compiler()
