"""Runs tests by ctest, and takes note of what came of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..building import presets
from ..process import output_of, run_lines
from . import standing, test_summary
from .test_summary import Case


def run_cases(
    cmake: str,
    folder: Path,
    options: Sequence[str],
    sources: Mapping[str, str],
    each: Callable[[str], None],
) -> tuple[int, list[Case] | None]:
    """ctest's status, and the cases that ran with these options, of which ./lab takes note; None where
    ctest says nothing of them. `each` gets what it prints, line by line; `sources` are those that were
    built."""
    ctest = [presets.ctest_beside(cmake), "--test-dir", str(folder)]
    labels = test_summary.labels_of(output_of([*ctest, "--show-only=json-v1"]))
    with tempfile.TemporaryDirectory(prefix="lab-") as temporary:
        junit = Path(temporary) / "results.xml"
        usual = ["--output-on-failure", "--no-label-summary", "--no-tests=error", "-j", _jobs()]
        command = [*ctest, *usual, "--output-junit", str(junit), *options]
        status = run_lines(command, each)
        if not junit.exists():
            return status, None
        text = junit.read_text(encoding="utf-8", errors="replace")
    ran = test_summary.cases(text, labels)
    standing.record(folder.name, sources, ran, labels)
    return status, ran


def _jobs() -> str:
    return str(len(os.sched_getaffinity(0)))
