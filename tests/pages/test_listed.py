"""The listing in the guide is what ./lab profile --source prints."""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from lab_cli.lines import listing, recorded
from lab_cli.paths import ROOT
from lab_fixtures import shipped

LISTED = re.compile(r"<!-- listed (\w+) -->\n\n((?:    .*\n|\n(?=    ))+)")
NUMBER = re.compile(r"^([> ]) +\d+  |(?<=\.cu:)\d+", re.MULTILINE)  # of a line, which edits move


def test_the_guide_shows_what_is_listed(build: Path, tmp_path: Path) -> None:
    ((kernel, block),) = LISTED.findall((ROOT / "GUIDE.md").read_text(encoding="utf-8"))
    program = shipped("transpose").program(build, instrumented=True)
    if not program.exists():
        pytest.skip(f"{program} is not built: ./lab test builds it")
    report = tmp_path / "lines.json"
    variables = {**os.environ, recorded.VARIABLE: str(report)}
    subprocess.run(
        [str(program), "--profile"], env=variables, check=True, stdout=subprocess.DEVNULL
    )
    profile = recorded.parse(report.read_text(), "counted", tmp_path)
    found = [each for each in profile.kernels if each.name == kernel]
    said = listing.text(replace(profile, kernels=found), 96).rpartition("\n\n")[0]
    assert NUMBER.sub(r"\1", textwrap.dedent(block).rstrip("\n")) == NUMBER.sub(r"\1", said)
