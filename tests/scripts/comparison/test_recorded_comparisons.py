"""Comparisons of what ncu counted on an H200."""

from __future__ import annotations

import pytest
from compare_sample import compared
from lab_cli.comparison import differences, sentences
from lab_cli.comparison.differences import BETTER, WORSE
from lab_cli.lines.weights import SECTOR


@pytest.mark.parametrize(
    ("exercise", "before", "after", "verdict", "what"),
    [
        ("transpose", "transposeNaiveRow<1>", "transposeSmem", BETTER, "sectors per store"),
        (
            "transpose",
            "transposeSmem",
            "transposeSmemPad",
            BETTER,
            "bank conflicts per shared load",
        ),
        ("transpose", "transposeSmemPad", "transposeSmem", WORSE, "bank conflicts per shared load"),
        ("reduceInteger", "reduceNeighbored", "reduceInterleaved", BETTER, "sectors loaded"),
        ("matmul", "matmulCoalesced", "matmulTiled<32>", BETTER, "sectors loaded"),
    ],
)
def test_what_matters_most(exercise: str, before: str, after: str, verdict: str, what: str) -> None:
    first = compared(exercise, before, after).differences[0]
    assert (first.verdict, first.change.what) == (verdict, what)


def test_the_whole_traffic() -> None:
    """8,192 loads and stores of 4 sectors; 8,192 shared loads and stores of a wavefront."""
    found = compared("transpose", "transposeSmemPad", "transposeSmemSwizzle")
    pad = differences.traffic(found.before.totals)
    assert pad == pytest.approx(SECTOR * 2 * 8192 * 4 + 2 * 8192)
    assert pad == differences.traffic(found.after.totals)
    assert sentences.summary(found)[0] in (sentences.ALL_EQUAL, sentences.NO_TRAFFIC)
