"""A checkout whose built exercises are scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from exercise_sample import FACTS
from lab_cli.building import presets
from lab_cli.machine import setup
from lab_fixtures import shell_program


@pytest.fixture
def faked(exercises, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """main() with three exercises, no set-up, and a build that finds its programs in the folder that this
    returns: they print their names and options."""
    monkeypatch.setattr(setup, "ensure", lambda backend, modules=(), tests=False: "cmake")
    monkeypatch.setattr(presets, "build", lambda cmake, preset, *targets: tmp_path / "build")
    for place, facts in {
        "ch03_execution_model/reduceInteger": FACTS,
        "ch04_memory/transpose": FACTS,
        "ch09_tensor/wgmma": "gpu_only = true\n" + FACTS,
    }.items():
        exercises(place, facts)
        shell_program(tmp_path / "build" / place, 'echo "$(basename $0) $*"\nexit ${STATUS:-0}')
    return tmp_path / "build"
