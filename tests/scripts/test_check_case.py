"""The judge of the ctest cases: what is wrong must not pass."""

from __future__ import annotations

from pathlib import Path

import check_case
import pytest
from exercise_sample import FACTS as SHORTEST
from lab_cli import catalogue

TABLE = "x: 3 ints\\nkernel  grid  check\\na  1  ok\\nb  1  ok\\n"
CSV = "exercise,parameters,check\\nx,size=1,ok\\nx,size=1,ok\\n"
FACTS = str(catalogue.exercises()[0].source.with_name("exercise.toml"))
HELP = "options: --reps --seed --kernel --csv --profile --device --help --size"


def judge(kind: str, *expected: str, out: str = "", err: str = "", status: int = 0) -> int:
    script = f"printf '{out}'; printf '{err}' >&2; exit {status}"
    return check_case.main([kind, *expected, "--", "sh", "-c", script])


SLOW = "emulator: kernel k has been running for 10 s: block (0,0,0). Ctrl-C ends the program.\\n"
FOUND = "emulator: something wrote beyond the end\\n"
REJECTS = ["rejects", "--size=0: expected"]
LINE = 80 * "-" + "\\n"  # as long as a line may be


@pytest.mark.parametrize(
    ("about", "out", "err", "status"),
    [
        (["table"], TABLE, "", 0),
        (["table"], TABLE + "c  1  race\\nd  1  lucky\\n", "", 0),
        (["table"], TABLE, SLOW, 0),
        (["table"], TABLE + "c" + 76 * " " + " ok\\n" + LINE, "", 0),
        (["table"], "\\377\\n" + TABLE, "", 0),  # no text
        (["csv", FACTS], CSV, "x: 3 ints on CPU emulation of sm_90\\n", 0),
        (["csv", FACTS], CSV + "x,size=1,race\\nx,size=1,lucky\\n", "", 0),
        (["help", "--size"], HELP + "\\n" + LINE, "", 0),
        (["prints", "^a  1 +ok$"], TABLE, "", 0),
        (["prints", "x\ufffd$"], "x\\377\\n", "", 0),
        (REJECTS, "", "x: --size=0: expected \\377\\n", 2),
        (["fails", "^cannot write$"], "", "a note\\ncannot write\\n", 1),
    ],
)
def test_what_is_right_passes(about: list[str], out: str, err: str, status: int) -> None:
    assert judge(*about, out=out, err=err, status=status) == 0


@pytest.mark.parametrize("kind", ["table", "csv", "help", "prints", "fails", "rejects"])
def test_no_gpu_is_skipped(kind: str) -> None:
    assert judge(kind, ".", err="no usable GPU\\n", status=77) == 77


@pytest.mark.parametrize(
    ("about", "out"),
    [(["table"], TABLE), (["csv", FACTS], CSV), (["help"], HELP), (["prints", "ok"], TABLE)],
)
def test_status_counts(about: list[str], out: str) -> None:
    assert [judge(*about, out=out, status=status) for status in (0, 1, 2, 139)] == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("about", "out", "err"),
    [
        (["table"], "", ""),
        (["table"], "kernel  grid  check\\n", ""),  # no row
        (["table"], "a  1  ok\\n", ""),  # no heading
        (["table"], TABLE + "c  1  WRONG\\n", ""),
        (["table"], TABLE + "c" + 77 * " " + " ok\\n", ""),
        (["table"], "x" + LINE + TABLE, ""),
        (["table"], TABLE, FOUND),
        (["table"], TABLE, SLOW + FOUND),
        (["csv", FACTS], "exercise,parameters,check\\n", ""),
        (["csv", FACTS], "x: 3 ints\\n" + CSV, ""),
        (["csv", FACTS], CSV + "x,size=1,2,ok\\n", ""),
        (["csv", FACTS], CSV + "x,size=1,racy\\n", ""),
        (["csv", FACTS], "check,kernel\\nok,a\\n", ""),
        (["csv", FACTS], CSV, "x: 3 ints\\n" + FOUND),
        (["help", "--rows"], HELP, ""),
        (["help", "--size"], HELP.replace("--size", "--sizes"), ""),
        (["help", "--size"], HELP.replace("--seed", ""), ""),
        (["help", "--size"], HELP + "\\nx" + LINE, ""),
        (["prints", "^a  2"], TABLE, "a  2"),
        (["prints", "1$"], TABLE, ""),
    ],
)
def test_bad_output(about: list[str], out: str, err: str) -> None:
    assert judge(*about, out=out, err=err) == 1


@pytest.mark.parametrize(
    ("about", "out", "err", "status"),
    [
        (REJECTS, "", "x: --size=0: expected\\n", 0),
        (REJECTS, "", "x: --size=0: expected\\n", 1),
        (REJECTS, "kernel\\n", "x: --size=0: expected\\n", 2),
        (REJECTS, "", "", 2),
        (REJECTS, "", "x: bad usage\\n", 2),
        (REJECTS, "", "x: --size=0: expected\\nusage: x\\n", 2),
        (["fails", "cannot write"], "", "cannot write\\n", 0),
        (["fails", "cannot write"], "", "cannot write\\n", 2),
        (["fails", "cannot write"], "", "cannot write\\nmore\\n", 1),
    ],
)
def test_bad_failures(about: list[str], out: str, err: str, status: int) -> None:
    assert judge(*about, out=out, err=err, status=status) == 1


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
    assert timed(least=1e9, median=1e9) == 1  # longer than the program


def test_the_timeline_of_the_csv(timed, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("mode,kernels,stream,kernel,begin_ms,end_ms\n")
    assert timed(f"--timeline={path}") == 1
