"""Which launches belong to which row. tests/emulator/test_rungs.py asks a program."""

from __future__ import annotations

from lab_cli.counters import rungs
from lab_cli.counters.raw_csv import Launch, RawTable

TRACE = "Start (ns),Duration (ns),Strm,Name\n{}\nName,Projected Start (ns),Projected Duration (ns),"
TRACE += "Orig Start (ns),Orig Duration (ns)\n{}"
COUNT, RATIO = "x__count.sum", "x__part.ratio"


def launch(count: float | None, ratio: float) -> Launch:
    return Launch("k", "1", "32", "0", {COUNT: count and float(count), RATIO: float(ratio)})


def trace(kernels: list[int], ranges: list[tuple[str, int, int]]) -> str:
    work = "".join(f"{begin},5,7,k\n" for begin in kernels)
    named = "".join(f"{name},{a},{b - a},{a},{b - a}\n" for name, a, b in ranges)
    return TRACE.format(work + "3,1,7,[CUDA memset]\n", named)


def rows(*kernels: str) -> list[dict[str, str]]:
    return [{"kernel": kernel} for kernel in kernels]


def test_several_launches_are_one_sum_and_ratios_only_what_they_share() -> None:
    counts = RawTable({}, [launch(3, 4), launch(5, 4), launch(7, 2), launch(None, 2)])
    recorded = trace([10, 20, 30, 40], [("a", 10, 25), ("b", 20, 45)])
    found = rungs.matched(rows("a", "b"), counts, recorded)
    assert found and found.rows == rows("a", "b")
    assert [each.values for each in found.counts.launches] == [
        {COUNT: 8, RATIO: 4},
        {COUNT: None, RATIO: None},  # 4 and 2; and a count that is missing is no 0
    ]


def test_what_cannot_be_told_apart_is_left_out() -> None:
    counts = RawTable({}, [launch(3, 4), launch(5, 4)])
    ranges = [("a", 10, 15), ("b", 20, 25)]
    assert rungs.matched(rows("a", "a"), counts, trace([10, 20], ranges)) is None
    found = rungs.matched(rows("a", "a", "b"), counts, trace([10, 20], ranges))
    assert found and found.rows == rows("b")
    assert (
        rungs.matched(rows("a"), counts, trace([10], ranges)) is None
    )  # another number of launches
    assert rungs.matched(rows("a"), counts, "") is None
    assert rungs.matched([{"property": "warps"}], counts, trace([10, 20], ranges)) is None
