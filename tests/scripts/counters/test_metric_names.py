"""scripts/metrics.toml: its names against what ncu knows and what the cpu profiler writes.

ncu's metrics for the H200 (compute capability 9.0) are recorded in data/query_metrics.sm_90.txt.gz:
base names, without .sum and the like, one a line, sorted. It is written, on any machine with ncu, by

    for kind in profiling source; do
        ncu --query-metrics --query-metrics-collection $kind --chips gh100
    done | grep -oE '^(dram|gpu|l1tex|lrc|lts|sm|smsp)__[a-z0-9_]+' | LC_ALL=C sort -u | gzip -9n

What ncu finds in the launch itself is in no such list: those names are taken from recorded profiles.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from lab_cli import catalogue, metrics
from lab_cli.counters.units import convert
from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from recordings import OF_NCU, of_ncu, queried

KNOWN = metrics.load()
METRICS = list(KNOWN.metrics.values())
PROFILES = [
    *map(of_ncu, OF_NCU),
    *(path.read_text() for path in ROOT.glob("tests/emulator/profiler/recorded/*.csv")),
]
PROFILER = ROOT / "emulator/src/instrument/profile/profile_csv.cpp"
# What may follow a base name: of a counter, of a ratio, and of a value that is one already.
# https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#metrics-structure
COUNTER = r"\.(sum|avg|min|max)(\.per_second|\.pct_of_peak_sustained_(active|elapsed))?"
SUFFIX = re.compile(rf"{COUNTER}|\.(ratio|pct|max_rate)|")


def written() -> dict[str, str]:
    """The units of the metrics that the cpu profiler writes, by name: the table in its source."""
    table = re.findall(r'^ *\{"(\w+__[\w.]+)",\s*"([^"]*)",', PROFILER.read_text(), re.MULTILINE)
    return dict(table)


def columns(profile: str) -> set[str]:
    """The metrics of a recorded profile."""
    header = re.search(r'^"ID",.*$', profile, re.MULTILINE)
    assert header, profile
    return {name for name in next(csv.reader([header.group()])) if "__" in name}


PROFILED = set().union(*map(columns, PROFILES))


def test_the_cpu_profiler_writes_what_the_catalogue_says() -> None:
    of_cpu = {metric.nsight for metric in METRICS if metric.cpu}
    assert set(written()) == of_cpu


def test_the_table_of_the_cpu_profiler_is_read_whole() -> None:
    rows = PROFILER.read_text().partition("metricsOf(")[2].partition("\n}\n")[0]
    assert len(written()) == rows.count('{"') == len(re.findall(r'"\w+__', rows))


def test_the_cpu_profiler_writes_units_that_can_be_shown() -> None:
    units = written()
    for metric in METRICS:
        if metric.cpu:
            assert convert(1.0, units[metric.nsight], metric.unit) == 1.0, metric.name


@pytest.mark.parametrize("metric", [m for m in METRICS if m.gpu], ids=lambda metric: metric.name)
def test_ncu_has_the_metric(metric: metrics.Metric) -> None:
    if metric.nsight in PROFILED:
        return
    base, dot, suffix = metric.nsight.partition(".")
    assert base in queried()
    assert SUFFIX.fullmatch(dot + suffix), suffix


def test_what_is_counted_under_a_name_of_the_emulator() -> None:
    names = [m.nsight for m in METRICS if not m.gpu]
    assert names == [
        "emulator__bytes_in_flight.max",
        "emulator__barriers.sum",
        "emulator__critical_path.max",
    ]


# ---- the file, and what --metrics makes of names ----


def test_every_metric_is_described() -> None:
    for metric in METRICS:
        assert "__" in metric.nsight and " " not in metric.nsight
        assert metric.meaning
        assert metric.better in ("higher", "lower", "neither")
        assert convert(1.0, metric.unit, metric.unit) == 1.0
    nsight = [metric.nsight for metric in METRICS]
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
