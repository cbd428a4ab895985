"""Writes result files."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from .errors import LabError, printable
from .paths import BUILD_VARIABLE, OUT, shown

ELSEWHERE = f"; {BUILD_VARIABLE}=FOLDER in the environment puts builds elsewhere"
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
LITTLE = 16 * 10**6  # bytes: with less, some step of a build fails


def _target(path: Path) -> Path:
    """What is written: of a link, what it points to."""
    return Path(os.path.realpath(path))


def reason(error: OSError) -> str:
    """What could not be done, with which file, and what helps."""
    name = error.filename
    if name is None:
        return str(error.strerror or error)
    path = Path(os.fsdecode(name) if isinstance(name, (str, bytes)) else str(name))
    return f"{printable(str(path))}: {error.strerror}{_advice(path, error)}"


def _advice(path: Path, error: OSError | None = None) -> str:
    room = ": make room" if error and error.errno in NO_SPACE else ""
    return room + (ELSEWHERE if OUT == path or OUT in path.parents else "")


def about_space(printed: str = "") -> str:
    """To be said of a step that failed, and of what it printed, where a disk or a quota is full; else
    empty. (In another language than English, the free space alone tells.)"""
    room = f": make room{ELSEWHERE}"
    free = shutil.disk_usage(OUT).free if OUT.exists() else LITTLE
    if free < LITTLE:
        return f". {shown(OUT)} has {free // 10**6} MB left{room}"
    said = next((text for text in map(os.strerror, NO_SPACE) if text in printed), "")
    return f". {said}, of a file that is named above{room}" if said else ""


def check_writable(path: Path) -> None:
    """Says before a long run, not after it, that its result cannot be kept. Raises LabError."""
    problem = _problem(path)
    if problem:
        text = f"cannot write {printable(str(path))}: {problem}{_advice(path)}"
        raise LabError(text, status=2)


def _problem(path: Path) -> str:
    in_dev = path.parts[:2] == ("/", "dev")  # /dev/stdout may lead to a file
    folder = _target(path).parent
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        there = False
    except OSError as error:
        return str(error.strerror)
    else:
        there = True
    if there and (in_dev or not path.is_file()):
        return "it is a folder" if path.is_dir() else "it is not a file"
    if there and not os.access(path, os.W_OK):
        return "it is write-protected"
    if not folder.is_dir():
        return f"there is no folder {printable(str(folder))}"
    if not os.access(folder, os.W_OK):
        return f"the folder {printable(str(folder))} cannot be written to"
    return ""


def write(path: Path, content: str | bytes) -> None:
    """All or nothing: what was there stays until the new content is complete."""
    data = content.encode() if isinstance(content, str) else content
    path = _target(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    except BaseException as error:
        with suppress(OSError):  # where it could not even be begun, this cannot be done either
            beside.unlink()
        if isinstance(error, OSError):
            name = printable(str(path))
            raise LabError(
                f"cannot write {name}: {error.strerror}{_advice(path, error)}"
            ) from error
        raise


def make_folder(path: Path, advice: str = "") -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        in_the_way = next((above for above in [path, *path.parents] if os.path.isfile(above)), None)
        if in_the_way:
            problem = f"{printable(str(in_the_way))} is a file"
        else:
            problem = str(error.strerror)
        text = f"cannot make the folder {printable(str(path))}: {problem}{advice}"
        raise LabError(text) from error


def make_build_folder(path: Path) -> None:
    """Of what lab makes for itself: files can be made in it, too."""
    make_folder(path, ELSEWHERE)
    if not os.access(path, os.W_OK):
        raise LabError(f"the folder {printable(str(path))} cannot be written to{ELSEWHERE}")
