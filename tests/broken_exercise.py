"""Breaks an exercise on purpose, and looks whether its checks notice: the ctest cases broken/NAME.

    broken_exercise.py NAME.cu --library libcuda_emulator.a [OTHER.a...] -- OPTIONS...
    broken_exercise.py NAME.cu --library OTHER.a... --nvcc NVCC NUMBER... -- OPTIONS...

Makes the changes that exercise.toml has as [[broken]] in a copy of the source, those of a round
together, compiles it and runs it with OPTIONS, or those of the round: on the cpu back end, or with
--nvcc on a GPU, for the architectures of these numbers. Status 0 if just the rows that they name are
WRONG; 77, which ctest shows as skipped, where there is no GPU.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from changed_files import changed_files, write_copy  # noqa: E402
from lab_cli import exercise_facts  # noqa: E402
from lab_cli.catalogue import facts_of  # noqa: E402
from lab_cli.errors import LabError  # noqa: E402
from lab_cli.exercise_facts import Broken  # noqa: E402
from lab_cli.paths import shown  # noqa: E402
from lab_cli.results.csv_file import Row, parse  # noqa: E402
from lab_cli.results.rows import with_parameters  # noqa: E402
from lab_cli.verdicts import GOOD, WRONG  # noqa: E402

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
    return [word for change in changes for word in shlex.split(change.options)]


def changed(source: Path, changes: list[Broken]) -> dict[str, str]:
    """The files that are not as they were, by name, with all changes made in them."""
    who = f"{shown(facts_of(source))}: [[broken]]"
    return changed_files(source, who, ((each.file, each.replace, each.by) for each in changes))


def nvcc_command(nvcc: str, architectures: list[str]) -> list[str]:
    targets = [f"-gencode=arch=compute_{each},code=sm_{each}" for each in architectures]
    return [nvcc, "-std=c++17", "-w", *targets]


def compiled(
    source: Path, texts: dict[str, str], libraries: list[str], nvcc: list[str], folder: Path
) -> Path:
    """The program of the changed files, which go to `folder`."""
    copy = write_copy(source, texts, folder)
    if nvcc:
        command = [*nvcc_command(nvcc[0], nvcc[1:]), str(copy), *libraries]
    else:
        emulator, *others = libraries
        command = [sys.executable, str(ROOT / "emulator" / "driver" / "cc.py"), str(copy)]
        command += [*others, "-O0", "-w", "--emulator", emulator]
    command += ["-I", str(ROOT / "common"), "-o", str(folder / "broken")]
    if subprocess.run(command).returncode != 0:
        raise LabError(f"{source.name} does not compile with the changes of its [[broken]]")
    return folder / "broken"


def rows_of(program: Path, options: list[str]) -> list[Row]:
    """What it printed as CSV, the words of the column parameters as columns of their own."""
    done = subprocess.run([str(program), *options, "--csv"], stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    if done.returncode == NOT_THERE:
        raise NoGpu
    rows = parse(done.stdout, program).rows
    status = 1 if any(row["check"] == WRONG for row in rows) else 0
    if done.returncode != status:
        raise LabError(f"exit status {done.returncode}, expected {status} for these rows")
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


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--library", nargs="+", required=True)
    parser.add_argument("--nvcc", nargs="+", default=[])
    split = sys.argv.index("--")
    arguments = parser.parse_args(sys.argv[1:split])
    source = arguments.source.resolve()
    try:
        found = []
        for changes in rounds(changes_of(source)):
            with tempfile.TemporaryDirectory(prefix="lab-broken-") as folder:
                texts = changed(source, changes)
                program = compiled(source, texts, arguments.library, arguments.nvcc, Path(folder))
                options = options_of(changes) or sys.argv[split + 1 :]
                found += problems(rows_of(program, options), changes)
    except NoGpu:
        return NOT_THERE
    except LabError as error:
        found = [str(error)]
    for problem in found:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
