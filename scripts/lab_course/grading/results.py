"""What is written of the grades: a table, and for each submission what Gradescope reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lab_cli import metrics
from lab_cli.assignments import Assignment
from lab_cli.catalogue import Exercise
from lab_cli.paths import shown
from lab_cli.results.marks import in_points

from ..reporting.page import template
from ..reporting.text import cut, plain
from .evaluate import Finding, Grade

SCHEMA = "lab-grade/1"
FORMULA = ("=", "+", "-", "@")  # with which one begins in a spreadsheet


def remark(grade: Grade) -> str:
    """Why not all points, in a line."""
    if grade.problem:
        return grade.problem.splitlines()[0]
    missed = grade.missed
    return f"{missed[0].about}: {missed[0].seen.splitlines()[0]}" if missed else ""


def table(grades: Mapping[str, Grade]) -> str:
    """CSV, a row for each submission, a column for each thing that counts."""
    columns = list(
        dict.fromkeys(each.about for grade in grades.values() for each in grade.findings)
    )
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["submission", "points", "of", *columns, "remark"])
    for name, grade in grades.items():
        met = {finding.about: "yes" if finding.met else "no" for finding in grade.findings}
        rows.writerow(
            [_as_text(name), in_points(grade.points), in_points(grade.of)]
            + [met.get(column, "") for column in columns]
            + [_as_text(remark(grade))]
        )
    return out.getvalue()


def _as_text(words: str) -> str:
    """Of what students have named or printed, a spreadsheet makes no formula and no further row."""
    words = plain(words)
    return f"'{words}" if words.startswith(FORMULA) else words


def gradescope(assignment: str, grade: Grade, seconds: float, digest: str) -> str:
    """results.json of Gradescope's autograder; `extra_data`, which it keeps and shows nobody, is what
    grade_of() reads: `digest` says what was graded."""
    content = {
        "score": grade.points,
        "execution_time": round(seconds, 1),
        "output": grade.problem,
        "tests": [_test(finding, grade.problem) for finding in grade.findings],
        "extra_data": {
            "schema": SCHEMA,
            "assignment": assignment,
            "graded": digest,
            "grade": asdict(grade),
        },
    }
    return json.dumps(content, indent=1) + "\n"


def _test(finding: Finding, problem: str) -> dict[str, Any]:
    words = [finding.seen or problem, finding.look]
    return {
        "name": finding.about,
        "status": "passed" if finding.met else "failed",
        "output": "\n".join(filter(None, words)),
        "visibility": "visible",
    }


def page(
    name: str,
    assignment: Assignment,
    exercise: Exercise,
    grade: Grade,
    facts: Mapping[str, str],
) -> str:
    """The report on a submission, as HTML, with these facts about the machine."""
    known = metrics.load()
    meanings = {
        bound.count: f"{metric.name}: {metric.meaning}"
        for bound in assignment.bounds
        for metric in known.find([bound.metric])
    }
    return template("grade.html.j2").render(
        title=plain(f"{assignment.name}: {name}"),
        machine=facts,
        assignment=assignment,
        exercise=exercise.name,
        page=shown(exercise.page),
        grade=grade,
        meanings=meanings,
        points=in_points,
        plain=plain,
        cut=cut,
    )


def grade_of(text: str, digest: str) -> Grade | None:
    """What gradescope() wrote, where it is of this digest."""
    try:
        kept = json.loads(text)["extra_data"]
        if kept["schema"] != SCHEMA or kept["graded"] != digest:
            return None
        grade = kept["grade"]
        findings = [Finding(**finding) for finding in grade["findings"]]
        return Grade(findings, grade["problem"], grade["kernels"])
    except (ValueError, KeyError, TypeError):
        return None


def in_words(grade: Grade, most: int = 80) -> Sequence[str]:
    """Lines for a terminal: each thing that counts, and below it what was seen."""
    lines = []
    for finding in grade.findings:
        lines.append(f"  {'yes' if finding.met else 'no':>4}  {finding.about}")
        if not finding.met and not grade.problem:
            lines += [f"{'':8}{line}"[:most] for line in finding.seen.splitlines()]
    return lines
