"""The code in the answers of the pages, and how it is put into their exercises. Whole programs are in
test_page_programs.py.

tests/pages/CHAPTER/NAME.toml says how, for CHAPTER/NAME.md; an answer may have several entries:

[[tried]]
answer      the number of the answer
parts       where each piece of its code goes in NAME.cu (or in `file`, beside it): before, behind or
            instead_of a text that stands there once; left out where the answer has no code
also        changes that the answer leaves to words: replace a text that stands there once, by another
options     of the run
architecture  such as "90a", where the exercise needs a GPU of its own: nvcc compiles the code for it
prints      a text that the run prints, where the answer has it
counts      what the profiler counts, where the answer has it: a list by metric, a value for each launch
multiprocessors  that the cpu back end has for the run, where the answer depends on it
finds       a text of the hazard check's report, where the answer tells of a hazard
status      the exit status, where the answer tells of wrong results
measured    options of the runs of which results/<gpu>/NAME.answers.csv has rows (measure_answers.py)
variant     what tells these rows from those of other entries of the answer
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from changed_files import changed_files
from lab_cli import toml_file
from lab_cli.paths import ROOT
from lab_cli.results import tables

ANSWER = re.compile(r"<summary>Answer (\d+)</summary>(.*?)</details>", re.DOTALL)
CODE = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)

Answer = tuple[Path, int]  # a page and the number on it


@functools.cache
def pieces() -> dict[Answer, list[str]]:
    """The code of each answer, but for whole programs."""
    return {
        (page, int(number)): [piece for piece in CODE.findall(text) if "int main(" not in piece]
        for page in tables.pages()
        for number, text in ANSWER.findall(page.read_text(encoding="utf-8"))
    }


@functools.cache
def tried() -> dict[Answer, list[dict[str, Any]]]:
    found: dict[Answer, list[dict[str, Any]]] = {}
    for page in tables.pages():
        facts = ROOT / "tests" / "pages" / page.relative_to(ROOT).with_suffix(".toml")
        if facts.exists():
            for entry in toml_file.load(facts).get("tried", []):
                found.setdefault((page, entry["answer"]), []).append(entry)
    return found


def measured() -> dict[Path, list[dict[str, Any]]]:
    """By page, the entries that have rows in the results."""
    found: dict[Path, list[dict[str, Any]]] = {}
    for (page, _), entries in tried().items():
        found.setdefault(page, []).extend(entry for entry in entries if "measured" in entry)
    return {page: entries for page, entries in found.items() if entries}


def with_answer(source: Path, code: list[str], entry: dict[str, Any]) -> dict[str, str]:
    """The files that the answer changes, by name."""
    parts = entry.get("parts", [])
    assert len(parts) == len(code), "each piece of code has a place in `parts`"
    changes = []
    for piece, part in zip(code, parts):
        for place, new in {
            "before": "{piece}{old}",
            "behind": "{old}{piece}",
            "instead_of": "{piece}",
        }.items():
            if place in part:
                old = part[place]
                changes.append((part.get("file", ""), old, new.format(piece=piece, old=old)))
    changes += [
        (each.get("file", ""), each["replace"], each["by"]) for each in entry.get("also", [])
    ]
    return changed_files(source, f"{source.stem}, answer {entry['answer']}", changes)
