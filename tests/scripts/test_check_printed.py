"""The check that an exercise prints what it printed before."""

from __future__ import annotations

import sys
from pathlib import Path

import check_printed
import pytest
from check_printed import (
    NOT_THERE,
    own_lines,
    values_in,
    without_machine,
    without_measured,
    without_times,
)

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
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """For main(): of a program that prints its options and a processor."""
    monkeypatch.delenv("LAB_ACCEPT", raising=False)
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    return [str(tmp_path / "printed" / "program.txt"), str(program), "--size=4", "--size=5 --b=1"]


def accept(command: list[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_ACCEPT", "1")
    assert check_printed.main(command) == 0
    monkeypatch.delenv("LAB_ACCEPT")
    return Path(command[0])


def test_what_was_accepted_passes_on_every_processor(command: list[str], monkeypatch) -> None:
    assert check_printed.main(command) == NOT_THERE
    file = accept(command, monkeypatch)
    assert file.read_text() == (
        "$ program --help\n--size=4.5(1..1T)\n"
        "$ program --size=5 --b=1 --profile\n"
        "options --size=5 --b=1 --profile\n"
        "4,096 bytes on CPU emulation of sm_90\n"
        "$ program --csv --reps=1\noptions,min_ms\n--csv --reps=1,#\n"
    )
    assert check_printed.main(command) == 0
    monkeypatch.setenv("PROCESSOR", "another one")
    assert check_printed.main(command) == 0


def test_a_letter_is_seen(command: list[str], monkeypatch, capfd) -> None:
    file = accept(command, monkeypatch)
    file.write_text(file.read_text().replace("4,096 bytes", "4,095 bytes", 1))
    assert check_printed.main(command) == 1
    out = capfd.readouterr().out
    assert "-4,095 bytes on CPU" in out and "+4,096 bytes on CPU" in out
    assert "FAILED: if this is meant, LAB_ACCEPT=1" in out


def test_a_program_that_fails_is_not_accepted(command: list[str], monkeypatch) -> None:
    monkeypatch.setenv("LAB_ACCEPT", "1")
    with pytest.raises(SystemExit, match="exit status 3"):
        check_printed.main([*command, "--fail"])
    assert not Path(command[0]).exists()


def test_the_machine_is_left_out() -> None:
    wrapped = (
        "a title\non CPU emulation of sm_90 (Intel(R) Xeon(R))\nname,CPU emulation of sm_90 (x),1\n"
    )
    assert (
        without_machine(wrapped)
        == "a title on CPU emulation of sm_90\nname,CPU emulation of sm_90,1\n"
    )
    aligned = "  name      CPU emulation of sm_90 (AMD EPYC)          ok\n"
    assert without_machine(aligned) == "  name CPU emulation of sm_90 ok\n"
    memory = "  global memory   25276510208  bytes  ok\n      23.5 GiB\n  ECC  no\n"
    assert without_machine(memory) == "  global memory\n  ECC  no\n"


def test_of_what_runs_as_a_gpu_its_own_lines_are_kept_without_times(
    command: list[str], monkeypatch
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


def test_lines_that_another_program_prints_are_counted() -> None:
    text = (
        "title\non NVIDIA H200\nkernel  warps  GB/s  check\nk,NVIDIA H200,4\na  5  ok\nb  6  ok\n"
    )
    other = (
        "title on CPU emulation of sm_90\nkernel warps check\nk,CPU emulation of sm_90,4\na 5 ok\n"
    )
    kept = (
        "title\non NVIDIA H200\nkernel  warps  GB/s  check\n(2 lines as without a GPU)\nb  6  ok\n"
    )
    assert own_lines(text, other) == kept
    assert own_lines(text.replace("a  5", "a  7"), other) != kept  # another number
    assert own_lines(text.replace("a  5  ok\n", ""), other) != kept  # a row less


def test_a_program_of_one_size_has_it_in_both(command: list[str], monkeypatch) -> None:
    assert "$ program --size=4 --profile\n" in accept(command[:3], monkeypatch).read_text()


def test_the_values_of_options_are_kept_and_not_their_explanations() -> None:
    text = (
        "  --size=N           number of integers: 1 to 1T (default 256K)\n"
        "  --block=N          threads per block, a text that takes another\n"
        "                     line: a power of two, 32 to 1024 (default 512)\n"
        "  --capability=X.Y   compute capability (default 9.0)\n"
        "  --timeline=FILE    CSV of when each kernel ran\n"
        "  --seed=N           seed of the input data: 0 to 2^64-1 (default 1)\n"
        "  --csv              rows as CSV\n"
    )
    assert values_in(text) == "--size=256K(1..1T) --block=512(32..1024) --capability=9.0\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("sum  16   0.31 ok", "sum  16      # ok"),
        ("sum  16  12.31 ok", "sum  16      # ok"),
        ("sum,16,0.31,1.2e-05,ok", "sum,16,#,#,ok"),
    ],
)
def test_numbers_with_a_point_may_be_times(text: str, left: str) -> None:
    assert without_times(text) == left


def test_measured_numbers_are_left_out() -> None:
    before = 'kernel,warps,min_ms,gbps,speedup,check\n"a, b",4,1.5,12,1,ok\nc,,,,,WRONG\n'
    after = 'kernel,warps,min_ms,gbps,speedup,check\n"a, b",4,#,#,#,ok\nc,,,,,WRONG\n'
    assert without_measured(before) == after
