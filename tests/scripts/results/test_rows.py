"""What the charts take out of a row."""

from __future__ import annotations

from lab_cli.results.rows import count, short, with_parameters


def test_words_of_the_parameters_are_columns_but_not_in_place_of_one() -> None:
    row = {"parameters": "size=1024 block=8", "block": "32x8", "kernel": "k"}
    assert with_parameters(row) == {**row, "size": "1024", "block": "32x8"}
    assert with_parameters({"kernel": "k"}) == {"kernel": "k"}


def test_short_numbers_have_three_digits() -> None:
    shown = [short(value) for value in (0.0, 0.02384, 13.94, 99.94, 100.0, 4628.6)]
    assert shown == ["0", "0.0238", "13.9", "99.9", "100", "4,629"]


def test_counts_are_in_units_where_they_are_whole() -> None:
    shown = [count(text) for text in ("1073741824", "8388608", "8192", "1000000", "32x8")]
    assert shown == ["1 Gi", "8 Mi", "8192", "1,000,000", "32x8"]
