"""Programs that a build for the cpu back end has, for tests that run instrumented ones."""

import os
from pathlib import Path

import cc
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def build():
    """The folder of the build, which ctest names in CPU_BUILD; without ctest that of ./lab."""
    folder = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu"))
    if not (folder / "tests" / "hazards").exists():
        pytest.skip(f"{folder} has no instrumented programs: ./lab test builds them")
    return folder


@pytest.fixture
def instrumented(build, tmp_path):
    """instrumented(source, *options): compiles a .cu file for the profiler and the hazard check, and
    returns the program."""
    library = build / "emulator" / "libcuda_emulator.a"

    def compile_program(source, *options):
        program = tmp_path / Path(source).stem
        arguments = ["--instrument", "-w", str(source), *options, "-o", str(program)]
        assert cc.main([*arguments, "--library", str(library)]) == 0
        return program

    return compile_program
