"""The cases that each test of an exercise has, and what its runner makes of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import check_exercise
import pytest
from exercise_cases import KINDS, REJECTED_BY_ALL, Case, Exercise, Outcome
from lab_cli import exercise_facts
from lab_fixtures import shell_program

FACTS = """\
order = 10
idea = "x"
[tests]
runs = ["--size=100", "--size=10", "--size=17 --block=128", "--size=7 --csv", "--size=33 --block=64"]
slow_runs = ["--size=1000000 --fast"]
[tests.prints]
"--size=1" = 'one'
[tests.prints_on_cpu]
"--size=2" = 'two'
[tests.prints_on_gpu]
"--size=3" = 'three'
[tests.prints_per_thread]
"--size=4" = 'four'
[tests.fails]
"--size=5" = 'five'
[tests.rejects]
"--size=0" = 'expected'
[bench]
runs = ["--size=16M"]
"""

TABLE = "echo 'kernel check'; echo 'a      {}'"  # a script that prints one


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Exercise]:
    """made(facts, script): the exercise x of a chapter, whose program is this script."""

    def make(facts: str = FACTS, script: str = "exit 0") -> Exercise:
        folder = tmp_path / "chapter" / "x"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "exercise.toml").write_text(facts)
        (folder / "x.cu").write_text("__global__ void k() {}")
        os.utime(folder / "x.cu", (1, 1))
        program = shell_program(tmp_path / "built" / "x", script)
        path = folder / "exercise.toml"
        return Exercise(path, exercise_facts.load(path), program)

    return make


def names_of(kind: str, exercise: Exercise) -> list[str]:
    return [case.name.partition(" ")[2] for case in KINDS[kind](exercise)]


def test_the_runs_of_each_kind(made) -> None:
    exercise = made()
    runs = exercise.facts.tests.runs
    common = ["--size=100 --profile", "--size=100 --csv"]
    assert names_of("results_on_gpu", exercise) == [*runs, *common]
    # The cpu back end takes long to repeat a kernel, so only the small runs do.
    once = [
        "--size=100",
        "--size=10 --reps=1",
        "--size=17 --block=128",
        "--size=7 --csv --reps=1",
        "--size=33 --block=64 --reps=1",
    ]
    assert names_of("results", exercise) == [*once, *common]
    # The numbers are judged at the small run, at the odd one, and where others have --csv.
    timed = "--csv --reps=4 --host-times"
    rows = ["--size=7 --csv", f"--size=100 {timed}", f"--size=17 --block=128 {timed}"]
    rows.append("--size=100 --csv --reps=1")
    others = ["--size=5", "--size=0"]
    assert names_of("numbers", exercise) == [*rows, "--size=1", "--size=2", *others]
    assert names_of("numbers_on_gpu", exercise) == [*rows, "--size=1", "--size=3", *others]
    assert names_of("few_results", exercise) == ["--size=100", "--size=17 --block=128"]
    assert names_of("slow_results", exercise) == ["--size=1000000 --fast"]
    assert names_of("per_thread", exercise) == ["--size=4"]
    assert names_of("as_gpu", exercise) == ["--size=100 --csv --reps=1", "--size=3"]
    # Small, odd, and four warps to a block, which here is the odd one, too.
    assert names_of("hazards", exercise) == ["--size=100", "--size=17 --block=128"]
    assert names_of("counts", exercise) == [
        "--size=100 (launches)",
        "--size=17 --block=128 (launches)",
    ]
    assert names_of("as_shipped", exercise) == ["--size=17 --block=128 (names)"]


def test_one_exercise_of_a_chapter_tries_what_all_must_refuse(made) -> None:
    exercise = made()
    assert names_of("options", exercise) == ["--help", *REJECTED_BY_ALL]
    other = exercise.facts_file.parents[1] / "a" / "exercise.toml"
    other.parent.mkdir()
    other.touch()
    assert names_of("options", exercise) == ["--help", "--bogus"]


def test_hazards_that_are_there_on_purpose(made) -> None:
    facts = FACTS.replace(
        "[tests.prints]", '[tests.hazards]\n"--size=9" = { hazards = 2 }\n[tests.prints]'
    )
    for found, of_students, of_maintainers in (
        ("2 hazards", False, False),
        ("1 hazard", False, True),  # a student has fixed the other one
        ("3 hazards", True, True),
    ):
        report = f'echo "{found} found" > "$CUDA_EMULATOR_CHECK"'
        exercise = made(facts, report)
        (case,) = KINDS["hazards"](exercise)
        exact, _ = KINDS["as_shipped"](exercise)
        problems = [bool(each.try_it().problem) for each in (case, exact)]
        assert problems == [of_students, of_maintainers]


def test_each_kernel_is_launched_once_for_the_hazard_check_but_where_runs_overlap(made) -> None:
    facts = FACTS.replace(
        "[tests.prints]",
        '[tests.hazards]\n"--a" = { hazards = 0 }\n"--reps=2" = { hazards = 0 }\n[tests.prints]',
    )
    exercise = made(facts, 'echo "$*"')
    printed = [case.try_it().printed.splitlines()[0] for case in KINDS["hazards"](exercise)]
    assert printed == ["--a --profile", "--reps=2"]


@pytest.mark.parametrize(
    ("kind", "script", "wrong"),
    [
        ("options", '[ "$1" = --help ]', True),
        ("few_results", TABLE.format("ok"), False),
        ("few_results", TABLE.format("WRONG"), True),
        ("per_thread", "echo four", False),
        ("per_thread", "echo five", True),
        ("per_thread", "echo four; exit 1", True),
        ("counts", "exit 3", True),
    ],
)
def test_judges_are_asked(made, kind: str, script: str, wrong: bool) -> None:
    outcomes = [case.try_it() for case in KINDS[kind](made(script=script))]
    assert any(outcome.problem for outcome in outcomes) == wrong


def test_rows_are_compared_with_the_launches(made) -> None:
    row = "echo exercise,kernel,grid,block,reps,median_ms,min_ms,max_ms; echo x,k,{},32,0,,,"
    counted = 'printf \'"ID","Kernel Name","Grid Size","Block Size","Stream"\\n"","","","",""\\n'
    counted += '"0","k","4","32","0"\\n\' > "$CUDA_EMULATOR_PROFILE"'
    for grid, wrong in (("4", False), ("5", True)):
        case, _ = KINDS["counts"](made(script=f"{row.format(grid)}; {counted}"))
        assert bool(case.try_it().problem) == wrong


def record(exercise: Exercise, kernels: Sequence[str]) -> None:
    """A GPU has measured these kernels."""
    exercise.recorded.mkdir(parents=True)
    rows = "".join(f"x,{kernel}\n" for kernel in kernels)
    (exercise.recorded / "table.csv").write_text(f"# gpu: x\nexercise,kernel\n{rows}")


def test_a_kernel_that_a_student_has_added_is_described(made) -> None:
    row = "echo exercise,kernel,grid,block,reps,median_ms,min_ms,max_ms; echo x,mine,4,32,0,,,"
    counted = 'printf \'"ID","Kernel Name","Grid Size","Block Size","Stream"\n"","","","",""\n'
    counted += '"0","k<8>","4","32","0"\n\' > "$CUDA_EMULATOR_PROFILE"'
    exercise = made(script=f"{row}; {counted}; echo a line of my own")
    record(exercise, ["k8"])
    _, case = KINDS["counts"](exercise)
    outcome = case.try_it()
    assert outcome.problem == ""
    (note,) = outcome.notes
    assert "mine" in note


def test_what_was_shipped_of_a_copy_is_that_of_the_original(
    made, exercises, tmp_path: Path
) -> None:
    original = exercises("chapter/x")
    recorded = original.parent / "results" / "h200"
    recorded.mkdir(parents=True)
    (recorded / "table.csv").write_text("exercise,kernel\nx,k8\n")
    copy = made()
    folder = tmp_path / "work" / "x"
    shutil.copytree(copy.facts_file.parent, folder)
    shutil.rmtree(folder / "results", ignore_errors=True)
    assert Exercise(folder / "exercise.toml", copy.facts, copy.program).shipped == {"k8"}


def test_formulas_are_for_what_was_shipped(made) -> None:
    facts = FACTS + "[columns]\nwarps = { formula = '2' }\n"
    head = "exercise,kernel,grid,device,warps,reps,median_ms,min_ms,max_ms,check"
    script = f"echo {head}; echo x,mine,1,g,3,4,1e-6,1e-6,1e-6,ok"

    def problems(kind: str) -> list[str]:
        cases = KINDS[kind](made(facts, script))
        wanted = (each for each in cases if "--csv" in each.name and "--reps=1" not in each.name)
        return [each.try_it().problem for each in wanted]

    assert not any(problems("results"))
    assert all("warps" in problem for problem in problems("numbers"))


def test_counts_are_compared_where_a_gpu_has_counted(made) -> None:
    exercise = made()
    record(exercise, ["k"])
    (exercise.recorded / "counts.debug.csv").write_text("not counts")
    *_, case = KINDS["as_shipped"](exercise)
    assert case.name == "x (counts of a GPU)"
    assert case.try_it().problem
    assert names_of("counts", exercise) == [
        "--size=100 (launches)",
        "--size=17 --block=128 (launches)",
    ]


def test_a_table_without_columns_for_launches_is_not_compared(made) -> None:
    exercise = made()
    exercise.source.write_text("lab::Columns::kPlain")
    assert names_of("counts", exercise) == []


# ---- check_exercise.py ----


def case(name: str, problem: str = "", printed: str = "", skipped: bool = False) -> Case:
    return Case(name, lambda: Outcome(problem, printed, skipped))


def test_a_line_for_each_case_and_the_first_that_failed(capfd) -> None:
    cases = [case("a"), case("b", "wrong", "its table\n"), case("c"), case("d", "bad")]
    assert check_exercise.tried(cases) == 1
    assert capfd.readouterr().out.splitlines() == [
        "ok      a",
        "its table",
        "FAILED  b: wrong",
        "ok      c",
        "FAILED  d: bad",
        "2 of 4 cases failed; the first: b",
    ]


def test_without_a_gpu_all_is_skipped_but_not_where_one_case_ran(capfd) -> None:
    skipped = case("a", skipped=True)
    assert check_exercise.tried([skipped]) == 77
    assert check_exercise.tried([skipped, case("b")]) == 0
    assert check_exercise.tried([skipped, case("b", "wrong")]) == 1


def test_a_program_without_a_gpu_says_77(made) -> None:
    outcomes = [each.try_it() for each in KINDS["few_results"](made(script="exit 77"))]
    assert all(outcome.skipped for outcome in outcomes)


def test_a_program_that_is_not_what_the_source_says_is_skipped(made, capfd) -> None:
    exercise = made(script=TABLE.format("ok"))
    arguments = ["few_results", str(exercise.facts_file), str(exercise.program)]
    assert check_exercise.main(arguments) == 0
    exercise.source.touch()
    os.utime(exercise.program, (1, 1))
    assert check_exercise.main(arguments) == 77
    exercise.program.unlink()
    assert check_exercise.main(arguments) == 77
    assert "is not built" in capfd.readouterr().out


def test_files_that_a_run_writes_stay_nowhere(made) -> None:
    exercise = made(script='echo > written; pwd > "$0.pwd"; ' + TABLE.format("ok"))
    arguments = ["few_results", str(exercise.facts_file), str(exercise.program)]
    here = os.getcwd()
    try:
        assert check_exercise.main(arguments) == 0
    finally:
        os.chdir(here)
    assert not Path(Path(f"{exercise.program}.pwd").read_text().strip()).exists()
