"""A report as one page of HTML, which takes nothing from elsewhere. Needs Jinja2."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lab_cli.errors import LabError
from lab_cli.paths import ROOT

from . import facts, figures
from .facts import Check, Figure, Program, Reference, Report, Run, Tests
from .text import short

MODULE = "jinja2"
FOLDER = Path(__file__).parent
# How a verdict looks; its word stands there, too.
LOOKS = {facts.OK: "good", facts.NOT_KNOWN: "unknown"}
BAD = "bad"
MOST_NAMES = 4  # of rows, in a remark


@dataclass(frozen=True)
class Remark:
    """What is not all right, and in a line why."""

    place: str  # identifier of the heading of this part of the page
    title: str
    words: str


def render(report: Report, path: Path) -> str:
    """The page, as it will stand in `path`: links to the exercises' pages begin there."""
    return template("report.html.j2").render(
        report=report,
        title=title(report),
        machine=report.machine,
        remarks=[r for n, program in enumerate(report.programs, 1) for r in remarks(program, n)],
        drawing=drawing,
        link=lambda program: link(program, path),
    )


def template(name: str):  # noqa: ANN201  # jinja2 may not be there
    """Of this folder. Whatever it is given is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["rate"] = rate
    environment.globals["look"] = lambda verdict: LOOKS.get(verdict, BAD)
    environment.filters["breakable"] = breakable
    return environment.get_template(name)


def title(report: Report) -> str:
    names = [program.name for program in report.programs]
    if len(names) > 4:
        return f"Report on {len(names)} exercises"
    return "Report on " + " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


def remarks(program: Program, number: int) -> list[Remark]:
    """Those of the program that stands there on the page; of one that could not be run, why it could not."""
    run, tests, check = program.run, program.tests, program.check
    found = []
    if run.verdict != facts.OK:
        found.append(("run", "results", _about_run(run)))
    if run.verdict == facts.OK or run.status is not None:
        if tests and tests.verdict != facts.OK:
            found.append(("tests", "tests", _line(tests.problem) or _about_tests(tests)))
        if check.verdict != facts.OK:
            found.append(("check", "hazard check", _about_check(check)))
    return [
        Remark(f"{number}-{part}", f"{program.name}, {title}", words)
        for part, title, words in found
    ]


def _line(text: str) -> str:
    """The first one."""
    return text.partition("\n")[0]


def _about_run(run: Run) -> str:
    error = next((line for line in run.printed.text.splitlines() if " error: " in line), "")
    if run.status is None and error:
        return f"it does not compile: {short(error)}"
    if run.problem:
        return _line(run.problem)
    rows = run.table.rows if run.table else []
    wrong = [row.shown.get("kernel", "") for row in rows if row.cells.get("check") == facts.WRONG]
    names = [*dict.fromkeys(filter(None, wrong))]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"WRONG in {len(wrong)} of {len(rows)} rows: {', '.join(names[:MOST_NAMES])}{more}"


def _about_tests(tests: Tests) -> str:
    ran = sum(count.passed + count.failed for count in tests.counts)
    failed = sum(count.failed for count in tests.counts)
    about = [f"{count.failed} about {count.about}" for count in tests.counts if count.failed]
    return f"{failed} of {ran} failed: {', '.join(about)}"


def _about_check(check: Check) -> str:
    """Of its last line the beginning: how many hazards there are."""
    return "; ".join(filter(None, [_line(check.problem), check.summary]))


def breakable(name: str):  # noqa: ANN201
    """A long name may go on in another line behind each underscore."""
    import markupsafe

    return markupsafe.Markup("_<wbr>").join(name.split("_"))


def rate(reference: Reference) -> str:
    """With its unit; a small one, too, is more than 0."""
    if reference.rate is None:
        return ""
    number = f"{reference.rate:,.0f}" if reference.rate >= 10 else f"{reference.rate:.2g}"
    return f"{number} {reference.unit}"


def drawing(program: Program, figure: Figure):  # noqa: ANN201
    """The figure as an element of the page; a sentence where it cannot be read."""
    import markupsafe

    try:
        return markupsafe.Markup(figures.markup(figure, f"{program.name}-{figure.name}-"))
    except LabError as error:
        return str(error)


def link(program: Program, path: Path) -> str:
    """Where the exercise's page lies; empty for a report outside of the checkout, which says no paths of the
    machine."""
    folder = Path(os.path.realpath(path)).parent
    if folder != ROOT and ROOT not in folder.parents:
        return ""
    return Path(os.path.relpath(ROOT / program.page, folder)).as_posix()
