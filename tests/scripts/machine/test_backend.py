"""The choice of the back end, with an nvcc and a driver that are made up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.machine import backend
from lab_cli.machine.backend import Choice, Toolkit, choose, default_architectures
from lab_cli.machine.gpu import NO_DRIVER, Driver, Gpu
from lab_cli.paths import SCRIPTS

H200 = Gpu("NVIDIA H200", 90)
HOPPER = Driver((13, 0), [H200])
NOBODY = Driver(problem=NO_DRIVER)
CUDA_12 = Toolkit("nvcc", (12, 2), [50, 60, 70, 75, 80, 86, 90])

NVCC = """
case "$1" in
    --version) echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;
    --list-gpu-arch) printf 'compute_75\\ncompute_80\\ncompute_90\\ncompute_120\\n' ;;
esac"""


def test_nvcc_is_that_of_the_variable_else_of_path_else_of_the_usual_folders(
    fake_tool, tmp_path: Path, monkeypatch
) -> None:
    def tool(folder: str) -> str:
        nvcc = tmp_path / folder / "bin" / "nvcc"
        nvcc.parent.mkdir(parents=True)
        nvcc.write_text("#!/bin/sh\n")
        nvcc.chmod(0o755)
        return str(nvcc)

    path, home, other = tool("path"), tool("home"), tool("other")
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "path"))
    assert backend.find_nvcc() == path
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert backend.find_nvcc() == home
    on_path = str(fake_tool("nvcc", ""))
    assert backend.find_nvcc() == on_path
    monkeypatch.setenv("CUDACXX", other)
    assert backend.find_nvcc() == other
    monkeypatch.setenv("CUDACXX", "no-such-nvcc")  # and no other in its place
    assert backend.find_nvcc() is None


def test_usual_folders_of_nvcc(fake_tool, monkeypatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        backend.shutil, "which", lambda name, path=None: asked.append(f"{name} {path}")
    )
    assert backend.find_nvcc() is None
    assert asked == ["nvcc None", "nvcc /usr/local/cuda/bin:/opt/cuda/bin"]


def test_what_nvcc_says(fake_tool) -> None:
    nvcc = str(fake_tool("nvcc", NVCC))
    assert backend.ask_nvcc(nvcc) == Toolkit(nvcc, (13, 0), [75, 80, 90, 120])
    numbers = "compute_100\\ncompute_90\\ncompute_90\\ncompute_103f\\n"
    older = f"case $1 in --version) echo release 12.9, ;; *) printf '{numbers}' ;; esac"
    nvcc = str(fake_tool("nvcc", older))
    assert backend.ask_nvcc(nvcc) == Toolkit(nvcc, (12, 9), [90, 100, 103])


def test_a_driver_runs_the_minor_versions_of_its_major_one(fake_tool) -> None:
    newer = NVCC.replace("13.0", "13.4")
    assert choose("auto", str(fake_tool("nvcc", newer)), HOPPER).backend == "gpu"


def test_gpu_on_request_needs_nvcc(fake_tool) -> None:
    broken = str(fake_tool("nvcc", "exit 1"))
    for nvcc, problem in ((None, "no nvcc"), (broken, f"{broken} does not run")):
        assert choose("auto", nvcc, NOBODY) == Choice("cpu", problem)
        with pytest.raises(LabError, match=f"needs the CUDA toolkit: {problem}. Install it "):
            choose("gpu", nvcc, NOBODY)


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (
            Driver((12, 9), [H200]),
            "the NVIDIA driver runs CUDA 12.9, which is older than nvcc's 13.0",
        ),
        (Driver((13, 0), [Gpu("some GPU", 74), H200]), "some GPU is sm_74, older than sm_75"),
        (Driver(problem="no GPU"), "no GPU"),
        (NOBODY, NO_DRIVER),
    ],
)
def test_gpu_that_cannot_run_our_programs_means_cpu(fake_tool, driver: Driver, reason: str) -> None:
    nvcc = str(fake_tool("nvcc", NVCC))
    assert choose("auto", nvcc, driver) == Choice("cpu", reason)
    asked = choose("gpu", nvcc, driver)
    reason = f"nvcc 13.0, but its programs will not run here: {reason}"
    assert asked == Choice("gpu", reason, nvcc, "75;80;90")


@pytest.mark.parametrize(
    ("architectures", "architecture", "problem"),
    [
        ([50, 75], 75, ""),
        ([50, 75], 74, "x is sm_74, older than sm_75"),  # than what our programs ask for
        ([80, 90], 80, ""),
        ([80, 90], 79, "x is sm_79, older than sm_80"),  # than what nvcc compiles for
        ([], 74, "x is sm_74, older than sm_75"),
    ],
)
def test_gpu_that_is_too_old(architectures: list[int], architecture: int, problem: str) -> None:
    toolkit = Toolkit("nvcc", (13, 0), architectures)
    assert backend.age_problem(toolkit, Gpu("x", architecture)) == problem


@pytest.mark.parametrize(
    ("toolkit", "driver", "expected"),
    [
        (CUDA_12, HOPPER, "native"),
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


@pytest.mark.parametrize("what", ["nvcc", "time", "GPU", "GPUs that are hidden", "driver"])
def test_another_nvcc_or_gpu_is_noticed(
    asked: list[str], fake_tool, tmp_path: Path, monkeypatch, what: str
) -> None:
    nvcc = tmp_path / "bin" / "nvcc"
    driver = tmp_path / "proc" / "version"
    (tmp_path / "proc" / "gpus").mkdir(parents=True)
    driver.write_text("580.1")
    backend.auto_backend()
    if what == "nvcc":
        other = fake_tool("other-nvcc", NVCC)
        os.utime(other, ns=(0, nvcc.stat().st_mtime_ns))
        monkeypatch.setenv("CUDACXX", str(other))
    elif what == "GPU":
        (tmp_path / "proc" / "gpus" / "0000:01:00.0").touch()
    elif what == "time":
        os.utime(nvcc, ns=(0, 0))
    elif what == "driver":
        driver.write_text("580.2")
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    backend.auto_backend()
    assert len(asked) == 2
    backend.auto_backend()
    assert len(asked) == 2


def test_the_cpu_is_not_remembered(asked: list[str], monkeypatch) -> None:
    """A GPU may be there the next time."""
    monkeypatch.setattr(backend, "ask_driver", lambda: asked.append("asked") or NOBODY)
    assert backend.auto_backend() == backend.auto_backend() == Choice("cpu", NO_DRIVER)
    assert len(asked) == 2
    assert not backend.CACHE.exists()


@pytest.mark.parametrize(
    "record",
    [
        '{"fingerprint": 1',
        "[]",
        "{}",
        '{"fingerprint": FINGERPRINT}',
        '{"fingerprint": FINGERPRINT, "choice": {"backend": "cpu", "reason": "", "more": 1}}',
    ],
)
def test_a_broken_record_is_ignored(asked: list[str], tmp_path: Path, record: str) -> None:
    fingerprint = json.dumps(backend._fingerprint(str(tmp_path / "bin" / "nvcc")))
    backend.CACHE.parent.mkdir()
    backend.CACHE.write_text(record.replace("FINGERPRINT", fingerprint))
    assert backend.auto_backend().backend == "gpu"


def test_what_is_picked_is_said_where_nobody_asked_for_it(asked: list[str], capfd) -> None:
    assert backend.pick("auto") == "gpu"
    assert capfd.readouterr() == ("", "back end: gpu (nvcc 13.0, NVIDIA H200)\n")
    assert backend.pick("gpu") == "gpu"
    assert backend.pick("cpu") == "cpu"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("request_", "status"), [("auto", 0), ("gpu", 1)])
def test_cmake_asks_in_a_process_of_its_own(request_: str, status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lab_cli.machine.backend", request_],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS), "CUDACXX": "no-such-nvcc"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status
    reason = "no nvcc; CUDACXX=no-such-nvcc is not there"
    expected = f'{{"backend": "cpu", "reason": "{reason}", "nvcc": "", "architectures": ""}}\n'
    assert done.stdout == ("" if status else expected)
    assert bool(done.stderr) is bool(status)
