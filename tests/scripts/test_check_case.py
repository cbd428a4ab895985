"""The judge of the ctest cases: what is wrong must not pass."""

from __future__ import annotations

from pathlib import Path

import check_case
import pytest
from exercise_sample import FACTS as SHORTEST
from lab_cli.paths import ROOT

TABLE = "x: 3 ints\\nkernel  grid  check\\na  1  ok\\nb  1  ok\\n"
CSV = "exercise,parameters,check\\nx,size=1,ok\\nx,size=1,ok\\n"
FACTS = str(ROOT / "ch03_execution_model" / "warpLayout" / "exercise.toml")
HELP = "options: --reps --seed --kernel --csv --profile --device --help --size"


def judge(kind: str, *expected: str, out: str = "", err: str = "", status: int = 0) -> int:
    script = f"printf '{out}'; printf '{err}' >&2; exit {status}"
    return check_case.main([kind, *expected, "--", "sh", "-c", script])


def test_what_is_right_passes() -> None:
    assert judge("table", out=TABLE) == 0
    assert judge("csv", FACTS, out=CSV) == 0
    assert judge("help", "--size", out=HELP) == 0
    assert judge("prints", "^a  1 +ok$", out=TABLE) == 0
    assert judge("rejects", "--size=0: expected", err="x: --size=0: expected 1\\n", status=2) == 0
    assert judge("fails", "^cannot write$", err="a note\\ncannot write\\n", status=1) == 0


def test_a_race_that_is_called_so_passes() -> None:
    assert judge("table", out=TABLE + "c  1  race\\nd  1  lucky\\n") == 0
    assert judge("csv", FACTS, out=CSV + "x,size=1,race\\nx,size=1,lucky\\n") == 0
    assert judge("csv", FACTS, out=CSV + "x,size=1,racy\\n") == 1


def test_what_the_cpu_back_end_finds_counts() -> None:
    found = "emulator: something wrote beyond the end\\n"
    assert judge("table", out=TABLE, err=found) == 1
    assert judge("csv", FACTS, out=CSV, err="x: 3 ints\\n" + found) == 1
    assert judge("csv", FACTS, out=CSV, err="x: 3 ints on CPU emulation of sm_90\\n") == 0
    slow = (
        "emulator: kernel k has been running for 10 s: block (0,0,0). Ctrl-C ends the program.\\n"
    )
    assert judge("table", out=TABLE, err=slow) == 0
    assert judge("table", out=TABLE, err=slow + found) == 1


def test_no_verdict_is_not_a_good_one() -> None:
    assert check_case.GOOD == {"ok", "race", "lucky"}


def test_a_line_may_be_full() -> None:
    assert judge("table", out=TABLE + "c" + 76 * " " + " ok\\n" + 80 * "-" + "\\n") == 0
    assert judge("help", "--size", out=HELP + "\\n" + 80 * "-" + "\\n") == 0


@pytest.mark.parametrize("kind", ["table", "csv", "help", "prints", "fails", "rejects"])
def test_no_gpu_is_skipped(kind: str) -> None:
    assert judge(kind, ".", err="no usable GPU\\n", status=77) == 77


@pytest.mark.parametrize("status", [1, 2, 139])
def test_status_counts(status: int) -> None:
    assert judge("table", out=TABLE, status=status) == 1
    assert judge("csv", FACTS, out=CSV, status=status) == 1
    assert judge("help", out=HELP, status=status) == 1
    assert judge("prints", "ok", out=TABLE, status=status) == 1


@pytest.mark.parametrize(
    "out",
    [
        "",
        "kernel  grid  check\\n",  # no row
        "a  1  ok\\n",  # no heading
        TABLE + "c  1  WRONG\\n",
        TABLE + "c" + 77 * " " + " ok\\n",  # 81 characters
        81 * "-" + "\\n" + TABLE,
        TABLE.replace("kernel  grid", "kernel  grid" + 80 * " "),
    ],
)
def test_bad_table(out: str) -> None:
    assert judge("table", out=out) == 1


@pytest.mark.parametrize(
    "out",
    [
        "exercise,parameters,check\\n",
        "x: 3 ints\\n" + CSV,
        CSV + "x,size=1,2,ok\\n",
        CSV + "x,size=1,WRONG\\n",
        "check,kernel\\nok,a\\n",
    ],
)
def test_bad_csv(out: str) -> None:
    assert judge("csv", FACTS, out=out) == 1


def test_help_must_name_every_option() -> None:
    assert judge("help", "--rows", out=HELP) == 1
    assert judge("help", "--size", out=HELP.replace("--size", "--sizes")) == 1
    assert judge("help", "--size", out=HELP.replace("--seed", "")) == 1


def test_help_must_fit_80_columns() -> None:
    assert judge("help", "--size", out=HELP + "\\n" + 81 * "-" + "\\n") == 1


@pytest.mark.parametrize(
    ("out", "err", "status"),
    [
        ("", "x: --size=0: expected\\n", 0),
        ("", "x: --size=0: expected\\n", 1),
        ("kernel\\n", "x: --size=0: expected\\n", 2),
        ("", "", 2),
        ("", "x: bad usage\\n", 2),
        ("", "x: --size=0: expected\\nusage: x\\n", 2),
    ],
)
def test_bad_rejection(out: str, err: str, status: int) -> None:
    assert judge("rejects", "--size=0: expected", out=out, err=err, status=status) == 1


@pytest.mark.parametrize("regex", ["^a  2", "1$", "c  1"])
def test_prints_what_is_expected(regex: str) -> None:
    assert judge("prints", regex, out=TABLE, err="a  2 c  1\\n") == 1


@pytest.mark.parametrize(
    ("err", "status"),
    [("cannot write\\n", 0), ("cannot write\\n", 2), ("cannot write\\nmore\\n", 1)],
)
def test_failures(err: str, status: int) -> None:
    assert judge("fails", "cannot write", err=err, status=status) == 1


TIMED = "parameters,kernel,grid,device,warps,reps,median_ms,min_ms,max_ms,check\\n"
ROW = "size=33,k,1,g,{warps},{reps},{median},{least},1e9,ok\\n"


@pytest.fixture
def timed(tmp_path: Path):
    """timed(warps=2, ...): the verdict on a row with these numbers, of which 3 runs were asked for."""
    facts = tmp_path / "x.toml"
    facts.write_text(SHORTEST + "[columns]\nwarps = { formula = 'ceil(size / 32)' }\n")

    def judged(
        *options: str, warps: int = 2, reps: int = 3, median: float = 1, least: float = 1e-9
    ) -> int:
        out = TIMED + ROW.format(warps=warps, reps=reps, median=median, least=least)
        script = ["sh", "-c", f"printf '{out}'", "x", "--reps=3", *options]
        return check_case.main(["csv", str(facts), "--", *script])

    return judged


def test_numbers_of_the_csv(timed, capsys) -> None:
    assert timed() == 0
    assert timed(warps=3) == 1
    assert "FAILED: row 1 (k): warps is 3, expected 2: ceil(size / 32)\n" in capsys.readouterr().err
    assert timed(reps=4) == 1
    assert timed(median=1e-10) == 1


def test_times_longer_than_the_program(timed) -> None:
    assert timed(least=1e9, median=1e9) == 1


def test_the_timeline_of_the_csv(timed, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("mode,kernels,stream,kernel,begin_ms,end_ms\n")
    assert timed(f"--timeline={path}") == 1


def test_output_need_not_be_text() -> None:
    assert judge("table", out="\\377\\n" + TABLE) == 0
    assert judge("prints", "x\ufffd$", out="x\\377\\n") == 0
    assert judge("rejects", "--size", out="", err="x: --size\\377\\n", status=2) == 0
