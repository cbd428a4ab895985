"""Grades solutions of the assignments of an exercise, good and bad ones: the ctest cases NAME/assignments.

    graded_assignments.py exercise.toml --library LIBRARY --program PROGRAM

What is shipped gets all 10 points, an empty body none. The body of the kernel before it misses
each goal, and gets at most 3. No other kernel that a student's copy has gets all points with its body.
tests/assignments.toml in the exercise's folder has a table for each assignment, with other bodies:

right           lists of other solutions: 10 points
wrong           with a wrong result: 0
races           the hazard check finds what may go unseen in the results: 0. A function of the host that gets no
                pointer and launches nothing needs none
one_thread      one thread of the grid, or of each block, does all the work: right, and at most 3. What is no
                kernel needs none
misses_a_bound  right, and misses a bound: at most 5. An assignment without bounds needs none
before          the body of the kernel before it, where that has other parameters, or another launch, or what is
                written is no kernel

LIBRARY is the instrument of a build of the cpu back end, and PROGRAM that of NAME there: it takes the
options with which speed is judged on a GPU. The bodies of an assignment are compiled together (kernel_bodies.py), for the
profiler and the hazard check alone: what counts as a result is what that program prints.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "cmake")]

from case_lines import SKIPPED, CaseLines  # noqa: E402
from kernel_bodies import VARIABLE, with_choice, without_namespaces  # noqa: E402
from lab_cli import catalogue, toml_file  # noqa: E402
from lab_cli.assignments import MOST_WITH_A_MISS, OF_RIGHT, POINTS, Assignment, Speed  # noqa: E402
from lab_cli.errors import LabError  # noqa: E402
from lab_cli.process import status_of  # noqa: E402
from lab_course.grading.evaluate import GOAL, HAZARDS, Grade, Grader, Judge  # noqa: E402
from lab_course.grading.kernel_source import Function, KernelSource  # noqa: E402
from lab_course.grading.programs import CHECK, VARIABLES, Failed, Workshop  # noqa: E402
from lab_course.grading.sandbox import Ended  # noqa: E402
from lab_course.handouts.source import is_void  # noqa: E402
from program import run  # noqa: E402


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


def can_race(source: KernelSource, kernel: str) -> bool:
    """Whether it has memory that others access, too: a function of the host that gets no pointer and launches
    nothing has none."""
    function = source.function(kernel)
    return not function.of_host or "*" in function.signature or "<<<" in source.body(kernel)


def others(source: KernelSource, assignment: Assignment) -> Iterator[str]:
    """Kernels of a hand-out that a student could copy."""
    (kernel,) = map(source.function, assignment.kernels)
    for function in source.functions:
        if (
            function.is_kernel
            and kernel.is_kernel
            and function.name not in (kernel.name, assignment.before, *assignment.hides)
            and can_stand_for(function, kernel)
        ):
            yield function.name


Verdict = Callable[[Grade], str]  # what is wrong with the grade; empty if nothing is


def told(grade: Grade) -> str:
    missed = "; ".join(f"{each.about}: {each.seen}" for each in grade.missed)
    return f"{grade.points:g} points; missed: {missed or 'nothing'}"


def gets_all_points(grade: Grade) -> str:
    return "" if grade.points == POINTS else told(grade)


def gets_no_point(grade: Grade) -> str:
    return told(grade) if grade.points else ""


def races(grade: Grade) -> str:
    found = any(each.about == HAZARDS for each in grade.missed)
    return gets_no_point(grade) if found else f"the hazard check finds nothing; {told(grade)}"


def gets_at_most(most: float) -> Verdict:
    """And more than nothing: it is right."""
    return lambda grade: "" if 0 < grade.points <= most else told(grade)


def misses_each_goal(grade: Grade) -> str:
    """It need not be right: a kernel may be launched in another way than the one before it."""
    met = [each.about for each in grade.findings if each.role == GOAL and each.met]
    return f"meets {', '.join(met)}" if met else ""


def misses_a_point(grade: Grade) -> str:
    return told(grade) if grade.points == POINTS else ""


VERDICTS: Mapping[str, Verdict] = {
    "right": gets_all_points,
    "wrong": gets_no_point,
    "races": races,
    "one_thread": gets_at_most(OF_RIGHT),
    "misses_a_bound": gets_at_most(MOST_WITH_A_MISS),
}


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
        is_kernel = self._source.function(self._kernel).is_kernel
        needed = {
            "one_thread": is_kernel,
            "misses_a_bound": bool(self._assignment.bounds),
            "races": can_race(self._source, self._kernel),
        }
        kinds = [kind for kind in VERDICTS if needed.get(kind, True)]
        lacks = [kind for kind in kinds if not self._table.get(kind)]
        about = f"{self._assignment.name}, tests/assignments.toml"
        lines.tell(about, [f"it has none of {', '.join(lacks)}"] if lacks else [])
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
                judge = Judge(self._assignment, of_body, {CHECK: program})
                findings = [judge.finding(each) for each in self._grader.criteria]
                said = verdicts[name](Grade(findings))
                lines.tell(name, [said] if said else [])

    def _cases(self) -> Iterator[tuple[str, str, Verdict]]:
        """Each body, and what its grade must be."""
        source, assignment, kernel = self._source, self._assignment, self._kernel
        yield "as it is shipped", source.body(kernel), gets_all_points
        yield f"with the body of {assignment.before}", self._before(), misses_each_goal
        for kind, verdict in VERDICTS.items():
            bodies = self._table.get(kind, [])
            for number, body in enumerate([bodies] if isinstance(bodies, str) else bodies, 1):
                yield f"{kind}, {number}", body, verdict
        for name in others(source, assignment):
            body = re.sub(rf"\b{name}\b", kernel, source.body(name))
            yield f"with the body of {name}, which a copy has", body, misses_a_point
        nothing = "\n" if is_void(source.function(kernel)) else "return {};\n"
        yield "empty", nothing, gets_no_point

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
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--program", type=Path, required=True)
    arguments = parser.parse_args()
    facts = arguments.facts.resolve()
    library = arguments.library.resolve()
    for built in (arguments.program, library):
        if not built.exists():
            print(f"skipped: {built} is not built; a build of everything has it")
            return SKIPPED
    lines = CaseLines()
    try:
        exercise = catalogue.one(facts.parent.name)
        workshop = Workshop(exercise, library.parents[1], sandboxed=False)
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
