"""zig's C++ compiler from PyPI, for a machine without a compiler and without root.

It is clang, with a linker and the libraries of C++ that it compiles itself, once. The folder has the
names that CMake and lab cc look for.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from ..errors import LabError
from ..files import make_build_folder, write
from ..paths import BUILD_VARIABLE, VENV, venvs
from ..process import output_of

PACKAGE = "ziglang"
FOLDER = VENV / "zig"
# Without optimisation zig ends programs whose integers overflow, as a GPU's may.
WRAPS = " -fno-sanitize=undefined"
TOOLS = {"c++": WRAPS, "cc": WRAPS, "ar": "", "ranlib": ""}


def is_compiler(path: str | None) -> bool:
    return path in [str(venv / FOLDER.name / "c++") for venv in venvs()]


def complete() -> None:
    """Makes the commands, once the package is there."""
    python = str(VENV / "bin" / "python")
    module = output_of([python, "-c", f"import {PACKAGE}; print({PACKAGE}.__file__)"]).strip()
    zig = Path(module).parent / "zig"
    if not module or not zig.is_file():
        raise LabError(f"installed, and yet not to be found: zig, of the package {PACKAGE}")
    make_build_folder(FOLDER)
    for tool, options in TOOLS.items():
        _write_command(FOLDER / tool, zig, tool + options)


def _write_command(path: Path, zig: Path, command: str) -> None:
    """What zig compiles for itself lies beside the commands: a home may be small. In an installation
    for many it lies where the user builds."""
    folder = shlex.quote(str(FOLDER))
    write(
        path,
        f"#!/bin/sh\nfolder={folder}\n"
        f'[ -w "$folder" ] || folder=${BUILD_VARIABLE}/zig\n'
        'export ZIG_GLOBAL_CACHE_DIR="$folder/cache" ZIG_LOCAL_CACHE_DIR="$folder/cache"\n'
        f'exec {shlex.quote(str(zig))} {command} "$@"\n',
    )
    path.chmod(0o755)
