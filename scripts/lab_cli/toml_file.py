"""Reads TOML files. Python has a reader since 3.11; before that, the package tomli is one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from . import setup
from .errors import LabError
from .paths import VENV


def _reader() -> ModuleType:
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            pass
    setup.python_for(["tomli"])
    sys.path += [str(folder) for folder in VENV.glob("lib/python*/site-packages")]
    importlib.invalidate_caches()
    return importlib.import_module("tomli")


def load(path: Path) -> dict[str, Any]:
    """The tables of `path`. Where it is not TOML, LabError names the file and the line."""
    reader = _reader()
    try:
        with path.open("rb") as file:
            return reader.load(file)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise LabError(f"{path}: {error}") from error
