"""The judge of the ctest cases: what is wrong must not pass."""

from __future__ import annotations

from pathlib import Path

import check_case
import pytest

TABLE = "x: 3 ints\\nkernel  grid  check\\na  1  ok\\nb  1  ok\\n"
CSV = "exercise,parameters,check\\nx,size=1,ok\\nx,size=1,ok\\n"
HELP = "options: --reps --seed --kernel --csv --profile --device --help --size"


def judge(kind: str, *expected: str, out: str = "", err: str = "", status: int = 0) -> int:
    script = f"printf '{out}'; printf '{err}' >&2; exit {status}"
    return check_case.main([kind, *expected, "--", "sh", "-c", script])


def test_what_is_right_passes() -> None:
    assert judge("table", out=TABLE) == 0
    assert judge("csv", out=CSV) == 0
    assert judge("help", "--size", out=HELP) == 0
    assert judge("prints", "^a  1 +ok$", out=TABLE) == 0
    assert judge("rejects", "--size=0: expected", err="x: --size=0: expected 1\\n", status=2) == 0
    assert judge("fails", "^cannot write$", err="a note\\ncannot write\\n", status=1) == 0


def test_a_race_that_is_called_so_passes() -> None:
    assert judge("table", out=TABLE + "c  1  race\\nd  1  lucky\\n") == 0
    assert judge("csv", out=CSV + "x,size=1,race\\nx,size=1,lucky\\n") == 0
    assert judge("csv", out=CSV + "x,size=1,racy\\n") == 1


def test_what_the_cpu_back_end_finds_counts() -> None:
    found = "emulator: something wrote beyond the end\\n"
    assert judge("table", out=TABLE, err=found) == 1
    assert judge("csv", out=CSV, err="x: 3 ints\\n" + found) == 1
    assert judge("csv", out=CSV, err="x: 3 ints on CPU emulation of sm_90\\n") == 0


def test_a_table_may_fill_its_lines() -> None:
    assert judge("table", out=TABLE + "c" + 76 * " " + " ok\\n" + 90 * "-" + "\\n") == 0


@pytest.mark.parametrize("kind", ["table", "csv", "help", "prints", "fails", "rejects"])
def test_no_gpu_is_skipped(kind: str) -> None:
    assert judge(kind, ".", err="no usable GPU\\n", status=77) == 77


@pytest.mark.parametrize("status", [1, 2, 139])
def test_status_counts(status: int) -> None:
    assert judge("table", out=TABLE, status=status) == 1
    assert judge("csv", out=CSV, status=status) == 1
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
    assert judge("csv", out=out) == 1


def test_help_must_name_every_option() -> None:
    assert judge("help", "--rows", out=HELP) == 1
    assert judge("help", "--size", out=HELP.replace("--size", "--sizes")) == 1
    assert judge("help", "--size", out=HELP.replace("--seed", "")) == 1


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


TIMELINE = "mode,kernels,stream,kernel,begin_ms,end_ms,sms"


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        (["oneStream,2,0,0,0,1,1", "oneStream,2,0,1,1,2,1"], 0),
        (["ownStreams,2,0,0,0,1,1", "ownStreams,2,1,1,0.5,2,1"], 0),
        (["oneStream,2,0,0,0,1,1", "oneStream,2,0,1,0.5,2,1"], 1),  # one stream overlaps
        (["ownStreams,2,0,0,0,1,1"], 1),  # a kernel is missing
        (["oneStream,1,0,0,0,-1,1"], 1),
        (["oneStream,1,0,0,3,4,1"], 1),
        ([], 1),
    ],
)
def test_timeline(tmp_path: Path, rows: list[str], verdict: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join([TIMELINE, *rows]) + "\n")
    assert judge("timeline", str(path), out=TABLE) == verdict
