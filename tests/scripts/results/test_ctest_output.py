"""What is shown of ctest's output, on a terminal and in a log."""

from __future__ import annotations

from lab_cli.progress import Progress
from lab_cli.results.ctest_output import Reader

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
