"""Which line of a kernel is the worst, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cost_sample as sample
import pytest
from lab_cli.lines import weights, worst
from lab_cli.lines.model import COPY, GLOBAL, LOAD, SHARED, STORE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return sample.written(tmp_path)


@pytest.mark.parametrize(
    ("make", "code", "share", "exercise", "numbers"),
    [
        # 31 of 32 wavefronts for 32 loads; the kernel's stores take one for each of 32.
        (sample.turn, "tile[lane][row]", 31 * 32 / (33 * 32), "sharedBanks", ["31 of 32", "1,024"]),
        # 28 of 36 sectors.
        (sample.spread, "out[32 * i]", 28 / 36, "stridedAccess", ["28 of 32", "4 would do"]),
        # Half of the lanes in 2,100 of 2,400 executions.
        (sample.odd, "i % 2", 1050 / 2400, "simpleDivergence", ["100 of 200", "16 of 32"]),
        # 31 of 32 lanes wait.
        (sample.count, "atomicAdd", 31 / 32, "sharedReduction", ["32 of the 32", "want 1 address"]),
    ],
)
def test_worst_line(
    file: Path, make, code: str, share: float, exercise: str, numbers: list[str]
) -> None:
    kernel = make(file)
    found = worst.of(kernel)
    assert found is not None
    assert code in file.read_text().split("\n")[found.place.line - 1]
    assert found.place.file == file
    assert found.share == pytest.approx(share)
    assert found.exercise == exercise
    assert found.sentence.startswith(f"mine.cu:{found.place.line} ")
    for number in numbers:
        assert number in found.sentence


def test_nothing_in_vain(file: Path) -> None:
    assert worst.of(sample.halve(file)) is None


def test_little_in_vain_is_not_worth_a_word(file: Path) -> None:
    made = sample.Made(file, "halve", "void halve")
    made.line("half(in, i)", 100)
    made.access("half(in, i)", STORE, GLOBAL, 100, 4, 4, units=407)
    assert worst.of(made.kernel) is None
    made.kernel.accesses[0] = replace(made.kernel.accesses[0], units=410)
    assert worst.of(made.kernel) is not None


def test_one_sector_too_many_is_an_offset(file: Path) -> None:
    made = sample.Made(file, "halve", "void halve")
    made.line("half(in, i)", 100)
    made.access("half(in, i)", STORE, GLOBAL, 100, 5, 4)
    found = worst.of(made.kernel)
    assert found and found.exercise == "misalignedAccess"


def test_loads_and_stores_of_a_line_are_taken_together(file: Path) -> None:
    made = sample.Made(file, "odd", "void odd")
    made.line("+= k", 10)
    made.access("+= k", LOAD, GLOBAL, 10, 32, 4)
    made.access("+= k", STORE, GLOBAL, 10, 32, 4)
    found = worst.of(made.kernel)
    assert found and found.in_vain == 2 * 10 * 28 * weights.SECTOR
    assert "loads and stores" in found.sentence and "20 requests take 640 sectors" in found.sentence


def test_copies_may_collide_in_banks(file: Path) -> None:
    made = sample.Made(file, "turn", "void turn")
    made.line("tile[row][lane]", 10)
    made.access("tile[row][lane]", COPY, GLOBAL, 10, 4, 4, wavefronts=40, conflicts=30)
    found = worst.of(made.kernel)
    assert found and found.exercise == "sharedBanks" and found.in_vain == 30


def test_the_line_that_splits_is_charged_with_functions_that_are_called_behind_it(
    file: Path,
) -> None:
    file.write_text(
        """\
__device__ float heavy(float x, int n) {
    for (int k = 0; k < n; ++k) x *= 2;
    return x;
}
__global__ void k(float* out) {
    if (threadIdx.x % 2)
        out[threadIdx.x] = heavy(1, 9);
}
"""
    )
    made = sample.Made(file, "k", "void k")
    made.line("void k", 1)
    made.line("% 2", 1, branches=1, divergent=1)
    made.line("heavy(1, 9)", 1, lanes=16)
    made.line("x *= 2", 10, lanes=16)
    found = worst.of(made.kernel)
    assert found and found.place == made.place("% 2")
    assert found.share == pytest.approx(11 * 16 / (13 * 32))
    assert "heavy()" in found.sentence and "line 7" in found.sentence


def test_lanes_that_were_never_there(file: Path) -> None:
    made = sample.Made(file, "halve", "void halve", threads=40)
    made.line("void halve", 2, lanes=20)
    made.line("half(in, i)", 2, lanes=20)
    found = worst.of(made.kernel)
    assert found and found.place == made.place("void halve")
    assert found.exercise == "warpLayout" and found.share == pytest.approx(12 / 32)
    assert "40 threads has 2 warps, with room for 64" in found.sentence


def test_a_condition_on_the_line_of_its_access(file: Path) -> None:
    """The line is executed by all lanes, its access by few."""
    made = sample.Made(file, "odd", "void odd")
    made.line("void odd", 10)
    made.line("+= k", 10, branches=10, divergent=10)
    made.access("+= k", STORE, GLOBAL, 10, 1, 1, lanes=10, bytes=40)
    found = worst.of(made.kernel)
    assert found and found.exercise == "simpleDivergence"
    assert found.share == pytest.approx(31 * 10 / (20 * 32))


def test_atomics_of_one_lane_do_not_wait(file: Path) -> None:
    kernel = sample.count(file)
    kernel.accesses[1] = replace(kernel.accesses[1], lanes=64, alike=64)
    assert worst.of(kernel) is None


def test_worst_of_several_kernels(file: Path) -> None:
    kernels = [make(file) for make in sample.ALL_KERNELS]
    found = worst.of_all(kernels)
    assert found and found[0].name == "count"
    assert worst.of_all([sample.halve(file)]) is None


def test_a_removed_exercise_is_not_named(file: Path, monkeypatch) -> None:
    monkeypatch.setattr(worst.catalogue, "sources", dict)
    found = worst.of(sample.turn(file))
    assert found and found.page == "" and " See" not in found.sentence


def test_the_conflicts_of_shared_memory_are_not_those_of_global_memory(file: Path) -> None:
    made = sample.Made(file, "turn", "void turn")
    made.line("tile[row][lane]", 10)
    made.access("tile[row][lane]", STORE, SHARED, 10, 2, 1)
    made.access("tile[row][lane]", LOAD, GLOBAL, 1000, 4, 4)
    found = worst.of(made.kernel)
    assert found and found.share == pytest.approx(0.5)
