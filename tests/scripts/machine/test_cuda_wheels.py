"""nvcc of PyPI: when it is installed and used, and that it is there in whole or not at all; with a pip and a
driver that are made up."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from lab_cli import lock
from lab_cli.errors import LabError
from lab_cli.machine import backend, cuda_wheels, python_packages
from lab_cli.machine.backend import OLDEST_ARCHITECTURE, Choice
from lab_cli.machine.gpu import NO_DRIVER, NO_GPU, Driver, Gpu

H200 = Gpu("NVIDIA H200", 90)
HOPPER = Driver((13, 0), [H200])
NVCC = """#!/bin/sh
case "$1" in --version) echo 'release 13.0, V13.0.88' ;; *) echo compute_75 compute_90 ;; esac
"""
OFFLINE = """\
WARNING: Retrying after connection broken by '[Errno -3] Temporary failure in name resolution')': /simple/
ERROR: No matching distribution found for nvidia-nvtx==13.0.85
"""


def lay(folder: Path, nvcc: str = NVCC) -> None:
    """What pip makes of all packages."""
    toolkit = folder / "nvidia" / "cu13"
    (toolkit / "bin").mkdir(parents=True)
    (toolkit / "bin" / "nvcc").write_text(nvcc)
    (toolkit / "bin" / "nvcc").chmod(0o755)
    (toolkit / "lib").mkdir()
    (toolkit / "lib" / "libcudart.so.13").touch()
    (toolkit / "lib" / "libcudart_static.a").touch()
    for package in cuda_wheels._packages(folder):
        package.mkdir()


@pytest.fixture
def venv(fake_tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a GPU, and nothing else, where pip can be run."""
    folder = tmp_path / "venv"
    folder.mkdir()
    monkeypatch.setattr(cuda_wheels, "VENV", folder)
    monkeypatch.setattr(cuda_wheels, "FOLDER", folder / "cuda")
    monkeypatch.setattr(cuda_wheels.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(cuda_wheels.setup, "environment", lambda what_for: None)
    monkeypatch.setattr(python_packages, "pip", lambda: ["pip", "install"])
    free(monkeypatch, 10**10)
    monkeypatch.setattr(backend, "ask_driver", lambda: HOPPER)
    monkeypatch.setattr(backend, "CACHE", tmp_path / "choice.json")
    monkeypatch.setattr(backend, "NVIDIA_PROC", tmp_path / "proc")
    monkeypatch.setattr(backend.shutil, "which", which_without_toolkit(backend.shutil.which))
    return folder


def which_without_toolkit(which):
    """As on a machine that has no CUDA in the usual folders."""
    usual = "/usr/local/cuda/bin:/opt/cuda/bin"
    return lambda name, path=None: None if path == usual else which(name, path=path)


def free(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    class Usage:
        free = size

    monkeypatch.setattr(cuda_wheels.shutil, "disk_usage", lambda _: Usage)


@pytest.fixture
def pip(venv: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """pip lays the packages down; the commands with which it was called."""
    calls: list[Sequence[str]] = []

    def run(command: Sequence[str], each, variables) -> int:
        calls.append(command)
        assert Path(variables["TMPDIR"]).is_dir()
        lay(Path(command[-1]))
        return 0

    monkeypatch.setattr(cuda_wheels, "run_lines", run)
    return calls


def a_pip(output: str = "", nvcc: str = NVCC, status: int = 1):
    """A pip that lays down an nvcc, says `output` and ends with `status`."""

    def run(command: Sequence[str], each, variables) -> int:
        lay(Path(command[-1]), nvcc)
        for line in output.splitlines(keepends=True):
            each(line)
        return status

    return run


def test_versions_are_of_one_toolkit() -> None:
    """With another, its size and the oldest driver may be others as well. Not of those that only read programs."""
    version = "{}.{}.".format(*cuda_wheels.VERSION)
    names = [package.name for package in cuda_wheels._packages(Path("x"))]
    assert len(names) == 9
    assert [name.partition("-")[0] for name in names if f"-{version}" not in name] == [
        "nvidia_cuda_cuobjdump",
        "nvidia_cuda_nvdisasm",
    ]
    assert "nvidia_cuda_nvcc-13.0.88.dist-info" in names


def test_a_gpu_without_nvcc_gets_it(pip, venv: Path, capfd) -> None:
    assert backend.pick("auto") == "gpu"
    nvcc = venv / "cuda" / "nvidia" / "cu13" / "bin" / "nvcc"
    assert backend.find_nvcc() == str(nvcc)
    first, last = capfd.readouterr().err.splitlines()
    assert first.startswith(
        f"set-up: missing nvcc: from PyPI into {venv} (530 MB to download, 880 MB"
    )
    assert last == "back end: gpu (nvcc 13.0 of PyPI, NVIDIA H200)"
    assert backend.pick("auto") == backend.pick("gpu") == "gpu"
    assert len(pip) == 1
    words = "pip install --no-deps --only-binary=:all: --no-cache-dir --target"
    assert [*pip[0][:5], pip[0][-2]] == words.split()
    assert [path.name for path in venv.iterdir() if path.name != "lab.lock"] == ["cuda"]


def test_what_makes_the_environment_comes_before_it(venv: Path, monkeypatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(cuda_wheels.setup, "environment", order.append)
    monkeypatch.setattr(python_packages, "pip", lambda: order.append("pip") or [])
    monkeypatch.setattr(cuda_wheels, "run_lines", a_pip())
    with pytest.raises(LabError):
        cuda_wheels.install()
    assert order == ["nvcc", "pip"]


def test_names_that_cmake_looks_for_are_there(pip, venv: Path) -> None:
    cuda_wheels.install()
    library = venv / "cuda" / "nvidia" / "cu13" / "lib64" / "libcudart.so"
    assert os.readlink(library) == "libcudart.so.13"
    assert library.exists()
    assert os.readlink(library.parent) == "lib"


def test_an_installed_toolkit_comes_first(pip, venv: Path, fake_tool) -> None:
    own = str(fake_tool("nvcc", NVCC.partition("\n")[2]))
    assert backend.pick("auto") == "gpu"
    assert pip == []
    cuda_wheels.install()
    assert backend.find_nvcc() == own
    assert backend.choose("auto", own, HOPPER).reason == "nvcc 13.0, NVIDIA H200"


@pytest.mark.parametrize("problem", [NO_DRIVER, NO_GPU, "the NVIDIA driver says: no (error 3)"])
def test_without_a_gpu_nothing_is_installed(
    pip, venv: Path, monkeypatch, capfd, problem: str
) -> None:
    monkeypatch.setattr(backend, "ask_driver", lambda: Driver(problem=problem))
    assert backend.pick("auto") == "cpu"
    reason = "no nvcc" if problem == NO_DRIVER else f"no nvcc; {problem}"
    assert capfd.readouterr().err == f"back end: cpu ({reason})\n"
    with pytest.raises(LabError, match="needs the CUDA toolkit: no nvcc"):
        backend.pick("gpu")
    assert pip == []


@pytest.mark.parametrize(
    ("driver", "machine", "problem"),
    [
        (Driver((13, 0), [H200]), "x86_64", ""),
        (Driver((13, 4), [Gpu("NVIDIA T4", OLDEST_ARCHITECTURE)]), "aarch64", ""),
        (Driver((12, 9), [H200]), "x86_64", "the NVIDIA driver runs CUDA 12.9, and"),
        (Driver((13, 0), [Gpu("NVIDIA V100", 70)]), "x86_64", "NVIDIA V100 is sm_70, older than"),
        (Driver((13, 0), [H200]), "ppc64le", "PyPI has none for ppc64le"),
    ],
)
def test_driver_and_machine_must_fit(
    pip, venv: Path, monkeypatch, driver: Driver, machine: str, problem: str
) -> None:
    monkeypatch.setattr(cuda_wheels.platform, "machine", lambda: machine)
    monkeypatch.setattr(backend, "ask_driver", lambda: driver)
    said = backend.wheels_problem(driver)
    assert said.startswith(problem) and bool(said) == bool(problem)
    assert backend.pick("auto") == ("cpu" if problem else "gpu")
    assert len(pip) == (not problem)
    if problem:
        assert backend.auto_backend() == Choice("cpu", f"no nvcc; {said}")


def test_cmake_and_others_install_nothing(pip, venv: Path, capfd) -> None:
    assert backend.main("auto") == 0
    assert backend.main("gpu") == 1
    out, err = capfd.readouterr()
    hint = "no nvcc; ./lab run --backend gpu installs it from PyPI"
    assert f'"reason": "{hint}"' in out
    assert hint in err
    assert pip == []


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (OFFLINE, "Temporary failure in name resolution"),
        (
            "ERROR: due to an OSError: [Errno 28] No space left on device\n",
            "No space left on device",
        ),
        ("Collecting\nERROR: one\nERROR: the other\n", "ERROR: the other"),
        ("", "pip did not say why"),
    ],
)
def test_where_it_fails_auto_takes_the_cpu_and_tries_once(
    venv: Path, monkeypatch, capfd, output: str, reason: str
) -> None:
    monkeypatch.setattr(cuda_wheels, "run_lines", a_pip(output))
    assert backend.pick("auto") == "cpu"
    failure = f"nvcc could not be installed from PyPI: {reason}"
    line = f"back end: cpu (no nvcc; {failure}; ./lab run --backend gpu tries again)\n"
    err = capfd.readouterr().err
    assert err.startswith("set-up: ")
    assert err.endswith(f"goes without it\n{line}")
    assert not (venv / "cuda").exists()
    monkeypatch.setattr(cuda_wheels, "run_lines", lambda *_, **__: pytest.fail("tried again"))
    assert backend.pick("auto") == "cpu"
    assert capfd.readouterr().err == line


def test_where_it_fails_gpu_is_an_error_and_tries_again(
    venv: Path, monkeypatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(cuda_wheels, "run_lines", a_pip(OFFLINE))
    for _ in range(2):
        with pytest.raises(LabError) as raised:
            backend.pick("gpu")
        reason = "nvcc could not be installed from PyPI: Temporary failure in name resolution"
        assert str(raised.value).startswith(f"{reason}. ./lab run --backend gpu tries again")
    request.getfixturevalue("pip")
    assert backend.pick("gpu") == "gpu"
    assert cuda_wheels.failure() == ""


def test_too_little_space_is_said_before_the_download(pip, venv: Path, monkeypatch) -> None:
    free(monkeypatch, 1_409_999_999)
    with pytest.raises(LabError, match=f"takes 1410 MB .* and {venv} has 1409 MB left"):
        cuda_wheels.install()
    assert pip == []
    free(monkeypatch, 1_410_000_000)
    cuda_wheels.install()


def test_what_stops_midway_leaves_nothing(venv: Path, monkeypatch) -> None:
    def stopped(command: Sequence[str], each, variables) -> int:
        lay(Path(command[-1]))
        raise KeyboardInterrupt

    monkeypatch.setattr(cuda_wheels, "run_lines", stopped)
    with pytest.raises(KeyboardInterrupt):
        cuda_wheels.install()
    assert [path.name for path in venv.iterdir()] == ["lab.lock"]
    assert cuda_wheels.failure() == ""  # nobody was in the way


def test_remains_of_a_lab_that_was_killed_are_removed(pip, venv: Path) -> None:
    lay(venv / "cuda.new" / "cuda", "half")
    assert cuda_wheels.nvcc() is None
    cuda_wheels.install()
    assert cuda_wheels.nvcc()
    assert not (venv / "cuda.new").exists()


@pytest.mark.parametrize("lacks", ["a package", "a version", "nvcc"])
def test_a_set_that_is_not_whole_is_replaced(pip, venv: Path, lacks: str) -> None:
    lay(venv / "cuda")
    assert cuda_wheels.nvcc()
    package = cuda_wheels._packages(venv / "cuda")[-1]
    if lacks == "a package":
        package.rmdir()
    elif lacks == "a version":
        package.rename(package.with_name("nvidia_nvvm-13.0.48.dist-info"))
    else:
        (venv / "cuda" / "nvidia" / "cu13" / "bin" / "nvcc").unlink()
    (venv / "cuda" / "old").touch()
    assert cuda_wheels.nvcc() is None
    assert backend.pick("auto") == "gpu"
    assert cuda_wheels.nvcc()
    assert not (venv / "cuda" / "old").exists()
    assert len(pip) == 1


def test_nvcc_that_does_not_run_is_not_kept(venv: Path, monkeypatch) -> None:
    monkeypatch.setattr(cuda_wheels, "run_lines", a_pip("", "#!/no/such/loader\n", 0))
    with pytest.raises(LabError, match="nvcc from PyPI was installed, and does not run"):
        cuda_wheels.install()
    assert not (venv / "cuda").exists()


def test_of_two_labs_one_installs(pip, venv: Path, monkeypatch, capfd) -> None:
    inside, waits = threading.Event(), threading.Event()
    lay_down = cuda_wheels.run_lines

    def run(command: Sequence[str], each, variables) -> int:
        inside.set()
        assert waits.wait(60)
        return lay_down(command, each, variables)

    said: list[str] = []
    monkeypatch.setattr(cuda_wheels, "run_lines", run)
    monkeypatch.setattr(lock, "say", lambda text: (said.append(text), waits.set()))
    first = threading.Thread(target=cuda_wheels.install)
    first.start()
    assert inside.wait(60)
    cuda_wheels.install()
    first.join()
    assert said == [f"waiting: another lab installs in {venv}"]
    assert len(pip) == 1


def test_pip_is_run_for_real(venv: Path, fake_tool, monkeypatch, capfd) -> None:
    """A script in its place: its command is shown, and what it says when it fails is not."""
    pip = fake_tool("pip", 'echo "ERROR: no network"; ls "$TMPDIR" >/dev/null || exit 3; exit 1')
    fake_tool("ls", "exit 0")
    monkeypatch.setattr(python_packages, "pip", lambda: [str(pip), "install"])
    with pytest.raises(LabError, match="from PyPI: ERROR: no network$"):
        cuda_wheels.install()
    shown = capfd.readouterr().err.splitlines()[-1]
    assert f"{pip} install --no-deps" in shown
    assert shown.endswith(f"--target {venv / 'cuda.new' / 'cuda'}")
