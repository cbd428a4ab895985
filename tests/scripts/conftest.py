"""Fixtures of the tests of ./lab: a PATH of fake tools."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Callable

import pytest

FakeTool = Callable[[str, str], Path]


@pytest.fixture
def fake_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTool:
    """fake_tool(name, script): PATH has nothing but the tools made this way."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("CUDACXX", "CUDA_HOME", "CUDA_PATH", "CXX"):
        monkeypatch.delenv(name, raising=False)

    def make(name: str, script: str) -> Path:
        tool = folder / name
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        assert shutil.which(name) == str(tool)
        return tool

    return make
