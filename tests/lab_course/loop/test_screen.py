"""What the student sees of a verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from exercise_sample import FACTS
from grading_sample import ASSIGNMENT, SOURCE
from lab_cli import catalogue
from lab_cli.assignments import Assignment
from lab_course.grading.evaluate import GOAL, HAZARDS, KEPT, RIGHT, Finding
from lab_course.loop import screen
from lab_course.loop.copy import Copy
from lab_course.loop.times import Times
from lab_course.loop.verdict import NOT_KNOWN, Count, Verdict

LONG = "kernel better: element 123456789 is -0.123456789, expected 0.987654321 and more " * 12
SIZES = [Finding(RIGHT, f"right with --size={n}", True) for n in (1, 33)]
CLEAN = Finding(RIGHT, HAZARDS, True)
KEPT_COUNT, GOAL_COUNT = Finding(KEPT, "a >= 1", True), Finding(GOAL, "b == 0", True)
SIZE = "--size=64"
COUNTS = [Count("b == 0", SIZE, "0", "9", True), Count("a >= 1", SIZE, "5", "5", True)]


def missed(finding: Finding, seen: str = LONG, hazard: bool = False) -> Finding:
    look = "./lab run order -- --size=33"
    return Finding(finding.role, finding.about, False, seen, look, hazard)


@pytest.fixture
def copy(exercises) -> Copy:
    exercises("ch03/order", FACTS + ASSIGNMENT).write_text(SOURCE)
    return Copy(catalogue.one("order"))


def text(copy: Copy, *findings: Finding, problem: str = "", counts: list[Count] = COUNTS) -> str:
    assignment: Assignment = copy.exercise.facts.assignments[0]
    verdict = Verdict(assignment, 1.5, problem, [*findings], counts)
    found = screen.lines(copy, verdict)
    heading = screen.heading(copy, assignment, screen.took(verdict), screen.plain)
    everything = "\n".join([heading, "", *found]).splitlines()
    assert max(map(len, everything)) <= 80
    assert len(everything) <= 20  # there is room for a hint and the keys in 24
    return "\n".join(everything)


def test_all_points(copy: Copy) -> None:
    said = text(copy, *SIZES, CLEAN, KEPT_COUNT, GOAL_COUNT)
    assert "at all 2 sizes" in said and "10 of 10 points" in said and "1.5 s" in said


def test_what_differs_from_the_kernel_before(copy: Copy) -> None:
    assignment = copy.exercise.facts.assignments[0]
    told = [f"sectors per store {n} -> 4 (better; {n} times fewer)" for n in (32, 16)]
    verdict = Verdict(assignment, 1.5, "", [*SIZES, CLEAN, GOAL_COUNT], COUNTS, differs=told)
    said = screen.lines(copy, verdict)
    assert max(map(len, said)) <= 80
    assert f"from {assignment.before}: {told[0]}, {told[1]}" in " ".join(" ".join(said).split())
    wrong = replace(verdict, findings=[SIZES[0], missed(SIZES[1]), CLEAN, GOAL_COUNT])
    assert told[0] not in "\n".join(screen.lines(copy, wrong))


def test_of_what_is_wrong_the_first_is_told(copy: Copy) -> None:
    wrong = "WRONG: better: element 1 is 2"
    said = text(copy, SIZES[0], missed(SIZES[1]), missed(CLEAN, wrong), missed(GOAL_COUNT))
    assert "1 of 2 sizes" in said and "--size=33" in said and "0 of 10" in said
    assert "\n  hazards" not in said and "\n  counts" not in said


def test_a_race_is_told_beside_the_wrong_result(copy: Copy) -> None:
    race = "1. race in shared memory\n   order.cu:7\n   order.cu:9\n" * 5
    said = text(copy, SIZES[0], missed(SIZES[1]), missed(CLEAN, race, hazard=True))
    assert "1 of 2 sizes" in said and "order.cu:7" in said and "order.cu:9" in said


def test_a_hazard_alone_is_told_to_the_end(copy: Copy) -> None:
    said = [
        "1. device memory out of bounds: 4 bytes beyond the end of allocation 1 (4000 bytes)",
        "   kernel better, block (15,0,0), element 1000 of 1000 (of 4 bytes each)",
        "     ../far/away/work/order/order.cu:7: thread (40,0,0) read",
        "         out[threadIdx.x] = in[threadIdx.x];",
        "   and 71 more times",
        "   check the index against the number of elements",
    ]
    lines = text(copy, *SIZES, missed(CLEAN, "\n".join(said), hazard=True)).splitlines()
    told = " ".join(line.strip() for line in lines)
    for end in ("(4000 bytes)", "bytes each)", " order.cu:7: thread (40,0,0) read", "of elements"):
        assert end in told
    assert "away" not in told


def test_a_wrong_result_in_the_run_of_the_check_is_no_hazard(copy: Copy) -> None:
    said = text(copy, *SIZES, missed(CLEAN, "better is WRONG"))
    assert "better is WRONG" in said and "--size=33" in said and "0 of 10" in said
    assert "hazards" not in said.partition("points")[0]


def test_a_hazard(copy: Copy) -> None:
    said = text(
        copy, *SIZES, missed(CLEAN, "race\n  line 7\n  line 9", hazard=True), missed(GOAL_COUNT)
    )
    assert "line 7" in said and "line 9" in said and "0 of 10" in said


def test_a_count_that_misses_its_goal_stands_beside_the_kernel_before(copy: Copy) -> None:
    counts = [Count("b == 0", SIZE, "5,952", "5,953", False), COUNTS[1]]
    said = text(copy, *SIZES, CLEAN, KEPT_COUNT, missed(GOAL_COUNT), counts=counts)
    (row,) = [line.split() for line in said.splitlines() if line.split()[:1] == ["b"]]
    assert row == ["b", "5,952", "5,953", "==", "0", "no"]
    assert "3 of 10 points" in said


def test_the_worst_line_stands_below_the_counts(copy: Copy) -> None:
    assignment = copy.exercise.facts.assignments[0]
    findings = [*SIZES, CLEAN, KEPT_COUNT, missed(GOAL_COUNT)]
    for words in ("order.cu:7 takes 31 of 32 sectors in vain", f"order.cu:7 {LONG}"):
        verdict = Verdict(assignment, 1.5, "", findings, COUNTS * 3, worst=words)
        found = screen.lines(copy, verdict)
        (first,) = [i for i, line in enumerate(found) if "order.cu:7" in line]
        assert "worst line" in found[first] and found[first + 1 :][:3].count("") == 1
        assert all(len(line) <= screen.WIDTH for line in found)


def test_what_is_cut_says_so(copy: Copy) -> None:
    wrong = [replace(SIZES[0], met=False, seen=seen) for seen in (LONG, "sum is 3, expected 4")]
    cut, whole = (text(copy, each, SIZES[1]).splitlines() for each in wrong)
    (last,) = [line for line in cut if line.endswith(" ...")]
    assert last.split()[0] in LONG and max(map(len, cut)) <= screen.WIDTH
    assert not [line for line in whole if line.endswith("...")]


def test_each_count_stands_below_the_options_of_its_run(copy: Copy) -> None:
    other = replace(COUNTS[0], options="--size=9", yours="7", met=False)
    said = text(copy, *SIZES, CLEAN, counts=[COUNTS[0], other, COUNTS[1]]).splitlines()
    rows = [line.split()[:2] for line in said if line.split()[:1] in (["with"], ["a"], ["b"])]
    with_size = ["with", SIZE]
    assert rows == [with_size, ["b", "0"], ["with", "--size=9"], ["b", "7"], with_size, ["a", "5"]]


def test_a_kernel_that_nobody_launched_has_no_column(copy: Copy) -> None:
    before = copy.exercise.facts.assignments[0].before
    alone = [replace(each, before=NOT_KNOWN) for each in COUNTS]
    assert before in text(copy, *SIZES, CLEAN, counts=[alone[0], COUNTS[1]])
    said = text(copy, *SIZES, CLEAN, counts=alone)
    assert before not in said and NOT_KNOWN not in said.split()


def test_what_does_not_compile_shows_the_compilers_words(copy: Copy) -> None:
    problem = "does not compile: x\n" + "\n".join(f"order.cu:{n}: error: {LONG}" for n in range(40))
    said = text(copy, problem=problem)
    assert "order.cu:0: error" in said and "points" not in said


def test_what_nobody_has_written_yet_has_no_verdict(copy: Copy) -> None:
    copy.file.parent.mkdir(parents=True)
    copy.file.write_text(SOURCE)
    verdict = Verdict(copy.exercise.facts.assignments[0], 1.5, blank=True)
    said = "\n".join(screen.lines(copy, verdict))
    assert f"order.cu:{copy.line_of(['better'])}" in said and "order/README.md" in said
    assert "0 of 10 points" in said and "right" not in said


def test_of_several_missed_counts_the_first_goal_is_looked_at(copy: Copy) -> None:
    kept, goal = missed(KEPT_COUNT), missed(GOAL_COUNT)
    kept = replace(kept, look="./lab profile order --metrics a")
    said = text(copy, *SIZES, CLEAN, kept, goal)
    assert goal.look in said.splitlines()[-1] and kept.look not in said


def test_a_line_for_times(copy: Copy) -> None:
    line = screen.times(Times("NVIDIA H200 --size=1M", [("better", 0.123456), ("before", 2.0)]))
    assert "better 0.1235 ms; before 2 ms" in line


@pytest.mark.parametrize("rows", [5, 6, 10, 24])
def test_a_hint_stays_on_a_small_terminal(rows: int) -> None:
    verdict = [str(number) if number % 3 else "" for number in range(1, 40)]
    found = screen.fitted(verdict, ["", "hint", "(2 more)", "", "keys"], rows)
    assert len(found) <= rows and found[0] == "1"
    assert [line for line in found if line][-3:] == ["hint", "(2 more)", "keys"]
    assert ("38" in found) == (rows > 5)  # the end of the verdict


def test_what_fits_stays_as_it_is() -> None:
    assert screen.fitted(["a", "", "b"], ["", "keys"], 24) == ["a", "", "b", "", "keys"]
