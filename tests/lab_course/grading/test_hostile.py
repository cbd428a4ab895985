"""Submissions that would do harm: what they are worth, and that they harm nobody.

First as they are handed in; then past what looks at their source, so that the sandbox alone holds them: what
else these would try, programs try in test_sandbox.py.
Each of those is run without a sandbox, too, where it does no harm: it can do there what it tries.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_cli import assignment_catalogue, assignments
from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from lab_course.grading import gate, sandbox
from lab_course.grading.evaluate import Grade, Grader
from lab_course.grading.kernel_source import KernelSource
from lab_course.grading.programs import RESULTS, Workshop
from lab_fixtures import shipped

EXERCISE = shipped("transpose")
KERNEL = "transposeSmemPad"
SIZE = "--rows=64 --cols=32"
ENTRY = {
    "name": "padTheTile",
    "sentence": "Transpose without bank conflicts.",
    "stars": 1,
    "kernels": [KERNEL],
    "before": "transposeSmem",
    "hints": ["Look.", "Think.", "Write."],
    "sizes": [SIZE, "--rows=317 --cols=211"],
    "check": SIZE,
    "bounds": [
        {"count": "shared_ld_bank_conflict == 0", "options": "--rows=64 --cols=64", "goal": True}
    ],
}
HEADERS = "".join(f"#include <{name}>\n" for name in ("cstdio", "cstdlib", "unistd.h"))


@pytest.fixture(scope="module")
def build() -> Path:
    folder = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu"))
    for library in ("emulator/libcuda_emulator_instrument.a", "common/liblab_common.a"):
        if not (folder / library).exists():
            pytest.skip(f"{folder / library} is not built: ./lab test builds it")
    return folder


@pytest.fixture(autouse=True, scope="module")
def possible(build: Path) -> None:
    problem = sandbox.problem()
    if problem:
        pytest.skip(problem)
    place = workshop(build)
    try:
        sandbox.run(["true"], sandbox.FOR_A_TRY, readable=place.readable)
    except LabError as error:
        pytest.skip(str(error))


class WithHeaders(Workshop):
    """With what the system declares."""

    def build(self, text: str, folder: Path, purpose: str) -> Path:
        return super().build(HEADERS + text, folder, purpose)


def workshop(build: Path, sandboxed: bool = True, kind: type[Workshop] = Workshop) -> Workshop:
    return kind(EXERCISE, build, sandboxed, seconds=10)


def source() -> KernelSource:
    path = EXERCISE.source
    return KernelSource(path.read_text(encoding="utf-8"), path.name)


def handed_in(body: str) -> str:
    return source().with_bodies({KERNEL: body})


def graded(
    build: Path,
    text: str,
    criteria: int = 99,
    sandboxed: bool = True,
    kind: type[Workshop] = Workshop,
) -> Grade:
    """By the first so many criteria."""
    problems: list[str] = []
    (assignment,) = assignments.of_file([ENTRY], problems)
    assert not problems
    grader = Grader(assignment, workshop(build, sandboxed, kind))
    grader.criteria = grader.criteria[:criteria]
    return grader.grade(text)


def seen(grade: Grade) -> str:
    return "\n".join([grade.problem, *(finding.seen for finding in grade.findings)])


RIGHT = source().body(KERNEL)


def test_the_shipped_kernel_has_all_points(build) -> None:
    assert graded(build, handed_in(RIGHT)).points == 10


def test_the_kernel_before_it_misses_the_bound(build) -> None:
    grade = graded(build, handed_in(source().body("transposeSmem")))
    assert grade.points == 3
    assert seen(grade).strip().startswith("shared_ld_bank_conflict of transposeSmemPad is ")


def test_headers_of_the_exercise_and_of_its_chapter_are_there(build) -> None:
    exercise = shipped("launchCost")
    _, assignment = assignment_catalogue.one("stepsOfTheGrid")
    text = exercise.source.read_text(encoding="utf-8")
    assert '#include "../growingValues.h"' in text and '#include "launchTable.h"' in text
    grader = Grader(assignment, Workshop(exercise, build, sandboxed=True))
    grader.criteria = grader.criteria[:1]
    grade = grader.grade(text)
    assert (grade.problem, grade.points) == ("", grade.of)


def test_as_many_threads_as_a_cooperative_launch_may_have(build) -> None:
    """One for each block that is there at a time."""
    program = build / "streams" / "launchCost"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    place = Workshop(shipped("launchCost"), build, sandboxed=True)
    rows = place.run(program, "--kernels=2 --size=8K --block=64 --kernel=gridBarrier", RESULTS).rows
    assert [(row["grid"], row["check"]) for row in rows] == [("128", "ok")] * 2


def test_a_race_is_told_with_the_lines_of_the_student(build) -> None:
    text = "// mine\n\n\n" + handed_in(RIGHT.replace("__syncthreads();", ""))
    grade = graded(build, text)
    assert grade.points == 0
    array = re.search(r"__shared__ \w+ (\w+)\[", RIGHT)
    place = re.search(r"transpose\.cu:(\d+): thread \(0,0,0\) reads", seen(grade))
    assert array and place
    assert re.search(rf"=.*\b{array[1]}\[", text.splitlines()[int(place[1]) - 1])


@pytest.mark.parametrize("form", ["a comment", "printed"])
def test_a_race_that_says_it_is_none(build, form: str, monkeypatch) -> None:
    """The results are right: nobody reads what the threads write at the same time."""
    words = "no hazards found (2 kernel launches, 2 copies)"
    said = {
        "a comment": f" // {words} \f{words}",  # a form feed ends a line for Python
        "printed": f' if (threadIdx.x == 0) std::fprintf(stderr, "{words}\\n");',
    }[form]
    if form == "printed":
        monkeypatch.setattr(gate, "taken", lambda body, known, line, where: body)
    race = f"__shared__ unsigned last; last = threadIdx.x;{said}\n"
    grade = graded(build, handed_in(race + RIGHT), kind=WithHeaders)
    assert [each.about for each in grade.missed] == ["no hazards"]
    assert "race in shared memory" in seen(grade)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("exit(0);", "‘exit’ was not declared"),
        ("_exit(0);", "‘_exit’ was not declared"),
        ("std::exit(0);", "‘exit’ is not a member of ‘std’"),
        ("for (;;) fork();", "‘fork’ was not declared"),
        ('system("rm -rf /");', "a text in quotes is not taken"),
        ('printf("transpose,x,x,transposeSmemPad,1x2,32x8,ok");', "printf"),
        ("lab::transposed(in, rows, cols);", "‘transposed’ is not a member of ‘lab’"),
        ("int fork(); fork();", "undefined reference"),
        ("extern int system(const char*); char c = 0; system(&c);", "undefined reference"),
        ("static int big[1 << 28] = {1}; out[0] = big[rows];", "File size limit exceeded"),
        ("int x = ; ", "error: expected primary-expression"),
    ],
)
def test_what_is_no_kernel_is_worth_nothing(build, body: str, problem: str) -> None:
    grade = graded(build, handed_in(body), 1)
    assert grade.points == 0
    said = grade.problem.replace("'", "‘").replace("‘ ", "’ ")
    assert problem.replace("’", "‘") in said.replace("’", "‘")


def test_a_reference_that_is_tampered_with_is_not_taken(build) -> None:
    reference = "return lab::inMatrix(lab::mismatch(target, expected, 0), rows);"
    text = handed_in("\n").replace(reference, "return {};")
    assert text != handed_in("\n")
    text = text.replace("int main(", "int mainOfMine(int, char**) { return 0; }\nint main(")
    assert graded(build, text).points == 0


def test_one_that_writes_into_its_input_is_wrong(build) -> None:
    body = "for (std::size_t i = 0; i < rows * cols; ++i) { const_cast<float*>(in)[i] = 0; out[i] = 0; }"
    assert graded(build, handed_in(body), 2).points == 0


def test_one_that_comes_to_no_end(build) -> None:
    grade = graded(build, handed_in("while (rows > 0) out[0] = 1;"))
    assert grade.points == 0
    assert "had not ended after 10 s" in seen(grade) or "of CPU time" in seen(grade)
    assert seen(grade).count("not tried: ") == len(grade.findings) - 1


def test_one_that_takes_all_memory(build) -> None:
    body = "for (;;) { int* p = new int[1 << 20]; for (int i = 0; i < 1 << 20; ++i) p[i] = i; }"
    grade = graded(build, handed_in(body), 1)
    assert grade.points == 0
    assert seen(grade).strip()


def test_one_that_crashes(build) -> None:
    grade = graded(build, handed_in("*reinterpret_cast<int*>(8) = 1;"), 1)
    assert grade.points == 0


@pytest.fixture
def tried(build, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What is seen of a body that nobody has looked at. It can do what a program of the host can."""
    monkeypatch.setattr(gate, "taken", lambda body, known, line, where: body)

    def run(body: str, sandboxed: bool = True) -> str:
        grade = graded(build, handed_in(body), 1, sandboxed, WithHeaders)
        assert grade.points == 0
        return seen(grade)

    return run


def once(statements: str) -> str:
    return f"if (threadIdx.x + threadIdx.y == 0) {{ {statements} }}"


def says(what: str) -> str:
    """It is seen behind WRONG, as the row's own line."""
    return f'std::fprintf(stderr, "    WRONG: {KERNEL}: {what}\\n");'


def test_files_of_others_are_not_there(tried, tmp_path) -> None:
    neighbour = tmp_path / "neighbour.cu"
    neighbour.write_text("theirs")
    for folder in (neighbour, *neighbour.parents[:3]):
        folder.chmod(0o755)
    secrets = (neighbour, Path(__file__), Path("/etc/passwd"))
    body = "".join(
        once(f'if (std::fopen("{path}", "r")) {says(f"read {number}")}')
        for number, path in enumerate(secrets)
    )
    assert "read" not in tried(body)
    assert "read 0" in tried(body, sandboxed=False)


def test_an_early_end_is_worth_nothing(tried) -> None:
    assert "there is no row transposeSmemPad" in tried("std::_Exit(0);")


def test_it_does_not_end_the_grading_of_others(tried) -> None:
    """By a status that means a mistake of the teacher's, nor by a table that no reader takes."""
    assert "ended with exit status 2" in tried("std::_Exit(2);")
    for what in ("for (int i = 0; i < 200000; ++i) std::putchar('x');", "std::putchar(0);"):
        body = f'std::puts("a,b"); {what} std::puts(",c"); std::fflush(stdout); std::_Exit(0);'
        assert re.search("printed no table|there is no row", tried(once(body)))


def test_processes_cannot_be_made(tried) -> None:
    body = once(
        f"const int child = fork(); if (child == 0) std::_Exit(0); if (child > 0) {says('forked')}"
    )
    assert "forked" not in tried(body)
    assert "forked" in tried(body, sandboxed=False)
