"""Measures what the answers of a page say of the speed of their code, on a GPU.

    python tests/measure_answers.py NAME...

For each [[tried]] of NAME that has `measured` (page_answers.py) the answer is put into a copy of the
checkout, and the exercise built and run there with these options; so is what stands in the checkout, as
answer 0, unless the answer is nothing but these options. results/<gpu>/NAME.answers.csv gets the rows, with
the columns answer and variant before those of the exercise.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "scripts")]

from lab_cli.errors import LabError  # noqa: E402
from lab_cli.files import make_folder, write  # noqa: E402
from lab_cli.machine import facts  # noqa: E402
from lab_cli.machine.gpu import ask_driver  # noqa: E402
from lab_cli.paths import OUT, ROOT, shown  # noqa: E402
from lab_cli.results import csv_file  # noqa: E402
from lab_cli.verdicts import GOOD, OK  # noqa: E402
from page_answers import measured, pieces, with_answer  # noqa: E402

COPY = OUT / "answers"
AS_IT_IS: dict[str, Any] = {"answer": 0}


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


def rows_of(name: str, entry: dict[str, Any], options: str) -> list[csv_file.Row]:
    """Builds and runs what is in the copy. LabError if that fails, or a result is wrong."""
    command = [str(COPY / "lab"), "run", "--backend", "gpu", name, "--", *options.split(), "--csv"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise LabError(f"{name}, answer {entry['answer']}, {options}: status {done.returncode}")
    path = Path(f"{name}, answer {entry['answer']}")
    rows = csv_file.parse(done.stdout, path).rows
    wrong = [row["kernel"] for row in rows if row.get("check", OK) not in GOOD]
    if wrong:
        raise LabError(f"{path}, {options}: wrong: {', '.join(wrong)}")
    found = {"answer": str(entry["answer"]), "variant": entry.get("variant", "")}
    return [{**found, **row} for row in rows]


def changes_code(page: Path, entry: dict[str, Any]) -> bool:
    return bool(pieces()[page, entry["answer"]] or entry.get("also"))


def measure(page: Path, entries: list[dict[str, Any]]) -> list[csv_file.Row]:
    name, folder = page.stem, COPY / page.parent.relative_to(ROOT)
    changing = [entry for entry in entries if changes_code(page, entry)]
    runs = dict.fromkeys(options for entry in changing for options in entry["measured"])
    rows = [row for options in runs for row in rows_of(name, AS_IT_IS, options)]
    for entry in entries:
        code = pieces()[page, entry["answer"]]
        changed = with_answer(page.with_suffix(".cu"), code, entry)
        for file, text in changed.items():
            (folder / file).write_text(text, encoding="utf-8")
        rows += [row for options in entry["measured"] for row in rows_of(name, entry, options)]
        for file in changed:
            shutil.copyfile(page.parent / file, folder / file)
    return rows


def table(rows: list[csv_file.Row]) -> str:
    """Columns that only some programs have are empty in the rows of the others."""
    text = io.StringIO()
    columns = dict.fromkeys(column for row in rows for column in row)
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def main(names: list[str]) -> int:
    entries = {page: found for page, found in measured().items() if page.stem in names}
    missing = set(names) - {page.stem for page in entries}
    if missing or not names:
        print(f"{__doc__}\nno answers to measure: {', '.join(sorted(missing))}", file=sys.stderr)
        return 2
    problem = ask_driver().problem
    if problem:
        raise LabError(f"nothing to measure on: {problem}")
    slug, now = facts.measured_on("gpu")
    make_folder(ROOT / "results" / slug)
    copy_the_checkout()
    for page, found in entries.items():
        path = ROOT / "results" / slug / f"{page.stem}.answers.csv"
        write(path, csv_file.with_facts(now, table(measure(page, found))))
        print(f"written: {shown(path)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        sys.exit(f"measure_answers.py: {error}")
