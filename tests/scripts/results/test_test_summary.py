"""The summary of ./lab test: verdicts of kernels and tests of options told apart."""

from __future__ import annotations

import json

import pytest
from lab_cli.errors import LabError
from lab_cli.progress import Progress
from lab_cli.results import test_summary
from lab_cli.results.ctest_output import Reader

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


def test_what_pytest_left_out_says_why_and_what_failed_which_of_its_tests() -> None:
    skipped = "................ [100%]\nskipped: there is no pencil\n"
    failed = (
        "FAILED.py is no test\n"
        "FAILED tests/scripts/test_a.py::test_one[a - b] - assert 1 == 2\n"
        "ERROR tests/scripts/test_b.py\n"
        "ERROR is not a name\n"
    )
    text = (
        f'<testsuite><testcase name="a" status="notrun"><system-out>{skipped}</system-out></testcase>'
        f'<testcase name="b" status="fail"><system-out>{failed}</system-out></testcase>'
        '<testcase name="c" status="run"><system-out>skipped: no</system-out></testcase></testsuite>'
    )
    assert test_summary.summary(test_summary.cases(text, LABELS)).splitlines() == [
        "unit tests            1/3 FAILED",
        "",
        "left out:",
        "    a: there is no pencil",
        "",
        "failed:",
        "    b",
        "        tests/scripts/test_a.py::test_one[a - b] - assert 1 == 2",
        "        tests/scripts/test_b.py",
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


# ---- what is shown of ctest's output, on a terminal and in a log ----

OUTPUT = """\
Internal ctest changing into directory: /work/out/cpu
Test project /work/out/cpu
      Start  1: transpose --rows=3
      Start  2: transpose --rows=4
 1/4 Test  #1: transpose --rows=3 ......   Passed    0.05 sec
      Start  3: transpose --help
 2/4 Test  #2: transpose --rows=4 ......***Failed    0.06 sec
transposeNaive    WRONG
    WRONG: 3 is not 4

      Start  4: transpose counts
 3/4 Test  #3: transpose --help ........***Skipped   0.01 sec
 4/4 Test  #4: transpose counts ........***Timeout  60.00 sec

50% tests passed, 2 tests failed out of 4

Total Test time (real) =   1.2 sec
"""
FAILED = """\
 2/4 Test  #2: transpose --rows=4 ......***Failed    0.06 sec
transposeNaive    WRONG
    WRONG: 3 is not 4

"""
TIMEOUT = " 4/4 Test  #4: transpose counts ........***Timeout  60.00 sec\n\n"
END = "50% tests passed, 2 tests failed out of 4\n\nTotal Test time (real) =   1.2 sec\n"


def shown(**how: bool) -> str:
    usual = {"on_terminal": False, "verbatim": False, "in_short": True}
    reader = Reader(Progress("testing"), **{**usual, **how})
    return "".join(reader.shown(line) for line in OUTPUT.splitlines(keepends=True))


def test_on_a_terminal_what_failed_with_its_output() -> None:
    assert shown(on_terminal=True) == FAILED + TIMEOUT
    assert shown(on_terminal=True, in_short=False) == FAILED + TIMEOUT + END


def test_a_log_has_each_result() -> None:
    passed, skipped = (OUTPUT.splitlines(keepends=True)[i] for i in (4, 11))
    assert shown() == passed + FAILED + skipped + TIMEOUT


def test_with_options_of_ctest_it_is_as_ctest_prints_it() -> None:
    assert shown(on_terminal=True, verbatim=True, in_short=False) == OUTPUT
    assert shown(verbatim=True) == OUTPUT[: OUTPUT.index("50%")]


def test_progress() -> None:
    progress = Progress("testing")
    reader = Reader(progress, True, False, True)
    states = []
    for line in OUTPUT.splitlines(keepends=True):
        reader.shown(line)
        states.append((progress.state.done, progress.state.total, progress.state.item))
    assert states[1] == (0, 0, "")
    assert states[3] == (0, 0, "transpose --rows=4")
    assert states[4] == (1, 4, "transpose --rows=4")
    assert states[5] == (1, 4, "transpose --help")
    assert states[-1] == (4, 4, "transpose counts")


def test_a_gap_is_left_below_what_was_shown() -> None:
    reader = Reader(Progress("testing"), True, False, True)
    reader.shown(" 1/2 Test  #1: a ...   Passed    0.05 sec\n")
    assert reader.gap == ""
    reader.shown(" 2/2 Test  #2: b ...***Failed    0.05 sec\n")
    assert reader.gap == "\n"
