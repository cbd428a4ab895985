"""The pages' tables are those of the CSV files, and their lists those of the exercises."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from exercise_sample import FACTS
from lab_cli.errors import LabError
from lab_cli.exercise_facts import Column
from lab_cli.paths import ROOT
from lab_cli.results import tables
from lab_cli.results.tables import cell, columns_of, render
from lab_fixtures import shipped

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


def test_renders_the_wanted_columns(csv_file: Path) -> None:
    assert render(csv_file, ["kernel", "median_ms", "grid"], ["size=2"], columns_of(csv_file)) == (
        "| kernel | time [ms] | grid |\n"
        "| --- | ---: | ---: |\n"
        "| second | 123.5 | 8 |\n"
        "| third | 12.35 | 9 |\n"
    )


@pytest.mark.parametrize(
    ("words", "kernels"),
    [
        ([], ["first", "second", "third"]),
        (["block=2", "size=1"], ["first"]),
        (["size=2", "kernel=first,third"], ["third"]),
    ],
)
def test_rows_have_all_words(csv_file: Path, words: list[str], kernels: list[str]) -> None:
    lines = render(csv_file, ["kernel"], words, {}).splitlines()
    assert lines == ["| kernel |", "| ---: |", *(f"| {kernel} |" for kernel in kernels)]


def test_rows_of_a_second_file_stand_beside_those_of_the_first(tmp_path: Path) -> None:
    times, counts = tmp_path / "x.csv", tmp_path / "x.metrics.csv"
    times.write_text(
        "kernel,parameters,grid,block,ms\nfast,n=1,7,32,5\nk,n=2,1,32,6\nk,n=2,2,64,7\n"
    )
    counts.write_text("kernel,grid,block,branch\nk<int>,1,32,1000\nk<int>,2,64,2000\n")
    assert render(times, ["kernel", "ms", "branch"], ["n=2"], columns_of(times), [counts]) == (
        "| kernel | ms | branch |\n| --- | ---: | ---: |\n| k | 6 | 1,000 |\n| k | 7 | 2,000 |\n"
    )
    for words in ([], ["n=1"]):
        with pytest.raises(LabError, match="x.metrics.csv: other launches than in the file to its"):
            render(times, ["kernel"], words, {}, [counts])


def test_formats_by_column() -> None:
    divergence = shipped("controlDivergence").results / "h200" / "table.csv"

    def shown(value: str, column: str, file: Path = ROOT / "a" / "b" / "x.csv") -> str:
        return cell(value, columns_of(file).get(column, Column()))

    assert shown("0.0123456", "median_ms") == "0.01235"
    assert shown("", "speedup") == ""
    assert shown("2.50", "kernel") == "2.50"
    assert shown("98.765", "percent_peak") == "98.8"
    assert shown("11010048", "inst_executed") == "11,010,048"
    assert shown("0.00319989", "split_percent", divergence) == "0.0032"
    assert shown("0.00319989", "split_percent") == "0.00319989"
    assert shown("12.5 (ncu: 25.0)", "percent_peak") == "12.5 (ncu: 25.0)"


def test_columns_are_those_of_the_exercise_that_has_the_file(exercises, tmp_path: Path) -> None:
    exercises(
        "ch/first",
        FACTS
        + "[columns]\nsplit = { title = 'split [%]', format = '.1f' }\nwhy = { text = true }\n"
        "gbps = { format = '.3f' }\n",
    )
    own = "| 2.2 | 7 | 1.000 | 007 |"
    others = "| 2.25 | 7 | 1 | 007 |"
    for name, expected in (
        ("ch/first/results/x1/4M.metrics.csv", own),
        ("ch/first.csv", others),
        ("ch/firsts/results/x1/table.csv", others),
        ("first/results/x1/table.csv", others),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("kernel,split,why,gbps,what_else\nk,2.25,7,1,007\n")
        table = render(path, ["split", "why", "gbps", "what_else"], [], columns_of(path))
        assert table.splitlines()[-1] == expected
        assert ("split [%]" in table) == (expected == own)


def test_names_what_is_not_there(csv_file: Path) -> None:
    for names, words, message in (
        (["kernel"], ["size=1", "block=3"], "no row with size=1 block=3"),
        (["watts", "kernel", "volts"], [], "no column watts, volts; it has kernel, parameters, "),
    ):
        with pytest.raises(LabError, match=f"^{csv_file}: {message}"):
            render(csv_file, names, words, {})


def test_replaces_what_stands_between_the_marks(csv_file: Path) -> None:
    text = "a\n<!-- table x.csv | kernel | size=1 -->\n| old |\n<!-- end of table -->\nb\n"
    new = tables.with_tables(text, csv_file.parent)
    assert new == (
        "a\n<!-- table x.csv | kernel | size=1 -->\n\n| kernel |\n| --- |\n| first |\n\n"
        "<!-- end of table -->\nb\n"
    )
    assert tables.with_tables(new, csv_file.parent) == new


def test_rules_of_the_diagnosis_of_all_kinds_with_links_from_the_page() -> None:
    """The page of ch05_performance shows some of them."""
    mark = "<!-- table scripts/diagnosis.toml | symptom, exercises -->\n"
    table = tables.with_tables(f"{mark}<!-- end of table -->\n").splitlines()
    kinds = ("uncoalesced loads |", "busy: device memory |", "warps wait for their last stores |")
    lines = [next(line for line in table if line.startswith(f"| {kind}")) for kind in kinds]
    assert sorted(lines, key=table.index) == lines
    assert lines[2].endswith("| [transpose](ch04_memory/transpose/README.md) |")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("symptom, cure", "no cure; it has symptom, metrics, remedy, exercises"),
        ("symptom | rule wait", "no wait; it has rule, limit, stall"),
    ],
)
def test_parts_that_the_diagnosis_does_not_have(parts: str, message: str) -> None:
    with pytest.raises(LabError, match=message):
        tables.with_tables(
            f"<!-- table scripts/diagnosis.toml | {parts} -->\n<!-- end of table -->"
        )


COPIES = ("out/copy.md", "build/deep/copy.md", ".venv/lib/copy.md")  # in what lab makes
STALE = "<!-- table x.csv | kernel | size=1 -->\n| old |\n<!-- end of table -->\n"


@pytest.fixture
def checkout(csv_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a stale table in each page, and in a file that is not the project's."""
    root = csv_file.parent
    monkeypatch.setattr(tables, "ROOT", root)
    pages = ("README.md", "ch/name.md", "ch/deep/er.md", "new.md", "mine/notes.md", "mine/x.txt")
    for name in (*pages, *COPIES):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        mark = "../" * name.count("/") + "x.csv"
        (root / name).write_text(STALE.replace("x.csv", mark))
    (root / "no_table.md").write_text("words\n")
    (root / ".gitignore").write_text("/out/\n/build/\n/.venv/\n/mine/\n")
    return root


def changed(root: Path) -> list[str]:
    return [str(page.relative_to(root)) for page in tables.refresh()]


def test_all_pages_of_a_git_checkout_are_refreshed(checkout: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=checkout, check=True)
    (checkout / "gone.md").touch()
    subprocess.run(["git", "add", "README.md", "ch", "gone.md"], cwd=checkout, check=True)
    (checkout / "gone.md").unlink()
    assert changed(checkout) == ["README.md", "ch/deep/er.md", "ch/name.md", "new.md"]
    assert "| first |" in (checkout / "ch" / "name.md").read_text()
    assert "| old |" in (checkout / "out" / "copy.md").read_text()
    assert changed(checkout) == []


def test_all_pages_of_a_copy_without_git_are_refreshed(checkout: Path, fake_tool) -> None:
    pages = ["README.md", "ch/deep/er.md", "ch/name.md", "mine/notes.md", "new.md"]
    assert changed(checkout) == pages
    for name in (*COPIES, "mine/x.txt"):
        assert "| old |" in (checkout / name).read_text()


def test_page_with_a_wrong_table_is_named(checkout: Path, fake_tool) -> None:
    (checkout / "ch" / "name.md").write_text(
        STALE.replace("kernel", "kernels").replace("x.csv", "../x.csv")
    )
    message = rf"^{checkout}/ch/name\.md: {checkout}/x\.csv: no column kernels"
    with pytest.raises(LabError, match=message):
        tables.refresh()
