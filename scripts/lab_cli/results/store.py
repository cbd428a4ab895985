"""What an interrupted ./lab bench keeps: the rows of each finished run, until all are there."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import LabError
from ..exercise_facts import Plan
from ..files import make_folder, write
from ..paths import shown
from .csv_file import parse

MAIN = ""  # the table itself, among the files of a run; the others have the names of their options
METRICS = "metrics"  # what a profiler counted


def file(folder: Path, kind: str = MAIN, suffix: str = ".csv") -> Path:
    """A file of results in `folder`, that of an exercise and a GPU."""
    return folder / f"{kind or 'table'}{suffix}"


def digest(program: Path) -> str:
    """What tells two builds of an exercise apart."""
    try:
        return hashlib.sha256(program.read_bytes()).hexdigest()
    except OSError as error:
        raise LabError(f"{shown(program)}: {error.strerror}; was it built?") from error


def merged(texts: Sequence[str], path: Path) -> str:
    """CSV tables under one header. LabError if the headers differ; `path` is for messages."""
    headers = {text.split("\n", 1)[0] for text in texts}
    if len(headers) != 1:
        raise LabError(f"{shown(path)}: the runs have different columns: {' | '.join(headers)}")
    return headers.pop() + "\n" + "".join(text.split("\n", 1)[1] for text in texts)


class Store:
    """The folder of one exercise: state.json says what its files are rows of."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.facts: dict[str, str] = {}

    def begin(self, program: Path, plan: Plan, facts: Mapping[str, str]) -> None:
        """Forgets what is there."""
        self.facts = dict(facts)
        shutil.rmtree(self.folder, ignore_errors=True)
        make_folder(self.folder)
        state = {"facts": self.facts, **_identity(program, plan)}
        write(self.folder / "state.json", json.dumps(state, indent=1) + "\n")

    def resume(self, program: Path, plan: Plan, facts: Mapping[str, str]) -> str:
        """Takes over what is there; or returns why that is not possible."""
        try:
            state = json.loads((self.folder / "state.json").read_text())
            before = dict(state["facts"])
            for fact in ("commit", "gpu"):
                if before[fact] != facts[fact]:
                    return f"the {fact} was {before[fact]}, and is {facts[fact]}"
            for what, value in _identity(program, plan).items():
                if state[what] != value:
                    return f"the {what} changed"
        except (OSError, ValueError, KeyError, TypeError):
            return "nothing of it was kept"
        self.facts = before
        return ""

    def file(self, index: int, kind: str = MAIN) -> Path:
        return self.folder / (f"{index}.{kind}.csv" if kind else f"{index}.csv")

    def has(self, index: int, kinds: Sequence[str]) -> bool:
        """Is the run finished: its table is there, and all files of `kinds`?"""
        return all(self.file(index, kind).exists() for kind in [MAIN, *kinds])

    def keep(self, index: int, texts: Mapping[str, str]) -> None:
        """The files of a finished run, by kind."""
        for kind, text in texts.items():
            write(self.file(index, kind), text)

    def table(self, count: int, kind: str = MAIN) -> str:
        """The rows of all `count` runs."""
        path = self.folder / (f"{self.name}.{kind}.csv" if kind else f"{self.name}.csv")
        text = merged([self.file(index, kind).read_text() for index in range(count)], path)
        parse(text, path)
        return text


def _identity(program: Path, plan: Plan) -> dict[str, object]:
    runs = [[run.text for run in plan.runs], plan.files]
    return {"program": digest(program), "list of runs": runs}
