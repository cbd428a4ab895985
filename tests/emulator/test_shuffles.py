"""./lab check tells a shuffle whose undefined value reaches the results from one whose does not (check/shuffles.cu)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from check_report import line_of
from lab_cli.commands import check

SOURCE = Path(__file__).parent / "check" / "shuffles.cu"


@pytest.mark.parametrize("memory", ["device", "managed"])
@pytest.mark.parametrize(
    "kernel, mark, hazards", [("halfWarp", "not-used", 0), ("oneAndAHalfWarps", "used", 1)]
)
def test_whether_the_results_depend_on_it(
    build: Path, kernel: str, mark: str, hazards: int, memory: str
) -> None:
    program = [str(build / "tests" / "shuffles"), kernel, memory]
    report = check.check(program, as_json=True)
    found = json.loads(report)
    (finding,) = found["findings"]
    assert [act["line"] for act in finding["acts"]] == [line_of(SOURCE, mark)]
    assert (found["hazards"], finding["hazard"]) == (hazards, hazards == 1)
    assert check.found_none(report) == (hazards == 0)
