"""The whole programs in the answers of the pages: they compile, run without hazards, and print and count
what the answer says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from lab_cli.counters.raw_csv import parse
from lab_cli.results import tables

PROGRAM = re.compile(r"^```cpp\n((?:(?!^```).)*?^int main\(.*?)^```", re.MULTILINE | re.DOTALL)
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"

# What it prints with these options, and its divergent branches.
EXPECTED = {
    "controlDivergence": [(["1000"], "", 3), (["1024"], "", 2), (["20"], "", 2)],
    "deviceQuery": [
        (
            [],
            "block 32x33        cudaErrorInvalidConfiguration: invalid configuration argument\n"
            "block 1x1x128      cudaErrorInvalidConfiguration: invalid configuration argument\n"
            "grid 1x70000       cudaErrorInvalidConfiguration: invalid configuration argument\n"
            "64 KiB             cudaErrorInvalidValue: invalid argument\n"
            "64 KiB, asked for  cudaSuccess: no error\n",
            0,
        )
    ],
    "occupancyCalculator": [
        (
            [],
            "  32 threads, 0 registers,  128 bytes: 32 blocks, 32 warps\n"
            "  64 threads, 0 registers,  256 bytes: 32 blocks, 64 warps\n"
            " 128 threads, 0 registers,  512 bytes: 16 blocks, 64 warps\n"
            " 256 threads, 0 registers, 1024 bytes:  8 blocks, 64 warps\n"
            " 512 threads, 0 registers, 2048 bytes:  4 blocks, 64 warps\n"
            "1024 threads, 0 registers, 4096 bytes:  2 blocks, 64 warps\n",
            0,
        )
    ],
    "simpleDivergence": [([], "", 992)],
    "nestedHelloWorld": [([], "the sum is 140\n", 0)],
}


def programs() -> dict[str, str]:
    """The text of each, by page."""
    found = {}
    for page in tables.pages():
        texts = PROGRAM.findall(page.read_text(encoding="utf-8"))
        assert len(texts) < 2, f"{page.name}: one program to a page, or this test needs more names"
        if texts:
            found[page.stem] = texts[0]
    return found


def test_all_programs_are_expected() -> None:
    assert programs().keys() == EXPECTED.keys()


def noted(program: Path, options: list[str], variable: str, file: Path) -> tuple[str, str]:
    """What the program prints, and what it notes in the file that the variable names."""
    done = subprocess.run(
        [str(program), *options],
        env={**os.environ, variable: str(file)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout, file.read_text()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_program_does_what_the_answer_says(name: str, instrumented, tmp_path: Path) -> None:
    source = tmp_path / "answer.cu"
    source.write_text(programs()[name])
    program = instrumented(source, "-Wall")
    for options, printed, divergent in EXPECTED[name]:
        profile = tmp_path / f"profile{'-'.join(options)}"
        out, counts = noted(program, options, "CUDA_EMULATOR_PROFILE", profile)
        assert out == printed
        launches = parse(counts).launches
        assert sum(launch.values.get(DIVERGENT, 0) for launch in launches) == divergent
        findings = noted(program, options, "CUDA_EMULATOR_CHECK", tmp_path / "findings")[1]
        clean = "no hazards found in " if launches else "no kernel was launched"
        assert findings.startswith(clean), findings
