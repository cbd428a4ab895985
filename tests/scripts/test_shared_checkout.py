"""One installation that cannot be written to, and many users."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from lab_cli import lock, paths, readable
from lab_cli.machine import cuda_wheels, python_packages
from lab_cli.paths import ROOT
from lab_fixtures import shell_program

OTHER = 65533  # the uid of a student
CHAPTER = "ch03_execution_model"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The .venv of the checkout, beside that of the user."""
    own, venv = tmp_path / "own", tmp_path / "shared"
    for module in (paths, python_packages):
        monkeypatch.setattr(module, "VENV", own)
        monkeypatch.setattr(module, "SHARED_VENV", venv)
    return venv


def test_programs_of_the_shared_environment_are_found(shared: Path) -> None:
    own = paths.VENV / "bin" / "cmake"
    assert paths.venv_tool("cmake") == own
    there = shell_program(shared / "bin" / "cmake", "")
    assert paths.venv_tool("cmake") == there
    shell_program(own, "")
    assert paths.venv_tool("cmake") == own


def test_python_packages_are_looked_for_in_both_and_installed_in_ones_own(
    shared: Path, monkeypatch
) -> None:
    monkeypatch.setattr(python_packages.sys, "executable", "/none")
    of_all = shell_program(shared / "bin" / "python", 'case "$2" in *matplotlib*) exit 1; esac')
    shell_program(shared / "bin" / "pip", "echo must not run >&2; exit 1")
    assert python_packages.python_with("pytest") == str(of_all)
    assert python_packages.python_with("pytest", "matplotlib") == ""
    log = shared.with_name("log")
    shell_program(paths.VENV / "bin" / "pip", f'echo "$*" >> {log}')
    python_packages.install(["matplotlib"])
    assert log.read_text().endswith(" matplotlib\n")
    own = shell_program(paths.VENV / "bin" / "python", "")
    assert python_packages.python_with("pytest", "matplotlib") == str(own)


def test_nvcc_of_the_shared_environment_is_used(tmp_path: Path, monkeypatch) -> None:
    own, shared = tmp_path / "own", tmp_path / "shared"
    monkeypatch.setattr(cuda_wheels, "FOLDER", own)
    monkeypatch.setattr(cuda_wheels, "SHARED_FOLDER", shared)
    nvcc = shell_program(shared / "nvidia" / "cu13" / "bin" / "nvcc", "")
    packages = cuda_wheels._packages(shared)
    for package in packages[1:]:
        package.mkdir()
    assert (cuda_wheels.nvcc(), cuda_wheels.folder()) == (None, own)
    packages[0].mkdir()
    assert (cuda_wheels.nvcc(), cuda_wheels.folder()) == (str(nvcc), shared)


def test_a_shared_environment_that_cannot_be_read_is_named(
    shared: Path, monkeypatch, capfd
) -> None:
    shell_program(paths.VENV / "bin" / "pip", "")
    python_packages.pip()
    shared.mkdir()
    python_packages.pip()
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(python_packages.os, "access", lambda path, _: path != shared)
    python_packages.pip()
    said = capfd.readouterr().err
    assert said.startswith(f"{shared} ") and said.endswith(f" chmod -R a+rX {ROOT}\n")


def test_what_is_not_readable_is_named_with_the_remedy(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "ch").mkdir()
    (tmp_path / "ch" / "x.cu").touch()
    closed: list[Path] = [tmp_path / "out"]
    monkeypatch.setattr(readable, "ROOT", tmp_path)
    monkeypatch.setattr(readable.os, "access", lambda path, _: Path(path) not in closed)
    closed.append(tmp_path / "ch" / "x.cu")
    assert readable.problem() == ""  # it is one's own
    monkeypatch.setattr(readable.os, "geteuid", lambda: OTHER)
    remedy = f"cannot be read: whoever installed it can type chmod -R a+rX {tmp_path}"
    assert readable.problem() == f"{closed[1]} {remedy}"
    closed[1] = tmp_path / "ch"
    assert readable.problem() == f"{closed[1]} {remedy}"
    closed.pop()
    assert readable.problem() == ""


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EIO])
def test_without_locks_lab_goes_on_and_says_so(
    tmp_path: Path, monkeypatch, capfd, number: int
) -> None:
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(lock.fcntl, "flock", flock)
    failure = pytest.raises(OSError, match="error") if number == errno.EIO else nullcontext()
    with failure, lock.alone_in(tmp_path, "builds"):
        pass
    said = capfd.readouterr().err
    assert (f"{tmp_path} is on a file system without locks" in said) == (number != errno.EIO)


# As another user, which takes root.


@pytest.fixture
def installation() -> Iterator[Path]:
    """A copy of lab and of what `./lab list` reads, which another user cannot write to."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("takes root, and setpriv")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "lab"
        folder.parent.chmod(0o755)
        folder.mkdir()
        shutil.copy(ROOT / "lab", folder)
        for place in ("scripts", "emulator/translator", f"{CHAPTER}/reduceInteger"):
            ignored = shutil.ignore_patterns("__pycache__", "*.md")
            shutil.copytree(ROOT / place, folder / place, ignore=ignored)
        shutil.copy(ROOT / CHAPTER / "CMakeLists.txt", folder / CHAPTER)
        yield folder


def as_other(installation: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    user = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
    python = Path(sys.executable).resolve()
    if subprocess.run([*user, str(python), "-c", ""], capture_output=True).returncode != 0:
        python = Path("/usr/bin/python3")
    command = [*user, str(python), str(installation / "lab"), "list"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/", **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("cut_short", [False, True])
def test_a_user_who_cannot_write_lists_the_exercises(installation: Path, cut_short: bool) -> None:
    """That works even where compiled code is cut short, which this user cannot remove."""
    if cut_short:
        command = [sys.executable, "-I", str(installation / "lab"), "list"]
        assert subprocess.run(command, capture_output=True).returncode == 0
        kept = [*installation.rglob("*.pyc")]
        assert kept
        for path in kept:
            os.truncate(path, 500)
    before = sorted(installation.rglob("*"))
    done = as_other(installation)
    assert (done.returncode, done.stderr) == (0, "")
    assert "reduceInteger" in done.stdout
    assert sorted(installation.rglob("*")) == before


@pytest.mark.parametrize(
    "closed",
    [
        f"{CHAPTER}/reduceInteger/reduceInteger.cu",
        CHAPTER,
        "scripts/lab_cli/main.py",
        "scripts/lab_cli/streams.py",
        "scripts/lab_cli",
        "scripts",
    ],
)
def test_made_with_umask_077_it_is_one_line(installation: Path, closed: str) -> None:
    path = installation / closed
    path.chmod(stat.S_IMODE(path.stat().st_mode) & 0o700)
    done = as_other(installation)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("lab: ")
    assert done.stderr.endswith(f" type chmod -R a+rX {installation}\n")
    assert done.stderr.count("\n") == 1
