"""The summary of ./lab test: verdicts of kernels and tests of options told apart."""

from __future__ import annotations

import json

import pytest
from lab_cli.errors import LabError
from lab_cli.results import test_summary

LABELS = {
    "transpose --rows=3": ["exercise", "ch04_memory", "transpose", "results"],
    "transpose --rows=4": ["exercise", "ch04_memory", "transpose", "results"],
    "transpose hazards": ["exercise", "ch04_memory", "transpose", "hazards"],
    "matmul --m=3": ["exercise", "ch05_performance", "matmul", "results"],
    "matmul --m=4": ["exercise", "ch05_performance", "matmul", "results"],
    "transpose counts": ["exercise", "ch04_memory", "transpose", "counts"],
    "aKernelWithALongName --x": ["options", "exercise"],
    "common/table/Table.Head": ["unit"],
}


def junit(**outcomes: str) -> str:
    rows = "".join(f'<testcase name="{n}" status="{s}"/>' for n, s in outcomes.items())
    return f"<testsuite>{rows}</testsuite>"


def summary(**outcomes: str) -> list[str]:
    return test_summary.summary(test_summary.cases(junit(**outcomes), LABELS)).splitlines()


def test_what_was_skipped_is_not_counted_as_right() -> None:
    skipped = {name: "notrun" for name in ("matmul --m=3", "transpose hazards")}
    head, *rows = summary(**skipped, **{"transpose --rows=3": "run"})
    assert rows == [
        "matmul                skipped        -              -              -",
        "transpose             1 ok           skipped        -              -",
    ]


def test_all_that_is_printed() -> None:
    ran = {
        "matmul --m=3": "notrun",
        "matmul --m=4": "run",
        "transpose --rows=3": "run",
        "common/table/Table.Head": "run",
        "unknown": "fail",
        "transpose --rows=4": "fail",
        "transpose hazards": "notrun",
        "transpose counts": "run",
        "aKernelWithALongName --x": "run",
        "common/other": "notrun",
    }
    assert summary(**ran) == [
        "exercise              results        hazards        counts         options",
        "matmul                1 ok           -              -              -",
        "transpose             1/2 FAILED     skipped        1 ok           -",
        "aKernelWithALongName  -              -              -              1 ok",
        "unit tests            1/3 FAILED",
        "",
        "left out:",
        "    common/other",
        "",
        "failed:",
        "    unknown",
        "    transpose --rows=4",
    ]


def test_what_was_left_out_says_why() -> None:
    said = "................ [100%]\nskipped: there is no pencil\n"
    text = (
        '<testsuite><testcase name="pytest/figures" status="notrun"><skipped/>'
        f"<system-out>{said}</system-out></testcase>"
        '<testcase name="b" status="run"><system-out>skipped: no</system-out></testcase></testsuite>'
    )
    assert test_summary.summary(test_summary.cases(text, LABELS)).splitlines() == [
        "unit tests            1 ok",
        "",
        "left out:",
        "    pytest/figures: there is no pencil",
    ]


def test_a_folder_of_pytest_that_failed_says_which_of_its_tests() -> None:
    said = (
        "FAILED.py is no test\n"
        "=========================== short test summary info ============================\n"
        "FAILED tests/scripts/test_a.py::test_one[a - b] - assert 1 == 2\n"
        "ERROR tests/scripts/test_b.py\n"
        "ERROR is not a name\n"
        "2 failed, 3 passed in 1.00s\n"
    )
    text = (
        f'<testsuite><testcase name="pytest/scripts" status="fail"><system-out>{said}</system-out>'
        '</testcase><testcase name="b" status="fail"/></testsuite>'
    )
    assert test_summary.summary(test_summary.cases(text, LABELS)).splitlines() == [
        "unit tests            2/2 FAILED",
        "",
        "failed:",
        "    pytest/scripts",
        "        tests/scripts/test_a.py::test_one[a - b] - assert 1 == 2",
        "        tests/scripts/test_b.py",
        "    b",
    ]


def test_nothing_ran() -> None:
    assert summary() == []


def test_labels_of_ctest() -> None:
    """A name of two lines is the same in both."""
    labels = ["exercise", "transpose", "results"]
    tests = [
        {"name": "a", "properties": [{"name": "TIMEOUT", "value": 3}]},
        {
            "name": "transpose => a\n\tb",
            "properties": [{"name": "LABELS", "value": labels}],
        },
    ]
    known = test_summary.labels_of(json.dumps({"tests": tests}))
    assert [*known.values()] == [[], labels]
    (case,) = test_summary.cases(
        '<testsuite><testcase name="transpose =&gt; a\n\tb" status="run"/></testsuite>', known
    )
    assert (case.exercise, case.about) == ("transpose", "results")


def test_half_a_file_is_an_error() -> None:
    with pytest.raises(LabError, match="cannot read what ctest wrote"):
        test_summary.cases("<testsuite>", {})
