"""Result files: all or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lab_cli import files
from lab_cli.errors import LabError


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    files.write(path, "old\n")
    files.write(path, "new\n")
    assert path.read_text() == "new\n"
    assert os.listdir(tmp_path) == ["x.csv"]


def test_failure_leaves_the_old_text_and_nothing_else(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(LabError, match="x.csv: No space left on device"):
        files.write(path, "new\n")
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["x.csv"]


def test_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    files.write(link, "new\n")
    assert link.is_symlink()
    assert (tmp_path / "target").read_text() == "new\n"


def test_what_cannot_be_written_is_said_before(tmp_path: Path) -> None:
    files.check_writable(tmp_path / "x.csv")
    files.check_writable(Path("x.csv"))
    for path, reason in [
        (tmp_path, "not a file"),
        (Path("/dev/null"), "not a file"),
        (tmp_path / "no" / "x.csv", "there is no folder"),
    ]:
        with pytest.raises(LabError, match=reason) as raised:
            files.check_writable(path)
        assert raised.value.status == 2
