"""What the charts take out of a row."""

from __future__ import annotations

import pytest
from lab_cli.errors import LabError
from lab_cli.results.rows import (
    axis_label,
    count,
    number,
    peaks,
    positive,
    short,
    ticks,
    time_unit,
    with_parameters,
)


def test_words_of_the_parameters_are_columns_but_not_in_place_of_one() -> None:
    row = {"parameters": "size=1024 block=8", "block": "32x8", "kernel": "k"}
    assert with_parameters(row) == {**row, "size": "1024", "block": "32x8"}
    assert with_parameters({"kernel": "k"}) == {"kernel": "k"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.02384, "0.0238"),
        (99.94, "99.9"),
        (99.96, "100"),
        (4628.6, "4,629"),
        (-250.4, "-250"),
        (-13.94, "-13.9"),
        (1, "1.00"),
        (0, "0"),
    ],
)
def test_short_numbers_have_three_digits(value: float, shown: str) -> None:
    assert short(value) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1048576", "1M"),
        ("1048575", "1,048,575"),
        ("1572864", "1,572,864"),
        ("3221225472", "3G"),
        ("1610612736", "1,536M"),
        ("1024", "1,024"),
        ("-5", "-5"),
        ("32x8", "32x8"),
    ],
)
def test_counts_are_in_units_where_they_are_whole(text: str, shown: str) -> None:
    assert count(text) == shown


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ([512, 1024, 65536, 1 << 20, 1 << 30], ["512", "1K", "64K", "1M", "1G"]),
        ([1, 1000, 10000], ["1", "1,000", "10,000"]),
        ([1024, 1025], ["1,024", "1,025"]),
        ([98304, 1 << 40], ["96K", "1,024G"]),
    ],
)
def test_ticks_are_all_in_one_form(sizes: list[int], shown: list[str]) -> None:
    assert ticks(sizes) == shown


@pytest.mark.parametrize(("most", "unit"), [(0.999, (1000, "us")), (1.0, (1, "ms"))])
def test_units_of_times(most: float, unit: tuple[float, str]) -> None:
    assert time_unit(most) == unit


def test_numbers_of_cells() -> None:
    assert number({"a": "1e3"}, "a") == 1000
    assert number({"a": "-1"}, "a") == -1
    assert positive({"a": "0.5"}, "a") == 0.5


@pytest.mark.parametrize(
    ("read", "row", "message"),
    [
        (number, {"a": "x"}, "a row has no number in column a: 'x'"),
        (number, {"kernel": "k", "a": "inf"}, "k has no number in column a: 'inf'"),
        (number, {"kernel": "k"}, "k has no number in column a: ''"),
        (positive, {"kernel": "k", "a": "-1"}, "k has no positive number in column a: '-1'"),
        (positive, {"a": "0"}, "a row has no positive number in column a: '0'"),
    ],
)
def test_what_is_no_number_is_named(read, row: dict[str, str], message: str) -> None:
    with pytest.raises(LabError, match=f"^{message}$"):
        read(row, "a")


def test_peak_is_that_of_the_first_row_that_knows_its_share() -> None:
    """Exercises may have different ones."""
    rows = [
        {"exercise": "strict", "gflops": "64", "percent_peak": ""},
        {"exercise": "strict", "gflops": "33454.1", "percent_peak": "50"},
        {"exercise": "strict", "gflops": "1", "percent_peak": "1"},
        {"exercise": "tensor", "gflops": "535", "percent_peak": "50"},
    ]
    strict, tensor = peaks(rows, "gflops", {"tensor": "peak BF16"})
    assert strict == (pytest.approx(66908.2), "peak FP32 66,908 GFLOP/s")
    assert tensor == (pytest.approx(1070), "peak BF16 1,070 GFLOP/s")
    assert peaks(rows[:1], "gflops") == peaks(rows, "median_ms") == []


def test_axes_are_named_with_their_units() -> None:
    assert axis_label("gbps") == "bandwidth [GB/s]"
    assert axis_label("blocks_per_sm") == "blocks per sm"
