"""What a profiler recorded of an exercise on a GPU, as students get it: without the launches of kernels that
are not there. A row's launches go together: those behind, of kernels that are launched in the same
statements."""

from __future__ import annotations

import re
from collections.abc import Collection

from lab_cli.errors import LabError

NAME = "Kernel Name"


def without_kernels(
    text: str, path: str, hidden: Collection[str], with_them: Collection[str]
) -> str:
    """Of the CSV of `ncu --csv --page raw`. LabError where it has no column of kernels' names."""
    lines = text.splitlines(keepends=True)
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None or f'"{NAME}"' not in lines[head]:
        raise LabError(f'{path}: no column "{NAME}"')
    column = re.findall(r'"((?:[^"]|"")*)"', lines[head]).index(NAME)
    kept = lines[: head + 2]  # with the line of the units
    in_row = False
    for line in lines[head + 2 :]:
        cells = re.findall(r'"((?:[^"]|"")*)"', line)
        kernel = re.sub(r"^void ", "", cells[column]) if len(cells) > column else ""
        kernel = re.split(r"[<(]", kernel)[0]
        in_row = kernel in hidden or (in_row and kernel in with_them)
        if not in_row:
            kept.append(line)
    return "".join(kept)
