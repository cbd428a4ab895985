"""Breaks an exercise on purpose, and looks whether its checks notice: the ctest cases NAME/broken.

    broken_exercise.py NAME.cu --library libcuda_emulator.a [OTHER.a...]
    broken_exercise.py NAME.cu --library OTHER.a... --nvcc NVCC NUMBER...

Makes the changes that exercise.toml has as [[broken]] in a copy of the source, and runs each round of them
with the options of the first run, or with its own: on the cpu back end, or with --nvcc on a GPU, for the architectures of these
numbers. There each round is a program; the cpu back end has one program for all of them where
switched_blocks.py can write it. Status 0 if just the rows that a round names are WRONG; 77, which ctest
shows as skipped, where there is no GPU.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "cmake")]

from case_lines import CaseLines  # noqa: E402
from changed_files import places, write_copy  # noqa: E402
from lab_cli import exercise_facts  # noqa: E402
from lab_cli.catalogue import facts_of  # noqa: E402
from lab_cli.errors import LabError  # noqa: E402
from lab_cli.exercise_facts import Broken  # noqa: E402
from lab_cli.paths import shown  # noqa: E402
from lab_cli.results.csv_file import Row, parse  # noqa: E402
from lab_cli.results.rows import with_parameters  # noqa: E402
from lab_cli.verdicts import GOOD, WRONG  # noqa: E402
from program import run  # noqa: E402
from switched_blocks import (  # noqa: E402
    HEADER,
    HEADER_TEXT,
    VARIABLE,
    Blocks,
    Change,
    with_changes,
)

NOT_THERE = 77


class NoGpu(Exception):
    """The program has said so."""


def changes_of(source: Path) -> list[Broken]:
    """What exercise.toml has as [[broken]]; LabError if that is nothing."""
    facts = facts_of(source)
    changes = exercise_facts.load(facts).broken
    if not changes:
        raise LabError(f"{shown(facts)} has no [[broken]]: who says that a check notices anything?")
    return changes


def rounds(changes: list[Broken]) -> list[list[Broken]]:
    """Those that are made together."""
    numbers = sorted({change.round for change in changes})
    return [[change for change in changes if change.round == number] for number in numbers]


def options_of(changes: list[Broken]) -> list[str]:
    """Those that the changes of a round ask for; none where they leave it to the caller."""
    texts = dict.fromkeys(change.options for change in changes)
    return [word for text in texts for word in shlex.split(text)]


@dataclass(frozen=True)
class Copy:
    """Files that are not as they were, by name, and the rounds that their program has."""

    texts: dict[str, str]
    rounds: list[int]


def changed(source: Path, changes: list[Broken]) -> dict[Path, list[Change]]:
    """What changes in each file."""
    who = f"{shown(facts_of(source))}: [[broken]]"
    found: dict[Path, list[Change]] = {}
    where = places(source, who, ((each.file, each.replace) for each in changes))
    for change, (path, start, end) in zip(changes, where):
        found.setdefault(path, []).append(Change(change.round, start, end, change.by))
    return found


def alone(files: dict[Path, list[Change]], number: int) -> Copy:
    """A program of this round."""
    texts = {
        path.name: with_changes(path.read_text(encoding="utf-8"), changes)
        for path, all_changes in files.items()
        if (changes := [change for change in all_changes if change.round == number])
    }
    return Copy(texts, [number])


def copies(files: dict[Path, list[Change]], together: bool) -> list[Copy]:
    """A program of each round, or as few as have all rounds."""
    numbers = sorted({change.round for changes in files.values() for change in changes})
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    places = {path: Blocks(text) for path, text in texts.items()}
    switched = [
        number
        for number in numbers
        if all(
            places[path].have(change)
            for path, changes in files.items()
            for change in changes
            if change.round == number
        )
    ]
    if not together or len(switched) < 2:
        return [alone(files, number) for number in numbers]
    together = {
        path.name: places[path].with_rounds(own)
        for path, changes in files.items()
        if (own := [change for change in changes if change.round in switched])
    }
    others = [alone(files, number) for number in numbers if number not in switched]
    return [Copy(together, switched), *others]


def nvcc_command(nvcc: str, architectures: list[str]) -> list[str]:
    targets = [f"-gencode=arch=compute_{each},code=sm_{each}" for each in architectures]
    return [nvcc, "-std=c++17", "-w", *targets]


class Compiler:
    """Compiles copies of an exercise."""

    def __init__(self, source: Path, libraries: list[str], nvcc: list[str]) -> None:
        self._source = source
        if nvcc:
            self._command, self._libraries = nvcc_command(nvcc[0], nvcc[1:]), libraries
        else:
            emulator, *self._libraries = libraries
            self._command = [sys.executable, str(ROOT / "emulator" / "driver" / "cc.py")]
            self._command += ["-O0", "-g0", "-w", "--emulator", emulator]

    def compiled(self, texts: dict[str, str], folder: Path) -> tuple[Path | None, str]:
        """The program of the changed files, which go to `folder`, or None; and what the compiler says."""
        copy = write_copy(self._source, texts, folder)
        (folder / HEADER).write_text(HEADER_TEXT, encoding="utf-8")
        program = folder / "broken"
        command = [*self._command, str(copy), *self._libraries]
        command += ["-I", str(ROOT / "common"), "-I", str(folder), "-o", str(program)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return program if done.returncode == 0 else None, done.stdout


def rows_of(program: Path, options: list[str], number: int) -> list[Row]:
    """What it printed as CSV in a round, the words of the column parameters as columns of their own."""
    done = run([str(program), *options, "--csv"], {VARIABLE: str(number)})
    if done.returncode == NOT_THERE:
        raise NoGpu
    rows = parse(done.stdout, program).rows
    status = 1 if any(row["check"] == WRONG for row in rows) else 0
    if done.returncode != status:
        raise LabError(
            f"exit status {done.returncode}, expected {status} for these rows\n{done.stderr}"
        )
    return [with_parameters(row) for row in rows]


def is_row(row: Row, wanted: dict[str, str]) -> bool:
    return all(row.get(column) == value for column, value in wanted.items())


def problems(rows: list[Row], changes: list[Broken]) -> list[str]:
    """Where the verdicts are not as the changes want them."""
    found = []
    wanted = [named for change in changes for named in change.wrong]
    for named in wanted:
        if not any(is_row(row, named) for row in rows):
            found.append(f"there is no row {named}")
    for row in rows:
        wrong = any(is_row(row, named) for named in wanted)
        if (row["check"] not in GOOD) != wrong:
            cells = ",".join(row.values())
            found.append(f"check is {row['check']}, expected {WRONG if wrong else 'ok'}: {cells}")
    return found


class Trial:
    """The rounds of an exercise."""

    def __init__(self, changes: list[Broken], options: list[str], compiler: Compiler) -> None:
        self._rounds = {each[0].round: each for each in rounds(changes)}
        self._options = options
        self._compiler = compiler
        self.lines = CaseLines()

    def run(self, copies: list[Copy], files: dict[Path, list[Change]]) -> None:
        """Compiles each copy and runs its rounds. Where several rounds do not compile together, such as in
        a function that the compiler evaluates, each gets a program."""
        for copy in copies:
            with tempfile.TemporaryDirectory(prefix="lab-broken-") as folder:
                program, said = self._compiler.compiled(copy.texts, Path(folder))
                if program:
                    for number in copy.rounds:
                        self._try(program, number)
                elif len(copy.rounds) > 1:
                    self.run([alone(files, number) for number in copy.rounds], files)
                else:
                    self.lines.tell(f"round {copy.rounds[0]}", [f"does not compile:\n{said}"])

    def _try(self, program: Path, number: int) -> None:
        changes = self._rounds[number]
        options = options_of(changes) or self._options
        try:
            found = problems(rows_of(program, options, number), changes)
        except LabError as error:
            found = [str(error)]
        self.lines.tell(f"round {number}: {shlex.join(options)}", found)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--library", nargs="+", required=True)
    parser.add_argument("--nvcc", nargs="+", default=[])
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    try:
        changes = changes_of(source)
        files = changed(source, changes)
        compiler = Compiler(source, arguments.library, arguments.nvcc)
        small = exercise_facts.load(facts_of(source)).tests.runs[0]
        trial = Trial(changes, shlex.split(small), compiler)
        trial.run(copies(files, together=not arguments.nvcc), files)
    except NoGpu:
        return NOT_THERE
    except LabError as error:
        print(f"FAILED: {error}")
        return 1
    return trial.lines.end()


if __name__ == "__main__":
    sys.exit(main())
