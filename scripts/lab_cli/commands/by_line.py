"""./lab profile --source, --map and --html: what each line of the source costs."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .. import catalogue, files, metrics, work
from ..building import registers
from ..causes import sentences
from ..causes.source import resources
from ..counters.explanation import ByLine
from ..counters.metric_table import MetricTable
from ..errors import BAD_USAGE, LabError, printable
from ..lines import access_map, listing, tables
from ..lines.access_map import Wanted
from ..lines.collect import collect
from ..lines.model import Kernel, LineProfile
from ..machine import backend
from ..process import say, show
from ..verdicts import in_colour
from . import arguments as shared

WIDTH_OF_A_FILE = 100  # characters of a line where stdout is no terminal
DEFAULT_PAGE = Path()  # --html without a file
LINE = re.compile(r"(?:(?P<file>.+):)?(?P<line>[1-9]\d*)")
LANES = "warp_execution_efficiency"  # what is found of idle lanes takes it
BLOCK = re.compile(r"\d+(,\d+){0,2}")


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--source",
        action="store_true",
        help="the source of each kernel, and what each line costs; the worst line is named first",
    )
    command.add_argument(
        "--html",
        type=_page,
        nargs="?",
        const=DEFAULT_PAGE,
        metavar="FILE.html",
        help="writes the same as a page with pictures (default: NAME.html)",
    )
    command.add_argument(
        "--map",
        type=_line,
        metavar="LINE",
        help="draws which addresses the lanes of a warp touch at this line: LINE or FILE:LINE",
    )
    command.add_argument(
        "--block", type=_block, metavar="X,Y,Z", help="with --map: the warp is one of this block"
    )
    command.add_argument(
        "--warp", type=_whole, metavar="N", help="with --map: this warp of a block"
    )
    command.add_argument(
        "--step",
        type=_whole,
        metavar="N",
        help="with --map: the execution of the line that is drawn, from 1",
    )
    command.add_argument(
        "--kernel",
        type=shared.name,
        metavar="NAME",
        help="with --source, --html and --map: kernels whose name contains NAME",
    )
    command.add_argument("--json", action="store_true", help="with --source: JSON")


def is_asked(arguments: argparse.Namespace) -> bool:
    return bool(arguments.source or arguments.html or arguments.map)


def check(arguments: argparse.Namespace) -> None:
    """LabError (status 2) for options that do not go together."""
    of_map = {"--block": arguments.block, "--warp": arguments.warp, "--step": arguments.step}
    needed = [
        *((option, "--map", arguments.map, given) for option, given in of_map.items()),
        ("--json", "--source", arguments.source, arguments.json or None),
        ("--kernel", "--source, --html or --map", is_asked(arguments), arguments.kernel),
    ]
    for option, other, is_there, given in needed:
        if given is not None and not is_there:
            raise LabError(f"{option} goes with {other}", BAD_USAGE)
    if not is_asked(arguments):
        return
    excluded = {
        "--explain": arguments.explain,
        "--debug": arguments.debug,
        "--csv together with --json": arguments.csv and arguments.json,
        "--metrics": arguments.metrics and not arguments.html,
        "--csv": arguments.csv and not arguments.source,
        "--output": arguments.output and not arguments.source,
        "--map": arguments.map and arguments.source,
        "--backend gpu": arguments.map and arguments.backend == "gpu",
    }
    asked = "--map" if arguments.map else "--source" if arguments.source else "--html"
    for option, given in excluded.items():
        if given:
            other = "--source" if option == "--map" else asked
            raise LabError(f"{other} does not go with {option}", BAD_USAGE)
    if arguments.html:
        files.check_writable(_page_of(arguments))


def run(arguments: argparse.Namespace) -> int:
    chosen = _backend(arguments)
    table, profile, found = _collected(arguments, chosen)
    is_file = arguments.csv or arguments.json or arguments.output
    if table.failure and is_file:  # a file would not say which kernels are WRONG
        raise table.failure
    if arguments.kernel:
        if found:
            pairs = zip(profile.kernels, found.kernels)
            kept = [each for kernel, each in pairs if arguments.kernel in kernel.name]
            found = replace(found, kernels=kept)
        profile = replace(profile, kernels=_named(profile.kernels, arguments.kernel))
    if arguments.html:
        _write_page(profile, table, _page_of(arguments), found)
    if arguments.map:
        wanted = replace(
            arguments.map, block=arguments.block, warp=arguments.warp, step=arguments.step or 1
        )
        show(access_map.text(profile, wanted, _width()))
    if arguments.source:
        _show_source(profile, table, arguments)
    if table.failure:
        raise table.failure
    return 0


def _collected(
    arguments: argparse.Namespace, chosen: str
) -> tuple[MetricTable, LineProfile, ByLine | None]:
    """With what was found, if it is for a page. On a GPU, totals tell that, and --explain says it."""
    counted = arguments.names, chosen, arguments.options, arguments.timeout
    names = _metrics(arguments, chosen)
    if not arguments.html or chosen != "cpu":
        return (*collect(*counted, names), None)
    is_exercise = catalogue.at(*arguments.names) is not None
    # Of exercises, the registers are part of what they measure.
    with registers.asked([] if is_exercise else arguments.names) as compiler:
        table, profile = collect(*counted, names)
    known = resources.read(compiler.printed())
    return table, profile, sentences.by_line(profile, table, small=is_exercise, known=known)


def _backend(arguments: argparse.Namespace) -> str:
    """Only the emulation has samples of warps to draw."""
    if arguments.backend != "auto":
        return str(arguments.backend)
    return "cpu" if arguments.map else backend.pick("auto")


def _metrics(arguments: argparse.Namespace, chosen: str) -> Sequence[str]:
    """Of a page, with those that it takes; none stand for the default set."""
    own = arguments.metrics or []
    if not arguments.html:
        return own
    from ..lines import page

    exercise = catalogue.at(*arguments.names)
    default = (exercise and exercise.facts.metrics) or metrics.load().own
    taken = page.METRICS if chosen == "gpu" else [LANES]
    return [*dict.fromkeys([*(own or default), *taken])]


def _show_source(profile: LineProfile, table: MetricTable, arguments: argparse.Namespace) -> None:
    in_file = tables.json_text(profile) if arguments.json else tables.csv_text(profile)
    if arguments.output:
        files.write(arguments.output, in_file)
    if arguments.csv or arguments.json:
        show(in_file)
        if arguments.csv:
            say(profile.source)
        return
    kernels = profile.kernels if arguments.kernel else _of_assignment(profile.kernels, arguments)
    paint = listing.coloured if in_colour(sys.stdout) else listing.plain
    show(listing.text(profile, _width(), kernels, paint))
    for note in [*table.notes] if table.failure else []:
        show(f"{note}\n")


def _write_page(profile: LineProfile, table: MetricTable, path: Path, found: ByLine | None) -> None:
    from ..lines import page

    page.write(profile, table, path, found)
    say(f"written: {path}")


def _named(kernels: Sequence[Kernel], name: str) -> list[Kernel]:
    found = [kernel for kernel in kernels if name in kernel.name]
    if not found:
        known = ", ".join(dict.fromkeys(kernel.name for kernel in kernels))
        raise LabError(f"--kernel {printable(name)}: expected a part of one of {known}", BAD_USAGE)
    return found


def _of_assignment(kernels: Sequence[Kernel], arguments: argparse.Namespace) -> list[Kernel]:
    """In a student's copy of an exercise, the kernels that the student writes."""
    exercise = catalogue.at(*arguments.names)
    if exercise is None or not work.is_meant(exercise.name):
        return []
    own = {name for each in exercise.facts.assignments for name in each.launches}
    return [kernel for kernel in kernels if kernel.name.partition("<")[0] in own]


def _page_of(arguments: argparse.Namespace) -> Path:
    if arguments.html != DEFAULT_PAGE:
        return Path(arguments.html)
    return Path(f"{Path(arguments.names[0]).stem}.html")


def _page(text: str) -> Path:
    if not text.endswith(".html"):
        raise argparse.ArgumentTypeError(
            f"{printable(text)}: expected a file that ends in .html, or nothing behind --html: name the "
            "program before it"
        )
    return Path(text)


def _line(text: str) -> Wanted:
    found = LINE.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{printable(text)}: expected LINE or FILE:LINE")
    return Wanted(int(found["line"]), found["file"] or "")


def _block(text: str) -> tuple[int, ...]:
    if not BLOCK.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{printable(text)}: expected the numbers of a block, such as 0,0,0"
        )
    numbers = [int(number) for number in text.split(",")]
    return (*numbers, *[0] * (3 - len(numbers)))


def _whole(text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text):
        raise argparse.ArgumentTypeError(f"{printable(text)}: expected a whole number")
    return int(text)


def _width() -> int:
    if not sys.stdout.isatty():
        return WIDTH_OF_A_FILE
    return shutil.get_terminal_size((WIDTH_OF_A_FILE, 0)).columns
