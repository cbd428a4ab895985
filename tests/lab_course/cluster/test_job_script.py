"""The script of a job: as it is written, and as bash runs it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from lab_course.cluster import script
from lab_course.cluster.folder import Folder
from lab_course.cluster.script import Work
from lab_course.cluster.settings import Settings


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAB_BUILD_DIR", raising=False)


def directives(work: Work, folder: Path) -> list[str]:
    lines = work.script(Folder(folder)).splitlines()
    return [line.partition(" ")[2] for line in lines if line.startswith("#SBATCH ")]


def test_what_one_command_asks_for() -> None:
    asked = Settings("gpu", "gpu:1", "course", "0:10:00")
    assert directives(Work(["run", "transpose"], asked), Path("/out/slurm/1")) == [
        "--job-name=lab-run",
        "--output=/out/slurm/1/output",
        "--error=/out/slurm/1/errors",
        "--partition=gpu",
        "--gres=gpu:1",
        "--account=course",
        "--time=0:10:00",
        "--no-requeue",
    ]


def test_what_an_array_asks_for() -> None:
    work = Work(["grade", "padTheTile", "in"], Settings(), ["anna", "bert's"])
    assert directives(work, Path("/o u%t/slurm/2")) == [
        "--job-name=lab-grade",
        "'--output=/o u%%t/slurm/2/%a.output'",
        "'--error=/o u%%t/slurm/2/%a.errors'",
        "--array=0-1",
        "--requeue",
    ]


def ended(work: Work, folder: Path, before: str = "", **variables: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of the script, where `before` has been said to bash."""
    folder.mkdir(exist_ok=True)
    text = work.script(Folder(folder))
    done = subprocess.run(
        ["bash"],
        cwd="/",
        input=f"{before}\n{text}",
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def lab(tmp_path, monkeypatch) -> Path:
    """It is to be run in the folder that lab was run in, and prints what it is given."""
    path = tmp_path / "l a b"
    path.write_text(
        f'#!/bin/sh\n[ "$PWD" = {tmp_path} ] && printf "<%s>" "$@" $LAB_BUILD_DIR\nexit $STATUS\n'
    )
    path.chmod(0o755)
    monkeypatch.setattr(script, "LAB", path)
    return path


@pytest.mark.parametrize("status", ["0", "3"])
def test_the_exit_status_is_noted(lab, tmp_path, status: str) -> None:
    work = Work(["run", "$HOME", "it's"], Settings())
    assert ended(work, tmp_path / "job", STATUS=status) == (int(status), "<run><$HOME><it's>", "")
    assert {path.name for path in (tmp_path / "job").iterdir()} == {"status"}
    assert Folder(tmp_path / "job").statuses([""]) == {"": int(status)}


def test_each_element_has_its_name_and_its_status(lab, tmp_path, monkeypatch) -> None:
    build = tmp_path / "o'u%t"
    monkeypatch.setenv("LAB_BUILD_DIR", "x")
    monkeypatch.setattr(script, "OUT", build)
    work = Work(["grade", "a"], Settings(), ["anna", "-b $(ls) 'x'", "carl"])
    _, out, _ = ended(work, tmp_path / "job", STATUS="5", SLURM_ARRAY_TASK_ID="1")
    assert out == f"<grade><a><--only=-b $(ls) 'x'><{build}>"
    assert Folder(tmp_path / "job").statuses(["0", "1", "2"]) == {"1": 5}


def test_a_status_of_before_is_removed(lab, tmp_path) -> None:
    """Of an element that Slurm has put back into the queue."""
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "status").write_text("143\n")
    lab.write_text(f"#!/bin/sh\n[ ! -e {tmp_path}/job/status ]\n")
    assert ended(Work(["run"], Settings()), tmp_path / "job")[0] == 0


def test_modules_are_loaded(lab, tmp_path) -> None:
    work = Work(["run"], Settings(modules=["cuda/13.0", "a b"]))
    said = 'module() { printf "[%s]" "$@"; }'
    assert ended(work, tmp_path / "job", said, STATUS="0")[1] == "[load][cuda/13.0][a b]<run>"
    failing = "module() { return 1; }"
    assert ended(work, tmp_path / "job", failing, STATUS="0")[:2] == (1, "")
    assert Folder(tmp_path / "job").statuses([""]) == {"": 1}


def test_where_there_are_no_modules(lab, tmp_path) -> None:
    work = Work(["run"], Settings(modules=["cuda"]))
    status, out, errors = ended(work, tmp_path / "job", STATUS="0")
    if "cluster.toml" not in errors:
        pytest.skip("this machine has modules")
    assert (status, out) == (1, "")
    assert "lab: cluster.toml names modules, and there is no command module on " in errors
    assert Folder(tmp_path / "job").statuses([""]) == {"": 1}


def test_where_the_current_folder_is_not_there(lab, tmp_path, monkeypatch) -> None:
    work = Work(["run"], Settings())
    monkeypatch.setattr(script.os, "getcwd", lambda: "/not/there")
    status, out, errors = ended(work, tmp_path / "job", STATUS="0")
    assert (status, out) == (1, "")
    assert "/not/there" in errors
