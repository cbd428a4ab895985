"""Grades many submissions, on each core one at a time, and keeps what was graded: an interrupted run goes
on where it was."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from lab_cli import signals
from lab_cli.errors import LabError
from lab_cli.files import make_folder, write
from lab_cli.progress import Progress

from . import results
from .evaluate import Grade, Grader
from .submissions import Submission

RESULTS = "results.json"  # as Gradescope calls it


@dataclass(frozen=True)
class Batch:
    grader: Grader
    folder: Path  # with a folder for each submission
    identity: str  # of all that a grade depends on but the submission

    def run(self, submissions: Sequence[Submission]) -> tuple[dict[str, Grade], int]:
        """The grades by name, and how many of them were kept from before."""
        grades = self.kept(submissions)
        waiting = [submission for submission in submissions if submission.name not in grades]
        count = len(grades)
        with Progress("grading") as progress:
            progress.update("", count, len(submissions))
            for name, grade in on_each_core(self._grade, waiting):
                grades[name] = grade
                progress.update("", len(grades), len(submissions), name)
        return {submission.name: grades[submission.name] for submission in submissions}, count

    def kept(self, submissions: Sequence[Submission]) -> dict[str, Grade]:
        """Of those that have been graded."""
        found = {submission.name: self._kept(submission) for submission in submissions}
        return {name: grade for name, grade in found.items() if grade}

    def results_of(self, name: str) -> Path:
        return self.folder / name / RESULTS

    def _digest(self, text: str) -> str:
        return hashlib.sha256(f"{self.identity}\n{text}".encode()).hexdigest()

    def _kept(self, submission: Submission) -> Grade | None:
        text, problem = _read(submission)
        with suppress(OSError):
            kept = self.results_of(submission.name).read_text(encoding="utf-8")
            return results.grade_of(kept, self._digest(problem or text))
        return None

    def _grade(self, submission: Submission) -> tuple[str, Grade]:
        start = time.monotonic()
        text, problem = _read(submission)
        try:
            grade = self.grader.nothing(problem) if problem else self.grader.grade(text)
        finally:
            if signals.ending():  # and what ended the programs was no fault of theirs
                raise KeyboardInterrupt
        path = self.results_of(submission.name)
        make_folder(path.parent)
        seconds = time.monotonic() - start
        digest = self._digest(problem or text)
        write(path, results.gradescope(self.grader.assignment.name, grade, seconds, digest))
        return submission.name, grade


def _read(submission: Submission) -> tuple[str, str]:
    """What was handed in, or else why it cannot be read."""
    try:
        return submission.read(), ""
    except LabError as error:
        return "", str(error)


def on_each_core(
    work: Callable[[Submission], tuple[str, Grade]], submissions: Sequence[Submission]
) -> Iterator[tuple[str, Grade]]:
    """As they are done. Programs of the cpu back end run on the core of their thread alone: blocks in one
    order, and what depends on it is the same each time."""
    cores: SimpleQueue[int] = SimpleQueue()
    for core in sorted(os.sched_getaffinity(0)):
        cores.put(core)

    def stay() -> None:
        os.sched_setaffinity(0, {cores.get()})

    with ThreadPoolExecutor(cores.qsize(), initializer=stay) as threads:
        tasks = [threads.submit(work, submission) for submission in submissions]
        try:
            for task in as_completed(tasks):
                yield task.result()
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def identity(parts: Sequence[object], files: Sequence[Path]) -> str:
    """A digest of what these say, and of what is in the files."""
    digest = hashlib.sha256(repr(parts).encode())
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
