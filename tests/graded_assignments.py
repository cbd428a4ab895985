"""Grades what must pass and what must fail in the assignments of an exercise: the ctest cases
NAME/assignments.

    graded_assignments.py exercise.toml --build FOLDER --program PROGRAM

The kernel as it is shipped gets all points that there are without a GPU. With the body of the kernel
before it, a bound fails; an empty body gets no point. No other kernel that a hand-out has gets all
points with its body. tests/assignments.toml in the exercise's folder has a table for each assignment that
needs more than NAME.cu has:

before  the body of the kernel before it, where that has other parameters, or another launch
also    bodies of other solutions, which get all points
fails   bodies that are right and miss the point: a bound fails

FOLDER is a build of the cpu back end, and PROGRAM that of NAME there: it takes the options with which
speed is judged on a GPU. The bodies of an assignment are compiled together (kernel_bodies.py), for the
profiler and the hazard check alone: what counts as a result is what that program prints.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "cmake")]

from case_lines import SKIPPED, CaseLines  # noqa: E402
from kernel_bodies import VARIABLE, with_choice, without_namespaces  # noqa: E402
from lab_cli import catalogue, toml_file  # noqa: E402
from lab_cli.assignments import Assignment, Speed  # noqa: E402
from lab_cli.errors import LabError  # noqa: E402
from lab_cli.process import status_of  # noqa: E402
from lab_course.grading.evaluate import Grader, Judge  # noqa: E402
from lab_course.grading.kernel_source import Function, KernelSource  # noqa: E402
from lab_course.grading.programs import CHECK, RESULTS, VARIABLES, Failed, Workshop  # noqa: E402
from lab_course.grading.sandbox import Ended  # noqa: E402
from program import run  # noqa: E402

EMPTY = "\n"


def bodies_of(facts: Path) -> dict[str, dict[str, Any]]:
    """What tests/assignments.toml in the exercise's folder has: a table for each assignment."""
    path = facts.parent / "tests" / "assignments.toml"
    return toml_file.load(path) if path.exists() else {}


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


Verdict = Callable[[Grader, Judge], str]  # what is wrong with the grade; empty if nothing is


def gets_all_points(grader: Grader, judge: Judge) -> str:
    missed = [each for each in map(judge.finding, grader.criteria) if each.points < each.of]
    return "; ".join(f"{each.about}: {each.seen}" for each in missed)


def misses_a_bound(grader: Grader, judge: Judge) -> str:
    bounds = (judge.finding(each) for each in grader.criteria if each.bound)
    return "" if any(not finding.points for finding in bounds) else "no bound fails"


def misses_a_point(grader: Grader, judge: Judge) -> str:
    """Nearly all miss a bound, of which one run tells."""
    missed = not misses_a_bound(grader, judge) or gets_all_points(grader, judge)
    return "" if missed else "all points"


def gets_no_point(grader: Grader, judge: Judge) -> str:
    got = [each for each in map(judge.finding, grader.criteria) if each.points]
    return "; ".join(f"{each.points:g} points: {each.about}" for each in got)


@dataclass(frozen=True)
class Chosen(Workshop):
    """Runs a program of several bodies with one of them, without limits but that of program.py. Of the
    table, it makes the rows whose names begin with `kernel`."""

    body: int = 0
    kernel: str = ""

    def _run(self, command: list[str], *_: object, **__: object) -> Ended:
        if self.kernel and not any(word.startswith("--kernel=") for word in command):
            command = [*command, f"--kernel={self.kernel}"]
        with tempfile.TemporaryDirectory(prefix="lab-assignments-") as folder:
            variables = {**VARIABLES, VARIABLE: str(self.body), "TMPDIR": folder}
            done = run(command, variables)
            files = {path.name: path.read_text(errors="replace") for path in Path(folder).iterdir()}
        files = {name: without_namespaces(text) for name, text in files.items()}
        return Ended(status_of(done.returncode), done.stdout, "", 0, files)


class Trial:
    """Of one assignment."""

    def __init__(self, assignment: Assignment, workshop: Workshop, tables: dict[str, Any]) -> None:
        path = workshop.exercise.source
        self._assignment = assignment
        (self._kernel,) = assignment.kernels
        self._table = tables.get(assignment.name, {})
        self._source = KernelSource(path.read_text(encoding="utf-8"), path.name)
        self._workshop = workshop
        self._grader = Grader(assignment, workshop)

    def run(self, lines: CaseLines) -> None:
        """Grades all bodies."""
        bodies, verdicts = {}, {}
        for about, body, verdict in self._cases():
            name = f"{self._assignment.name}, {about}"
            try:
                bodies[name] = self._taken(body)
                verdicts[name] = verdict
            except LabError as error:
                lines.tell(name, [] if verdict is misses_a_point else [str(error)])
        with tempfile.TemporaryDirectory(prefix="lab-assignments-") as folder:
            program = self._built([*bodies.values()], Path(folder))
            begin_of_rows = commonprefix(self._assignment.rows)  # of the rows that are judged
            for number, name in enumerate(bodies):
                of_body = Chosen(**vars(self._workshop), body=number, kernel=begin_of_rows)
                judge = Judge(self._assignment, of_body, {RESULTS: program, CHECK: program})
                said = verdicts[name](self._grader, judge)
                lines.tell(name, [said] if said else [])

    def _cases(self) -> Iterator[tuple[str, str, Verdict]]:
        """Each body, and what its grade must be."""
        source, assignment, kernel = self._source, self._assignment, self._kernel
        yield "as it is shipped", source.body(kernel), gets_all_points
        for number, body in enumerate(self._table.get("also", []), 1):
            yield f"also, {number}", body, gets_all_points
        yield f"with the body of {assignment.before}", self._before(), misses_a_bound
        for number, body in enumerate(self._table.get("fails", []), 1):
            yield f"fails, {number}", body, misses_a_bound
        for name in others(source, assignment):
            body = re.sub(rf"\b{name}\b", kernel, source.body(name))
            yield f"with the body of {name}, which a hand-out has", body, misses_a_point
        yield "empty", EMPTY, gets_no_point

    def _before(self) -> str:
        """Where a kernel launches itself, it launches the student's."""
        before = self._assignment.before
        own = self._table.get("before", "")
        return own or re.sub(rf"\b{before}\b", self._kernel, self._source.body(before))

    def _taken(self, body: str) -> str:
        """What grading takes of a submission with this body; LabError says what it does not take."""
        copy = self._grader.copy(self._source.with_bodies({self._kernel: body}), {})
        return KernelSource(copy, self._source.path).body(self._kernel)

    def _built(self, bodies: list[str], folder: Path) -> Path:
        text = with_choice(self._source, self._kernel, bodies)
        try:
            return self._workshop.build(text, folder, CHECK)
        except Failed as failure:
            raise LabError(f"{self._assignment.name} {failure}") from failure


def refused(program: Path, speed: Speed) -> str:
    """What the program says of the options with which speed is judged; it is not run with them here."""
    done = run([str(program), *speed.options.split(), "--help"])
    return done.stderr.strip() or "refused" if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("facts", type=Path)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--program", type=Path, required=True)
    arguments = parser.parse_args()
    facts = arguments.facts.resolve()
    library = arguments.build / "emulator" / "libcuda_emulator_instrument.a"
    for built in (arguments.program, library):
        if not built.exists():
            print(f"skipped: {built} is not built; a build of everything has it")
            return SKIPPED
    lines = CaseLines()
    try:
        exercise = catalogue.one(facts.parent.name)
        workshop = Workshop(exercise, arguments.build.resolve(), sandboxed=False)
        tables = bodies_of(facts)
        for assignment in exercise.facts.assignments:
            Trial(assignment, workshop, tables).run(lines)
            if assignment.speed:
                said = refused(arguments.program, assignment.speed)
                lines.tell(f"{assignment.name}, options of the speed", [said] if said else [])
    except LabError as error:
        print(f"FAILED: {error}")
        return 1
    return lines.end()


if __name__ == "__main__":
    sys.exit(main())
