"""The check that an exercise prints what it printed before. What it leaves out of tables, CSV and --help, the
cases NAME/printed show of each exercise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import check_printed
import pytest
from check_printed import NOT_THERE, without_machine

PROGRAM = """\
#!{python}
import os, sys
if "--help" in sys.argv:
    sys.exit(print("  --size=N           a number: 1 to 1T (default 4.5)"))
if "--csv" in sys.argv:
    sys.exit(print("options,min_ms\\n" + " ".join(sys.argv[1:]) + ",1.5"))
print("options", *sys.argv[1:])
print("4,096 bytes on CPU emulation of sm_90 (" + os.environ.get("PROCESSOR", "A (R) B") + ")")
sys.exit(3 if "--fail" in sys.argv else 0)
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arguments of compared(), for a program that prints its options and a processor."""
    monkeypatch.delenv("LAB_ACCEPT", raising=False)
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    return [tmp_path / "printed" / "program.txt", str(program), "--size=4", "--size=5 --b=1"]


def accept(command: list[Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_ACCEPT", "1")
    assert check_printed.compared(*command) == 0
    monkeypatch.delenv("LAB_ACCEPT")
    return command[0]


def test_what_was_accepted_passes_on_every_processor(command: list[Any], monkeypatch) -> None:
    assert check_printed.compared(*command) == NOT_THERE
    file = accept(command, monkeypatch)
    assert file.read_text() == (
        "$ program --help\n--size=4.5(1..1T)\n"
        "$ program --size=5 --b=1 --profile\n"
        "options --size=5 --b=1 --profile\n"
        "4,096 bytes on CPU emulation of sm_90\n"
        "$ program --csv --reps=1\noptions,min_ms\n--csv --reps=1,1.5\n"
    )
    assert check_printed.compared(*command) == 0
    monkeypatch.setenv("PROCESSOR", "another one")
    assert check_printed.compared(*command) == 0


def test_a_letter_is_seen(command: list[Any], monkeypatch, capfd) -> None:
    file = accept(command, monkeypatch)
    file.write_text(file.read_text().replace("4,096 bytes", "4,095 bytes", 1))
    assert check_printed.compared(*command) == 1
    out = capfd.readouterr().out
    assert "-4,095 bytes on CPU" in out and "+4,096 bytes on CPU" in out
    assert "FAILED: if this is meant, LAB_ACCEPT=1" in out


def test_a_program_that_fails_is_not_accepted(command: list[Any], monkeypatch) -> None:
    monkeypatch.setenv("LAB_ACCEPT", "1")
    with pytest.raises(SystemExit, match="exit status 3"):
        check_printed.compared(*command[:3], "--fail")
    assert not command[0].exists()


def test_a_line_that_a_terminal_breaks_is_not_accepted(command: list[Any], monkeypatch) -> None:
    monkeypatch.setenv("LAB_ACCEPT", "1")
    with pytest.raises(SystemExit, match="longer"):
        check_printed.compared(*command[:3], "--size=" + 80 * "5")
    assert not command[0].exists()


def test_the_machine_is_left_out() -> None:
    for printed, left in (
        ("a\non CPU emulation of sm_90 (Intel(R) X)\n", "a on CPU emulation of sm_90\n"),
        ("name,CPU emulation of sm_90 (x),1\n", "name,CPU emulation of sm_90,1\n"),
        ("  name      CPU emulation of sm_90 (AMD)     ok\n", "  name CPU emulation of sm_90 ok\n"),
        ("  global memory   25276510208  bytes\n      23.5 GiB\n  x\n", "  global memory\n  x\n"),
    ):
        assert without_machine(printed) == left


def test_of_what_runs_as_a_gpu_its_own_lines_are_kept_without_times(
    command: list[Any], monkeypatch
) -> None:
    program = Path(command[1])
    as_gpu = program.with_name("program_as_gpu")
    as_gpu.write_text(program.read_text().replace("4,096 bytes", "4,097 bytes"))
    as_gpu.chmod(0o755)
    file = accept([command[0], str(as_gpu), "--size=1.5", "--size=7"], monkeypatch)
    assert file.read_text() == (
        "$ program_as_gpu --help\n--size=4.5(1..1T)\n"
        "$ program_as_gpu --size=1.5 --profile\n"
        "options --size=# --profile\n"
        "4,097 bytes on CPU emulation of sm_90\n"
        "$ program_as_gpu --size=7 --profile --csv\n(2 lines as without a GPU)\n"
    )


def test_a_program_of_one_size_has_it_in_both(command: list[Any], monkeypatch) -> None:
    one = [*command[:3], command[2]]
    assert "$ program --size=4 --profile\n" in accept(one, monkeypatch).read_text()
