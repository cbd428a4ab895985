"""Slurm's programs: submits a job, asks for it, cancels it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab_cli.errors import BAD_USAGE, LabError
from lab_cli.process import say, shown

PATIENCE = 60.0  # seconds; Slurm's programs give up before that (MessageTimeout)
# What a job has come to (squeue, JOB STATE CODES). All others are on the way, or back to the queue.
COMPLETED, FAILED = "COMPLETED", "FAILED"
BY_ITSELF = (COMPLETED, FAILED)  # its script ran to the end
ENDS = {
    COMPLETED: "it has ended",
    FAILED: "it has failed",
    "BOOT_FAIL": "its node did not start",
    "CANCELLED": "it was cancelled",
    "DEADLINE": "its deadline has passed",
    "NODE_FAIL": "its node has failed",
    "OUT_OF_MEMORY": "it took more memory than it may",
    "PREEMPTED": "it had to make room for another job",
    "REVOKED": "another cluster runs it",
    "TIMEOUT": "its time was up (--time gives it more)",
}
UNKNOWN_JOB = "Invalid job id"  # what squeue says of one that slurmctld has forgotten
ENDED_JOB = "already completing or completed"  # what scancel says of one
# Names of variables that override a script's lines of #SBATCH, where they are not SBATCH_OPTION.
VARIABLES = {"time": "SBATCH_TIMELIMIT"}
# Variables that would make another kind of job of it, or let sbatch wait for its end.
OTHERS = {"SBATCH_ARRAY_INX", "SBATCH_NO_REQUEUE", "SBATCH_REQUEUE", "SBATCH_WAIT"}


@dataclass(frozen=True)
class State:
    name: str  # such as PENDING
    reason: str = ""

    @property
    def is_end(self) -> bool:
        return self.name in ENDS

    def __str__(self) -> str:
        """For a person: 'pending (Resources)'."""
        known = self.reason not in ("", "None")
        return self.name.lower().replace("_", " ") + (f" ({self.reason})" if known else "")


class NoAnswer(Exception):
    """The text says what Slurm's program said."""


class Unsure(LabError):
    """There may be a job, whose number nobody knows."""


def check() -> None:
    """LabError (status 2) where there is no Slurm."""
    if not shutil.which("sbatch"):
        raise LabError(
            "--slurm: there is no sbatch on this machine: type it where jobs of your cluster are submitted",
            BAD_USAGE,
        )


def submit(script: Path, directives: Mapping[str, str]) -> str:
    """The job's number. LabError with what sbatch says, where it takes no such job."""
    or_not = "; squeue --me says whether there is a job all the same"
    command = ["sbatch", "--parsable", str(script)]
    say(f"+ {shown(command)}")
    overrides = {
        VARIABLES.get(option, f"SBATCH_{option.upper().replace('-', '_')}") for option in directives
    }
    try:
        done = _output(command, overrides | OTHERS)
    except subprocess.TimeoutExpired as error:
        raise Unsure(f"{error}{or_not}") from error
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}"
        array = f"; it is an array of {directives['array']}" if "array" in directives else ""
        raise LabError(f"no job was submitted: {said}{array}")
    if done.stderr.strip():
        say(done.stderr.strip())
    number = re.search(r"^(\d+)(;.*)?$", done.stdout, re.MULTILINE)  # "12", or "12;CLUSTER"
    if not number:
        raise Unsure(f"sbatch says {done.stdout.strip()!r} in place of a job's number{or_not}")
    return number[1]


def states(job: str) -> dict[str, State]:
    """By index in the array, '' for a job that is none; nothing where Slurm has forgotten it, which takes
    minutes from its end on (MinJobAge). NoAnswer where Slurm cannot be asked."""
    command = ["squeue", f"--jobs={job}", "--states=all", "--array", "--noheader"]
    filters = {name for name in os.environ if name.startswith("SQUEUE_")}
    try:
        done = _output([*command, "--format=%K|%T|%r"], filters)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoAnswer(str(error)) from error
    if done.returncode != 0 and UNKNOWN_JOB not in done.stderr:
        raise NoAnswer(done.stderr.strip() or f"exit status {done.returncode}")
    found = {}
    for line in done.stdout.splitlines():
        index, _, rest = line.strip().partition("|")
        name, _, reason = rest.partition("|")
        found["" if index == "N/A" else index] = State(name, reason)
    return found


def cancel(job: str) -> None:
    """Says where it could not be done."""
    try:
        done = _output(["scancel", job], ())
        problem = done.stderr.strip() if done.returncode != 0 else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem and UNKNOWN_JOB not in problem and ENDED_JOB not in problem:
        say(f"job {job} goes on: {problem}. To cancel it: scancel {job}")
    else:
        say(f"job {job} is cancelled")


def _output(command: Sequence[str], without: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """In an environment without these variables."""
    left_out = set(without)
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        text=True,
        errors="replace",
        timeout=PATIENCE,
    )
