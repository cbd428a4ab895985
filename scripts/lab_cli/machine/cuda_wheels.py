"""nvcc and what belongs to it from PyPI, for a machine with a GPU and without a CUDA toolkit.

The packages lie in a folder of their own, .venv/cuda, which is there in whole or not at all.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import LabError
from ..files import make_build_folder, make_folder, write
from ..lock import alone_in
from ..paths import OUT, SCRIPTS, SHARED_VENV, VENV, shown
from ..process import output_of, run_lines, say
from ..progress import Progress
from . import python_packages, setup

VERSION = (13, 0)  # of CUDA: every driver for CUDA 13 runs what it builds
OLDEST_DRIVER = 580  # of those for CUDA 13
REQUIREMENTS = SCRIPTS / "requirements-cuda.txt"
FOLDER = VENV / "cuda"
SHARED_FOLDER = SHARED_VENV / "cuda" if SHARED_VENV else None  # of an installation for many
FAILURE = OUT / "lab_nvcc_failure.txt"


@dataclass(frozen=True)
class Megabytes:
    download: int
    disk: int


SIZES = {"x86_64": Megabytes(530, 880), "aarch64": Megabytes(640, 940)}


def size() -> Megabytes | None:
    """None where PyPI has none of it for this machine."""
    return SIZES.get(platform.machine())


def described() -> str:
    """Where it comes from, and what it takes."""
    needed = size() or Megabytes(0, 0)
    return (
        f"from PyPI into {shown(VENV)} ({needed.download} MB to download, {needed.disk} MB on disk)"
    )


def folder() -> Path:
    """Where all packages are, at the versions that are asked for; else where they would be installed."""
    folders = [FOLDER, *([SHARED_FOLDER] if SHARED_FOLDER else [])]
    whole = (folder for folder in folders if all(map(os.path.isdir, _packages(folder))))
    return next(whole, FOLDER)


def nvcc() -> str | None:
    """That of all packages."""
    there = all(map(os.path.isdir, _packages(folder())))
    return shutil.which(str(_toolkit(folder()) / "bin" / "nvcc")) if there else None


def failure() -> str:
    """Why the last try to install it failed; empty where it did not."""
    try:
        return FAILURE.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def install() -> None:
    """All of it or, with a LabError, nothing."""
    try:
        _install()
    except LabError as error:
        make_build_folder(FAILURE.parent)
        write(FAILURE, " ".join(str(error).split()) + "\n")
        raise
    FAILURE.unlink(missing_ok=True)


def _install() -> None:
    setup.environment("nvcc")
    say(f"set-up: missing nvcc: {described()}; --backend cpu goes without it")
    pip = python_packages.pip()
    with alone_in(VENV, "installs"):
        if nvcc():
            return  # by another lab, meanwhile
        _check_space()
        new = FOLDER.with_name("cuda.new")
        shutil.rmtree(new, ignore_errors=True)  # of a lab that was killed
        try:
            _download(pip, new)
            _complete(_toolkit(new / "cuda"))
            shutil.rmtree(FOLDER, ignore_errors=True)
            os.replace(new / "cuda", FOLDER)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _packages(folder: Path) -> list[Path]:
    """What pip leaves beside each package: a folder of its name and version."""
    lines = REQUIREMENTS.read_text().splitlines()
    pins = [line.partition("#")[0].strip().partition("==") for line in lines]
    return [folder / f"{name.replace('-', '_')}-{pin}.dist-info" for name, _, pin in pins if pin]


def _toolkit(folder: Path) -> Path:
    return folder / "nvidia" / f"cu{VERSION[0]}"


def _check_space() -> None:
    needed = size()
    free = shutil.disk_usage(VENV).free // 10**6
    if needed and free < needed.download + needed.disk:
        raise LabError(
            f"nvcc from PyPI takes {needed.download + needed.disk} MB while it is installed, and "
            f"{shown(VENV)} has {free} MB left"
        )


def _download(pip: Sequence[str], folder: Path) -> None:
    """Into cuda/ of `folder`, where what pip needs meanwhile is as well: /tmp and the home may be small."""
    temporary = folder / "tmp"
    make_folder(temporary)
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command = [*pip, *options, "--requirement", str(REQUIREMENTS), "--target", str(folder / "cuda")]
    lines: list[str] = []
    with Progress("installing nvcc") as progress:

        def keep(line: str) -> None:
            lines.append(line)
            progress.update(item=line.strip())

        status = run_lines(command, keep, variables={"TMPDIR": str(temporary)})
    if status != 0:
        raise LabError(f"nvcc could not be installed from PyPI: {_reason(lines)}")


def _reason(lines: Sequence[str]) -> str:
    """What the system said, else what pip said last."""
    said = re.search(r"\[Errno -?\d+\] ([^'\")\n]+)", "".join(lines))
    if said:
        return said.group(1)
    errors = [line.strip() for line in lines if line.startswith("ERROR: ")]
    return errors[-1] if errors else "pip did not say why"


def _complete(toolkit: Path) -> None:
    """The packages lack names that compilers and CMake look for: lib64, and libraries without a version."""
    for library in (toolkit / "lib").glob("*.so.*"):
        name = library.name.partition(".so.")[0] + ".so"
        (library.parent / name).symlink_to(library.name)
    (toolkit / "lib64").symlink_to("lib")
    if not output_of([str(toolkit / "bin" / "nvcc"), "--version"]):
        raise LabError("nvcc from PyPI was installed, and does not run")
