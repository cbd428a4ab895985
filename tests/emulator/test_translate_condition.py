"""Tests of what the translator takes the condition of an `#if` for."""

import pytest
from translator.condition import evaluate


@pytest.mark.parametrize(
    "condition, value",
    [
        ("900", 900), ("0x2bcL + 07 + 0", 707), ("900 >= 700 && 900 < 1000", 1),
        ("300 <= 900 < 1000", 1),
        ("300 <= 0 < 1000", 1),  # (300 <= 0) < 1000
        ("3 > 2 > 1", 0), ("1 == 1 == 1", 1), ("2 == 2 == 2", 0),
        ("!900 < 700", 1),  # (!900) < 700
        ("!0 == 0", 0), ("!(0 == 0)", 0), ("!1 + 1", 1), ("!!5", 1),
        ("not 900 < 700 and 1 or 0", 1), ("1 || 0 && 0", 1), ("2 && 3", 1), ("0 || 7", 1),
        ("900 == 800 || 900 != 900", 0), ("1 - 2 - 3", -4), ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20),
        ("-(1 - 3) - -1", 3), ("+1", 1), ("900 / 100 * 10 + 907 % 100", 97), ("1 < 2 == 1", 1),
        ("1<2&&!0||-1>=0", 1), ("700u <= 900UL", 1), ("9223372036854775807", 2**63 - 1),
        ("1 || X", 1), ("X && 0 || X > 1 || 7", 1), ("!(0 && X) && 3", 1), ("(X || 1) + 1", 2),
    ],
)  # fmt: skip
def test_value(condition, value):
    assert evaluate(condition) == value
    assert evaluate(f"  {condition}\t") == value


@pytest.mark.parametrize(
    "condition",
    ["", "X", "0 || X", "X && 1", "X == X", "X(1) || 1", "? && 1", "900x", "08", "0b1", "1.5", "1 2",
     "1 +", "(1", "1)", "()", "!", "2 ** 3", "8 << 1", "7 & 2", "7 | 2", "7 ^ 2", "~1", "1 ? 2 : 3",
     "1, 2", "7 // 2", "1 <> 2", "= 1", "1 / 0", "1 % 0", "-7 / 2", "-7 % 2", "7 / -2",
     "900 - 1000 < 0U", "-1 > 0u",  # of unsigned numbers, which are never below 0
     "9223372036854775807 + 1", "18446744073709551615"],
)  # fmt: skip
def test_what_is_not_known(condition):
    assert evaluate(condition) is None
