"""Says to CMake what the exercises of a chapter are: a call of lab_add_exercise() for each.

    python3 -m lab_cli.building.for_cmake CHAPTER FILE

The calls have what decides on targets and tests alone. FILE is written only where they have changed, so
that an edit of another fact, such as a text, configures nothing anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from .. import catalogue
from ..catalogue import Exercise
from ..errors import LabError
from ..files import write


def quoted(text: str) -> str:
    """As CMake reads it back."""
    marked = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{marked}"'


def argument(keyword: str, values: Iterable[str]) -> list[str]:
    """Lines of a call; none where there are no values."""
    lines = [f"        {quoted(value)}" for value in values]
    return [f"    {keyword}", *lines] if lines else []


def call(exercise: Exercise) -> str:
    facts = exercise.facts
    tests = facts.tests
    flags = {
        "RDC": facts.rdc,
        "CUDA_ONLY": facts.gpu_only,
        "ASSIGNMENTS": bool(facts.assignments),
        "SLOW": bool(tests.slow_runs),
        "PER_THREAD": bool(tests.matches["prints_per_thread"]),
        "AS_GPU": facts.prints_more_on_gpu,
    }
    lines = [f"lab_add_exercise({exercise.name}"]
    lines += [f"    {flag}" for flag, given in flags.items() if given]
    lines += argument("ARCHITECTURES", facts.architectures)
    lines += argument("LINK", facts.libraries)
    return "\n".join(lines) + ")\n"


def main(arguments: Sequence[str]) -> None:
    chapter, file = Path(arguments[0]).resolve(), Path(arguments[1])
    text = "".join(map(call, catalogue.of_chapter(chapter)))
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        write(file, text)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except LabError as error:
        sys.exit(str(error))
