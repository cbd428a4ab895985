"""Where something was measured, and the folder that is named after it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.machine import facts
from lab_cli.machine.backend import Toolkit
from lab_cli.machine.gpu import Driver, Gpu


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "rtx4090-laptop"),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", "rtx4070-ti-super"),
        ("Tesla T4", "t4"),
        ("Quadro RTX 4000", "rtx4000"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100-sxm4-40gb-mig-1g-5gb"),
        ("../../etc", "etc"),
        ("NVIDIA", "gpu"),
    ],
)
def test_slug(name: str, slug: str) -> None:
    assert facts.slug(name) == slug


def test_driver_version_from_nvidia_smi_else_from_proc(fake_tool, monkeypatch, tmp_path) -> None:
    proc = tmp_path / "version"
    monkeypatch.setattr(facts, "DRIVER_VERSION", proc)
    assert facts.driver_version() == "unknown"
    proc.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue\nGCC 12.2.0\n")
    assert facts.driver_version() == "550.54.15"
    fake_tool("nvidia-smi", "echo")  # says nothing
    assert facts.driver_version() == "550.54.15"
    log = tmp_path / "log"
    fake_tool("nvidia-smi", f'echo "$*" > {log}; echo 580.159.04; echo 580.159.04')
    assert facts.driver_version() == "580.159.04"
    assert log.read_text() == "--query-gpu=driver_version --format=csv,noheader\n"


def test_memory_is_that_of_the_smallest_gpu(fake_tool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert facts.memory_gib() is None
    fake_tool("nvidia-smi", f'echo "$*" > {log}; echo 81920; echo 8192')
    assert facts.memory_gib() == 8
    assert log.read_text() == "--query-gpu=memory.total --format=csv,noheader,nounits\n"
    fake_tool("nvidia-smi", "echo '[N/A]'")
    assert facts.memory_gib() is None


def test_host_cpu(tmp_path: Path, monkeypatch) -> None:
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(facts, "CPU_INFO", info)
    info.write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz \nprocessor\t: 1\n")
    assert facts.host_cpu() == "Some CPU @ 2 GHz"
    info.write_text("processor : 0\n")
    assert facts.host_cpu() == facts.platform.machine()
    info.unlink()
    assert facts.host_cpu() == facts.platform.machine()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch) -> Path:
    """A checkout with one commit."""
    root = tmp_path / "checkout"
    results = root / "ch" / "x" / "results" / "h200"
    results.mkdir(parents=True)
    (root / "a.cu").write_text("1\n")
    (results / "table.csv").write_text("1\n")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "m"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    monkeypatch.setattr(facts, "ROOT", root)
    return root


def test_commit_is_dirty_where_sources_differ(checkout: Path) -> None:
    head = facts.commit()
    assert re.fullmatch("[0-9a-f]{7,12}", head)
    (checkout / "ch/x/results/h200/table.csv").write_text("2\n")
    (checkout / "README.md").write_text("new\n")
    assert facts.commit() == head
    (checkout / "a.cu").write_text("2\n")
    assert facts.commit() == head + "-dirty"
    (checkout / "a.cu").write_text("1\n")
    (checkout / "new.cu").write_text("1\n")
    assert facts.commit() == head + "-dirty"


def test_commit_of_another_users_checkout(checkout: Path, monkeypatch) -> None:
    head = facts.commit()
    for folder in (checkout, checkout / ".git"):
        try:
            os.chown(folder, 65533, 65533)
        except PermissionError:
            pytest.skip("takes root")
    monkeypatch.setenv("HOME", "/none")  # where git would be told whom to trust
    assert facts.commit() == head


def test_commit_without_git(tmp_path: Path, monkeypatch, fake_tool) -> None:
    monkeypatch.delenv("LAB_COMMIT", raising=False)
    assert facts.commit() == "unknown"
    monkeypatch.setenv("LAB_COMMIT", "abc1234")
    assert facts.commit() == "abc1234"


def test_facts_of_a_gpu(fake_tool, monkeypatch) -> None:
    monkeypatch.setattr(facts, "ask_driver", lambda: Driver((13, 0), [Gpu("NVIDIA H200", 90)]))
    monkeypatch.setattr(facts, "find_nvcc", lambda: "nvcc")
    monkeypatch.setattr(facts, "ask_nvcc", lambda nvcc: Toolkit(nvcc, (13, 0), [90]))
    monkeypatch.setattr(facts, "commit", lambda: "abc1234")
    fake_tool("nvidia-smi", "echo 580.159.04")
    slug, known = facts.measured_on("gpu")
    assert slug == "h200"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", known.pop("date"))
    assert list(known.items()) == [
        ("gpu", "NVIDIA H200"),
        ("driver", "580.159.04"),
        ("toolkit", "CUDA 13.0"),
        ("commit", "abc1234"),
    ]
    monkeypatch.setattr(facts, "ask_nvcc", lambda nvcc: None)
    assert facts.measured_on("gpu")[1]["toolkit"] == "unknown"
    monkeypatch.setattr(facts, "find_nvcc", lambda: None)
    assert facts.measured_on("gpu")[1]["toolkit"] == "unknown"


def test_facts_of_the_emulation_name_no_gpu(fake_tool, monkeypatch) -> None:
    monkeypatch.setattr(facts, "host_cpu", lambda: "Some CPU")
    fake_tool("clang-format", "")  # no compiler
    assert facts.measured_on("cpu")[1]["toolkit"] == "unknown"
    fake_tool("c++", '[ "$*" = --version ] && echo "c++ 12.2.0" && echo more')
    slug, known = facts.measured_on("cpu")
    assert slug == "cpu"
    assert known["gpu"] == "none, CPU emulation on Some CPU"
    assert known["driver"] == "none"
    assert known["toolkit"] == "c++ 12.2.0"
    monkeypatch.setenv("CXX", "other")
    fake_tool("other", "echo other 1")
    assert facts.measured_on("cpu")[1]["toolkit"] == "other 1"
    fake_tool("other", "exit 1")
    assert facts.measured_on("cpu")[1]["toolkit"] == "unknown"


def test_without_a_gpu_there_is_nothing_to_measure_on(monkeypatch) -> None:
    monkeypatch.setattr(facts, "ask_driver", lambda: Driver(problem="no NVIDIA driver"))
    with pytest.raises(LabError, match="nothing to measure on: no NVIDIA driver; --backend cpu"):
        facts.measured_on("gpu")
