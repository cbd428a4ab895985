"""Units of ncu, converted to those that a table shows."""

from __future__ import annotations

import pytest
from lab_cli.counters.units import convert
from lab_cli.errors import LabError


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "expected"),
    [
        (412.5, "Gbyte/second", "GB/s", 412.5),
        (1.5, "Tbyte/s", "GB/s", 1500),
        (250, "Mbyte/second", "GB/s", 0.25),
        (4e9, "byte/second", "GB/s", 4),
        (3, "byte/nsecond", "GB/s", 3),
        (2, "Kbyte", "byte", 2000),
        (1.25, "msecond", "us", 1250),
        (870, "ns", "us", 0.87),
        (7, "usecond", "us", 7),
        (1, "second", "us", 1e6),
        (1.5, "Ghz", "MHz", 1500),
        (2, "MHz", "hz", 2e6),
        (3, "hz", "Hz", 3),
        (32, "register/thread", "", 32),
        (31, "", "%", 31),
    ],
)
def test_convert(value: float, unit: str, wanted: str, expected: float) -> None:
    assert convert(value, unit, wanted) == pytest.approx(expected, rel=1e-12)


def test_no_digit_changes_that_need_not() -> None:
    assert convert(0.1, "Gbyte/s", "GB/s") == 0.1
    for value in range(1, 1000):
        assert convert(value, "ns", "us") == value / 1000
        assert convert(value / 7, "ms", "us") == value / 7 * 1000


@pytest.mark.parametrize(("unit", "wanted"), [("ms", "GB/s"), ("sector", "us"), ("byte", "")])
def test_other_kinds_are_refused(unit: str, wanted: str) -> None:
    with pytest.raises(LabError, match=f"'{unit}'"):
        convert(1, unit, wanted)
