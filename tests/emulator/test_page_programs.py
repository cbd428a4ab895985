"""The whole programs in the answers of the pages: they compile, run without hazards, and print and count
what the answer says."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.counters.raw_csv import parse
from lab_cli.paths import ROOT
from page_programs import EXPECTED, pages_of_programs, programs
from program import run_noting

DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"


def test_all_programs_are_expected() -> None:
    assert programs().keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_what_a_page_shows_of_the_output_is_all_of_it(name: str) -> None:
    page = pages_of_programs()[name]
    for _, printed, _ in EXPECTED[name]:
        if any(f"\n{line}\n" in page for line in printed.splitlines()):
            assert f"\n{printed}```" in page


def noted(program: Path, options: list[str], variable: str) -> tuple[str, str]:
    """What the program prints, and what it notes in the file that the variable names."""
    done, notes = run_noting([str(program), *options], variable)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, notes


@pytest.mark.parametrize("name", EXPECTED)
def test_a_program_does_what_the_answer_says(name: str, instrumented, tmp_path: Path) -> None:
    source = tmp_path / "answer.cu"
    source.write_text(programs()[name])
    program = instrumented(source, "-Wall", "-I", str(ROOT / "common"))
    for options, printed, divergent in EXPECTED[name]:
        out, counts = noted(program, options, "CUDA_EMULATOR_PROFILE")
        assert out == printed
        launches = parse(counts).launches
        assert sum(launch.values.get(DIVERGENT, 0) for launch in launches) == divergent
        findings = noted(program, options, "CUDA_EMULATOR_CHECK")[1]
        clean = "no hazards found in " if launches else "no kernel was launched"
        assert findings.startswith(clean), findings


def test_the_profiler_shows_what_the_host_launches(instrumented, tmp_path: Path) -> None:
    source = tmp_path / "answer.cu"
    source.write_text(programs()["launchLimits"])  # its kernel makes tail launches
    counts = noted(instrumented(source), [], "CUDA_EMULATOR_PROFILE")[1]
    assert [launch.kernel.partition("(")[0] for launch in parse(counts).launches] == ["parent"]
