"""./lab compare: two versions of a kernel against each other, what matters first."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from typing import Any

from .. import files
from ..comparison import as_json, asked, compared, page, text
from ..errors import BAD_USAGE, LabError
from ..machine import backend
from ..process import say
from ..verdicts import in_colour
from . import arguments as shared

WIDTH_OF_A_FILE = 100  # characters of a line where stdout is no terminal


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "compare",
        prog="./lab compare",
        usage="./lab compare NAME KERNEL KERNEL\n       ./lab compare A B\n       ./lab compare NAME",
        description="Compares two versions of a kernel: what differs in their counts, what that means, and "
        "which lines make the difference; what matters most comes first. NAME KERNEL KERNEL takes two kernels "
        "of an exercise, by their names or a part that only one of them has. A B takes two programs, each a "
        ".cu file or an exercise, and pairs their kernels by name; PROGRAM:KERNEL names one. NAME alone "
        "compares an exercise as it came with your copy of it. Options of the programs follow after --. The "
        "counts need no GPU. With one, the versions are timed, too: in runs that alternate, with a test of "
        "significance.",
        parents=[shared.shipped(), shared.backend(), shared.timeout()],
        allow_abbrev=False,
    )
    command.add_argument(
        "names",
        nargs="+",
        metavar="NAME|A|B|KERNEL",
        help="what to compare, the version before first: transpose smem smemPad; a.cu b.cu; "
        "a.cu:sum reduceInteger:reduceNeighbored; or transpose",
    )
    command.add_argument("--json", action="store_true", help="JSON in place of the text")
    command.add_argument(
        "--html", type=shared.file, metavar="FILE", help="writes a page to FILE, too"
    )
    command.set_defaults(handler=run, beforehand=_check, takes=shared.AFTER_DASHES)


def _check(arguments: argparse.Namespace) -> None:
    """LabError (status 2) for what cannot be, whatever the back end."""
    wanted = asked.read(arguments.names, arguments.shipped)
    if arguments.html:
        files.check_writable(arguments.html)
        for program in wanted.programs:
            own = program.file and arguments.html.exists() and arguments.html.samefile(program.file)
            if own:
                raise LabError(f"--html {arguments.html}: that is the program", BAD_USAGE)


def run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    chosen = backend.pick("auto") if arguments.backend == "auto" else arguments.backend
    wanted = asked.read(arguments.names, arguments.shipped)
    report = compared.of(wanted, arguments.options, arguments.timeout, chosen)
    if arguments.html:
        files.write(arguments.html, page.render(report))
    if arguments.json:
        shown = json.dumps(as_json.of(report), indent=1, ensure_ascii=False) + "\n"
    else:
        paint = text.coloured if in_colour(sys.stdout) else text.plain
        shown = text.text(report, _width(), paint)
    print(shown, end="", flush=True)
    if arguments.html:
        say(f"written: {arguments.html}")
    if report.failures:
        raise report.failures[0]
    return 0


def _width() -> int:
    if not sys.stdout.isatty():
        return WIDTH_OF_A_FILE
    return shutil.get_terminal_size((WIDTH_OF_A_FILE, 0)).columns
