"""./lab doctor: one line per fact, and what to do."""

from __future__ import annotations

import pytest
from lab_cli import main, toml_file
from lab_cli.commands import doctor
from lab_cli.commands.doctor import ABSENT, OK, PROBLEM
from lab_cli.machine.backend import Toolkit
from lab_cli.machine.gpu import NO_DRIVER, Driver, Gpu
from lab_cli.machine.needs import TOOLS, Need

CUDA_13 = Toolkit("/cuda/bin/nvcc", (13, 0), [75, 80, 90])
H200 = Gpu("NVIDIA H200", 90)


@pytest.mark.parametrize(
    ("parameters", "admin", "state", "text"),
    [
        (None, False, ABSENT, "no NVIDIA driver"),
        ("EnableMSI: 1\nRmProfilingAdminOnly: 0\n", False, OK, "every user"),
        ("EnableMSI: 1\nRmProfilingAdminOnly: 1\n", True, OK, "you are one"),
        ("RmProfilingAdminOnly: 1\n", False, PROBLEM, "NVreg_RestrictProfilingToAdminUsers=0"),
    ],
)
def test_profiler_counters(parameters: str | None, admin: bool, state: str, text: str) -> None:
    line = doctor.counters_line(parameters, admin)
    assert line.state == state
    assert text in line.text


@pytest.mark.parametrize(
    ("capabilities", "admin"),
    [("000001ffffffffff", True), ("00000000a80425fb", False), ("0000000000200000", True)],
)
def test_admin_is_who_has_the_capability(capabilities: str, admin: bool) -> None:
    assert doctor.is_admin(f"Name:\tpython\nCapEff:\t{capabilities}\n") is admin


@pytest.mark.parametrize(
    ("driver", "state", "text"),
    [
        (Driver((13, 0), [H200]), OK, "runs CUDA up to 13.0"),
        (Driver((12, 8), [H200]), PROBLEM, "nvcc is 13.0: update the driver, or install CUDA 12"),
        (Driver(problem=NO_DRIVER), ABSENT, "not found"),
        (Driver(problem="the NVIDIA driver says: no device"), PROBLEM, "nvidia-smi"),
    ],
)
def test_driver_against_nvcc(driver: Driver, state: str, text: str) -> None:
    line = doctor.driver_line(CUDA_13, driver)
    assert line.state == state
    assert text in line.text


def test_gpus() -> None:
    lines = doctor.gpu_lines(CUDA_13, Driver((13, 0), [H200, Gpu("NVIDIA V100", 70)]))
    assert [line.state for line in lines] == [OK, PROBLEM]
    assert "NVIDIA H200 (sm_90)" in lines[0].text
    assert "sm_70, older than sm_75" in lines[1].text


def test_nvcc() -> None:
    assert doctor.nvcc_line("nvcc", CUDA_13).state == OK
    assert doctor.nvcc_line("nvcc", None).state == PROBLEM
    assert doctor.nvcc_line(None, None).state == ABSENT


def test_reader_of_toml(monkeypatch) -> None:
    assert doctor.toml_line().state == OK
    monkeypatch.setattr(toml_file, "reader", lambda: None)
    assert doctor.toml_line().state == PROBLEM
    assert "./lab run installs" in doctor.toml_line().text


@pytest.mark.parametrize(
    ("cpu_is_complete", "nvcc", "driver", "status"),
    [
        (True, None, Driver(problem=NO_DRIVER), 0),
        (False, None, Driver(problem=NO_DRIVER), 1),
        (False, "nvcc", Driver(problem=NO_DRIVER), 1),
        (False, "nvcc", Driver((13, 0), [H200]), 0),
    ],
)
def test_status_is_0_if_one_back_end_works(
    monkeypatch, capsys, cpu_is_complete: bool, nvcc: str | None, driver: Driver, status: int
) -> None:
    library = Need("Boost.Context", "libboost-context-dev", lambda: cpu_is_complete)
    tools = [Need(tool.name, tool.package, lambda: True) for tool in TOOLS]
    monkeypatch.setattr(doctor.needs, "needs_of", lambda backend: [*tools, library])
    monkeypatch.setattr(doctor, "find_nvcc", lambda: nvcc)
    monkeypatch.setattr(doctor, "ask_nvcc", lambda path: CUDA_13)
    monkeypatch.setattr(doctor, "ask_driver", lambda: driver)
    assert main.main(["doctor"]) == status
    out = capsys.readouterr().out
    assert ("sudo apt-get install libboost-context-dev" in out) is not cpu_is_complete
