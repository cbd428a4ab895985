"""Exercises of the cpu back end with the largest sizes that their options take: where memory for them is
missing they say so at once, in one line that names the option."""

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


class Size(NamedTuple):
    """An option that decides how much memory is taken: that may be very large."""

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


def sizes_in(text: str) -> list[Size]:
    """Those that --help names."""
    found = [Size(*groups) for groups in OPTION.findall(re.sub(r"\n {20,}", " ", text))]
    return [size for size in found if size.name not in OF_ALL and value_of(size.most) >= 1 << 30]


def test_sizes_are_found_in_the_help() -> None:
    text = (
        "  --size=N           number of integers: 1 to 1T (default 256K)\n"
        "  --block=N          threads per block: a power of two, 32 to 1024 (default 512)\n"
        "  --m=N              a text that takes another\n"
        "                     line: 0 to 2147483647 (default 3)\n"
        "  --reps=N           measured runs of each kernel: 1 to 1000000 (default 3)\n"
        "  --seed=N           seed of the input data: 0 to 2^64-1 (default 1)\n"
        "  --csv              rows as CSV\n"
    )
    assert sizes_in(text) == [Size("size", "1", "1T"), Size("m", "0", "2147483647")]


@pytest.mark.parametrize("exercise", catalogue.exercises(), ids=lambda e: e.name)
def test_sizes_beyond_memory(exercise: Exercise) -> None:
    program = exercise.program(BUILD)
    if not program.exists():
        pytest.skip(f"{program} is not built")
    sizes = sizes_in(run(program, "--help").stdout)
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
