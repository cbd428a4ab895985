"""The summary of ./lab test: verdicts of kernels and tests of options told apart."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

import case_lines
import pytest
from lab_cli.errors import LabError
from lab_cli.progress import Progress
from lab_cli.testing import summary
from lab_cli.testing.ctest_output import Reader
from testing_sample import listed

TESTS = listed(
    "transpose/results",
    "transpose/hazards",
    "transpose/counts",
    "matmul/results",
    "aKernelWithALongName/options",
    "transpose/broken",
    "common/tests",
)


def junit(**outcomes: str) -> str:
    """The XML of ctest: of each test, its outcome and what it printed, as "run" or "run: text"."""
    rows = []
    for name, told in outcomes.items():
        status, _, text = told.partition(": ")
        inner = f"<system-out>{text}</system-out>"
        rows.append(
            f"<testcase name={quoteattr(name)} status={quoteattr(status)}>{inner}</testcase>"
        )
    return f"<testsuite>{''.join(rows)}</testsuite>"


def lines_of(**outcomes: str) -> list[str]:
    return summary.summary(summary.cases(junit(**outcomes), TESTS)).splitlines()


def test_what_was_skipped_is_not_counted_as_right() -> None:
    skipped = {"matmul/results": "notrun: skipped x", "transpose/hazards": "notrun: no gpu"}
    head, *rows = lines_of(**skipped, **{"transpose/results": "run: ok      a\nskipped b"})
    assert rows == [
        "matmul                skipped        -              -              -",
        "transpose             1 ok           skipped        -              -",
    ]


def test_all_that_is_printed() -> None:
    ran = {
        "matmul/results": "run: ok      matmul --m=3\nok      matmul --m=4",
        "transpose/results": "fail: ok      a\nmore\nFAILED  b --n=3: exit status 1\nFAILED  c: x",
        "common/tests": "run: [ OK ]",
        "unknown": "fail",
        "transpose/hazards": "notrun",
        "transpose/counts": "run: ok      c",
        "transpose/broken": "fail: ok      one\nFAILED  two",
        "aKernelWithALongName/options": "run: ok      x --help",
        "common/other": "notrun: skipped: there is no pencil\n",
    }
    assert lines_of(**ran) == [
        "exercise              results        hazards        counts         options",
        "matmul                2 ok           -              -              -",
        "transpose             2/3 FAILED     skipped        1 ok           -",
        "aKernelWithALongName  -              -              -              1 ok",
        "other tests           2/4 FAILED",
        "",
        "left out:",
        "    common/other: there is no pencil",
        "",
        "failed:",
        "    transpose/results",
        "        b --n=3",
        "        and 1 more",
        "    unknown",
        "    transpose/broken",
    ]


def test_a_test_that_ended_early_has_failed_whatever_its_cases_say() -> None:
    (one, two) = summary.of_test(TESTS[0], "timeout", "ok      a\n")
    assert [one.outcome, two.outcome, two.name] == ["run", "fail", "transpose/results"]


def test_a_case_has_what_was_printed_of_it() -> None:
    text = "ok      a\nthe table\nFAILED  b: bad: worse\nok      c\n"
    cases = summary.of_test(TESTS[0], "fail", text)
    assert [case.name for case in cases] == ["a", "b", "c"]
    assert [case.printed for case in cases] == ["", "the table\nFAILED: bad: worse", ""]


def test_the_lines_of_the_runner_are_read() -> None:
    words = (case_lines.OK, case_lines.NOTE, case_lines.FAILED, case_lines.LEFT_OUT)
    text = "\n".join(word + "x" for word in words)
    cases = summary.of_test(TESTS[0], "fail", text)
    assert [case.outcome for case in cases] == [summary.RUN, summary.FAIL, summary.NOT_RUN]
    assert [case.notes for case in cases] == [(), ("x",), ()]


def test_what_is_to_be_said_of_tests_stands_below_the_table() -> None:
    lines = lines_of(**{"transpose/counts": "run: note    yours" + 80 * " x" + "\nok      c\n"})
    assert lines[-5] != lines[-4] == ""
    assert lines[-3].startswith("yours x") and lines[-1].startswith("    x")


def test_of_a_folder_of_pytest_the_tests_are_named_that_failed() -> None:
    failed = (
        "FAILED.py is no test\n"
        "FAILED tests/scripts/test_a.py::test_one[a - b] - assert 1 == 2\n"
        "ERROR tests/scripts/test_b.py\n"
        "ERROR is not a name\n"
    )
    assert lines_of(b=f"fail: {failed}", c="run: skipped: no") == [
        "other tests           1/2 FAILED",
        "",
        "failed:",
        "    b",
        "        tests/scripts/test_a.py::test_one[a - b] - assert 1 == 2",
        "        tests/scripts/test_b.py",
    ]


def test_nothing_ran() -> None:
    assert lines_of() == []


def test_half_a_file_is_an_error() -> None:
    with pytest.raises(LabError, match="cannot read what ctest wrote"):
        summary.cases("<testsuite>", [])


# ---- what is shown of ctest's output, on a terminal and in a log ----

OUTPUT = """\
Internal ctest changing into directory: /home/anna/lab/out/cpu
Test project /home/anna/lab/out/cpu
      Start  1: transpose/results
      Start  2: transpose/hazards
 1/4 Test  #1: transpose/results .......   Passed    0.05 sec
      Start  3: transpose/options
 2/4 Test  #2: transpose/hazards .......***Failed    0.06 sec
transposeNaive    WRONG
    WRONG: 3 is not 4

      Start  4: transpose/counts
 3/4 Test  #3: transpose/options .......***Skipped   0.01 sec
 4/4 Test  #4: transpose/counts ........***Timeout  60.00 sec

50% tests passed, 2 tests failed out of 4

Total Test time (real) =   1.2 sec
"""
FAILED = """\
 2/4 Test  #2: transpose/hazards .......***Failed    0.06 sec
transposeNaive    WRONG
    WRONG: 3 is not 4

"""
TIMEOUT = " 4/4 Test  #4: transpose/counts ........***Timeout  60.00 sec\n\n"


def shown(**how: bool) -> str:
    usual = {"on_terminal": False, "verbatim": False}
    reader = Reader(Progress("testing"), **{**usual, **how})
    return "".join(reader.shown(line) for line in OUTPUT.splitlines(keepends=True))


def test_on_a_terminal_what_failed_with_its_output() -> None:
    assert shown(on_terminal=True) == FAILED + TIMEOUT


def test_a_log_has_each_result() -> None:
    passed, skipped = (OUTPUT.splitlines(keepends=True)[i] for i in (4, 11))
    assert shown() == passed + FAILED + skipped + TIMEOUT


def test_the_results_of_a_second_ctest_are_shown_as_well() -> None:
    reader = Reader(Progress("testing"), on_terminal=False, verbatim=False)
    lines = [*OUTPUT.splitlines(keepends=True), "\n"] * 2
    shown_lines = [reader.shown(line) for line in lines]
    half = len(lines) // 2
    assert "".join(shown_lines[:half]).strip() == "".join(shown_lines[half:]).strip()


def test_with_options_of_ctest_it_is_as_ctest_prints_it() -> None:
    assert shown(on_terminal=True, verbatim=True) == OUTPUT


def test_progress() -> None:
    progress = Progress("testing")
    reader = Reader(progress, True, False)
    states = []
    for line in OUTPUT.splitlines(keepends=True):
        reader.shown(line)
        states.append((progress.state.done, progress.state.total, progress.state.item))
    assert states[1] == (0, 0, "")
    assert states[3] == (0, 0, "transpose/hazards")
    assert states[4] == (1, 4, "transpose/hazards")
    assert states[5] == (1, 4, "transpose/options")
    assert states[-1] == (4, 4, "transpose/counts")


def test_a_gap_is_left_below_what_was_shown() -> None:
    reader = Reader(Progress("testing"), True, False)
    reader.shown(" 1/2 Test  #1: a ...   Passed    0.05 sec\n")
    assert reader.gap == ""
    reader.shown(" 2/2 Test  #2: b ...***Failed    0.05 sec\n")
    assert reader.gap == "\n"
