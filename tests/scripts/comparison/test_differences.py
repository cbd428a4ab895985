"""What differs between two versions, and in which order it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lab_cli.comparison import differences, sentences
from lab_cli.comparison.differences import BETTER, DIFFERS, WORSE, Comparison
from lab_cli.lines.model import ATOMIC, GLOBAL, SHARED
from lab_cli.lines.weights import SECTOR
from version_sample import LEAST, MOST, access, kernel, line, strided_stores, values, version


def told(comparison: Comparison) -> list[tuple[str, str]]:
    return [(each.verdict, each.change.what) for each in comparison.differences]


def test_equal_counts_are_no_difference() -> None:
    found = differences.compare(version(values()), version(values()))
    assert found.is_equal and not found.differences and not found.changed
    assert {each.metric for each in found.equal} == {k for k, v in values().items() if v}


def test_fewer_sectors_per_request() -> None:
    found = differences.compare(version(strided_stores()), version(values()))
    assert told(found) == [(BETTER, "sectors per store")]
    first = found.differences[0]
    assert (first.change.before, first.change.after) == (MOST, LEAST)
    # 4 and 32 sectors for each of 1,000 loads and stores.
    assert first.weight == pytest.approx((MOST - LEAST) / (MOST + LEAST))
    assert sentences.headline(first) == "sectors per store 32 -> 4 (8 times fewer)"
    back = differences.compare(version(values()), version(strided_stores()))
    assert told(back) == [(WORSE, "sectors per store")]
    assert back.differences[0].weight == first.weight


def test_wider_loads_are_not_worse() -> None:
    """A load of 16 bytes per lane takes 16 sectors, and there are a quarter as many."""
    wide = values(gld_requests=250, gld_transactions_per_request=16)
    found = differences.compare(version(values()), version(wide))
    assert told(found) == [(BETTER, "loads")]
    assert sentences.summary(found)[0] == sentences.NO_TRAFFIC


def test_fewer_loads_of_the_same_kind() -> None:
    half = values(gld_requests=500, gld_transactions=500 * LEAST)
    found = differences.compare(version(values()), version(half))
    assert told(found) == [(BETTER, "sectors loaded")]
    assert found.differences[0].weight == pytest.approx(0.25)


def test_requests_that_point_the_other_way_do_not_lead() -> None:
    """Each load takes more sectors, but all together fewer."""
    wide = values(
        gld_requests=125,
        gld_transactions=125 * 20,
        gld_transactions_per_request=20,
        gld_efficiency=80,
    )
    found = differences.compare(version(values()), version(wide))
    assert told(found) == [(BETTER, "sectors loaded")]


def test_bank_conflicts() -> None:
    shared = values(shared_load_requests=1000, shared_load_transactions=1000)
    conflicts = {**shared, "shared_load_transactions": 32000.0, "shared_ld_bank_conflict": 31000.0}
    found = differences.compare(version(shared), version(conflicts))
    assert told(found) == [(WORSE, "bank conflicts per shared load")]
    first = found.differences[0]
    assert (first.change.before, first.change.after) == (0, 31)
    assert first.weight == pytest.approx(31000 / (SECTOR * 8000 + 32000))


def test_shared_memory_without_conflicts_is_told_by_its_wavefronts() -> None:
    shared = values(shared_load_requests=1000, shared_load_transactions=1000)
    found = differences.compare(version(values()), version(shared))
    assert told(found) == [(WORSE, "wavefronts of shared loads")]


def test_what_concerns_more_of_the_traffic_comes_first() -> None:
    """The loads change by a factor of eight, but they are few. The stores are halved."""
    few_loads = {"gld_requests": 10, "gld_efficiency": 12.5, "gld_transactions_per_request": MOST}
    before = values(gld_transactions=10 * MOST, **few_loads)
    few_loads.update(gld_efficiency=100, gld_transactions_per_request=LEAST)
    after = values(
        gld_transactions=10 * LEAST, gst_requests=500, gst_transactions=500 * LEAST, **few_loads
    )
    found = differences.compare(version(before), version(after))
    assert told(found) == [(BETTER, "sectors stored"), (BETTER, "sectors per load")]


def test_little_is_told_only_where_there_is_nothing_else() -> None:
    little = {"gld_transactions": 4001.0, "gld_transactions_per_request": 4.001, "branch": 2001.0}
    found = differences.compare(version(values()), version({**values(), **little}))
    assert told(found) == [(WORSE, "sectors loaded"), (WORSE, "branches")]
    found = differences.compare(version(values()), version({**strided_stores(), **little}))
    assert told(found) == [(WORSE, "sectors per store")]
    assert {"gld_transactions", "branch"} <= {each.metric for each in found.changed}


def test_numbers_show_that_they_differ() -> None:
    change = differences.Change("", 30.21, 30.24)
    assert sentences.numbers(change) == ("30.21", "30.24")
    assert sentences.numbers(replace(change, after=31.24)) == ("30.2", "31.2")
    assert sentences.numbers(replace(change, after=30.21)) == ("30.2", "30.2")
    assert sentences.numbers(differences.Change("", 1234567.0, 1234568.0)) == (
        "1,234,567",
        "1,234,568",
    )


def test_divergence() -> None:
    split = values(divergent_branch=1000, active_threads_per_instruction=24)
    found = differences.compare(version(values()), version(split))
    assert told(found) == [
        (WORSE, "divergent branches"),
        (WORSE, "active lanes of a warp's instruction"),
    ]
    assert [each.weight for each in found.differences] == pytest.approx([1000 / 2000, 8 / 32])


def test_better_is_what_the_metrics_say() -> None:
    other = values(theoretical_occupancy=50, branch=1000, barriers=10)
    found = differences.compare(version(values()), version(other))
    verdicts = {each.change.metric: each.verdict for each in found.differences}
    assert verdicts == {"theoretical_occupancy": WORSE, "branch": BETTER, "barriers": DIFFERS}


def test_several_launches_are_added_up() -> None:
    """Ten launches on a tenth of the data against one on all of it; one of the ten is strided."""
    tenth = {
        k: v if k.endswith(("efficiency", "request", "instruction", "occupancy")) else v / 10
        for k, v in values().items()
    }
    found = differences.compare(version(*[tenth] * 10), version(values()))
    assert told(found) == [(BETTER, "launches")]
    assert not found.changed  # but the number of launches, which is no metric
    strided = {
        **tenth,
        "gld_transactions": 100.0 * MOST,
        "gld_transactions_per_request": float(MOST),
        "gld_efficiency": 12.5,
    }
    totals = version(*[tenth] * 9, strided).totals
    assert totals["gld_transactions"] == 900 * LEAST + 100 * MOST
    assert totals["gld_transactions_per_request"] == pytest.approx(
        (900 * LEAST + 100 * MOST) / 1000
    )
    useful = 100 * 1000 * LEAST / (900 * LEAST + 100 * MOST)
    assert totals["gld_efficiency"] == pytest.approx(useful)


def test_launches_that_count_the_same_are_one_difference() -> None:
    found = differences.compare(version(*[values()] * 4), version(values()))
    assert told(found)[0] == (BETTER, "launches")
    assert not any(each.traffic for each in found.differences)


def test_a_ratio_that_cannot_be_added_up_is_left_out() -> None:
    some = version(values(theoretical_occupancy=50), values(theoretical_occupancy=100))
    assert "theoretical_occupancy" not in some.totals
    assert version(values(), values()).totals["theoretical_occupancy"] == 100


def test_lanes_that_collide_in_an_atomic_weigh(tmp_path: Path) -> None:
    """All lanes add to one address, or each warp adds once."""
    file = tmp_path / "k.cu"
    all_lanes = kernel(line(file, 1, access(ATOMIC, GLOBAL, 1000, alike=32000)))
    once = kernel(line(file, 1, access(ATOMIC, GLOBAL, 1000, alike=1000)))
    counts = values(global_atomic_requests=1000)
    found = differences.compare(version(counts, lines=[all_lanes]), version(counts, lines=[once]))
    (difference,) = found.differences
    assert (difference.change.before, difference.change.after) == (31000, 0)
    assert difference.verdict == BETTER
    assert difference.weight == pytest.approx(31000 / (SECTOR * (8000 + 1000) + 31000))


def test_what_the_lines_tell_beyond_the_metrics(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    plain = kernel(line(file, 1, operations={"fp32": 5}))
    other = kernel(line(file, 1, access(ATOMIC, SHARED, 500), operations={"fp64": 7}))
    found = differences.compare(version(values(), lines=[plain]), version(values(), lines=[other]))
    assert set(told(found)) == {
        (WORSE, "operations on doubles"),
        (WORSE, "wavefronts of shared atomics"),
    }
    without = differences.compare(version(values()), version(values(), lines=[other]))
    assert without.is_equal  # where one side has no lines, these counts are not known
