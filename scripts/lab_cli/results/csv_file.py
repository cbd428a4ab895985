"""Files of measured results: facts about the machine as `# name: value` lines, then CSV."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import LabError
from ..paths import shown

Row = dict[str, str]


@dataclass(frozen=True)
class Results:
    path: Path
    facts: dict[str, str]
    columns: list[str]
    rows: list[Row]


def parse(text: str, path: Path) -> Results:
    """`path` is for messages. LabError if there is no row, or one with too many or few cells."""
    facts: dict[str, str] = {}
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            name, colon, value = line[1:].partition(":")
            if colon:
                facts[name.strip()] = value.strip()
        elif line:
            lines.append(line)
    cells = list(csv.reader(lines))
    if len(cells) < 2:
        raise LabError(f"{shown(path)}: {'a header, but no rows' if cells else 'no CSV in it'}")
    columns = cells[0]
    for row in cells[1:]:
        if len(row) != len(columns):
            raise LabError(
                f"{shown(path)}: the header has {len(columns)} columns, but this row has "
                f"{len(row)}: {','.join(row)}"
            )
    return Results(path, facts, columns, [dict(zip(columns, row)) for row in cells[1:]])


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise LabError(f"{shown(path)}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise LabError(f"{shown(path)}: not text: {error}") from error


def with_facts(facts: Mapping[str, str], csv_text: str) -> str:
    return "".join(f"# {name}: {value}\n" for name, value in facts.items()) + csv_text
