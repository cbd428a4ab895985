"""The table of ./lab profile, as text and as CSV."""

from __future__ import annotations

import csv
import io

import pytest
from lab_cli import metrics
from lab_cli.counters import metric_table, raw_csv
from lab_cli.counters.metric_table import MetricTable, Row
from ncu_sample import REDUCTIONS, launch, raw_page

KNOWN = metrics.load()
ASKED = KNOWN.find(
    [
        "divergent_branch",
        "branch_efficiency",
        "gld_transactions",
        "dram_read_throughput",
        "duration",
    ]
)


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


def test_csv_quotes_what_has_a_comma() -> None:
    page = raw_page({"a__b": ""}, [launch(0, "void f<1, 2>(int)", ["3"], "(1, 1, 1)", "(1, 1, 1)")])
    table = metric_table.build(raw_csv.parse(page), KNOWN.find(["a__b"]), "", [])
    rows = list(csv.reader(io.StringIO(table.csv_text())))
    assert rows == [["kernel", "grid", "block", "a__b"], ["f<1, 2>", "1", "1", "3"]]


def test_csv_of_builds_has_the_rows_of_a_launch_one_below_the_other() -> None:
    def table(rows: list[tuple[str, str, float | None]]) -> MetricTable:
        asked = KNOWN.find(["branch"])
        return MetricTable(
            asked, [Row(name, grid, "32", [count]) for name, grid, count in rows], ""
        )

    text = metric_table.csv_of_builds(
        {
            "optimised": table(
                [("a", "1", 1.0), ("b", "1", 2.0), ("a", "2", 3.0), ("c", "1", None)]
            ),
            "debug": table([("a", "1", 4.0), ("b", "9", 5.0), ("b", "8", 6.0), ("a", "2", 7.0)]),
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


def test_csv_of_one_build_names_it() -> None:
    text = metric_table.csv_of_builds({"optimised": reductions()})
    assert text.splitlines()[:2] == [
        "kernel,build,grid,block,divergent_branch,branch_efficiency,gld_transactions,"
        "dram_read_throughput,duration",
        "reduceNeighbored,optimised,8192,512,778240,68.75,4186112,412.5,1250",
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


def test_text() -> None:
    text = reductions().text(100)
    assert text.startswith(TEXT)
    assert text.endswith("\n\nwhere\na note\n")


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_wide_tables_are_cut_into_groups_that_fit(width: int) -> None:
    text = reductions().text(width)
    table = text.split("divergent_branch  ")[0]  # above the legend
    assert max(map(len, table.splitlines())) <= width
    parts = table.count("\nreduceNeighbored ")
    assert parts == {60: 3, 80: 2, 100: 1, 200: 1}[width]
    for value in ("778,240", "68.75", "4,186,112", "412.50", "1,250"):
        assert table.count(value) >= 1


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("abcdefg_hijkl", ["abcdefg_hijkl"]),
        ("abcdefg_hijklm", ["abcdefg_", "hijklm"]),
        ("aVeryLongWordOfItsOwn", ["aVeryLongWordOfItsOwn"]),
        ("aVeryLongWordOfItsOwn_b", ["aVeryLongWordOfItsOwn_", "b"]),
        ("a__b_c", ["a__b_c"]),
        ("smsp__sass_x.sum", ["smsp__sass_", "x.sum"]),
    ],
)
def test_long_names_are_broken_behind_underscores(name: str, lines: list[str]) -> None:
    assert metric_table._broken(name) == lines


def test_narrowest_terminal_still_shows_everything() -> None:
    text = reductions().text(10)
    assert text.count("\nreduceNeighbored ") == len(ASKED)


def test_table_that_just_fits_is_not_cut() -> None:
    width = max(map(len, TEXT.partition("\n\n")[0].splitlines()))
    assert reductions().text(width).startswith(TEXT)
    assert reductions().text(width - 1).count("\nreduceNeighbored ") == 2


def test_metric_without_a_meaning_is_not_explained() -> None:
    lines = of({"a__x": "%"}, [["1"]], ["a__x"]).text(100).splitlines()
    assert [line for line in lines if line] == [
        "                     a__x",
        "kernel  grid  block   [%]",
        "k       4     32        1",
        "where",
    ]


def test_number_format_is_one_for_a_column() -> None:
    units = {"a__x": "", "a__y": "%"}
    text = of(units, [["1", "50"], ["2.5", "0.004"], ["1,000", "0"]], ["a__x", "a__y"]).text(100)
    cells = [line.split()[3:] for line in text.splitlines() if line.startswith("k ")]
    assert cells == [["1.00", "50.00"], ["2.50", "0.004"], ["1,000.00", "0.00"]]


def test_missing_metric_is_named() -> None:
    table = of({"gpu__time_duration.sum": "ns"}, [["n/a"]], ["duration", "branch"])
    assert table.notes == ["without a value here: duration, branch"]
    assert table.rows[0].values == [None, None]
    assert table.csv_text().splitlines()[1] == "k,4,32,,"


def test_metric_that_nobody_has_keeps_its_column() -> None:
    table = of({"lts__t.sum": "sector"}, [["1"]], ["x__y", "lts__t.sum"])
    assert table.csv_text() == "kernel,grid,block,x__y,lts__t.sum\nk,4,32,,1\n"
    assert table.notes == ["without a value here: x__y"]


def test_nsight_name_without_its_last_part_gives_all_columns_of_it() -> None:
    units = {"lts__t.avg": "sector", "lts__t.sum": "sector", "lts__tx.sum": "sector"}
    table = of(units, [["1", "2", "3"]], ["lts__t"])
    assert [metric.name for metric in table.metrics] == ["lts__t.avg", "lts__t.sum"]
    assert table.rows[0].values == [1, 2]
    assert table.notes == []
    table = of({"lts__t": "sector", **units}, [["7", "1", "2", "3"]], ["lts__t"])
    assert [metric.name for metric in table.metrics] == ["lts__t"]
    assert table.rows[0].values == [7]


def test_metric_of_which_one_column_has_a_value_is_not_missing() -> None:
    units = {"lts__t.avg": "sector", "lts__t.sum": "sector"}
    assert of(units, [["n/a", "2"]], ["lts__t"]).notes == []
    assert of(units, [["n/a", "n/a"], ["n/a", "2"]], ["lts__t"]).notes == []  # of one launch
    assert of(units, [["n/a", "n/a"]], ["lts__t"]).notes == ["without a value here: lts__t"]


def test_metric_of_nsight_keeps_its_unit() -> None:
    table = of({"dram__bytes.sum": "Mbyte"}, [["1.5"]], ["dram__bytes.sum"])
    assert table.rows[0].values == [1.5]
    assert "[Mbyte]" in table.text(100)


def test_text_values_are_shown_as_they_are() -> None:
    table = of({"launch__cache": ""}, [["CachePreferNone"]], ["launch__cache"])
    assert "CachePreferNone" in table.text(100)
    assert table.csv_text().endswith("CachePreferNone\n")


def test_long_kernel_names_are_cut_in_the_text_alone() -> None:
    name = "library::Kernel<" + "Policy, " * 20 + "int>"
    page = raw_page({"a__b": ""}, [launch(0, name + "(int)", ["3"], "(1, 1, 1)", "(1, 1, 1)")])
    table = metric_table.build(raw_csv.parse(page), KNOWN.find(["a__b"]), "", [])
    assert table.text(100).splitlines()[1].split("  ")[0] == f"{name[:45]}..."
    assert name in table.csv_text()
    assert metric_table._cut("k" * 48) == "k" * 48
    assert metric_table._cut("k" * 49) == "k" * 45 + "..."


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1564672.0, 0.0], ["1,564,672", "0"]),
        ([1234.5, 3.0], ["1,234.50", "3.00"]),
        ([0.1, 0.0999, 0.0123, -0.05], ["0.10", "0.1", "0.012", "-0.05"]),
        ([None, "CachePreferNone", 0.5], ["n/a", "CachePreferNone", "0.50"]),
    ],
)
def test_a_column_has_one_form(values: list, shown: list[str]) -> None:
    assert metric_table._shown(values) == shown
