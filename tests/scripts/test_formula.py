"""Formulas of NAME.toml: what they give, and what is none."""

from __future__ import annotations

import pytest
from lab_cli.formula import Condition, Formula

NAMES = {"rows": 3.0, "cols": 5.0, "n": 33.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8 * rows * cols", 120),
        ("rows + cols - 1", 7),
        ("2 * (rows + cols)", 16),
        ("n / 2", 16.5),
        ("n // 2 ** 2", 8),
        ("n % 32", 1),
        ("ceil(n / 32)", 2),
        ("min(1, n % 11) + max(rows, cols, 4)", 5),
        (" 1e-6 ", 1e-6),
    ],
)
def test_value(text: str, value: float) -> None:
    assert Formula(text).value(NAMES) == value


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "''"),
        ("rows; cols", "'rows; cols'"),
        ("rows if cols else n", "rows if cols else n"),
        ("8 * abs(rows)", "abs(rows)"),
        ("min(rows, -cols)", "-cols"),
        ("ceil()", "ceil()"),
        ("max(rows)", "max(rows)"),
        ("ceil(rows, cols)", "ceil(rows, cols)"),
        ("min(rows, cols, key=n)", "min(rows, cols, key=n)"),
        ("rows.real", "rows.real"),
        ("rows < cols", "rows < cols"),
        ("'8'", "'8'"),
        ("True", "True"),
        ("(lambda: 8)()", "(lambda: 8)()"),
    ],
)
def test_what_is_no_formula(text: str, part: str) -> None:
    with pytest.raises(ValueError) as raised:
        Formula(text)
    assert str(raised.value).startswith(f"{part}: ")


def test_what_cannot_be_computed() -> None:
    with pytest.raises(ValueError, match="there is no number depth"):
        Formula("rows * depth").value(NAMES)
    with pytest.raises(ValueError, match="division"):
        Formula("n / (rows - 3)").value(NAMES)


def test_names_of_a_formula() -> None:
    assert Formula("max(rows, cols) + ceil(rows / n)").names == ["rows", "cols", "n"]
    assert Formula("7").names == []


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("rows < cols", True),
        ("rows >= 3", True),
        ("rows > 3", False),
        ("cols<=5.0", True),
        ("2 * rows <= cols", False),
        ("100 * (1 - rows / cols) >= 40", True),
        ("n < 33", False),
    ],
)
def test_condition(text: str, holds: bool) -> None:
    assert Condition(text).holds(NAMES) == holds


def test_names_of_a_condition() -> None:
    assert Condition("rows * n >= cols + n").names == ["rows", "n", "cols"]


@pytest.mark.parametrize(
    "text", ["rows", "rows < cols < n", "rows == cols", "", "rows < -cols", "> 3", "rows => 3"]
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(ValueError, match="expected|invalid syntax"):
        Condition(text)


def test_condition_on_a_number_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="no number depth"):
        Condition("depth > 1").holds(NAMES)
