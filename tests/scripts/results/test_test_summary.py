"""The summary of ./lab test: verdicts of kernels and tests of options told apart."""

from __future__ import annotations

import json

import pytest
from lab_cli.errors import LabError
from lab_cli.results import test_summary

LABELS = {
    "transpose --rows=3": ["exercise", "ch04_memory", "transpose", "results"],
    "transpose --rows=4": ["exercise", "ch04_memory", "transpose", "results"],
    "transpose --help": ["exercise", "ch04_memory", "transpose", "options"],
    "transpose hazards": ["exercise", "ch04_memory", "transpose", "hazards"],
    "matmul --m=3": ["exercise", "ch05_performance", "matmul", "results"],
    "common/table/Table.Head": ["unit"],
}


def junit(**outcomes: str) -> str:
    rows = "".join(f'<testcase name="{n}" status="{s}"/>' for n, s in outcomes.items())
    return f"<testsuite>{rows}</testsuite>"


def lines(**outcomes: str) -> list[str]:
    found = test_summary.cases(junit(**outcomes), LABELS)
    return [" ".join(line.split()) for line in test_summary.summary(found).splitlines()]


def test_a_broken_kernel_is_not_lost_among_its_options() -> None:
    assert lines(
        **{"transpose --rows=3": "fail", "transpose --rows=4": "run", "transpose --help": "run"}
    ) == [
        "exercise results hazards counts options",
        "transpose 1/2 FAILED - - 1 ok",
        "",
        "failed:",
        "transpose --rows=3",
    ]


def test_exercises_and_the_rest() -> None:
    assert lines(
        **{
            "common/table/Table.Head": "run",
            "matmul --m=3": "notrun",
            "transpose --rows=3": "run",
            "transpose hazards": "notrun",
        }
    ) == [
        "exercise results hazards counts options",
        "matmul skipped - - -",
        "transpose 1 ok skipped - -",
        "unit tests 1 ok",
    ]


def test_a_case_that_was_skipped_is_not_counted_as_right() -> None:
    assert lines(**{"transpose --rows=3": "notrun", "transpose --rows=4": "run"})[1] == (
        "transpose 1 ok - - -"
    )


def test_all_that_is_printed() -> None:
    labels = {
        **LABELS,
        "transpose counts": ["exercise", "ch04_memory", "transpose", "counts"],
        "aKernelWithALongName --x": ["options", "exercise"],
    }
    ran = {
        "transpose --rows=3": "run",
        "common/table/Table.Head": "run",
        "unknown": "fail",
        "transpose --rows=4": "fail",
        "transpose hazards": "notrun",
        "transpose counts": "run",
        "aKernelWithALongName --x": "run",
        "common/other": "notrun",
    }
    assert test_summary.summary(test_summary.cases(junit(**ran), labels)).splitlines() == [
        "exercise              results        hazards        counts         options",
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
    assert lines() == []


def test_labels_of_ctest() -> None:
    tests = [
        {"name": "a", "properties": [{"name": "TIMEOUT", "value": 3}]},
        {"name": "b", "properties": [{"name": "LABELS", "value": ["unit"]}]},
    ]
    assert test_summary.labels_of(json.dumps({"tests": tests})) == {"a": [], "b": ["unit"]}


def test_a_name_of_two_lines_is_the_same_in_both() -> None:
    labels = ["exercise", "transpose", "results"]
    properties = [{"name": "LABELS", "value": labels}]
    listing = json.dumps({"tests": [{"name": "transpose => a\n\tb", "properties": properties}]})
    (case,) = test_summary.cases(
        '<testsuite><testcase name="transpose =&gt; a\n\tb" status="run"/></testsuite>',
        test_summary.labels_of(listing),
    )
    assert (case.exercise, case.about) == ("transpose", "results")


def test_half_a_file_is_an_error() -> None:
    with pytest.raises(LabError, match="cannot read what ctest wrote"):
        test_summary.cases("<testsuite>", {})
