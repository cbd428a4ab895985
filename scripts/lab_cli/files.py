"""Writes result files."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import LabError
from .paths import BUILD_VARIABLE


def _target(path: Path) -> Path:
    """What is written: of a link, what it points to."""
    return Path(os.path.realpath(path))


def check_writable(path: Path) -> None:
    """Says before a long run, not after it, that its result cannot be kept. Raises LabError."""
    problem = ""
    in_dev = path.parts[:2] == ("/", "dev")  # /dev/stdout may lead to a file
    folder = _target(path).parent
    if path.exists() and (in_dev or not path.is_file()):
        problem = "it is not a file"
    elif not folder.is_dir():
        problem = f"there is no folder {folder}"
    elif not os.access(folder, os.W_OK):
        problem = f"the folder {folder} cannot be written to"
    if problem:
        raise LabError(f"cannot write {path}: {problem}", status=2)


def write(path: Path, content: str | bytes) -> None:
    """All or nothing: what was there stays until the new content is complete."""
    data = content.encode() if isinstance(content, str) else content
    path = _target(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise LabError(f"cannot write {path}: {error.strerror}") from error
        raise


def make_folder(path: Path, advice: str = "") -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"cannot make the folder {path}: {error.strerror}{advice}") from error


def make_build_folder(path: Path) -> None:
    """Of what lab makes for itself."""
    make_folder(path, f"; {BUILD_VARIABLE}=FOLDER in the environment puts builds elsewhere")
