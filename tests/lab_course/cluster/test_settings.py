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


def test_the_command_line_counts_for_more_than_ones_own_file_and_the_checkouts(
    checkout, tmp_path, monkeypatch
) -> None:
    assert loaded() == settings.Settings()
    (checkout / "cluster.toml").write_text(
        'partition = "gpu"\ngres = "gpu:1"\naccount = "course"\ntime = "10"\nmodules = ["gcc", "cuda/13.0"]\n'
    )
    modules = ["gcc", "cuda/13.0"]
    (tmp_path / "own" / "cluster.toml").write_text('account = "anna"\n')
    assert loaded() == settings.Settings("gpu", "gpu:1", "course", "10", modules)
    monkeypatch.setenv("LAB_BUILD_DIR", str(tmp_path / "own"))
    found = loaded("--partition=short", "--time", "1-0")
    assert found == settings.Settings("short", "gpu:1", "anna", "1-0", modules)


def test_every_problem_is_named(checkout) -> None:
    (checkout / "cluster.toml").write_text(
        'partitoin = "gpu"\ngres = 1\ntime = "a\\nb"\naccount = ""\nmodules = "cuda"\n'
    )
    with pytest.raises(LabError) as problem:
        loaded()
    lines = str(problem.value).splitlines()
    named = (
        "unknown key partitoin",
        "gres = 1",
        "account = ''",
        "time = 'a\\nb'",
        "modules = 'cuda'",
    )
    for line, words in zip(lines, named):
        assert line.startswith(f"{checkout / 'cluster.toml'}: {words}")
    assert len(lines) == len(named)
