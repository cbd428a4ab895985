"""The choice of the back end, with an nvcc and a driver that are made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.machine import backend
from lab_cli.machine.backend import Toolkit, choose, default_architectures
from lab_cli.machine.gpu import NO_DRIVER, Driver, Gpu

H200 = Gpu("NVIDIA H200", 90)
HOPPER = Driver((13, 0), [H200])
NOBODY = Driver(problem=NO_DRIVER)
CUDA_12 = Toolkit("nvcc", (12, 2), [50, 60, 70, 75, 80, 86, 90])
CUDA_13 = Toolkit("nvcc", (13, 0), [75, 80, 86, 90, 100, 120])

NVCC = """
case "$1" in
    --version) echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;
    --list-gpu-arch) printf 'compute_75\\ncompute_80\\ncompute_90\\ncompute_120\\n' ;;
esac"""


def test_no_nvcc_means_cpu() -> None:
    choice = choose("auto", None, HOPPER)
    assert (choice.backend, choice.reason) == ("cpu", "no nvcc")


def test_nvcc_that_does_not_run_means_cpu(fake_tool) -> None:
    nvcc = fake_tool("nvcc", "exit 1")
    assert choose("auto", str(nvcc), HOPPER).backend == "cpu"


def test_nvcc_and_gpu_mean_gpu(fake_tool) -> None:
    nvcc = str(fake_tool("nvcc", NVCC))
    choice = choose("auto", nvcc, HOPPER)
    assert (choice.backend, choice.nvcc, choice.architectures) == ("gpu", nvcc, "native")
    assert choice.reason == "nvcc 13.0, NVIDIA H200"


def test_a_driver_runs_the_minor_versions_of_its_major_one(fake_tool) -> None:
    newer = NVCC.replace("13.0", "13.4")
    assert choose("auto", str(fake_tool("nvcc", newer)), HOPPER).backend == "gpu"


def test_no_driver_means_cpu(fake_tool) -> None:
    choice = choose("auto", str(fake_tool("nvcc", NVCC)), NOBODY)
    assert (choice.backend, choice.reason) == ("cpu", NO_DRIVER)


def test_gpu_on_request_builds_without_a_gpu(fake_tool) -> None:
    choice = choose("gpu", str(fake_tool("nvcc", NVCC)), NOBODY)
    assert (choice.backend, choice.architectures) == ("gpu", "75;80;90")
    assert "will not run here" in choice.reason


def test_gpu_on_request_needs_nvcc() -> None:
    with pytest.raises(LabError, match="CUDA toolkit"):
        choose("gpu", None, HOPPER)


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (Driver((12, 9), [H200]), "driver runs CUDA 12.9, which is older than nvcc's 13.0"),
        (Driver((13, 0), [Gpu("NVIDIA V100", 70)]), "V100 is sm_70, older than sm_75"),
        (Driver(problem="no GPU"), "no GPU"),
    ],
)
def test_gpu_that_cannot_run_our_programs_means_cpu(fake_tool, driver: Driver, reason: str) -> None:
    choice = choose("auto", str(fake_tool("nvcc", NVCC)), driver)
    assert choice.backend == "cpu"
    assert reason in choice.reason


@pytest.mark.parametrize(
    ("toolkit", "driver", "expected"),
    [
        (CUDA_12, HOPPER, "native"),
        (CUDA_12, NOBODY, "75;80;90"),
        (CUDA_13, NOBODY, "75;80;90"),
        (CUDA_12, Driver((13, 0), [Gpu("NVIDIA RTX 5090", 120)]), "75;80;90"),  # unknown to nvcc
        (CUDA_12, Driver((13, 0), [H200, Gpu("NVIDIA RTX 5090", 120)]), "75;80;90"),  # one of two
        (Toolkit("nvcc", (14, 0), [80, 90, 120]), NOBODY, "80;90"),
        (Toolkit("nvcc", (15, 0), [100, 120]), NOBODY, "120"),
    ],
)
def test_default_architectures(toolkit: Toolkit, driver: Driver, expected: str) -> None:
    assert default_architectures(toolkit, driver) == expected


@pytest.fixture
def asked(fake_tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts how often the driver is asked; it answers with an H200."""
    calls: list[str] = []

    def ask() -> Driver:
        calls.append("asked")
        return HOPPER

    fake_tool("nvcc", NVCC)
    monkeypatch.setattr(backend, "ask_driver", ask)
    monkeypatch.setattr(backend, "CACHE", tmp_path / "build" / "choice.json")
    monkeypatch.setattr(backend, "NVIDIA_PROC", tmp_path / "proc")
    return calls


def test_a_gpu_is_remembered(asked: list[str]) -> None:
    first = backend.auto_backend()
    assert backend.auto_backend() == first
    assert first.backend == "gpu"
    assert len(asked) == 1


def test_a_change_of_the_driver_is_noticed(asked: list[str], tmp_path: Path) -> None:
    backend.auto_backend()
    (tmp_path / "proc" / "gpus").mkdir(parents=True)
    (tmp_path / "proc" / "version").write_text("580.1")
    backend.auto_backend()
    assert len(asked) == 2


def test_hiding_the_gpus_is_noticed(asked: list[str], monkeypatch) -> None:
    backend.auto_backend()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    backend.auto_backend()
    assert len(asked) == 2


def test_a_broken_record_is_ignored(asked: list[str]) -> None:
    backend.CACHE.parent.mkdir()
    backend.CACHE.write_text('{"fingerprint": 1')
    assert backend.auto_backend().backend == "gpu"


def test_cmake_gets_json(fake_tool, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    nvcc = fake_tool("nvcc", NVCC)
    monkeypatch.setattr(backend, "ask_driver", lambda: HOPPER)
    assert backend.main("auto") == 0
    assert json.loads(capsys.readouterr().out) == {
        "backend": "gpu",
        "reason": "nvcc 13.0, NVIDIA H200",
        "nvcc": str(nvcc),
        "architectures": "native",
    }
