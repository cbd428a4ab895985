"""cluster.toml, and the command line above it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli import main
from lab_cli.errors import LabError
from lab_course.cluster import settings


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr(settings, "ROOT", tmp_path / "checkout")
    monkeypatch.setattr(settings, "OUT", tmp_path / "own")
    monkeypatch.delenv("LAB_BUILD_DIR", raising=False)
    for name in ("checkout", "own"):
        (tmp_path / name).mkdir()
    return tmp_path / "checkout"


def loaded(*words: str) -> settings.Settings:
    return settings.load(main.parsed(["run", "--slurm", *words]))


def test_nothing_is_asked_for_where_nobody_does(checkout) -> None:
    assert loaded() == settings.Settings()


def test_the_command_line_counts_for_more(checkout) -> None:
    (checkout / "cluster.toml").write_text(
        'partition = "gpu"\ngres = "gpu:1"\naccount = "course"\ntime = "10"\nmodules = ["gcc", "cuda/13.0"]\n'
    )
    found = loaded("--partition=short", "--time", "1-0")
    assert found == settings.Settings("short", "gpu:1", "course", "1-0", ["gcc", "cuda/13.0"])


def test_ones_own_file_counts_for_more_than_that_of_the_checkout(
    checkout, tmp_path, monkeypatch
) -> None:
    (checkout / "cluster.toml").write_text('partition = "gpu"\naccount = "course"\n')
    (tmp_path / "own" / "cluster.toml").write_text('account = "anna"\n')
    assert loaded() == settings.Settings("gpu", "", "course")
    monkeypatch.setenv("LAB_BUILD_DIR", str(tmp_path / "own"))
    assert loaded() == settings.Settings("gpu", "", "anna")


def test_every_problem_is_named(checkout) -> None:
    (checkout / "cluster.toml").write_text(
        'partitoin = "gpu"\ngres = 1\ntime = "a\\nb"\naccount = ""\nmodules = "cuda"\n'
    )
    with pytest.raises(LabError) as problem:
        loaded()
    path = checkout / "cluster.toml"
    assert str(problem.value).splitlines() == [
        f"{path}: unknown key partitoin; did you mean partition?",
        f"{path}: gres = 1: expected a text of one line",
        f"{path}: account = '': expected a text of one line",
        f"{path}: time = 'a\\nb': expected a text of one line",
        f"{path}: modules = 'cuda': expected a list of modules, such as [\"cuda/13.0\"]",
    ]


def test_a_file_that_is_no_toml(checkout) -> None:
    (checkout / "cluster.toml").write_text("partition = gpu\n")
    with pytest.raises(LabError, match="cluster.toml: Invalid value"):
        loaded()
