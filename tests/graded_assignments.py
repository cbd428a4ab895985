"""Grades what must pass and what must fail in the assignments of an exercise: the ctest cases
assignments/NAME.

    graded_assignments.py exercise.toml --build FOLDER --program PROGRAM

The kernel as it is shipped gets all points that there are without a GPU. With the body of the kernel
before it, a bound fails; an empty body gets no point. No other kernel that a hand-out has gets all
points with its body. tests/assignments.toml in the exercise's folder has a table for each assignment that
needs more than NAME.cu has:

before  the body of the kernel before it, where that has other parameters, or another launch
also    bodies of other solutions, which get all points
fails   bodies that are right and miss the point: a bound fails

FOLDER is a build of the cpu back end, and PROGRAM that of NAME there: it takes the options with which
speed is judged on a GPU.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from lab_cli import catalogue, toml_file  # noqa: E402
from lab_cli.assignments import Assignment  # noqa: E402
from lab_cli.errors import LabError  # noqa: E402
from lab_course.grading.evaluate import Grade, Grader  # noqa: E402
from lab_course.grading.kernel_source import Function, KernelSource  # noqa: E402
from lab_course.grading.programs import Workshop  # noqa: E402

EMPTY = "\n"


def bodies_of(facts: Path) -> dict[str, dict[str, Any]]:
    """What tests/assignments.toml in the exercise's folder has: a table for each assignment."""
    path = facts.parent / "tests" / "assignments.toml"
    return toml_file.load(path) if path.exists() else {}


def body_before(source: KernelSource, assignment: Assignment, tables: dict[str, Any]) -> str:
    """Where a kernel launches itself, it launches the student's."""
    own = tables.get(assignment.name, {}).get("before", "")
    (kernel,) = assignment.kernels
    return own or re.sub(rf"\b{assignment.before}\b", kernel, source.body(assignment.before))


def parts_of_signature(function: Function) -> tuple[str, str]:
    """What is before __global__, of templates, and the parameters."""
    signature = function.signature
    name = signature.index(function.name)
    return " ".join(signature[: signature.index("__global__")]), " ".join(signature[name + 1 :])


def can_stand_for(other: Function, kernel: Function) -> bool:
    """Whether the body of one kernel compiles in place of another's."""
    theirs, ours = parts_of_signature(other), parts_of_signature(kernel)
    return theirs[1] == ours[1] and theirs[0] in ("", ours[0])


def others(source: KernelSource, assignment: Assignment) -> Iterator[str]:
    """Kernels of a hand-out that a student could copy."""
    (kernel,) = assignment.kernels
    for function in source.functions:
        if (
            "__global__" in function.signature
            and function.name not in (kernel, assignment.before, *assignment.hides)
            and can_stand_for(function, source.function(kernel))
        ):
            yield function.name


class Trial:
    """Of one assignment."""

    def __init__(self, assignment: Assignment, workshop: Workshop) -> None:
        path = workshop.exercise.source
        self._assignment = assignment
        self._source = KernelSource(path.read_text(encoding="utf-8"), path.name)
        self._grader = Grader(assignment, workshop)

    def problems(self, tables: dict[str, Any]) -> Iterator[str]:
        """What is not as it must be."""
        (kernel,) = self._assignment.kernels
        table = tables.get(self._assignment.name, {})
        before = body_before(self._source, self._assignment, tables)
        passing = {"as it is shipped": self._source.body(kernel)}
        failing = {f"with the body of {self._assignment.before}": before}
        passing |= {f"also, {number}": body for number, body in enumerate(table.get("also", []), 1)}
        failing |= {
            f"fails, {number}": body for number, body in enumerate(table.get("fails", []), 1)
        }
        for about, body in passing.items():
            grade = self._grade(about, kernel, body)
            if grade.problem or grade.points != grade.of:
                yield f"{about}: {_in_words(grade)}"
        for about, body in failing.items():
            grade = self._grade(about, kernel, body)
            if grade.problem or not self._misses_a_bound(grade):
                yield f"{about}: no bound fails {grade.problem}"
        for name in others(self._source, self._assignment):
            body = re.sub(rf"\b{name}\b", kernel, self._source.body(name))
            grade = self._grade(f"with the body of {name}", kernel, body)
            if grade.points == grade.of:
                yield f"with the body of {name}, which a hand-out has, all points"
        grade = self._grade("empty", kernel, EMPTY)
        if grade.problem or grade.points:
            yield f"an empty body gets {grade.points} points {grade.problem}"

    def _grade(self, about: str, kernel: str, body: str) -> Grade:
        grade = self._grader.grade(self._source.with_bodies({kernel: body}))
        print(f"{self._assignment.name}, {about}: {_in_words(grade)}", flush=True)
        return grade

    def _misses_a_bound(self, grade: Grade) -> bool:
        judged = zip(self._grader.criteria, grade.findings)
        return any(criterion.bound and not finding.points for criterion, finding in judged)


def refused(program: Path, assignment: Assignment) -> list[str]:
    """What the program says of options with which speed is judged; it is not run with them here."""
    if not assignment.speed:
        return []
    options = assignment.speed.options.split()
    done = subprocess.run([str(program), *options, "--help"], capture_output=True, text=True)
    return [f"{assignment.name}, speed: {done.stderr.strip()}"] if done.returncode else []


def _in_words(grade: Grade) -> str:
    missed = [f"{each.about}: {each.seen}" for each in grade.findings if each.points < each.of]
    return "; ".join(
        [f"{grade.points} of {grade.of} points", *filter(None, [grade.problem]), *missed]
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("facts", type=Path)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--program", type=Path, required=True)
    arguments = parser.parse_args()
    facts = arguments.facts.resolve()
    found = []
    try:
        exercise = catalogue.one(facts.parent.name)
        workshop = Workshop(exercise, arguments.build.resolve(), sandboxed=False)
        tables = bodies_of(facts)
        for assignment in exercise.facts.assignments:
            problems = Trial(assignment, workshop).problems(tables)
            found += [f"{assignment.name}, {problem}" for problem in problems]
            found += refused(arguments.program, assignment)
    except LabError as error:
        found = [str(error)]
    for problem in found:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
