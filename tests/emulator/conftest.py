"""Builds the emulator's libraries once, for tests that run instrumented programs."""

import os
import shutil
import subprocess
from pathlib import Path

import cc
import pytest

ROOT = Path(__file__).resolve().parents[2]

PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(libraries LANGUAGES CXX)
add_subdirectory({ROOT}/emulator emulator)
"""


@pytest.fixture(scope="session")
def instrumented(tmp_path_factory):
    """instrumented(source, *options): compiles a .cu file for the profiler and the hazard check, and
    returns the program."""
    if not all(map(shutil.which, ["cmake", "g++"])):
        pytest.skip("needs cmake and g++")
    folder = tmp_path_factory.mktemp("instrumented")
    (folder / "CMakeLists.txt").write_text(PROJECT)
    jobs = str(os.cpu_count())
    target = "cuda_emulator_instrument"
    for command in (
        ["cmake", "-S", ".", "-B", "build"],
        ["cmake", "--build", "build", "-j", jobs, "--target", target],
    ):
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout.decode()
    library = folder / "build" / "emulator" / "libcuda_emulator.a"

    def compile_program(source, *options):
        program = folder / Path(source).stem
        arguments = ["--instrument", "-w", str(source), *options, "-o", str(program)]
        assert cc.main([*arguments, "--library", str(library)]) == 0
        return program

    return compile_program
