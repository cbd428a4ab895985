"""What courses add to commands of lab that are not their own."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping

from lab_cli.commands.doctor import ABSENT, OK, Line, need_line
from lab_cli.machine import needs

from .cluster import job
from .grading import sandbox


def add_to(commands: Mapping[str, argparse.ArgumentParser]) -> None:
    """`commands` are their parsers, by name."""
    for parser in commands.values():
        if parser.get_default("beforehand"):
            job.add_to(parser)
    commands["doctor"].set_defaults(more=[sandbox_line, slurm_line])


def sandbox_line() -> Line:
    """The line about the sandbox that ./lab grade runs submissions in."""
    line = need_line(needs.SANDBOX, ABSENT)
    problem = sandbox.problem() if line.state == OK else ""
    return Line(line.what, ABSENT, problem) if problem else line


def slurm_line() -> Line:
    """The line about what --slurm takes."""
    sbatch = shutil.which("sbatch")
    if sbatch:
        return Line("Slurm", OK, sbatch)
    return Line("Slurm", ABSENT, "no sbatch: --slurm is for a cluster")
