"""How a student's kernel differs from the one before it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from exercise_sample import ASSIGNMENT, FACTS
from lab_cli import catalogue
from lab_cli.assignments import Assignment
from lab_cli.comparison import rung_before
from lab_cli.comparison.versions import Launch

STRIDED = {"gst_requests": 10.0, "gst_transactions": 320.0, "gst_efficiency": 12.5}
DENSE = {"gst_requests": 10.0, "gst_transactions": 40.0, "gst_efficiency": 100.0}


@pytest.fixture
def assignment(exercises) -> Assignment:
    """`better` is the student's, `worse` the kernel before it."""
    exercises("ch03/order", FACTS + ASSIGNMENT.format(name="inOrder"))
    (found,) = catalogue.one("order").facts.assignments
    return found


def launch(kernel: str, counts: dict[str, float]) -> Launch:
    return Launch(kernel, "1", "32", counts)


def test_what_is_better_and_what_is_worse(assignment: Assignment) -> None:
    """Launches of other kernels do not count."""
    before, yours = launch("worse<1>", STRIDED), launch("better<4>", DENSE)
    (said,) = rung_before.told(assignment, [before, yours, launch("other", STRIDED)], 9)
    assert said == "sectors per store 32 -> 4 (better; 8 times fewer)"
    turned = replace(assignment, before="better", launches=["worse"])
    (said,) = rung_before.told(turned, [before, yours], 9)
    assert said == "sectors per store 4 -> 32 (worse; 8 times as many)"


def test_rows_of_one_template_are_not_added_up(assignment: Assignment) -> None:
    launches = [launch(kernel, DENSE) for kernel in ("worse", "better<1>", "better<2>")]
    assert rung_before.told(assignment, launches, 9) == [rung_before.ALIKE]


def test_rows_of_one_kernel_are_not_added_up(assignment: Assignment) -> None:
    two = replace(assignment, rows=["better", "betterAgain"])
    launches = [launch(kernel, DENSE) for kernel in ("worse", "better", "better")]
    assert rung_before.told(two, launches, 9) == [rung_before.ALIKE]
    assert rung_before.told(assignment, launches, 9) != [rung_before.ALIKE]


def test_a_row_that_launches_as_often_as_the_one_before_counts_whole(
    assignment: Assignment,
) -> None:
    two = replace(assignment, rows=["better", "another"])
    launches = [launch(kernel, DENSE) for kernel in ("worse", "worse", "better", "better")]
    assert rung_before.told(two, launches, 9) == [rung_before.ALIKE]


def test_no_more_than_what_matters_most(assignment: Assignment) -> None:
    many = {**STRIDED, "branch": 9.0, "barriers": 9.0, "theoretical_occupancy": 50.0}
    few = {**DENSE, "branch": 1.0, "barriers": 1.0, "theoretical_occupancy": 100.0}
    said = rung_before.told(assignment, [launch("worse", many), launch("better", few)], 2)
    assert len(said) == 2 and "sectors" in said[0]


def test_equal_counts_are_said_to_be_equal(assignment: Assignment) -> None:
    launches = [launch("worse", DENSE), launch("better", DENSE)]
    assert rung_before.told(assignment, launches, 9) == [rung_before.ALIKE]


def test_nothing_is_said_of_a_kernel_that_was_not_launched(assignment: Assignment) -> None:
    for kernel in ("better", "worse"):
        assert rung_before.told(assignment, [launch(kernel, DENSE)], 9) == []
