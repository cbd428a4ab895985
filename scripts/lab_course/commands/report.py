"""./lab report: exercises, or a program of one's own, as a page to read and to hand in."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab_cli import catalogue, files
from lab_cli.building.presets import shortest
from lab_cli.commands import arguments as shared
from lab_cli.errors import BAD_USAGE, LabError, printable
from lab_cli.machine import backend, setup
from lab_cli.machine import facts as machine_facts
from lab_cli.paths import ROOT
from lab_cli.process import run as run_shown
from lab_cli.process import say, show
from lab_cli.progress import Progress
from lab_cli.verdicts import styled

from ..reporting import collect, machine, page, reference
from ..reporting.facts import Program, Report
from ..reporting.text import Cleaner

BESIDE = Path()  # --json without a file


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "report",
        prog="./lab report",
        description="Writes a report on exercises, or on a CUDA program of your own given by all its "
        "files: one page of HTML to read and to hand in. It has the machine, the results, the tests, what "
        "./lab check finds, the metrics, the figures, and what was changed in the source. Options of the "
        "programs follow after --. The status is 1 where a result is wrong, a test fails or there is a "
        "hazard.",
        parents=[shared.shipped(), shared.backend(), shared.timeout()],
        allow_abbrev=False,
    )
    command.add_argument(
        "names",
        nargs="+",
        metavar="NAME|FILE.cu",
        help="an exercise or a chapter; or all files of a program of your own",
    )
    command.add_argument(
        "-o",
        dest="output",
        type=shared.file,
        default=Path("report.html"),
        metavar="FILE",
        help="where to write it (default: report.html)",
    )
    command.add_argument(
        "--json",
        type=_json_file,
        nargs="?",
        const=BESIDE,
        metavar="FILE.json",
        help="writes the same facts as JSON, too: beside the page, or to this file; "
        "GUIDE.md says how to read it",
    )
    command.set_defaults(handler=run, takes=shared.AFTER_DASHES)


def _json_file(text: str) -> Path:
    if not text.endswith(".json"):
        raise argparse.ArgumentTypeError(
            f"{printable(text)}: expected a file that ends in .json, or nothing behind --json: name "
            "exercises before it"
        )
    return Path(text)


def run(arguments: argparse.Namespace) -> int:
    """The status of the report, which says what was wrong."""
    names, sources = shared.exercises_or_files(arguments.names)
    if names:
        _check_names(names)
    json_path = (
        arguments.output.with_suffix(".json") if arguments.json == BESIDE else arguments.json
    )
    _check_outputs([path for path in (arguments.output, json_path) if path], arguments.names)
    python = setup.python_for([page.MODULE])
    if python != sys.executable:  # the same once more, in the Python that can write it
        return run_shown([shortest(python), "-B", str(ROOT / "lab"), *arguments.words])
    report = _collect(names, sources, arguments)
    files.write(arguments.output, page.render(report, arguments.output))
    if json_path:
        text = json.dumps(report.as_json(), indent=1, ensure_ascii=False, allow_nan=False)
        files.write(json_path, text + "\n")
    show(styled(summary(report.programs), sys.stdout))
    for path in (arguments.output, json_path):
        if path:
            say(f"written: {path}")
    return report.status


def _check_names(names: Sequence[str]) -> None:
    if any(not name.strip() for name in names):
        raise LabError("a name is empty; ./lab list shows those of the exercises", BAD_USAGE)
    catalogue.check(names)


def _check_outputs(paths: Sequence[Path], names: Sequence[str]) -> None:
    """LabError (status 2) where the report cannot be kept there."""
    for path in paths:
        files.check_writable(path)
        for name in names:
            if path.exists() and os.path.exists(name) and path.samefile(name):
                raise LabError(f"{printable(str(path))}: that is the program", BAD_USAGE)
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise LabError(
            f"{printable(str(paths[0]))}: the page and its JSON are two files", BAD_USAGE
        )


def _collect(names: Sequence[str], sources: Sequence[str], arguments: argparse.Namespace) -> Report:
    exercises = catalogue.exercises(names) if names else []
    chosen = backend.pick(arguments.backend)
    cmake = setup.ensure(chosen)
    setting = collect.Setting(chosen, cmake, arguments.options, arguments.timeout, _folder(chosen))
    with Progress("reporting") as progress:
        if sources:
            programs = [collect.own(sources, setting, progress)]
        else:
            programs = [collect.exercise(exercise, setting, progress) for exercise in exercises]
    now = datetime.datetime.now(datetime.timezone.utc)
    return Report(
        now.strftime("%Y-%m-%d %H:%M UTC"),
        chosen,
        setting.emulated,
        machine.of(chosen),
        [*map(Cleaner(sources), arguments.options)],
        programs,
    )


def _folder(chosen: str) -> str:
    """The folder of results/ that ./lab bench writes to on this machine."""
    try:
        return machine_facts.measured_on(chosen)[0]
    except LabError:  # the gpu back end without a GPU
        return reference.GPU


def summary(programs: Sequence[Program]) -> str:
    """A line for each program."""
    lines = []
    for program in programs:
        parts = {"results": program.run, "tests": program.tests, "hazard check": program.check}
        words = [f"{name} {part.verdict}" for name, part in parts.items() if part]
        lines.append(f"{program.name:<24}  {', '.join(words)}\n")
    return "".join(lines)
