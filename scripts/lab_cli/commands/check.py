"""./lab check: races, accesses out of bounds and divergent barriers, found without a GPU."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from .. import catalogue, schedules
from ..building import instrumented
from ..building.instrumented import CHECK, NO_HAZARDS, NO_LAUNCH
from ..errors import printable
from ..process import say
from ..time_limit import TimeLimit
from . import arguments as shared
from . import run as run_command


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "check",
        prog="./lab check",
        description="Looks for hazards in an exercise, each kernel launched once, or in a CUDA program "
        "of your own: races in shared and global memory, accesses out of bounds, memory that nobody "
        "wrote, barriers in divergent code, errors that nobody looks at, device memory that the host "
        "uses. Needs no GPU. Options of the program follow after --.",
        parents=[shared.shipped(), shared.timeout()],
        allow_abbrev=False,
    )
    command.add_argument(
        "--schedules",
        type=_count,
        metavar="N",
        help="also runs the program in N other orders of its threads, and says with which it prints "
        "something else",
    )
    shared.add_program(command)
    command.set_defaults(handler=run, takes=shared.AFTER_DASHES)


def run(arguments: argparse.Namespace) -> int:
    """0: there are no hazards. 1: there are, and stdout tells them, or there was nothing to look at, or
    the program failed."""
    catalogue.check_at(*arguments.names)
    exercise = catalogue.at(*arguments.names)
    program = [*instrumented.built(exercise, arguments.names), *arguments.options]
    report = check(program, arguments.timeout)
    print(report, end="", flush=True)
    clear = report.splitlines()[-1].startswith(NO_HAZARDS)
    if arguments.schedules:
        clear = same_in_other_orders(program, arguments) and clear
    return 0 if clear else 1


def _count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{printable(text)}: expected a whole number, above 0")
    return int(text)


def same_in_other_orders(program: Sequence[str], arguments: argparse.Namespace) -> bool:
    """Says on stdout whether the program prints the same in the orders of so many seeds."""
    orders = (
        f"{arguments.schedules} other order{'s' if arguments.schedules > 1 else ''} of its threads"
    )
    try:
        with TimeLimit(arguments.timeout) as limit:
            found = schedules.difference(program, arguments.schedules, limit)
    except schedules.NotCompared as reason:
        print(f"schedules: not compared: {reason}")
        return True
    if found is None:
        print(f"schedules: in {orders}, the program prints the same")
        return True
    again = run_command.interleaved(str(found.seed), arguments.names, program[1:])
    print(
        "schedules: what the program prints depends on the order in which its threads run\n"
        f"   usual order: {found.usual}\n"
        f"   {f'seed {found.seed}:':<12} {found.other}\n"
        "   A barrier or an atomic is missing where threads use the same data. (If a result may depend\n"
        "   on who comes first, as a list that grows by atomicAdd(), the program may be right.)\n"
        f"   {again}"
    )
    return False


def check(program: Sequence[str], timeout: float | None = None) -> str:
    """The report on an instrumented program. LabError if it fails without a hazard, or takes more than
    `timeout` seconds: then the hazards until then are on stdout."""
    with TimeLimit(timeout) as limit:
        outcome = instrumented.run(program, CHECK)
        if limit.passed:
            print(outcome.report, end="", flush=True)
            say(outcome.output.rstrip())
    last = outcome.report.splitlines()[-1] if outcome.report else ""
    if not last or (outcome.status != 0 and last.startswith((NO_HAZARDS, NO_LAUNCH))):
        raise outcome.failure(f"; until then, {last}" if last else "")
    return outcome.report
