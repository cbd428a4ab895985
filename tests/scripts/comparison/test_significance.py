"""Wilcoxon's signed-rank test, against published values, and Holm's rule."""

from __future__ import annotations

import itertools
import random

import pytest
from lab_cli.comparison import significance

# Hamilton's depression scale before and after a therapy: table 3.1 of M. Hollander and D. A. Wolfe,
# Nonparametric Statistical Methods, 1973. wilcox.test() of R, which quotes it, gives V = 40 and p = 0.03906.
FIRST = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]


def test_a_published_example() -> None:
    assert significance.probability(FIRST, SECOND) == pytest.approx(20 / 2**9)
    assert significance.probability(SECOND, FIRST) == pytest.approx(20 / 2**9)


@pytest.mark.parametrize("count", [1, 5, 6, 10])
def test_all_pairs_on_one_side(count: int) -> None:
    """Two of all ways to give signs are as clear."""
    before = [1.0 + number / 100 for number in range(count)]
    after = [value / 2 for value in before]
    assert significance.probability(before, after) == pytest.approx(2 / 2**count)


def test_fewest_pairs_that_can_show_anything() -> None:
    assert 2 / 2**significance.FEWEST <= significance.LEVEL < 2 / 2 ** (significance.FEWEST - 1)


def test_as_by_counting_all_signs() -> None:
    """With equal differences and one of zero."""
    differences = [3.0, -1.0, 1.0, 2.0, 0.0, -2.0, 5.0, 1.0]
    kept = [each for each in differences if each]
    sizes = sorted(map(abs, kept))
    ranks = [
        sum(i + 1 for i, size in enumerate(sizes) if size == abs(each)) / sizes.count(abs(each))
        for each in kept
    ]
    mean = sum(ranks) / 2
    seen = abs(sum(rank for rank, each in zip(ranks, kept) if each > 0) - mean)
    sums = [
        sum(rank for rank, sign in zip(ranks, signs) if sign)
        for signs in itertools.product((0, 1), repeat=len(ranks))
    ]
    expected = sum(abs(total - mean) >= seen for total in sums) / len(sums)
    assert significance.probability([0.0] * 8, differences) == pytest.approx(expected)


def test_equal_runs_show_nothing() -> None:
    assert significance.probability([1.0, 2.0], [1.0, 2.0]) == 1.0


def test_equal_versions_are_rarely_called_different() -> None:
    numbers = random.Random(1)
    count = 2000
    below = sum(
        significance.probability(*([numbers.gauss(1, 0.01) for _ in range(10)] for _ in range(2)))
        <= significance.LEVEL
        for _ in range(count)
    )
    assert below / count <= significance.LEVEL + 0.015  # three standard errors


def test_several_comparisons_at_once() -> None:
    """By Holm's rule: 0.01 <= 0.05 / 4, 0.015 <= 0.05 / 3, 0.03 > 0.05 / 2, and nothing behind it."""
    found = significance.shown_to_differ([0.03, 0.01, 0.04, 0.015])
    assert found == [False, True, False, True]
    assert significance.shown_to_differ([0.04]) == [True]
    assert significance.shown_to_differ([]) == []
