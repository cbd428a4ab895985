"""Exercises of the cpu back end at the limits of their options, which --help names: they refuse what lies just
outside, in one line that names the option and the value; and where memory for the largest sizes is missing
they say so at once, in one line that names the option."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from lab_cli import catalogue
from lab_cli.catalogue import Exercise
from lab_cli.paths import ROOT

BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
OPTION = re.compile(r"^  --(\w+)=N .*?(\d\S*) to (\S+)(?: \(default|$)", re.MULTILINE | re.DOTALL)
OF_ALL = {"reps", "seed", "device"}
SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
BYTES = 3 << 30  # of addresses: less than any size from 2^30 takes


class Range(NamedTuple):
    """The numbers that an option takes."""

    name: str
    least: str
    most: str


def value_of(text: str) -> int:
    if text == "2^64-1":
        return 2**64 - 1
    return int(text.rstrip("KMGT")) * SUFFIXES.get(text[-1], 1)


def run(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *options],
        env={**os.environ, "CUDA_EMULATOR_SMS": "2"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)),
        capture_output=True,
        text=True,
    )


def ranges_in(text: str) -> list[Range]:
    """Those that --help names."""
    found = [Range(*groups) for groups in OPTION.findall(re.sub(r"\n {20,}", " ", text))]
    return [each for each in found if each.name not in OF_ALL]


@pytest.fixture
def program(exercise: Exercise) -> Path:
    path = exercise.program(BUILD)
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


of_each_exercise = pytest.mark.parametrize(
    "exercise", catalogue.exercises(), ids=lambda exercise: exercise.name
)


def test_ranges_are_found_in_the_help() -> None:
    text = (
        "  --size=N           number of integers: 1 to 1T (default 256K)\n"
        "  --block=N          threads per block: a power of two, 32 to 1024 (default 512)\n"
        "  --m=N              a text that takes another\n"
        "                     line: 0 to 2147483647 (default 3)\n"
        "  --reps=N           measured runs of each kernel: 1 to 1000000 (default 3)\n"
        "  --seed=N           seed of the input data: 0 to 2^64-1 (default 1)\n"
        "  --csv              rows as CSV\n"
    )
    assert ranges_in(text) == [
        Range("size", "1", "1T"),
        Range("block", "32", "1024"),
        Range("m", "0", "2147483647"),
    ]


@of_each_exercise
def test_values_just_outside_are_refused(exercise: Exercise, program: Path) -> None:
    for name, least, most in ranges_in(run(program, "--help").stdout):
        for value in (value_of(least) - 1, value_of(most) + 1):
            done = run(program, f"--{name}={value}")
            assert (done.returncode, done.stdout) == (2, ""), done.args
            assert re.fullmatch(rf"{exercise.name}: --{name}={value}: expected .*\n", done.stderr)


@of_each_exercise
def test_sizes_beyond_memory(exercise: Exercise, program: Path) -> None:
    ranges = ranges_in(run(program, "--help").stdout)
    sizes = [each for each in ranges if value_of(each.most) >= 1 << 30]  # may take much memory
    begin = rf"{exercise.name}: .*--(?:{'|'.join(size.name for size in sizes)})="
    for values in product(*([size.least, size.most] for size in sizes)):
        options = [f"--{size.name}={value}" for size, value in zip(sizes, values)]
        if all(size.least == value for size, value in zip(sizes, values)):
            continue
        done = run(program, *options, "--reps=1", "--profile")
        too_large = rf"{begin}.*; choose a smaller size\n"
        refused = rf"{begin}.*expected .* \(see --help\)\n"
        told = {0: "", 1: too_large, 2: refused}.get(done.returncode, "no other status")
        assert re.fullmatch(told, done.stderr), f"{options}: {done.returncode}: {done.stderr}"
        if done.returncode == 2:
            assert done.stdout == ""
