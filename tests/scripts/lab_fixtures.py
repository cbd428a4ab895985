"""Fixtures of the tests of ./lab: a PATH of fake tools, and a checkout with a few exercises."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Callable

import pytest
from exercise_sample import FACTS
from lab_cli import catalogue, time_limit, work
from lab_cli.machine import cuda_wheels
from lab_cli.results import marks

FakeTool = Callable[[str, str], Path]
Exercises = Callable[..., Path]


def shell_program(path: Path, script: str) -> Path:
    """Makes the file a program that the shell runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def shipped(name: str) -> catalogue.Exercise:
    """An exercise of the project. Skips the test, or the module that calls this when it is loaded, where
    somebody has removed the exercise."""
    if name not in catalogue.sources():
        pytest.skip(f"the exercise {name} has been removed", allow_module_level=True)
    return catalogue.one(name)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("draws"):
        pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def own_work(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for copies of exercises, which is not there yet: whoever runs the tests has work of their own."""
    path = tmp_path_factory.mktemp("own") / "work"
    monkeypatch.setattr(work, "WORK", path)
    monkeypatch.setattr(work, "_shipped", False)
    monkeypatch.setattr(marks, "FILE", path / "progress.json")
    monkeypatch.setenv("LAB_WORK_DIR", str(path))  # of a lab that a test starts
    return path


@pytest.fixture
def fake_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTool:
    """fake_tool(name, script): PATH has nothing but the tools made this way, and .venv no nvcc."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("CUDACXX", "CUDA_HOME", "CUDA_PATH", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cuda_wheels, "FOLDER", tmp_path / "cuda")
    monkeypatch.setattr(cuda_wheels, "SHARED_FOLDER", None)
    monkeypatch.setattr(cuda_wheels, "FAILURE", tmp_path / "failure.txt")

    def make(name: str, script: str) -> Path:
        tool = shell_program(folder / name, script)
        assert shutil.which(name) == str(tool)
        return tool

    return make


@pytest.fixture
def late(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """The last commands of a script that is late, whatever --timeout is: the time passes when it comes to
    them. On a busy machine no time is enough for a program to have begun, and to have printed something."""
    too_late = tmp_path_factory.mktemp("late") / "now"

    class Timer(threading.Timer):
        def run(self) -> None:
            while not self.finished.wait(0.01):
                if too_late.exists():
                    too_late.unlink()  # others are in time
                    self.function()
                    return

    monkeypatch.setattr(time_limit, "Timer", Timer)
    return f": > '{too_late}'; exec sleep 1000"


@pytest.fixture
def exercises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exercises:
    """exercises("chapter/name", facts): the checkout in `tmp_path` gets the folder of an exercise. From the
    beginning, it has no exercise of the project."""
    monkeypatch.setattr(catalogue, "ROOT", tmp_path)

    def make(place: str, facts: str = FACTS) -> Path:
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder.parent / "CMakeLists.txt").touch()
        source = folder / f"{folder.name}.cu"
        source.write_text(f'lab::Exercise e("{source.stem}", "About {source.stem}.");')
        catalogue.facts_of(source).write_text(facts)
        return source

    return make
