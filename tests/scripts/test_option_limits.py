"""Exercises of the cpu back end at their limits: they refuse values just outside the ranges that --help
names, in one line with the option and the value; where memory for the largest sizes is missing they say so
at once, in one line that names the option; and with little memory the results are right, or one line says
what is lacking."""

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

# What the watchdog says where the machine is slow.
TAKES_LONG = re.compile(r"^emulator: kernel .* has been running for .*\n", re.MULTILINE)
# Each of several threads of the host may be about to say so.
LACKS = re.compile(r"cannot (allocate|start a thread)")
KIBIBYTES = [60_000, 100_000, 170_000, 250_000, 400_000, 600_000, 1_000_000, 2_000_000]


class Range(NamedTuple):
    """The numbers that an option takes."""

    name: str
    least: str
    most: str


def value_of(text: str) -> int:
    if text == "2^64-1":
        return 2**64 - 1
    return int(text.rstrip("KMGT")) * SUFFIXES.get(text[-1], 1)


def run(
    program: Path, *options: str, sms: int = 2, limit: int = BYTES
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *options],
        env={**os.environ, "CUDA_EMULATOR_SMS": str(sms)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
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
        "  --m=N              a text that takes another\n"
        "                     line: 0 to 2147483647 (default 3)\n"
        "  --seed=N           seed of the input data: 0 to 2^64-1 (default 1)\n"
        "  --csv              rows as CSV\n"
    )
    assert ranges_in(text) == [Range("size", "1", "1T"), Range("m", "0", "2147483647")]


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


def problem(status: int, errors: str) -> str:
    """What is wrong with how a program ended; empty where it is right, or says what it lacks."""
    errors = TAKES_LONG.sub("", errors)
    told = errors != "" and all(LACKS.search(line) for line in errors.splitlines())
    right = (status == 0 and not errors) or (status == 1 and told)
    return "" if right else f"status {status}: {errors}"


def test_what_counts_as_told() -> None:
    slow = "emulator: kernel k has been running for 10 s: block (0,0,0). Ctrl-C ends the program.\n"
    for before in ("", slow):
        assert problem(0, before) == ""
        assert problem(1, f"{before}cannot start a thread\ncannot allocate 1 KiB\n") == ""
        assert problem(1, before)
        assert problem(0, f"{before}x\n")
        assert problem(1, f"{before}cannot allocate 1 KiB\nx\n")
        for status in (0, -6):
            assert problem(status, f"{before}cannot allocate 1 KiB\n")


@pytest.mark.parametrize("sms", [2, 32])
@of_each_exercise
def test_little_address_space(program: Path, sms: int) -> None:
    for kibibytes in KIBIBYTES:
        done = run(program, "--reps=1", sms=sms, limit=kibibytes * 1024)
        wrong = problem(done.returncode, done.stderr)
        assert not wrong, f"{kibibytes} KiB: {wrong}"
        if done.returncode == 0:  # and so it is with more
            return
