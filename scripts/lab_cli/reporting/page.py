"""A report as one page of HTML, which takes nothing from elsewhere. Needs Jinja2."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import LabError
from ..paths import ROOT
from . import facts, figures
from .facts import Figure, Program, Report

MODULE = "jinja2"
FOLDER = Path(__file__).parent
# How a verdict looks; its word stands there, too.
LOOKS = {facts.OK: "good", facts.NOT_KNOWN: "unknown"}
BAD = "bad"


def render(report: Report, path: Path) -> str:
    """The page, as it will stand in `path`: links to the exercises' pages begin there."""
    return template("report.html.j2").render(
        report=report,
        title=title(report),
        machine=report.machine,
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
    environment.globals["look"] = lambda verdict: LOOKS.get(verdict, BAD)
    environment.filters["breakable"] = breakable
    return environment.get_template(name)


def title(report: Report) -> str:
    names = [program.name for program in report.programs]
    if len(names) > 4:
        return f"Report on {len(names)} exercises"
    return "Report on " + " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


def breakable(name: str):  # noqa: ANN201
    """A long name may go on in another line behind each underscore."""
    import markupsafe

    return markupsafe.Markup("_<wbr>").join(name.split("_"))


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
