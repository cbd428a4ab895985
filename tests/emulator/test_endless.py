"""What the hazard check reports of a kernel that has not ended when the program is (check/endless.cu)."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from check_report import line_of, only, parse

SOURCE = Path(__file__).parent / "check" / "endless.cu"


@pytest.fixture
def begun(build, tmp_path):
    """Runs the program until it has begun with a kernel, and a while longer."""
    programs = []

    def begin(what, seconds):
        program = subprocess.Popen(
            [str(build / "tests" / "endless"), what],
            env={**os.environ, "CUDA_EMULATOR_CHECK": str(tmp_path / "report.json")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        programs.append(program)
        assert program.stdout.readline() == b"begins\n"
        time.sleep(seconds)
        return program

    yield begin
    for program in programs:
        program.kill()
        program.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("what", ["spins", "waits"])
def test_the_line_that_spins(begun, tmp_path, what, number):
    program = begun(what, 1.5)
    program.send_signal(number)
    assert program.wait(20) == -number
    finding = only(parse((tmp_path / "report.json").read_text(), ""))
    assert finding.kernel == what
    assert finding.lines() == [line_of(SOURCE, what)]
    if what == "spins":
        assert finding.block == "(1,0,0)"
        assert finding.acts[0][1] == "thread (3,0,0)"


def test_it_is_in_the_report_while_the_program_runs(begun, tmp_path):
    program = begun("spins", 0)
    assert b"spins has been running for 5" in program.stdout.readline()
    program.kill()  # without warning
    program.wait()
    finding = only(parse((tmp_path / "report.json").read_text(), ""))
    assert (finding.kernel, finding.lines()) == ("spins", [line_of(SOURCE, "spins")])


def test_a_kernel_that_ends_is_not_reported(begun, tmp_path):
    program = begun("long", 0)
    output, _ = program.communicate(timeout=60)
    assert b"takesLong has been running for 5" in output  # and was told of
    assert program.returncode == 0
    report = parse((tmp_path / "report.json").read_text(), "")
    assert (report.findings, report.launches) == ([], 2)


def test_kernels_that_were_quick_are_not_reported(begun, tmp_path):
    program = begun("quick", 1.5)
    program.terminate()
    assert program.wait(20) == -signal.SIGTERM
    assert not (tmp_path / "report.json").exists()
