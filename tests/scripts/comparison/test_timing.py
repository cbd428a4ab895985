"""Times of two versions: runs that alternate, and what is said of them."""

from __future__ import annotations

import pytest
from lab_cli.comparison import compared, timing
from lab_cli.comparison.timing import Timed, Times
from lab_cli.comparison.versions import Version
from lab_cli.counters import recording
from recordings import rows_of_nsys


def test_runs_alternate_and_the_first_of_each_do_not_count() -> None:
    ran: list[str] = []

    def run(name: str) -> Times:
        ran.append(name)
        return {(name, 0): float(len(ran))}

    found = [*timing.alternate([lambda: run("a"), lambda: run("b")], 4)]
    assert "".join(ran) == "ab" + "ab" + "ba" + "ab" + "ba"
    assert [(a["a", 0], b["b", 0]) for a, b in found] == [(3, 4), (6, 5), (7, 8), (10, 9)]


def test_rows_of_an_exercise() -> None:
    rows = [
        {"kernel": "a", "median_ms": "1.5"},
        {"kernel": "b", "median_ms": ""},
        {"kernel": "a", "median_ms": "2.5"},
        {"property": "warps"},
    ]
    assert timing.of_rows(rows) == {("a", 0): 1.5, ("a", 1): 2.5}


def test_a_recording_of_nsight_systems() -> None:
    """On an H200: what all launches of each kernel take, and nothing of the copies."""
    rows = rows_of_nsys("streams", recording.WORK)
    found = timing.of_work(rows)
    kernels = [row for row in rows if not row["Name"].startswith("[")]
    assert sum(found.values()) == pytest.approx(
        sum(float(row["Duration (ns)"]) for row in kernels) / 1e6
    )
    assert {*found} == {("addOne", 0), ("scale<float, 16>", 0), ("scale<float, 1>", 0)}


def timed(before: list[float], after: list[float]) -> Timed:
    (found,) = timing.judged([(before, after)])
    return found


NEARLY = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.02, 0.98]


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (0.5, "2 times faster"),
        (0.25, "4 times faster"),
        (0.9, "10 % less"),
        (3, "3 times slower"),
        (1.05, "5 % more"),
    ],
)
def test_words(factor: float, words: str) -> None:
    found = timed(NEARLY, [factor * value for value in NEARLY])
    assert found.differ and found.ratio == pytest.approx(factor)
    assert f"({words}; 10 pairs of runs, p = 0.002)" in timing.in_words(found)


def test_no_difference_is_not_called_equal() -> None:
    """The same times in another order: some pairs differ in one way, some in the other."""
    found = timed(NEARLY, [*NEARLY[5:], *NEARLY[:5]][::-1])
    assert not found.differ
    assert "no difference that these 10 pairs of runs can show" in timing.in_words(found)


def version(name: str, number: int = 0) -> Version:
    return Version(name, "", [], key=(name, number))


def test_recorded_times_of_several_pairs() -> None:
    """The second row of b gets its own times; what has none in a run is not timed."""
    runs = [
        (
            {("a", 0): 2.0, ("b", 0): 5.0, ("b", 1): 1.0},
            {("a", 0): 1.0, ("b", 0): 5.0, ("b", 1): 3.0},
        )
    ] * 10
    pairs = [
        (version(name, number), version(name, number))
        for name, number in (("a", 0), ("b", 1), ("b", 0), ("c", 0))
    ]
    first, second, same, none = compared.timed(pairs, runs)
    assert first and first.differ and first.ratio == 0.5
    assert second and second.differ and second.ratio == 3
    assert same and not same.differ and same.probability == 1
    assert none is None
