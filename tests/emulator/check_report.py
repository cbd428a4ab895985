"""Runs a program under the hazard check, and reads its report; for the tests of the check."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Finding:
    """One hazard of a report."""

    title: str  # with what it is about
    hazard: bool  # else a note
    kernel: str
    block: str  # as in "(0,1,0)"
    where: str
    acts: list[tuple[int, str, str, str]]  # (line, who, what they did, source text)
    times: int
    why: str
    fix: str

    def lines(self) -> list[int]:
        return [line for line, _, _, _ in self.acts]


@dataclass
class Report:
    findings: list[Finding]
    hazards: int
    launches: int
    copies: int
    not_judged: list[str]
    output: str  # of the program


def parse(text: str, output: str) -> Report:
    found = json.loads(text)
    return Report(
        [_finding(each) for each in found["findings"]],
        found["hazards"],
        found["launches"],
        found["copies"],
        found["not judged"],
        output,
    )


def _finding(found: dict[str, Any]) -> Finding:
    acts = []
    for act in found["acts"]:
        assert act["file"].endswith((".cu", ".cuh")), act
        acts.append((act["line"], act["who"], act["what"], act["source"]))
    about = found["about"]
    return Finding(
        found["title"] + (f": {about}" if about else ""),
        found["hazard"],
        found.get("kernel", ""),
        "({},{},{})".format(*found["block"]) if "block" in found else "",
        found["where"],
        acts,
        found["times"],
        found["why"],
        found["fix"],
    )


def run(program: Path | str, report: Path, *arguments: str) -> Report:
    file = report.with_suffix(".json")
    done = subprocess.run(
        [str(program), *arguments],
        env={**os.environ, "CUDA_EMULATOR_CHECK": str(file)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    return parse(file.read_text(), done.stdout.decode())


def line_of(file: Path, mark: str) -> int:
    """The number of the line of the file that ends with the comment `// mark`."""
    lines = file.read_text().splitlines()
    found = [i for i, line in enumerate(lines, 1) if re.search(rf"// {mark}$", line)]
    assert len(found) == 1, mark
    return found[0]


def only(report: Report) -> Finding:
    assert len(report.findings) == 1, report
    assert report.hazards == 1
    return report.findings[0]
