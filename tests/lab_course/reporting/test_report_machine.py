"""The machine, as a report names it."""

from __future__ import annotations

import pytest
from lab_cli.machine import facts
from lab_cli.machine.gpu import NO_GPU, Driver, Gpu
from lab_course.reporting import machine

TOOLS = ["CPU", "C++ compiler", "CMake", "Python", "system", "commit"]


def test_of_the_cpu_back_end() -> None:
    found = machine.of("cpu")
    assert list(found) == ["back end", "GPU", *TOOLS]
    assert found["GPU"].startswith("none, CPU emulation on ")
    assert all(found.values())


@pytest.mark.parametrize(
    ("driver", "gpu"),
    [
        (Driver((13, 0), [Gpu("NVIDIA H200", 90), Gpu("T4", 75)]), "NVIDIA H200 (sm_90)"),
        (Driver(problem=NO_GPU), "none: "),
    ],
)
def test_of_the_gpu_back_end(driver: Driver, gpu: str, monkeypatch) -> None:
    for module in (facts, machine):
        monkeypatch.setattr(module, "ask_driver", lambda: driver)
    found = machine.of("gpu")
    assert list(found) == ["back end", "GPU", "NVIDIA driver", "CUDA toolkit", *TOOLS]
    assert found["GPU"].startswith(gpu)
