"""The tests of pages have the fixtures of those of lab_cli, and a compiler for the code on the pages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from compile_quickly import Compiler
from lab_cli.paths import OUT
from lab_fixtures import (  # noqa: F401
    exercises,
    fake_tool,
    late,
    own_work,
    pytest_runtest_setup,
)


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder of the build, which ctest names in CPU_BUILD; without ctest that of ./lab."""
    folder = Path(os.environ.get("CPU_BUILD", OUT / "cpu")).absolute()
    if not (folder / "common" / "liblab_common.a").exists():
        pytest.skip(f"{folder} has no libraries: ./lab test builds them")
    return folder


@pytest.fixture(scope="session")
def compiler(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    return Compiler(build, tmp_path_factory.mktemp("compiler"))
