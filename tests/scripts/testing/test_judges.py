"""The judges of what an exercise prints: what is wrong must not pass."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Callable

import judges
import pytest
from exercise_sample import FACTS as SHORTEST
from lab_cli import exercise_facts
from program import Done

TABLE = "x: 3 ints\nkernel  grid  check\na          1  ok\nb          1  ok\n"
CSV = "exercise,parameters,check\nx,size=1,ok\nx,size=1,ok\n"
HELP = "options: --reps --seed --kernel --csv --profile\n--host-times --device --help --size"
SLOW = "emulator: kernel k has been running for 10 s: block (0,0,0). Ctrl-C ends the program.\n"
FOUND = "emulator: something wrote beyond the end\n"
LINE = 80 * "-" + "\n"  # as long as a line may be

Judge = Callable[[Done], str]


def wide(width: int) -> str:
    """A table that has so many columns of the terminal."""
    return "kernel".ljust(width - 5) + "check\n" + "a".ljust(width - 5) + "ok\n"


@pytest.fixture
def facts(tmp_path: Path) -> exercise_facts.Facts:
    path = tmp_path / "exercise.toml"
    path.write_text(SHORTEST + "[columns]\nwarps = { formula = 'ceil(size / 32)' }\n")
    return exercise_facts.load(path)


@pytest.fixture
def judge() -> Callable[..., str]:
    """judge(kind, out=..., err=..., status=...): what is wrong with the program of x that ended so."""
    known: dict[str, Judge] = {
        "table": judges.table_problem,
        "csv": partial(judges.csv_problem, exercise="x"),
        "help": partial(judges.help_problem, options=["--size"]),
        "prints": partial(judges.prints_problem, regexes=["^a +1 +ok$"]),
        "fails": partial(judges.fails_problem, regexes=["^cannot write$"]),
        "rejects": partial(judges.rejects_problem, regexes=["--size=0: expected"]),
    }

    def judged(kind: str, out: str = "", err: str = "", status: int = 0) -> str:
        return known[kind](Done(["x"], status, out, err, 1000.0))

    return judged


@pytest.mark.parametrize(
    ("kind", "out", "err", "status"),
    [
        ("table", TABLE, "", 0),
        ("table", TABLE + "c          1  race\nd          1  lucky\n", "", 0),
        ("table", TABLE, SLOW, 0),
        ("table", wide(80), "", 0),
        # Lines of a student's own.
        ("table", "mine, to check\n" + TABLE + "x" + LINE + "element 3 is WRONG\n", "i = 3\n", 0),
        ("csv", "i = 3, 4\n" + CSV + 'y,"\n', "i = 3\n", 0),
        ("help", "i = 3\n" + HELP, "i = 3\n", 0),
        ("rejects", "mine, to check\n", "i = 3\nx: --size=0: expected\n", 2),
        ("table", "\ufffd\n" + TABLE, "", 0),  # no text
        ("csv", CSV, "x: 3 ints on CPU emulation of sm_90\n", 0),
        ("csv", CSV + "x,size=1,race\nx,size=1,lucky\n", "", 0),
        ("prints", TABLE, "", 0),
        ("rejects", "", "x: --size=0: expected \ufffd\n", 2),
        ("fails", "", "a note\ncannot write\n", 1),
    ],
)
def test_what_is_right_passes(judge, kind: str, out: str, err: str, status: int) -> None:
    assert judge(kind, out, err, status) == ""


@pytest.mark.parametrize(
    ("kind", "out"), [("table", TABLE), ("csv", CSV), ("help", HELP), ("prints", TABLE)]
)
def test_status_counts(judge, kind: str, out: str) -> None:
    assert [bool(judge(kind, out, status=status)) for status in (0, 1, 2, 139)] == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("kind", "out", "err"),
    [
        ("table", "", ""),
        ("table", "kernel  grid  check\n", ""),  # no row
        ("table", "a  1  ok\n", ""),  # no heading
        ("table", TABLE + "c          1  WRONG\n", ""),
        ("table", "mine, to check\n" + TABLE + "c          1  WRONG\n", ""),
        ("table", wide(81), ""),
        ("table", TABLE, FOUND),
        ("table", TABLE, SLOW + FOUND),
        ("csv", "exercise,parameters,check\n", ""),
        ("csv", CSV + "x,size=1,2,ok\n", ""),
        ("csv", CSV + "x,size=1,racy\n", ""),
        ("csv", "check,kernel\nok,a\n", ""),
        ("csv", CSV, "x: 3 ints\n" + FOUND),
        ("help", HELP.replace("--size", "--rows"), ""),
        ("help", HELP.replace("--size", "--sizes"), ""),
        ("help", HELP.replace("--seed", ""), ""),
        ("prints", TABLE.replace("1", "2"), "a  1  ok"),
        ("prints", TABLE.replace("ok", "ok."), ""),
    ],
)
def test_bad_output(judge, kind: str, out: str, err: str) -> None:
    assert judge(kind, out, err)


@pytest.mark.parametrize(
    ("kind", "out", "err", "status"),
    [
        ("rejects", "", "x: --size=0: expected\n", 0),
        ("rejects", "", "x: --size=0: expected\n", 1),
        ("rejects", TABLE, "x: --size=0: expected\n", 2),
        ("rejects", "", "", 2),
        ("rejects", "", "x: bad usage\n", 2),
        ("rejects", "", "x: --size=0: expected\nusage: x\n", 2),
        ("fails", "", "cannot write\n", 0),
        ("fails", "", "cannot write\n", 2),
        ("fails", "", "cannot write\nmore\n", 1),
    ],
)
def test_bad_failures(judge, kind: str, out: str, err: str, status: int) -> None:
    assert judge(kind, out, err, status)


TIMED = "exercise,parameters,kernel,grid,device,warps,reps,median_ms,min_ms,max_ms,check\n"
ROW = "x,size=33,k,1,g,{warps},{reps},{median},{least},1e9,ok\n"


@pytest.fixture
def timed(facts) -> Callable[..., str]:
    """timed(warps=2, ...): what is wrong with a row of these numbers, of which 3 runs were asked for."""

    def judged(
        *options: str, warps: int = 2, reps: int = 3, median: float = 1, least: float = 1e-9
    ) -> str:
        out = TIMED + ROW.format(warps=warps, reps=reps, median=median, least=least)
        done = Done(["x", "--reps=3", *options], 0, out, "", 1000.0)
        return judges.numbers_problem(done, "x", facts)

    return judged


def test_numbers_of_the_csv(timed) -> None:
    assert timed() == ""
    assert timed(warps=3) == "row 1 (k): warps is 3, expected 2: ceil(size / 32)"
    assert timed(reps=4)
    assert timed(median=1e-10)
    assert timed(least=1e9, median=1e9)  # longer than the program


def test_an_emulation_shows_times_only_where_they_are_asked_for(facts) -> None:
    def problem(row: str, *options: str) -> str:
        head = "exercise,parameters,kernel,grid,device,reps,median_ms,min_ms,max_ms,check"
        done = Done(["x", *options], 0, f"{head}\nx,{row},ok\n", "", 1000.0)
        return judges.numbers_problem(done, "x", facts)

    timed, without = "size=1,k,1,CPU emulation,2,1,1,1", "size=1,k,1,CPU emulation,2,,,"
    assert "median_ms is 1, on an emulation" in problem(timed)
    assert problem(timed, "--host-times") == problem(without) == ""
    assert problem(timed.replace("CPU emulation", "NVIDIA X")) == ""
    assert problem(without.replace("CPU emulation", "NVIDIA X"))


def test_the_timeline_of_the_csv(timed, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("mode,kernels,stream,kernel,begin_ms,end_ms\n")
    assert timed(f"--timeline={path}")


def test_a_report_of_hazards() -> None:
    done = Done(["x"], 0, "no hazards found (2 kernel launches, 2 copies)\n", "", 1.0)
    regex = r"^no hazards found \([0-9]+ kernel launch"
    clean = "a note\nno hazards found (3 kernel launches, 2 copies)\n"
    assert judges.hazards_problem(done, clean, regex) == ""
    assert judges.hazards_problem(done, "1 hazard found\n", regex)
    assert judges.hazards_problem(done, "", regex)  # printed, not reported
    assert judges.hazards_problem(done._replace(returncode=1), clean, regex)
