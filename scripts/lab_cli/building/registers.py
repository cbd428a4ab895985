"""How many registers the kernels of a program take on a GPU, where nvcc is there to ask: the cpu back end has
none, but then refuses what a GPU cannot launch."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from ..machine import backend
from .own_program import COMMON

VARIABLE = "CUDA_EMULATOR_REGISTERS"  # "KERNEL:NUMBER KERNEL:NUMBER", with mangled names
ALWAYS_ENOUGH = 64  # for each of 1,024 threads, of the 65,536 of an SM
ARCHITECTURE = "sm_90"  # what the cpu back end is
ENTRY = re.compile(
    r"Compiling entry function '(\w+)'(?:(?!entry function).)*?Used (\d+) reg", re.DOTALL
)
# What nvcc adds to the names of kernels with internal linkage.
STATIC = re.compile(r"^__nv_static_\d+__\w+?_(?=_Z)")
# A namespace without a name, behind the length of what nvcc calls it.
UNNAMED = re.compile(r"(\d+)(?=_GLOBAL__N__)")
UNNAMED_HERE = "12_GLOBAL__N_1"


class Asked:
    """nvcc at work on the source files of a program."""

    def __init__(self, compilers: Sequence[subprocess.Popen[str]]) -> None:
        self._compilers = compilers
        self._printed: list[str] = []

    def wait(self) -> None:
        """Until nvcc has ended, and all that it has started: they write no files afterwards."""
        for compiler in self._compilers[len(self._printed) :]:
            self._printed.append(compiler.communicate()[0])

    def printed(self) -> str:
        """What nvcc and ptxas said; empty where there is no nvcc."""
        self.wait()
        return "".join(self._printed)

    def settings(self) -> Mapping[str, str]:
        """What tells the program of the kernels that may not fit."""
        found = large(self.printed())
        return MappingProxyType({VARIABLE: " ".join(found)} if found else {})


@contextmanager
def asked(sources: Sequence[str]) -> Iterator[Asked]:
    """Asks while other work is done."""
    files = [source for source in sources if source.endswith(".cu")]
    nvcc = backend.find_nvcc() if files else None
    # When a signal ends nvcc, its temporary files stay.
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        answer = Asked([_start(nvcc, file, folder) for file in files] if nvcc else [])
        try:
            yield answer
        finally:
            answer.wait()


def _start(nvcc: str, file: str, temporary: str) -> subprocess.Popen[str]:
    options = ["-std=c++17", "-O3", "-rdc=true", f"-arch={ARCHITECTURE}", "-I", str(COMMON)]
    options += ["-cubin", "-Xptxas", "-v", "-o", os.devnull]
    return subprocess.Popen(
        [nvcc, *options, file],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "TMPDIR": temporary},
    )


def large(printed: str) -> list[str]:
    """KERNEL:NUMBER of each kernel that takes more registers than any launch has, of what ptxas printed."""
    return [
        f"{as_compiled_here(name)}:{number}"
        for name, number in ENTRY.findall(printed)
        if int(number) > ALWAYS_ENOUGH
    ]


def as_compiled_here(name: str) -> str:
    """The mangled name that a kernel of nvcc's has on the cpu back end."""
    name = STATIC.sub("", name)
    while (found := UNNAMED.search(name)) is not None:
        name = name[: found.start()] + UNNAMED_HERE + name[found.end() + int(found[1]) :]
    return name
