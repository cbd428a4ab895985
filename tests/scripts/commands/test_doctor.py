"""./lab doctor: one line per fact, and what to do."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from lab_cli import main
from lab_cli.commands import doctor
from lab_cli.commands.doctor import ABSENT, OK, PROBLEM
from lab_cli.counters import profilers
from lab_cli.machine.backend import Toolkit
from lab_cli.machine.gpu import NO_DRIVER, NO_GPU, Driver, Gpu
from lab_cli.machine.needs import TOOLS, Need
from lab_course.grading import sandbox

CUDA_13 = Toolkit("/cuda/bin/nvcc", (13, 0), [75, 80, 90])
H200 = Gpu("NVIDIA H200", 90)
HOPPER = Driver((13, 0), [H200])


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
    ("capabilities", "admin"), [("0000000000200000", True), ("FFFFFFFFFFDFFFFF", False)]
)
def test_admin_is_who_has_the_capability(monkeypatch, capabilities: str, admin: bool) -> None:
    status = f"Name:\tpython\nCapPrm:\t000001ffffffffff\nCapEff:\t{capabilities}\nCapBnd:\t0\n"
    files = {Path("/proc/self/status"): status}
    monkeypatch.setattr(doctor, "_read", files.get)
    assert doctor.is_admin() is admin
    files.clear()
    assert not doctor.is_admin()


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
    assert doctor.driver_line(None, Driver((11, 8), [H200])).state == OK  # nothing to compare with
    newer = dataclasses.replace(CUDA_13, version=(13, 1))  # runs with every driver for CUDA 13
    assert doctor.driver_line(newer, Driver((13, 0), [H200])).state == OK


def test_gpus() -> None:
    lines = doctor.gpu_lines(CUDA_13, Driver((13, 0), [H200, Gpu("NVIDIA V100", 70)]))
    assert [line.state for line in lines] == [OK, PROBLEM]
    assert "NVIDIA H200 (sm_90)" in lines[0].text
    assert lines[1].text == "NVIDIA V100 is sm_70, older than sm_75: take the cpu back end"
    (line,) = doctor.gpu_lines(None, Driver((13, 0), [Gpu("NVIDIA V100", 70)]))
    assert line.state == OK  # of too old for which nvcc?


def test_nvcc(fake_tool, monkeypatch) -> None:
    """Which it is and why; or what ./lab run would do."""
    installed = "/cuda/bin/nvcc"

    def said(nvcc: str, toolkit: Toolkit | None, state: str) -> str:
        line = doctor.nvcc_line(nvcc, toolkit, HOPPER)
        assert line.state == state
        return line.text

    assert said(installed, CUDA_13, OK) == f"{installed} 13.0"
    assert "install the CUDA toolkit anew" in said(installed, None, PROBLEM)

    monkeypatch.setattr(doctor.cuda_wheels, "nvcc", lambda: "/venv/nvcc")
    folder = doctor.cuda_wheels.FOLDER
    of_pypi = dataclasses.replace(CUDA_13, nvcc="/venv/nvcc")
    assert said("/venv/nvcc", of_pypi, OK).startswith("/venv/nvcc 13.0 of PyPI")
    assert f"{installed} 13.0, and not that of PyPI in {folder}" in said(installed, CUDA_13, OK)
    assert said("/venv/nvcc", None, PROBLEM).endswith(f"remove {folder}")
    monkeypatch.setenv("CUDACXX", installed)
    assert said(installed, CUDA_13, OK).endswith("13.0, which CUDACXX names")


@pytest.mark.parametrize(
    ("driver", "failure", "text"),
    [
        (Driver(problem=NO_DRIVER), "", "install the CUDA toolkit, or set CUDACXX"),
        (Driver((13, 0), problem=NO_GPU), "", "install the CUDA toolkit, or set CUDACXX"),
        (HOPPER, "", "./lab run installs 13.0 from PyPI"),
        (HOPPER, "no network", "no network; ./lab run --backend gpu tries again"),
        (Driver((12, 4), [H200]), "", "driver to 580 or newer, or install the CUDA toolkit 12"),
    ],
)
def test_nvcc_that_is_not_there(
    fake_tool, monkeypatch, driver: Driver, failure: str, text: str
) -> None:
    monkeypatch.setattr(doctor.cuda_wheels.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(doctor.cuda_wheels, "failure", lambda: failure)
    line = doctor.nvcc_line(None, None, driver)
    assert line.state == ABSENT and text in line.text


NVCC = 'case "$1" in --version) echo "release 13.0," ;; *) echo compute_75; echo compute_90 ;; esac'


@pytest.fixture
def machine(fake_tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing at all; returns the folder of its programs."""
    monkeypatch.setattr(doctor.needs, "venv_tool", lambda name: tmp_path / "venv" / name)
    monkeypatch.setattr(doctor, "DRIVER_PARAMETERS", tmp_path / "params")
    monkeypatch.setattr(doctor, "ask_driver", lambda: Driver(problem=NO_DRIVER))
    monkeypatch.setattr(doctor, "is_admin", lambda: False)
    monkeypatch.setattr(doctor.python_packages, "venv_can_be_made", lambda: False)
    monkeypatch.setattr(doctor.python_packages, "python_with", lambda *modules: "")
    monkeypatch.setattr(doctor.apt.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(profilers, "PLACES", {"ncu": [], "nsys": [], "cuobjdump": []})
    return tmp_path / "bin"


def lines_of(capsys) -> dict[str, str]:
    """What ./lab doctor says of each thing, of several GPUs the last: its state, and more."""
    facts = capsys.readouterr().out.split("\n\n")
    lines = "\n".join(facts[:2]).splitlines()
    assert len({len(line) - len(line[17:].lstrip()) for line in lines}) == 1  # columns
    return {line[:17].strip(): line[17:].strip() for line in lines}


def test_all_that_there_can_be(machine: Path, fake_tool, monkeypatch, capsys) -> None:
    tools = {
        "c++": "echo 'c++ (Debian 12.2.0-14) 12.2.0'",
        "make": '[ "$*" = --version ] && echo GNU Make 4.3',
        "cmake": "echo cmake version 3.25.1",
        "ninja": "echo no number",
        "ccache": "echo ccache version 4.7.5",
        "nvcc": NVCC,
        "ncu": "",
        "nsys": "",
        "cuobjdump": "",
        "bwrap": '[ "$*" = --version ] && echo bubblewrap 0.8.0',
        "sbatch": "",
    }
    for name, script in tools.items():
        fake_tool(name, script)
    doctor.DRIVER_PARAMETERS.write_text("RmProfilingAdminOnly: 0\n")
    monkeypatch.setattr(doctor, "ask_driver", lambda: Driver((13, 0), [H200, Gpu("T4", 75)]))
    monkeypatch.setattr(doctor.python_packages, "venv_can_be_made", lambda: True)
    monkeypatch.setattr(doctor.python_packages, "python_with", lambda module: f"of {module}")
    monkeypatch.setattr(sandbox, "problem", lambda: "")
    assert main.main(["doctor"]) == 0
    assert doctor._version("ninja") == "ninja"
    lines = lines_of(capsys)
    assert [text.split()[0] for text in lines.values()] == [OK] * len(lines)
    for name, text in {
        "C++ compiler": f"{machine}/c++ 12.2.0",
        "Ninja": f"{machine}/ninja",
        "bubblewrap": f"{machine}/bwrap 0.8.0",
        "pytest": "of pytest",
        "nvcc": f"{machine}/nvcc 13.0",
        "GPU": "T4 (sm_75)",
        "nsys": f"{machine}/nsys",
        "cuobjdump": f"{machine}/cuobjdump",
    }.items():
        assert lines[name].split(maxsplit=1)[1] == text


def test_nothing_at_all(machine: Path, fake_tool, monkeypatch, capsys) -> None:
    fake_tool("apt-get", "exit 1")
    monkeypatch.setattr(doctor, "find_nvcc", lambda: None)
    assert main.main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert out.endswith(
        "\n\n    sudo apt-get update && sudo apt-get install -y --no-install-recommends g++ cmake "
        "ninja-build ccache make libgmock-dev libbenchmark-dev bubblewrap python3-venv\n"
    )
    (machine / "apt-get").unlink()
    assert main.main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "apt-get" not in out and out.endswith(
        "\n\n    g++ cmake ninja-build ccache make libgmock-dev libbenchmark-dev bubblewrap python3-venv\n"
    )
    assert main.main(["doctor"]) == 1
    states = {name: text.split()[0] for name, text in lines_of(capsys).items()}
    needed = ["C++ compiler", "CMake >= 3.25", "Ninja", "cpu back end"]
    assert [name for name, state in states.items() if state == PROBLEM] == needed
    assert set(states.values()) == {PROBLEM, ABSENT}


@pytest.mark.parametrize("others", [True, False])
def test_old_cmake_comes_from_pypi(
    machine: Path, fake_tool, monkeypatch, capsys, others: bool
) -> None:
    """As ./lab run does it: a command would install the old one again. Without root Ninja does, too."""
    for name in ["c++", "make", "ccache", "bwrap", *(["ninja"] if others else [])]:
        fake_tool(name, "exit 0")
    fake_tool("cmake", "echo cmake version 3.22.1")
    fake_tool("apt-get", "exit 1")
    monkeypatch.setattr(doctor, "find_nvcc", lambda: None)
    monkeypatch.setattr(doctor.python_packages, "venv_can_be_made", lambda: True)
    assert main.main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "CMake >= 3.25      problem  missing: ./lab run installs it into .venv\n" in out
    ninja = "Ninja              problem  missing: ./lab run installs it into .venv\n"
    assert (ninja in out) is not others
    assert "--no-install-recommends" not in out


@pytest.mark.parametrize(
    ("lacks", "has", "gpu", "status"),
    [
        ("", "", "-        no nvcc", 0),
        ("library", "", "-        no nvcc", 1),
        ("library", "nvcc", "-        no NVIDIA driver", 1),
        ("library", "nvcc and a GPU", "OK", 0),
        ("tools", "nvcc and a GPU", "-        see above", 1),
        ("", "nvcc and a GPU", "OK", 0),
    ],
)
def test_status_is_0_if_one_back_end_works(
    machine: Path, monkeypatch, capsys, lacks: str, has: str, gpu: str, status: int
) -> None:
    driver = HOPPER if "GPU" in has else Driver(problem=NO_DRIVER)
    library = Need("a library", "libsome-dev", lambda: not lacks)
    tools = [Need(tool.name, tool.package, lambda: lacks != "tools") for tool in TOOLS]
    monkeypatch.setattr(doctor.needs, "needs_of", lambda *_, **__: [*tools, library])
    monkeypatch.setattr(doctor.python_packages, "venv_can_be_made", lambda: True)
    monkeypatch.setattr(doctor, "find_nvcc", lambda: "nvcc" if has else None)
    monkeypatch.setattr(doctor, "ask_nvcc", lambda path: CUDA_13)
    monkeypatch.setattr(doctor, "ask_driver", lambda: driver)
    assert main.main(["doctor"]) == status
    out = capsys.readouterr().out
    assert ("libsome-dev" in out) is bool(lacks)
    assert out.split("\n\n")[1].splitlines() == [
        f"cpu back end       {'problem  see above' if lacks else 'OK'}",
        f"gpu back end       {gpu}",
    ]
