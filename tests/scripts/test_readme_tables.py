"""The READMEs' tables are those of the CSV files under results/."""

from __future__ import annotations

from pathlib import Path

import pytest
import readme_tables
from lab_cli.errors import LabError

CSV = """# gpu: some GPU
kernel,parameters,median_ms,grid
first,size=1 block=2,0.0123456,7
second,size=2 block=2,123.45678,8
third,size=2 block=2,12.3456,9
"""


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    path = tmp_path / "x.csv"
    path.write_text(CSV)
    return path


def test_renders_the_wanted_rows_and_columns(csv_file: Path) -> None:
    assert readme_tables.render(csv_file, ["kernel", "median_ms", "grid"], ["size=2"]) == (
        "| kernel | time [ms] | grid |\n"
        "| --- | ---: | ---: |\n"
        "| second | 123.5 | 8 |\n"
        "| third | 12.35 | 9 |\n"
    )


def test_formats_by_column() -> None:
    assert readme_tables.shown("0.0123456", "median_ms") == "0.01235"
    assert readme_tables.shown("1", "speedup") == "1.00"
    assert readme_tables.shown("51229.4", "gflops") == "51,229"
    assert readme_tables.shown("", "speedup") == ""
    assert readme_tables.shown("2.50", "kernel") == "2.50"
    assert readme_tables.shown("11010048", "inst_executed") == "11,010,048"
    assert readme_tables.shown("12345.67", "duration") == "12,345.7"
    assert readme_tables.shown("0.00319989", "split_percent") == "0.0032"


def test_counts_of_each_build_have_separators(tmp_path: Path) -> None:
    path = tmp_path / "x.metrics.csv"
    path.write_text("kernel,build,branch\nk,optimised,0\nk,debug,2621440\nother,debug,\n")
    assert readme_tables.render(path, ["kernel", "build", "branch"], []) == (
        "| kernel | build | branch |\n"
        "| --- | --- | ---: |\n"
        "| k | optimised | 0 |\n"
        "| k | debug | 2,621,440 |\n"
        "| other | debug |  |\n"
    )


def test_names_what_is_not_there(csv_file: Path) -> None:
    with pytest.raises(LabError, match="no row with parameters size=3"):
        readme_tables.render(csv_file, ["kernel"], ["size=3"])
    with pytest.raises(LabError, match="no column watts"):
        readme_tables.render(csv_file, ["watts"], [])


def test_replaces_what_stands_between_the_marks(
    csv_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readme_tables, "ROOT", csv_file.parent)
    text = "a\n<!-- table x.csv | kernel | size=1 -->\n| old |\n<!-- end of table -->\nb\n"
    new = readme_tables.with_tables(text)
    assert new == (
        "a\n<!-- table x.csv | kernel | size=1 -->\n\n| kernel |\n| --- |\n| first |\n\n"
        "<!-- end of table -->\nb\n"
    )
    assert readme_tables.with_tables(new) == new


def test_the_readmes_are_up_to_date() -> None:
    readmes = [readme_tables.ROOT / "README.md", *readme_tables.ROOT.glob("*/README.md")]
    tables = 0
    for readme in readmes:
        text = readme.read_text()
        assert readme_tables.with_tables(text) == text, f"{readme}: run scripts/readme_tables.py"
        tables += len(readme_tables.BLOCK.findall(text))
    assert tables >= 6, "the marks of the tables are no longer found"
