"""No test outside of tests/pages can read a page: conftest.py sees to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lab_cli import catalogue
from lab_cli.paths import ROOT


@pytest.mark.parametrize("page", [ROOT / "README.md", catalogue.exercises()[0].page])
def test_a_page_of_the_checkout_cannot_be_read(page: Path, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    for name in (page, os.path.relpath(page), os.fsencode(page)):
        with pytest.raises(AssertionError, match="tests/pages"), open(name):
            pass


def test_other_files_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("a page of a copy\n")
    for path in (tmp_path / "README.md", ROOT / "pyproject.toml"):
        assert path.read_text()
