"""Programs of the cpu back end that were compiled for the profiler and the hazard check."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..catalogue import Exercise, of_backend
from ..errors import LabError
from ..machine import setup, zig
from ..machine.needs import find_compiler
from ..process import describe, run_lines, say, show
from . import own_program, presets

CHECK = "CUDA_EMULATOR_CHECK"  # names the file that a program writes the report of its hazards to
# How the last line of the report begins if that is so.
NO_HAZARDS = "no hazards found"
NO_LAUNCH = "no kernel was launched"
# How the note begins that a shuffle read a lane that takes no part.
SHUFFLE = "note: shuffle from a lane"
RESULTS = "CUDA_EMULATOR_RESULTS"  # names the file for a digest of what the program computed
UNDEFINED = "CUDA_EMULATOR_UNDEFINED"  # gives what is undefined another value
DOES_NOT_END = re.compile(r"emulator: kernel .* has been running for ")  # the back end's words


@dataclass(frozen=True)
class Outcome:
    status: int
    output: str  # what the program printed
    report: str  # the file that it wrote
    others: tuple[str, ...] = ()  # further ones

    def failure(self, remark: str = "") -> LabError:
        """Shows the output, on stderr, and says how the program ended."""
        say(self.output.rstrip())
        message = f"the program ended with {describe(self.status)}; what it printed is above"
        return LabError(message + remark, 2 if self.status == 2 else 1, printed=self.output)


def once_each(folder: Path, exercise: Exercise) -> list[str]:
    """The command that launches each kernel of a built exercise once."""
    return [str(exercise.program(folder)), "--profile"]


def require_compiler() -> None:
    """LabError where there is none that can build what checks and profiles."""
    if zig.is_compiler(find_compiler()):
        raise LabError(
            "what checks and profiles cannot be built with zig's compiler: install g++ (./lab doctor "
            "says where the compiler comes from)"
        )


def program(exercise: Exercise | None, sources: Sequence[str]) -> Path:
    """An exercise or, without one, the program of a student's source files. LabError for an exercise
    that needs a GPU's hardware."""
    of_backend([exercise] if exercise else [], "cpu", by_name=True)
    cmake = setup.ensure("cpu")
    require_compiler()
    if exercise:
        return exercise.program(presets.build(cmake, "cpu", exercise.instrumented), True)
    return own_program.for_cpu(sources, cmake, instrument=True)


def built(exercise: Exercise | None, sources: Sequence[str]) -> list[str]:
    """The command that launches each kernel of such an exercise once, or runs such a program."""
    return [str(program(exercise, sources)), *(["--profile"] if exercise else [])]


def run(
    program: Sequence[str],
    *variables: str,
    suffix: str = "",
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Outcome:
    """Each of `variables` tells the program, in its environment, which file to write; the names of the files
    end with `suffix`. `settings` are further variables. What the program prints is kept, but for the line about
    a kernel that does not end."""
    lines: list[str] = []

    def keep(line: str) -> None:
        lines.append(line)
        if DOES_NOT_END.match(line):
            say(line.rstrip())

    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        files = {variable: Path(folder) / (variable + suffix) for variable in variables}
        named = {variable: str(file) for variable, file in files.items()}
        try:
            status = run_lines(program, keep, subprocess.DEVNULL, {**settings, **named})
        except BaseException:  # a signal ends lab, and has ended the program
            if CHECK in files and files[CHECK].exists():
                show(files[CHECK].read_text(errors="replace"))
            raise
        report, *others = (
            file.read_text(errors="replace") if file.exists() else "" for file in files.values()
        )
    return Outcome(status, "".join(lines), report, tuple(others))
