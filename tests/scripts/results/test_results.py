"""Results files: facts, then CSV."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.results.csv_file import parse, read_text, with_facts

PATH = Path("results/x.csv")


def test_facts_and_rows() -> None:
    text = with_facts({"gpu": "some: GPU", "date": "2026-01-02"}, 'a,b\n1,"2,3"\n4,\n')
    assert text.startswith("# gpu: some: GPU\n# date: 2026-01-02\na,b\n")
    results = parse(text, PATH)
    assert results.facts == {"gpu": "some: GPU", "date": "2026-01-02"}
    assert results.columns == ["a", "b"]
    assert results.rows == [{"a": "1", "b": "2,3"}, {"a": "4", "b": ""}]


def test_lines_that_are_neither() -> None:
    results = parse("# a remark\n#gpu :X: Y \n\na\n\n1\n# date: 1\n", PATH)
    assert results.facts == {"gpu": "X: Y", "date": "1"}
    assert results.rows == [{"a": "1"}]
    assert results.path == PATH


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "results/x.csv: no CSV"),
        ("# gpu: x\n", "results/x.csv: no CSV"),
        ("a,b\n", "results/x.csv: a header, but no rows"),
        ("a,b\n1,2\n3\n", "results/x.csv: the header has 2 columns, but this row has 1: 3"),
        ("a,b\n1,2,3\n", "this row has 3: 1,2,3"),
    ],
)
def test_what_is_no_table_is_named(text: str, message: str) -> None:
    with pytest.raises(LabError, match=message):
        parse(text, PATH)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"none\.csv: No such file"):
        read_text(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LabError, match=r"binary\.csv: not text"):
        read_text(tmp_path / "binary.csv")
