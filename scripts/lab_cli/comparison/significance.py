"""Whether runs of two versions of a program differ in time by more than chance."""

from __future__ import annotations

from collections.abc import Sequence

LEVEL = 0.05  # the share of comparisons of equal versions that may be called different
FEWEST = 6  # pairs: of five, even the smallest probability, 2 of 2**5, is above LEVEL


def probability(before: Sequence[float], after: Sequence[float]) -> float:
    """The probability that pairs of runs of two equally fast versions differ at least as clearly as these do.

    This is Wilcoxon's signed-rank test (F. Wilcoxon: Individual Comparisons by Ranking Methods, Biometrics
    Bulletin 1(6), 1945, pages 80 to 83), two-sided and exact. The differences of the pairs are ranked by size. If
    both versions are equally fast, each rank belongs with the same probability to a pair in which the one or the
    other version was slower, so that all 2**n ways to give signs to the ranks are equally likely. The probability
    is the share of these ways in which the sum of the ranks of one sign is at least as far from its mean as here.
    Equal differences share the mean of their ranks; pairs without a difference are left out, as Wilcoxon does.

    A rank counts how large a difference is among the others, not how large it is: a run that another program
    disturbed weighs no more than the largest rank. The test takes pairs, since the clock of a GPU changes over
    minutes and both runs of a pair see the same clock.
    """
    ranks = _signed_ranks([a - b for a, b in zip(after, before)])
    if not ranks:
        return 1.0
    sizes = [abs(rank) for rank in ranks]
    seen = sum(rank for rank in ranks if rank > 0)
    ways = _ways(sizes)
    mean = sum(sizes) / 2
    far = sum(count for total, count in enumerate(ways) if abs(total - mean) >= abs(seen - mean))
    return far / sum(ways)


def shown_to_differ(probabilities: Sequence[float]) -> list[bool]:
    """Of several comparisons at once, those whose versions differ.

    The more comparisons there are, the more of them look different by chance. By Holm's rule the smallest
    probability must be at most LEVEL / n, the next at most LEVEL / (n - 1), and so on up to the first that is
    not (S. Holm: A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6,
    1979, pages 65 to 70).
    """
    found = [False] * len(probabilities)
    order = sorted(range(len(probabilities)), key=lambda index: probabilities[index])
    for done, index in enumerate(order):
        if probabilities[index] > LEVEL / (len(order) - done):
            break
        found[index] = True
    return found


def _signed_ranks(differences: Sequence[float]) -> list[int]:
    """Twice the ranks, which makes the means of two ranks whole numbers, with the signs of the differences."""
    ordered = sorted((each for each in differences if each), key=abs)
    sizes = [abs(each) for each in ordered]
    ranks = []
    for each in ordered:
        first = sizes.index(abs(each))
        last = first + sizes.count(abs(each)) - 1
        rank = first + last + 2  # twice the mean of first + 1 ... last + 1
        ranks.append(rank if each > 0 else -rank)
    return ranks


def _ways(sizes: Sequence[int]) -> list[int]:
    """In how many ways the ranks that get a plus add up to each total."""
    ways = [1] + [0] * sum(sizes)
    for size in sizes:
        for total in range(len(ways) - 1, size - 1, -1):
            ways[total] += ways[total - size]
    return ways
