"""./lab check: races, accesses out of bounds and divergent barriers, found without a GPU."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .. import catalogue, schedules
from ..building import instrumented, registers
from ..building.instrumented import (
    CHECK,
    NO_HAZARDS,
    NO_LAUNCH,
    RESULTS,
    SHUFFLE,
    UNDEFINED,
    Outcome,
)
from ..errors import printable
from ..paths import ROOT
from ..process import say
from ..time_limit import TimeLimit
from . import arguments as shared
from . import run as run_command

LIMITS = ROOT / "emulator" / "README.md"
BEGIN_LIMITS, END_LIMITS = "<!-- limits -->", "<!-- end of limits -->"


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
    command.add_argument("--json", action="store_true", help="the report as JSON, for scripts")
    command.add_argument(
        "--limits", action=_Limits, nargs=0, help="says what the check cannot see, and runs nothing"
    )
    command.set_defaults(handler=run, takes=shared.AFTER_DASHES)


class _Limits(argparse.Action):
    """--limits, which needs no program beside it, as --help does not."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(limits())
        parser.exit()


def run(arguments: argparse.Namespace) -> int:
    """0: there are no hazards. 1: there are, and stdout tells them, or there was nothing to look at, or
    the program failed."""
    catalogue.check_at(*arguments.names)
    exercise = catalogue.at(*arguments.names)
    with registers.asked([] if exercise else arguments.names) as asked:
        program = [*instrumented.built(exercise, arguments.names), *arguments.options]
        settings = asked.settings()
    report = check(program, arguments.timeout, arguments.json, settings)
    clear = found_none(report)
    if not arguments.json or not arguments.schedules:
        print(report, end="", flush=True)
    if arguments.schedules:
        orders = other_orders(program, arguments)
        clear = clear and orders.get("same", True)
        print(with_orders(report, orders) if arguments.json else in_words(orders))
    return 0 if clear else 1


def _count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{printable(text)}: expected a whole number, above 0")
    return int(text)


def other_orders(program: Sequence[str], arguments: argparse.Namespace) -> dict[str, Any]:
    """Whether the program prints the "same" in the orders of so many seeds; where nothing can be said, the reason
    is "not compared"."""
    orders: dict[str, Any] = {"tried": arguments.schedules}
    try:
        with TimeLimit(arguments.timeout) as limit:
            found = schedules.difference(program, arguments.schedules, limit)
    except schedules.NotCompared as reason:
        return {**orders, "not compared": str(reason)}
    if found is None:
        return {**orders, "same": True}
    again = run_command.interleaved(str(found.seed), arguments.names, program[1:])
    different = {"seed": found.seed, "usual": found.usual, "other": found.other, "again": again}
    return {**orders, "same": False, **different}


def with_orders(report: str, orders: dict[str, Any]) -> str:
    """The report as JSON, with what came of other orders."""
    return json.dumps({**json.loads(report), "schedules": orders}, indent=1, ensure_ascii=False)


def in_words(orders: dict[str, Any]) -> str:
    if "not compared" in orders:
        return f"schedules: not compared: {orders['not compared']}"
    if orders["same"]:
        plural = "s" if orders["tried"] > 1 else ""
        tried = f"{orders['tried']} other order{plural} of its threads"
        return f"schedules: in {tried}, the program prints the same"
    seed = f"seed {orders['seed']}:"
    return (
        "schedules: what the program prints depends on the order in which its threads run\n"
        f"   usual order: {orders['usual']}\n"
        f"   {seed:<12} {orders['other']}\n"
        "   A barrier or an atomic is missing where threads use the same data. (If a result may depend\n"
        "   on who comes first, as a list that grows by atomicAdd(), the program may be right.)\n"
        f"   {orders['again']}"
    )


def limits() -> str:
    """What the page of the cpu back end says that the check does not see."""
    text = LIMITS.read_text("utf-8")
    return text.partition(BEGIN_LIMITS)[2].partition(END_LIMITS)[0].strip()


def found_none(report: str) -> bool:
    """Of a report in either form: the check has looked at something, and found nothing."""
    return _end_of(report).startswith(NO_HAZARDS)


def _end_of(report: str) -> str:
    """The last line of a report, or how it begins where the report is JSON."""
    if not report.startswith("{"):
        return report.splitlines()[-1] if report else ""
    found = json.loads(report)
    if found["hazards"]:
        return ""
    looked_at = found["launches"] + found["copies"] + found["fills"]
    return NO_HAZARDS if looked_at > 0 else NO_LAUNCH


def check(
    program: Sequence[str],
    timeout: float | None = None,
    as_json: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The report on an instrumented program with `settings` in its environment. LabError if it fails without a
    hazard, or takes more than `timeout` seconds: then the hazards until then are on stdout."""
    suffix = ".json" if as_json else ""
    with TimeLimit(timeout) as limit:
        outcome = instrumented.run(program, CHECK, suffix=suffix, settings=settings)
        if limit.passed:
            print(outcome.report, end="", flush=True)
            say(outcome.output.rstrip())
        elif SHUFFLE in outcome.report:
            outcome = _if_results_differ(program, suffix, limit, settings) or outcome
    last = _end_of(outcome.report)
    if not outcome.report or (outcome.status != 0 and last.startswith((NO_HAZARDS, NO_LAUNCH))):
        raise outcome.failure(f"; until then, {last}" if last else "")
    return outcome.report


def _if_results_differ(
    program: Sequence[str], suffix: str, limit: TimeLimit, settings: Mapping[str, str]
) -> Outcome | None:
    """Whether what a program computes depends on what shuffles get from lanes that take no part: then the outcome
    that says so. One SM, so that the blocks run in the same order each time."""

    def once(**others: str) -> Outcome:
        limit.begin()
        variables = {"CUDA_EMULATOR_SMS": "1", **settings, **others}
        return instrumented.run(program, CHECK, RESULTS, suffix=suffix, settings=variables)

    usual, again, other = once(), once(), once(**{UNDEFINED: "other"})
    digests = [outcome.others[0] for outcome in (usual, again, other)]
    return other if digests[0] == digests[1] != digests[2] else None
