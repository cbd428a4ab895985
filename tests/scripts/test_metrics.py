"""scripts/metrics.toml, and what --metrics makes of names."""

from __future__ import annotations

import pytest
from lab_cli import catalogue, metrics
from lab_cli.errors import LabError
from lab_cli.units import convert

KNOWN = metrics.load()


def test_every_metric_is_described() -> None:
    for metric in KNOWN.metrics.values():
        assert "__" in metric.nsight and " " not in metric.nsight
        assert metric.meaning
        assert metric.better in ("higher", "lower", "neither")
        assert convert(1.0, metric.unit, metric.unit) == 1.0
    nsight = [metric.nsight for metric in KNOWN.metrics.values()]
    assert len(set(nsight)) == len(nsight)


def test_every_set_is_of_an_exercise_and_also_tells_something_without_a_gpu() -> None:
    exercises = {exercise.name for exercise in catalogue.exercises()}
    assert set(KNOWN.sets) <= exercises | {metrics.OWN_PROGRAM}
    for name in KNOWN.sets:
        chosen = KNOWN.default_set(name)  # KeyError for a metric that there is not
        assert len(set(KNOWN.sets[name])) == len(chosen)
        assert [metric for metric in chosen if metric.cpu]


def test_an_exercise_without_a_set_gets_that_of_own_programs() -> None:
    assert KNOWN.default_set("brandNew") == KNOWN.default_set(metrics.OWN_PROGRAM)


def test_both_names_lead_to_the_same_metric_which_is_shown_once() -> None:
    nsight = KNOWN.metrics["gld_efficiency"].nsight
    found = KNOWN.find([nsight, "gld_efficiency", "branch"])
    assert [metric.name for metric in found] == ["gld_efficiency", "branch"]


def test_other_names_of_nsight_are_taken_as_they_are() -> None:
    (metric,) = KNOWN.find(["lts__t_sectors.sum"])
    assert (metric.name, metric.nsight) == ("lts__t_sectors.sum", "lts__t_sectors.sum")
    assert not metric.cpu


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gld_eficiency", "did you mean gld_efficiency"),
        ("Branch_Efficiency", "did you mean branch_efficiency"),
        ("qqq", "scripts/metrics.toml has them all"),
    ],
)
def test_unknown_name(name: str, hint: str) -> None:
    with pytest.raises(LabError, match=f"'{name}'.*{hint}") as raised:
        KNOWN.find(["branch", name])
    assert raised.value.status == 2
