"""Programs that end by a signal: what they say of the kernel and the line, and that the hazard
check writes what it has found (check/deaths.cu)."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from check_report import line_of, only, parse

SOURCE = Path(__file__).parent / "check" / "deaths.cu"


def ended(program, case, **variables):
    done = subprocess.run(
        [str(program), case],
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(
    "case, number, kernel, mark",
    [
        ("readsNullAfterKernel", signal.SIGSEGV, "last kernel that ran: work", "reads-null"),
        ("abortsAfterKernel", signal.SIGABRT, "last kernel that ran: work", "throws"),
        ("abortsInKernel", signal.SIGABRT, "while this kernel ran: aborts", ""),
    ],
)
def test_program_that_dies_names_the_kernel(build, case, number, kernel, mark):
    status, printed = ended(build / "tests" / "deaths_plain", case)
    assert status == -number
    assert f"the program dies: {number.name}" in printed
    assert kernel in printed
    assert not mark or f"deaths.cu:{line_of(SOURCE, mark)}\n" in printed


@pytest.mark.parametrize("case", ["handlesFault", "handlesAbort"])
def test_handlers_of_the_program_go_first(build, case):
    for program, variables in [
        ("deaths_plain", {}),
        ("deaths", {"CUDA_EMULATOR_CHECK": os.devnull}),
    ]:
        status, printed = ended(build / "tests" / program, case, **variables)
        assert status == 3
        assert printed.endswith("handled\n")
        assert "dies" not in printed


def test_program_that_ends_well_says_nothing(build):
    assert ended(build / "tests" / "deaths_plain", "endsWell") == (0, "")


@pytest.fixture
def check(build, tmp_path):
    def run(case):
        report = tmp_path / "report.json"
        status, printed = ended(build / "tests" / "deaths", case, CUDA_EMULATOR_CHECK=str(report))
        return status, parse(report.read_text(), printed)

    return run


@pytest.mark.parametrize(
    "case, number, mark, about",
    [
        ("readsNull", signal.SIGSEGV, "reads-null", "before any kernel ran"),
        ("readsNullAfterKernel", signal.SIGSEGV, "reads-null", "last kernel that ran: work"),
        ("abortsAfterKernel", signal.SIGABRT, "throws", "last kernel that ran: work"),
    ],
)
def test_death_is_in_the_report(check, case, number, mark, about):
    status, report = check(case)
    assert status == -number
    finding = only(report)
    assert finding.title.startswith(f"the program died: {number.name}")
    assert about in finding.title
    assert ("null pointer" in finding.title) == (number == signal.SIGSEGV)
    assert finding.lines() == [line_of(SOURCE, mark)]


def test_kernel_that_dies_is_in_the_report(check):
    status, report = check("abortsInKernel")
    assert status == -signal.SIGABRT
    finding = only(report)
    assert (finding.kernel, finding.block) == ("aborts", "(0,0,0)")
    assert finding.acts[0][:2] == (line_of(SOURCE, "aborts"), "thread (0,0,0)")


def test_what_was_found_before_stays_in_the_report(check):
    status, report = check("readsNullAfterRace")
    assert status == -signal.SIGSEGV
    race, death = report.findings
    assert race.lines() == [line_of(SOURCE, "races")] * 2
    assert death.lines() == [line_of(SOURCE, "reads-null")]
    assert report.hazards == 2
