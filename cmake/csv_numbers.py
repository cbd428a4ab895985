"""What check_case.py says of the numbers in a CSV. A module of its own, since it takes longer to load
than most commands take to run."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from lab_cli import exercise_facts  # noqa: E402
from lab_cli.results import numbers, timelines  # noqa: E402
from lab_cli.results.csv_file import Row  # noqa: E402

if TYPE_CHECKING:
    from check_case import Done


def problems(rows: Sequence[Row], done: Done, facts: str) -> list[str]:
    """What is wrong with the rows that a command printed, and with the timeline that it wrote, a line
    each; `facts` is the path of the exercise's exercise.toml."""
    wrong = numbers.longer_than(rows, done.milliseconds)
    if done.option("reps"):
        wrong += numbers.wrong_reps(rows, int(done.option("reps")))
    if done.option("timeline"):
        with open(done.option("timeline"), newline="") as file:
            spans = list(csv.DictReader(file, strict=True))
        microseconds = float(done.option("microseconds") or 0)
        wrong += timelines.problems(spans, rows, done.milliseconds, microseconds)
    return wrong or numbers.problems(rows, exercise_facts.load(Path(facts)))
