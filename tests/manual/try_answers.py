"""Tries the code in the answers of pages on a GPU, as tests/pages/test_answers.py tries it on the cpu back end.

    python3 tests/manual/try_answers.py NAME...

Each answer on NAME's page (page_answers.py) is compiled with nvcc, and its runs must end with their status;
what a whole program prints must be what the page says. Left out are runs with a hazard on purpose, whose
results are those of chance. Status 1 if anything is not as it should be.
"""

from __future__ import annotations

import functools
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT / folder) for folder in ("tests", "tests/pages", "scripts")]

from lab_cli.building import own_program  # noqa: E402
from lab_cli.counters import profilers  # noqa: E402
from lab_cli.errors import LabError  # noqa: E402
from lab_cli.machine import setup  # noqa: E402
from page_answers import Run, Variant, answers, words, written  # noqa: E402
from page_files import source_of  # noqa: E402

Compile = Callable[[Path], Path]


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def try_answer(page: Path, variant: Variant, build: Compile, folder: Path) -> str:
    """What is wrong with the answer, or an empty string."""
    program = build(written(page, variant, folder))
    for each in sure_runs(variant):
        done = run([str(program), *shlex.split(each.options)])
        other = variant.program and words(done.stdout) != " ".join(each.prints)
        if done.returncode != each.status or other:
            return f"status {done.returncode}\n{done.stdout}"
    return ""


def sure_runs(variant: Variant) -> list[Run]:
    """Those whose results are not of chance; those of nvcc's answers have no options of their own."""
    runs = variant.runs or ([Run("")] if variant.architecture else [])
    return [run for run in runs if not run.has_hazards]


def trials(names: list[str], build: Compile) -> dict[str, Callable[[Path], str]]:
    """What the pages of these exercises have to try, by what it is called; each in a folder."""
    found: dict[str, Callable[[Path], str]] = {}
    for page, variants in answers().items():
        name = source_of(page).stem
        for number, variant in enumerate(variants, 1):
            if name in names and sure_runs(variant):
                found[f"{name}, {number}: {variant.title}"] = functools.partial(
                    try_answer, page, variant, build
                )
    return found


def try_all(names: list[str], build: Compile) -> bool:
    """Whether all of it is as it should be. Prints what was tried."""
    right = True
    for what, trial in trials(names, build).items():
        with tempfile.TemporaryDirectory() as folder:
            wrong = trial(Path(folder))
        print(f"{what}: {wrong or 'ok'}", flush=True)
        right = right and not wrong
    return right


def main(names: list[str]) -> int:
    missing = [name for name in names if not trials([name], Path)]
    if missing or not names:
        print(f"{__doc__}\nno answers to try: {', '.join(missing)}", file=sys.stderr)
        return 2
    choice, _ = profilers.require_gpu("")
    cmake = setup.ensure("gpu")
    right = try_all(names, lambda source: own_program.for_gpu([str(source)], choice, cmake, False))
    return 0 if right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        sys.exit(f"try_answers.py: {error}")
