"""The table of ./lab profile, as text and as CSV."""

from __future__ import annotations

import pytest
from lab_cli import metrics
from lab_cli.counters import metric_table, raw_csv
from lab_cli.counters.metric_table import MetricTable, Row
from ncu_sample import REDUCTIONS, launch, raw_page

KNOWN = metrics.load()
NAMES = "divergent_branch branch_efficiency gld_transactions dram_read_throughput duration"
ASKED = KNOWN.find(NAMES.split())


def reductions() -> MetricTable:
    return metric_table.build(raw_csv.parse(REDUCTIONS), ASKED, "where", ["a note"])


def of(units: dict[str, str], values: list[list[str]], names: list[str]) -> MetricTable:
    launches = [launch(i, "k(int)", row, "(4, 1, 1)", "(32, 1, 1)") for i, row in enumerate(values)]
    raw = raw_csv.parse(raw_page(units, launches))
    return metric_table.build(raw, KNOWN.find(names), "where", [])


def test_csv_has_plain_numbers_under_textbook_names() -> None:
    assert reductions().csv_text() == (
        "kernel,grid,block,divergent_branch,branch_efficiency,gld_transactions,"
        "dram_read_throughput,duration\n"
        "reduceNeighbored,8192,512,778240,68.75,4186112,412.5,1250\n"
        "reduceNeighboredLess,8192,512,40960,98.36,4186112,1025.5,500\n"
        "reduceInterleaved,8192,512,40960,98.36,1089536,,25\n"
    )


def test_csv_of_builds_has_the_rows_of_a_launch_one_below_the_other() -> None:
    def table(*rows: tuple[str, str, float | None]) -> MetricTable:
        found = [Row(name, grid, "32", [count]) for name, grid, count in rows]
        return MetricTable(KNOWN.find(["branch"]), found, "")

    text = metric_table.csv_of_builds(
        {
            "optimised": table(("a", "1", 1.0), ("b", "1", 2.0), ("a", "2", 3.0), ("c", "1", None)),
            "debug": table(("a", "1", 4.0), ("b", "9", 5.0), ("b", "8", 6.0), ("a", "2", 7.0)),
        }
    )
    assert text.splitlines() == [
        "kernel,build,grid,block,branch",
        "a,optimised,1,32,1",
        "a,debug,1,32,4",
        "b,optimised,1,32,2",
        "b,debug,9,32,5",  # another grid, but the same launch
        "a,optimised,2,32,3",
        "a,debug,2,32,7",
        "c,optimised,1,32,",  # launched by this build alone
        "b,debug,8,32,6",
    ]


TEXT = """\
                                                  branch_                dram_read_
                                   divergent_  efficiency          gld_  throughput  duration
kernel                grid  block      branch         [%]  transactions      [GB/s]      [us]
reduceNeighbored      8192  512       778,240       68.75     4,186,112      412.50     1,250
reduceNeighboredLess  8192  512        40,960       98.36     4,186,112    1,025.50       500
reduceInterleaved     8192  512        40,960       98.36     1,089,536         n/a        25

divergent_branch      branches in which a warp split (lower is better)
"""
JUST_FITS = max(map(len, TEXT.partition("\n\n")[0].splitlines()))


def test_text() -> None:
    text = reductions().text(100)
    assert text.startswith(TEXT)
    assert text.endswith("\n\nwhere\na note\n")


@pytest.mark.parametrize(
    ("width", "parts"), [(10, len(ASKED)), (60, 3), (80, 2), (JUST_FITS - 1, 2), (JUST_FITS, 1)]
)
def test_wide_tables_are_cut_into_groups_that_fit(width: int, parts: int) -> None:
    text = reductions().text(width)
    table = text.split("divergent_branch  ")[0]  # above the legend
    assert table.count("\nreduceNeighbored ") == parts
    assert width < 60 or max(map(len, table.splitlines())) <= width
    for value in ("778,240", "68.75", "4,186,112", "412.50", "1,250"):
        assert table.count(value) >= 1


def test_an_upper_bound_of_the_cpu_back_end_is_shown_as_one() -> None:
    metric = KNOWN.metrics["theoretical_occupancy"]
    values = [["100", "8"], ["62.5", "9"], ["n/a", "9"]]
    launches = [launch(i, "k(int)", row, "(4, 1, 1)", "(32, 1, 1)") for i, row in enumerate(values)]
    branches = KNOWN.metrics["branch"]
    raw = raw_csv.parse(raw_page({metric.nsight: "%", branches.nsight: ""}, launches))
    of_gpu = metric_table.build(raw, [metric, branches], "", [])
    of_cpu = metric_table.build(raw, [metric, branches], "", [], on_cpu=True)
    assert of_cpu.shown(0) == ["<= 100.00", "<= 62.50", "n/a"]
    assert of_gpu.shown(0) == ["100.00", "62.50", "n/a"]
    assert of_cpu.shown(1) == of_gpu.shown(1) == ["8", "9", "9"]
    assert of_cpu.csv_text() == of_gpu.csv_text()  # plain numbers


def test_metric_without_a_meaning_is_not_explained() -> None:
    lines = of({"a__x": "%"}, [["1"]], ["a__x"]).text(100).splitlines()
    assert [line for line in lines if line] == [
        "                     a__x",
        "kernel  grid  block   [%]",
        "k       4     32        1",
        "where",
    ]


def test_missing_metric_is_named() -> None:
    table = of({"gpu__time_duration.sum": "ns"}, [["n/a"]], ["duration", "branch"])
    assert table.notes == ["without a value here: duration, branch"]
    assert table.rows[0].values == [None, None]
    assert table.csv_text().splitlines()[1] == "k,4,32,,"


def test_nsight_name_without_its_last_part_gives_all_columns_of_it() -> None:
    units = {"lts__t.avg": "sector", "lts__t.sum": "sector", "lts__tx.sum": "sector"}
    table = of(units, [["1", "2", "3"]], ["lts__t"])
    assert [metric.name for metric in table.metrics] == ["lts__t.avg", "lts__t.sum"]
    assert table.rows[0].values == [1, 2]
    assert table.notes == []
    table = of({"lts__t": "sector", **units}, [["7", "1", "2", "3"]], ["lts__t"])
    assert [metric.name for metric in table.metrics] == ["lts__t"]
    assert table.rows[0].values == [7]
    table = of(units, [["1", "2", "3"]], ["x__y", "lts__t.sum"])  # a column of its own all the same
    assert table.csv_text() == "kernel,grid,block,x__y,lts__t.sum\nk,4,32,,2\n"
    assert table.notes == ["without a value here: x__y"]


def test_metric_of_which_one_column_has_a_value_is_not_missing() -> None:
    units = {"lts__t.avg": "sector", "lts__t.sum": "sector"}
    assert of(units, [["n/a", "2"]], ["lts__t"]).notes == []
    assert of(units, [["n/a", "n/a"], ["n/a", "2"]], ["lts__t"]).notes == []  # of one launch
    assert of(units, [["n/a", "n/a"]], ["lts__t"]).notes == ["without a value here: lts__t"]


def test_long_kernel_names_are_cut_in_the_text_alone() -> None:
    for name, cut in (("k" * 48, "k" * 48), ("k" * 49, "k" * 45 + "...")):
        page = raw_page({"a__b": ""}, [launch(0, name, ["3"], "(1, 1, 1)", "(1, 1, 1)")])
        table = metric_table.build(raw_csv.parse(page), KNOWN.find(["a__b"]), "", [])
        assert table.text(100).splitlines()[1].split("  ")[0] == cut
        assert name in table.csv_text()


@pytest.mark.parametrize(
    ("unit", "values", "shown"),
    [
        ("", ["1564672", "0"], ["1,564,672", "0"]),
        ("%", ["1,234.5", "3"], ["1,234.50", "3.00"]),
        ("Mbyte", ["0.1", "0.0999", "0.0123", "-0.05"], ["0.10", "0.1", "0.012", "-0.05"]),
        ("", ["n/a", "CachePreferNone", "0.5"], ["n/a", "CachePreferNone", "0.50"]),
    ],
)
def test_a_column_has_one_form_and_the_unit_of_ncu(
    unit: str, values: list[str], shown: list[str]
) -> None:
    text = of({"a__x": unit}, [[value] for value in values], ["a__x"]).text(100)
    assert [line.split()[3] for line in text.splitlines() if line.startswith("k ")] == shown
    assert not unit or f"[{unit}]\n" in text


def test_csv_has_text_values_as_they_are() -> None:
    table = of({"launch__cache": ""}, [["a, CachePreferNone"]], ["launch__cache"])
    assert table.csv_text().endswith('k,4,32,"a, CachePreferNone"\n')
