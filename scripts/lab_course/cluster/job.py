"""Runs work as a job: submits it, waits, and cancels it where lab is ended meanwhile."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lab_cli import signals
from lab_cli.errors import LabError, printable
from lab_cli.files import write
from lab_cli.paths import shown
from lab_cli.process import show
from lab_cli.progress import Progress, aside

from . import folder as folders
from . import options, settings, slurm, waiting
from .folder import Folder
from .script import Work
from .waiting import Watch


def add_to(command: argparse.ArgumentParser) -> None:
    """Lets a command run as a job. What its check `beforehand` refuses takes no turn in the queue."""
    options.add_to(command)
    here, beforehand = command.get_default("handler"), command.get_default("beforehand")

    def handler(arguments: argparse.Namespace) -> int:
        options.check(arguments)
        if not arguments.slurm:
            return here(arguments)
        beforehand(arguments)
        return there(arguments)

    command.set_defaults(handler=handler)


def there(arguments: argparse.Namespace) -> int:
    """The command as a job, or with --dry-run its script."""
    work = Work(options.words_without(arguments.words), settings.load(arguments))
    return dry_run(work) if arguments.dry_run else run_there(work)


def dry_run(work: Work) -> int:
    """Prints the script."""
    show(work.script(folders.following()))
    return 0


@contextmanager
def submitted(work: Work) -> Iterator[tuple[str, Folder]]:
    """The number of the job, and its folder. Whatever ends the block early, such as Ctrl-C, ends the
    job."""
    slurm.check()
    # A signal that came amid the submission would leave a job whose number nobody knows.
    with signals.held() as let_go:
        job, folder = _submit(work)
        try:
            let_go()
            yield job, folder
        except BaseException:
            slurm.cancel(job)
            raise


def _submit(work: Work) -> tuple[str, Folder]:
    folder = folders.make()
    try:
        write(folder.script, os.fsencode(work.script(folder)))
        return slurm.submit(folder.script, work.directives(folder)), folder
    except slurm.Unsure:
        raise
    except LabError:  # there is no job that it could be of
        folder.script.unlink(missing_ok=True)
        folder.path.rmdir()
        raise


def run_there(work: Work) -> int:
    """The exit status of what the job runs, whose output is shown as it comes. LabError where something
    else ended it."""
    with submitted(work) as (job, folder), Progress(f"job {job}") as progress:
        watch = Watch(job, folder)
        streams = [
            Growing(folder.file("output"), sys.stdout),
            Growing(folder.file("errors"), sys.stderr),
        ]
        while not watch.look():
            _show(streams)
            progress.update("", item=watch.about)
            time.sleep(waiting.LOOK)
        _show(streams)
    end = watch.ended[""]
    if not end.by_itself:
        raise LabError(f"job {job}: {end.problem(folder)}")
    assert end.status is not None
    return end.status


def run_each(work: Work, what: str) -> dict[str, str]:
    """Runs work of several names as an array. What went wrong, by name; empty where nothing did."""
    with submitted(work) as (job, folder), Progress(f"{what}, job {job}") as progress:
        watch = Watch(job, folder, [str(number) for number in range(len(work.names))])
        while not watch.look():
            progress.update("", len(watch.ended), len(work.names), watch.about)
            time.sleep(waiting.LOOK)
    return {name: _problem(watch, str(number)) for number, name in enumerate(work.names)}


def _problem(watch: Watch, index: str) -> str:
    end = watch.ended[index]
    if not end.by_itself:
        return end.problem(watch.folder)
    return _last_words(watch.folder.file("errors", index)) if end.status else ""


def _last_words(errors: Path) -> str:
    """What a command that failed has said, in the end."""
    try:
        lines = errors.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        lines = []
    said = [line for line in lines if line.strip()][-1:]
    return (
        "".join(printable(line.removeprefix("lab: ")) for line in said)
        or f"it has failed, and {shown(errors)} says nothing"
    )


class Growing:
    """A file that grows, shown as it grows."""

    def __init__(self, path: Path, stream: IO[str]) -> None:
        self._path = path
        self._stream = stream
        self._shown = 0  # bytes

    def show(self) -> None:
        """What is new. A file that has become shorter is another: the job was begun anew."""
        try:
            with self._path.open(
                "rb"
            ) as file:  # anew each time: so a network file system looks anew
                if os.fstat(file.fileno()).st_size < self._shown:
                    self._shown = 0
                file.seek(self._shown)
                new = file.read()
        except OSError:  # it is not there yet
            return
        if new:
            self._shown += len(new)
            with aside():
                self._stream.flush()
                self._stream.buffer.write(new)
                self._stream.flush()


def _show(streams: Sequence[Growing]) -> None:
    for stream in streams:
        stream.show()
