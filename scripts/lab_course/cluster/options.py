"""The options of commands that can be jobs of Slurm."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lab_cli.errors import BAD_USAGE, LabError, printable

from .settings import DIRECTIVES, FILE, fits

OTHERS = (*DIRECTIVES, "dry_run")  # that mean nothing without --slurm


def add_to(command: argparse.ArgumentParser) -> None:
    """Adds --slurm and what goes with it."""
    group = command.add_argument_group(
        "on a cluster", f"What is not given here is as {FILE} has it, or as Slurm's usual."
    )
    group.add_argument(
        "--slurm",
        action="store_true",
        help="as a job of Slurm: submits it, waits, shows what it prints and ends as it does",
    )
    meanings = {
        "partition": "the partition that it runs in",
        "gres": "what it needs of a node, such as gpu:1",
        "account": "the account that it is charged to",
        "time": "the longest that it may take: minutes, HOURS:MINUTES:SECONDS, DAYS-HOURS",
    }
    for name in DIRECTIVES:
        group.add_argument(f"--{name}", type=_value, metavar=name.upper(), help=meanings[name])
    group.add_argument(
        "--dry-run", action="store_true", help="prints the job's script, and submits nothing"
    )


def _value(text: str) -> str:
    if not fits(text):
        raise argparse.ArgumentTypeError(f"{printable(text)}: expected a word")
    return text


def check(arguments: argparse.Namespace) -> None:
    """LabError (status 2) for an option that is for a job, where there is to be none."""
    for name in OTHERS:
        if getattr(arguments, name) and not arguments.slurm:
            raise LabError(f"--{name.replace('_', '-')} goes with --slurm", BAD_USAGE)


def words_without(words: Sequence[str]) -> list[str]:
    """The command line without these options: what the job runs."""
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_to(parser)
    _, others = parser.parse_known_args(list(words[:split]))
    return [*others, *words[split:]]
