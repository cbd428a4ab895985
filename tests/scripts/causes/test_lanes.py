"""Warps that split: how much that costs, at which branch, and which lanes go on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from cause_sample import access, at, kernel, line, only, place, sample, symptoms
from lab_cli.lines.model import Kernel, Step

EVEN, ODD, ALL = 0x55555555, 0xAAAAAAAA, 0xFFFFFFFF
PARITY, ONE_LANE = "divergence by thread parity", "divergence: one lane works"
LOOP, SPLIT = "divergence in a loop", "divergence"


def splitting(*ways: tuple[int, int], divergent: int = 500, **fields: object) -> Kernel:
    """A warp whose lanes come to these lines. It splits at line 5 in so many of 1,000 branches."""
    lines = [line(5, 1000, branches=1000, divergent=divergent), line(6, 1000), line(7, 1000)]
    steps = [at(number, lanes) for number, lanes in ways]
    return kernel([access()], lines, samples=[sample(*steps)], **fields)


def test_parity() -> None:
    of = splitting((4, ALL), (5, ALL), (6, ODD), (6, ODD), (7, EVEN), (8, ALL))
    found = only(of, active=0.5)
    assert found.symptom == PARITY and found.place == place(5)
    assert "500 of 1,000 branches" in found.says and "50 % are active" in found.says
    assert "50 % of the instructions" in found.gain and found.exercises[0] == "simpleDivergence"


@pytest.mark.parametrize(("active", "expected"), [(0.899, [PARITY]), (0.901, []), (1.0, [])])
def test_lanes_that_are_lost(active: float, expected: list[str]) -> None:
    assert symptoms(splitting((5, ALL), (6, ODD), (7, EVEN)), active) == expected


def test_lines_tell_where_nothing_else_does() -> None:
    of = splitting((5, ALL), (6, ODD), (7, EVEN))
    assert symptoms(of) == []
    of.lines[place(6)].lanes = of.lines[place(7)].lanes = 16_000
    assert symptoms(of) == [PARITY]


def test_threads_that_are_not_there_are_no_divergence() -> None:
    """A block of 80 threads has 83 % of its lanes."""
    assert symptoms(splitting(block=(80, 1, 1)), active=0.83) == ["lanes without a thread"]


ONE = [(5, ALL), (6, 1), (6, 1), (7, ALL)]
LENGTHS = [(5, ALL), *((5, (1 << 32 - k) - 1) for k in range(1, 9)), (7, ALL)]
EVERY = [(5, ALL), (6, EVEN), (5, ALL), (6, 0x11111111), (5, ALL), (6, 0x01010101), (7, ALL)]
HALVES = [(5, ALL), (6, 0xFFFF), (7, 0xFFFF0000)]


@pytest.mark.parametrize(
    ("ways", "expected"), [(ONE, ONE_LANE), (LENGTHS, LOOP), (EVERY, SPLIT), (HALVES, SPLIT)]
)
def test_ways(ways: Sequence[tuple[int, int]], expected: str) -> None:
    found = only(splitting(*ways), active=0.5)
    assert found.symptom == expected and found.place == place(5)


def test_lanes_at_regular_distances_are_told_apart() -> None:
    """A reduction whose threads 0, 2, 4 ... and then 0, 4, 8 ... add."""
    regular, other = only(splitting(*EVERY), active=0.5), only(splitting(*HALVES), active=0.5)
    assert "fourth" in regular.says and regular.remedy != other.remedy


def test_the_branch_that_loses_most() -> None:
    """Within the lanes of one branch, another splits."""
    half = [(4, 0xFFFF)] * 5
    of = splitting((3, ALL), *half, (5, 0xFFFF), *[(6, 1)] * 9, (7, ALL))
    assert only(of, active=0.3).place == place(3)
    of = splitting((3, ALL), (5, 0xFFFF), *[(6, 1)] * 9, (8, ALL))
    assert only(of, active=0.3).place == place(3)
    of = splitting((3, ALL), (5, 0x7FFFFFFF), *[(6, 1)] * 9, (8, ALL))
    assert only(of, active=0.3).place == place(5)


def test_without_a_sample_the_line_that_splits_most() -> None:
    of = splitting()
    of.lines[place(6)].divergent = 501
    assert only(of, active=0.5).place == place(6)
    assert symptoms(splitting(divergent=0), active=0.5) == []


def test_a_condition_that_calls_a_function() -> None:
    """The last line before the split is the function's, and the branch is that of the loop."""
    calls = [(5, ALL), (8, ALL), (9, ALL)]
    of = splitting(*calls, (6, 1), (6, 1), (7, ALL))
    assert only(of, active=0.5).place == place(5)


def test_a_choice_of_values_is_to_blame_last(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("while (v != 1)\nv = v % 2 ? 3 * v + 1 : v / 2;\nx = 1;\n")
    lines = [line(n, 1000, source, branches=1000, divergent=500) for n in (1, 2, 3)]

    def step(number: int, lanes: int) -> Step:
        return Step(lanes, place(number, source))

    choice = [step(2, ALL), step(2, ODD), step(2, EVEN)]
    loop = [step(1, ALL), step(3, 0xFFFF), step(3, ALL)]
    both = kernel([access()], lines, samples=[sample(*choice, *loop)])
    assert symptoms(both, active=0.5) == [LOOP]
    alone = kernel([access()], lines, samples=[sample(*choice)])
    assert symptoms(alone, active=0.5) == []  # the compiler makes no branch of it
    functions = [step(2, ALL), step(3, ODD), step(3, EVEN)]
    calls = kernel([access()], lines, samples=[sample(*functions)])
    assert symptoms(calls, active=0.5) == [PARITY]


def test_one_lane_that_has_little_to_do() -> None:
    assert symptoms(splitting(*ONE), active=0.74) == [ONE_LANE]
    assert symptoms(splitting(*ONE), active=0.76) == []


def test_a_tree_within_a_warp_is_a_hint() -> None:
    steps = [(6, (1 << lanes) - 1) for lanes in (16, 8, 4, 2, 1)]
    tree = splitting(*[way for step in steps for way in ((5, ALL), step)])
    assert symptoms(tree, active=0.5) == ["perhaps a tree within a warp"]
