"""Asks nvdisasm for the source lines of a GPU program's machine instructions.

nvdisasm knows all calls that lead to an inlined instruction; the pages of Nsight Compute do not. cuobjdump
extracts the code from the program. Both are parts of the CUDA toolkit.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from .model import Place
from .ncu_page import Instruction, opcode_of

_FUNCTION = re.compile(r"^\.text\.(?P<name>[\w$.]+):")
_LINE = re.compile(r'^\s*//## File "(?P<file>.*?)", line (?P<line>\d+)')
_CODE = re.compile(r"^\s*/\*(?P<offset>[0-9a-f]{4,})\*/\s+(?P<text>[^;]+);")


@dataclass
class Function:
    name: str  # mangled
    opcodes: dict[int, str] = field(default_factory=dict)  # by the distance from its beginning
    places: dict[int, tuple[Place, ...]] = field(default_factory=dict)  # likewise, innermost first

    def is_code_of(self, instructions: Sequence[Instruction]) -> bool:
        first = instructions[0].address
        return all(self.opcodes.get(i.address - first) == i.opcode for i in instructions)


def read(program: Path, nvcc: str) -> list[Function]:
    """Returns the functions of a program, or none if the tools are missing or fail."""
    cuobjdump, nvdisasm = (_find(name, nvcc) for name in ("cuobjdump", "nvdisasm"))
    if not cuobjdump or not nvdisasm:
        return []
    found: list[Function] = []
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        _output([cuobjdump, "-xelf", "all", str(program.resolve())], folder)
        for cubin in sorted(Path(folder).glob("*.cubin")):
            found += parsed(_output([nvdisasm, "-gi", cubin.name], folder).splitlines())
    return found


def _find(name: str, nvcc: str) -> str | None:
    beside = [os.path.dirname(path) for path in (nvcc, os.path.realpath(nvcc))]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(beside))


def _output(command: Sequence[str], folder: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    return done.stdout if done.returncode == 0 else ""


def parsed(lines: Iterable[str]) -> Iterator[Function]:
    """Reads what `nvdisasm -gi` prints. Comments with the lines stand before their code."""
    function: Function | None = None
    places: list[Place] = []
    begins = True  # another list of lines
    for line in lines:
        place = _LINE.match(line)
        if place:
            places = [] if begins else places
            places.append(_place(place["file"], int(place["line"])))
            begins = False
            continue
        code = _CODE.match(line)
        if code and function:
            offset = int(code["offset"], 16)
            function.opcodes[offset] = opcode_of(code["text"])
            function.places[offset] = tuple(places)
            begins = True
            continue
        named = _FUNCTION.match(line)
        if named:
            if function:
                yield function
            function, places, begins = Function(named["name"]), [], True
    if function:
        yield function


def _place(file: str, line: int) -> Place:
    return Place(_path(file), line)


@lru_cache(maxsize=1024)
def _path(file: str) -> Path:
    return Path(file).resolve()


def function_of(
    functions: Sequence[Function], instructions: Sequence[Instruction], kernel: str
) -> Function | None:
    """Finds the function that a launch of `kernel` executed. The code tells the instances of a template apart."""
    name = kernel.partition("<")[0].rpartition("::")[2]
    mangled = f"{len(name)}{name}"
    return next(
        (
            function
            for function in functions
            if mangled in function.name and function.is_code_of(instructions)
        ),
        None,
    )
