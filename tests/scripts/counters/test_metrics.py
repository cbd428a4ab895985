"""scripts/metrics.toml, and what --metrics makes of names."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli import catalogue, metrics
from lab_cli.counters.units import convert
from lab_cli.errors import LabError

KNOWN = metrics.load()


def test_every_metric_is_described() -> None:
    for metric in KNOWN.metrics.values():
        assert "__" in metric.nsight and " " not in metric.nsight
        assert metric.meaning
        assert metric.better in ("higher", "lower", "neither")
        assert convert(1.0, metric.unit, metric.unit) == 1.0
    nsight = [metric.nsight for metric in KNOWN.metrics.values()]
    assert len(set(nsight)) == len(nsight)


def test_every_set_also_tells_something_without_a_gpu() -> None:
    sets = [
        exercise.facts.metrics for exercise in catalogue.exercises() if not exercise.facts.gpu_only
    ]
    for names in [*filter(None, sets), KNOWN.own]:
        chosen = KNOWN.find(names)
        assert len(set(names)) == len(chosen)
        assert [metric for metric in chosen if metric.cpu]


def test_bad_file_names_each_key(tmp_path: Path) -> None:
    file = tmp_path / "metrics.toml"
    file.write_text(
        'own = ["a", "b"]\n[metrics]\nc = 1\n'
        '[metrics.a]\nunit = ""\nmeaning = "m"\nbetter = "more"\ncpus = true\n'
    )
    with pytest.raises(LabError) as raised:
        metrics.load(file)
    assert [line.split("metrics.toml: ")[1] for line in str(raised.value).splitlines()] == [
        "[metrics.c] = 1: expected a table",
        "[metrics.a] unknown key cpus; did you mean cpu?",
        "[metrics.a] nsight is missing",
        "[metrics.a] better = 'more': expected higher, lower, neither",
        "own: no metric is named b",
    ]


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
        ("BRANCH_EFFICIENCY", r"did you mean branch_efficiency( or \w+)*\?$"),
        ("gst_e", r"did you mean gst_requests or gst_efficiency\?$"),
        ("qqq", "scripts/metrics.toml has them all; Nsight Compute's own names work as well$"),
    ],
)
def test_unknown_name(name: str, hint: str) -> None:
    with pytest.raises(LabError, match=f"'{name}'.*{hint}") as raised:
        KNOWN.find(["branch", name])
    assert raised.value.status == 2
