"""Measures what the answers of a page say of the speed of their code, on a GPU.

    python3 tests/manual/measure_answers.py NAME...

Each answer on NAME's page with <!-- measure: OPTIONS --> (page_answers.py) is put into a copy of the
checkout, and the exercise built and run there with these options; so is what stands in the checkout, as
answer 0, unless the answer is nothing but these options. results/<gpu>/answers.csv gets the rows, with
the columns answer and variant before those of the exercise.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT / folder) for folder in ("tests", "tests/pages", "scripts")]

from lab_cli import catalogue  # noqa: E402
from lab_cli.errors import LabError  # noqa: E402
from lab_cli.files import make_folder, write  # noqa: E402
from lab_cli.machine import facts  # noqa: E402
from lab_cli.machine.gpu import ask_driver  # noqa: E402
from lab_cli.paths import OUT, ROOT, shown  # noqa: E402
from lab_cli.results import csv_file, store  # noqa: E402
from lab_cli.verdicts import GOOD, OK  # noqa: E402
from page_answers import Variant, answers, with_answer  # noqa: E402
from page_files import source_of  # noqa: E402

COPY = OUT / "answers"
AS_IT_IS = Variant()


def copy_the_checkout() -> None:
    """Keeps what was built in the copy, but is newer than it: the last build may be one of an answer."""
    for path in ROOT.iterdir():
        if path.name in ("out", "build") or path.name.startswith("."):
            continue
        if path.is_dir():
            shutil.rmtree(COPY / path.name, ignore_errors=True)
            shutil.copytree(path, COPY / path.name, copy_function=shutil.copy)
        else:
            make_folder(COPY)
            shutil.copy(path, COPY)


def measured() -> dict[str, tuple[Path, list[Variant]]]:
    """By exercise, its source and the answers that have rows in its results."""
    found = {}
    for page, variants in answers().items():
        chosen = [variant for variant in variants if variant.measured]
        if chosen:
            found[source_of(page).stem] = source_of(page), chosen
    return found


def rows_of(name: str, variant: Variant, options: str) -> list[csv_file.Row]:
    """Builds and runs what is in the copy. LabError if that fails, or a result is wrong."""
    reps = [] if "--reps" in options else ["--reps=20"]  # as ./lab bench has them
    command = [
        str(COPY / "lab"),
        "run",
        "--backend",
        "gpu",
        name,
        "--",
        *options.split(),
        *reps,
        "--csv",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    what = f"{name}, {variant.title}"
    if done.returncode != 0:
        raise LabError(f"{what}, {options}: status {done.returncode}")
    rows = csv_file.parse(done.stdout, Path(what)).rows
    wrong = [row["kernel"] for row in rows if row.get("check", OK) not in GOOD]
    if wrong:
        raise LabError(f"{what}, {options}: wrong: {', '.join(wrong)}")
    found = {"answer": variant.answer, "variant": variant.name}
    return [{**found, **row} for row in rows]


def measure(source: Path, variants: list[Variant]) -> list[csv_file.Row]:
    name = source.stem
    changing = [variant for variant in variants if variant.changes]
    runs = dict.fromkeys(options for variant in changing for options in variant.measured)
    rows = [row for options in runs for row in rows_of(name, AS_IT_IS, options)]
    for variant in variants:
        changed = with_answer(source, variant)
        for path, text in changed.items():
            copy_of(path).write_text(text, encoding="utf-8")
        rows += [row for options in variant.measured for row in rows_of(name, variant, options)]
        for path in changed:
            shutil.copyfile(path, copy_of(path))
    return rows


def copy_of(path: Path) -> Path:
    return COPY / path.relative_to(ROOT)


def table(rows: list[csv_file.Row]) -> str:
    """Columns that only some programs have are empty in the rows of the others."""
    text = io.StringIO()
    columns = dict.fromkeys(column for row in rows for column in row)
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def main(names: list[str]) -> int:
    known = measured()
    missing = [name for name in names if name not in known]
    if missing or not names:
        print(f"{__doc__}\nno answers to measure: {', '.join(missing)}", file=sys.stderr)
        return 2
    problem = ask_driver().problem
    if problem:
        raise LabError(f"nothing to measure on: {problem}")
    slug, now = facts.measured_on("gpu")
    copy_the_checkout()
    for name in names:
        path = store.file(catalogue.one(name).results / slug, "answers")
        make_folder(path.parent)
        write(path, csv_file.with_facts(now, table(measure(*known[name]))))
        print(f"written: {shown(path)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        sys.exit(f"measure_answers.py: {error}")
