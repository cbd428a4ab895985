"""The diagnosis in the guide is what ./lab profile --explain says."""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from pathlib import Path

import pytest
from lab_cli import metrics
from lab_cli.causes import sentences
from lab_cli.counters import explanation
from lab_cli.counters.metric_table import MetricTable, Row
from lab_cli.lines import recorded
from lab_cli.paths import ROOT
from lab_fixtures import shipped

EXPLAINED = re.compile(r"<!-- explained (\w+) -->\n\n((?:    .*\n)+)")
# The file may be a copy somewhere else, and edits move its lines.
PLACE = re.compile(r"\S+\.cu:\d+")


def test_the_guide_shows_what_is_said(build: Path, tmp_path: Path) -> None:
    ((kernel, block),) = EXPLAINED.findall((ROOT / "GUIDE.md").read_text(encoding="utf-8"))
    program = shipped("transpose").program(build, instrumented=True)
    if not program.exists():
        pytest.skip(f"{program} is not built: ./lab test builds it")
    report = tmp_path / "lines.json"
    variables = {**os.environ, recorded.VARIABLE: str(report)}
    subprocess.run(
        [str(program), "--profile"], env=variables, check=True, stdout=subprocess.DEVNULL
    )
    profile = recorded.parse(report.read_text(), "counted", tmp_path)
    table = MetricTable(
        metrics.load().find(["warp_execution_efficiency"]),
        [Row(kernel, "", "", [100.0])],
        "counted",
    )
    by_line = sentences.by_line(profile, table, small=True)
    paragraphs = explanation.text(table, "cpu", 96, by_line).split("\n\n")
    (said,) = [text for text in paragraphs if text.startswith(f"{kernel},")]
    assert PLACE.sub("", textwrap.dedent(block).rstrip("\n")) == PLACE.sub("", said)
