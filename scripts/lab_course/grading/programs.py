"""Builds a copy of an exercise with a student's kernels for the cpu back end, or for a GPU, and runs it."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from lab_cli.building import own_program, presets
from lab_cli.building.instrumented import CHECK
from lab_cli.catalogue import Exercise
from lab_cli.counters import raw_csv
from lab_cli.counters.collect import VARIABLE as PROFILE
from lab_cli.counters.raw_csv import RawTable
from lab_cli.errors import BAD_USAGE, LabError
from lab_cli.machine import backend, setup
from lab_cli.machine.backend import Choice
from lab_cli.machine.gpu import ask_driver
from lab_cli.machine.needs import find_compiler
from lab_cli.paths import ROOT
from lab_cli.process import describe
from lab_cli.results import csv_file
from lab_cli.results.csv_file import Row

from ..reporting.text import plain
from . import sandbox
from .gate import as_written
from .limits import Limits
from .sandbox import Ended

MIB = 1 << 20
COMPILING = Limits(
    seconds=120,
    cpu_seconds=120,
    memory=3 << 30,
    processes=64,
    file=256 * MIB,
    disk=512 * MIB,
    output=MIB,
)
SECONDS = 30.0  # of one run, usually well below one
# Of what is right, there are up to 32 blocks on each of four multiprocessors, with a thread each in a
# cooperative launch and one more for each that waits for another; and of the host, one for each core.
THREADS = 1024
RUNNING = Limits(
    seconds=SECONDS,
    cpu_seconds=SECONDS,
    memory=2 << 30,
    processes=THREADS,
    file=16 * MIB,
    disk=256 * MIB,
    output=MIB,
)
# Times are those of large inputs, which the host makes and checks.
RUNNING_ON_GPU = replace(RUNNING, memory=32 << 30)
TIMES_LONGER = 4
# As in the exercises' own tests: with as many multiprocessors everywhere, grids are the same.
VARIABLES = {"CUDA_EMULATOR_SMS": "4"}
PASSED_ON = ("CXX", "LD_LIBRARY_PATH")  # which compiler to take, and where its libraries are
# stderr and the report that a variable names, as files in the program's own folder.
WITH_FILES = 'exec env "$0=$TMPDIR/report" "$@" 2> "$TMPDIR/errors"'
FILES = ("report", "errors")
SYSTEM = "/usr/bin:/usr/local/bin"
# What a program is run for: its results, or a report, which this variable names, or times on a GPU.
RESULTS, TIMES = "", "times"
REPORTS = (CHECK, PROFILE)
MOST_LINES = 12  # of what a compiler or a program says
LONGEST_LINE = 300
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")  # another one in each run
ENDLESS = "has been running for"  # how the emulation names a kernel, and the line where it is
GOOD_STATUS = (0, 1)  # of an exercise: all right, or a wrong result


class Failed(Exception):
    """A build or a run that gave nothing to judge; the text says why."""


class Endless(Failed):
    """It came to no end within the time that it has."""


class Refused(Failed):
    """It does not take the options, or says so."""


@dataclass(frozen=True)
class Run:
    """What came of running a program."""

    rows: list[Row]
    said: list[str] = field(default_factory=list)  # on stderr
    report: str = ""  # of the hazard check
    counts: RawTable | None = None


@dataclass(frozen=True)
class OnGpu:
    """What compiles and runs there."""

    choice: Choice
    build_folder: Path  # of the gpu back end, with the library of common/


def gpu_of_this_machine() -> OnGpu:
    """Builds what programs for it are linked with. LabError where there is no nvcc."""
    choice = backend.choose("gpu", backend.find_nvcc())
    return OnGpu(choice, presets.build(setup.ensure("gpu"), "gpu", "lab_common"))


def require_gpu(exercise: Exercise) -> OnGpu:
    """For an exercise that is gpu_only. LabError says what this machine lacks."""
    problem = ask_driver().problem
    if problem:
        raise LabError(
            f"{exercise.name} is judged on an NVIDIA GPU, and this machine has none that works ({problem}). The cpu "
            "back end lacks the hardware that it is about. Run the same command on a machine with a GPU"
        )
    backend.pick("gpu")  # installs nvcc where nothing else is missing
    return gpu_of_this_machine()


@dataclass(frozen=True)
class Workshop:
    """Where copies of an exercise are built and run. Without `sandboxed`, nothing but limits keeps a
    program from what it may do to this machine: for one's own."""

    exercise: Exercise
    build_folder: Path  # of the cpu back end, with the emulator's libraries
    sandboxed: bool
    seconds: float = SECONDS  # that a run may take
    gpu: OnGpu | None = None
    preamble: Path | None = None  # a folder in which what the program includes is kept compiled

    def build(self, text: str, folder: Path, purpose: str) -> Path:
        """The program of `text`, in place of NAME.cu, that is run for this purpose. Failed with what the
        compiler says."""
        source = folder / "shipped" / self.exercise.source.name
        source.parent.mkdir(exist_ok=True)
        source.write_text(text, encoding="utf-8")
        return self.compile(source, folder, purpose)

    def compile(self, source: Path, folder: Path, purpose: str) -> Path:
        """The program that is run for this purpose, in a new folder below `folder`. Failed with what the
        compiler says."""
        on_gpu = self._is_on_gpu(purpose)
        place = folder / ("gpu" if on_gpu else "instrumented")
        place.mkdir()
        program = place / self.exercise.name
        command = self._nvcc() if on_gpu else self._driver()
        command += [
            "-w",
            "-I",
            str(ROOT / "common"),
            "-I",
            str(self.exercise.folder),
            "-o",
            str(program),
        ]
        command += [str(source), *self._libraries(on_gpu)]
        kept = [self.preamble] if self.preamble and not on_gpu else []
        command += [f"--preamble={path}" for path in kept]
        ended = self._run(command, COMPILING, folder, self.readable, [place, *kept])
        if ended.reason:
            raise Failed(f"the compiler {ended.reason}")
        if ended.status != 0:
            said = excerpt(ended.output, f"{folder}/", f"{source.parent}/")
            first = next((line for line in said if "error" in line), "the compiler failed")
            raise Failed("\n".join([f"does not compile: {first}", *said]))
        return program

    def _is_on_gpu(self, purpose: str) -> bool:
        """Times are taken there, and what is gpu_only runs nowhere else."""
        return purpose == TIMES or self.exercise.facts.gpu_only

    @property
    def readable(self) -> list[Path]:
        """What a compiler reads, but for the system's own."""
        own = [ROOT / name for name in ("common", "emulator")]
        folder = self.exercise.folder
        headers = [path for place in (folder, folder.parent) for path in place.glob("*.[ch]*")]
        folders = [*own, *headers, self.build_folder]
        folders += [self.gpu.build_folder] if self.gpu else []
        return [*folders, *of_compiler()]

    def _driver(self) -> list[str]:
        """In a sandbox there is the system's Python, whichever runs lab."""
        python = shutil.which("python3", path=SYSTEM) if self.sandboxed else sys.executable
        if not python:
            raise LabError(
                f"no Python in {SYSTEM}: submissions are compiled with that of the system"
            )
        return [python, str(own_program.DRIVER), "--instrument"]

    def _nvcc(self) -> list[str]:
        """As the project's build has it."""
        assert self.gpu
        rdc = str(self.exercise.facts.rdc).lower()
        arch = own_program.newest_architecture(self.gpu.choice)
        for exact in self.exercise.facts.architectures:
            if not exact.endswith("+"):
                arch = f"-gencode=arch=compute_{exact},code=sm_{exact}"
        return [self.gpu.choice.nvcc, "-std=c++17", "-O3", arch, f"-rdc={rdc}"]

    def _libraries(self, on_gpu: bool) -> list[str]:
        if not on_gpu:
            libraries = own_program.common_library(self.build_folder)
            return [*libraries, *own_program.emulator_library(self.build_folder)]
        assert self.gpu
        libraries = [*own_program.common_library(self.gpu.build_folder), "-lcudadevrt"]
        return [
            *libraries,
            *(
                ["-DLAB_HAVE_CUBLAS", "-lcublas"]
                if "CUDA::cublas" in self.exercise.facts.libraries
                else []
            ),
        ]

    def run(self, program: Path, options: str, purpose: str) -> Run:
        """Runs it with --csv; for a report, each kernel once. Failed where there are no rows."""
        folder = program.parent.parent
        on_gpu = self._is_on_gpu(purpose)
        how = {RESULTS: ["--reps=2"], TIMES: []}.get(purpose, ["--profile"])
        command = [str(program), *shlex.split(options), "--csv", *how]
        ended = self._run(
            ["sh", "-c", WITH_FILES, purpose or "RESULTS", *command],
            self._limits(on_gpu),
            folder,
            of_compiler(),
            [],
            # What checks starts addr2line, which finds the lines.
            single_process=purpose not in REPORTS,
            gpu=on_gpu,
        )
        said = excerpt(ended.files.get("errors", ""), f"{folder}/")
        if ended.late:
            where = [line.removeprefix("emulator: ") for line in said if ENDLESS in line]
            where = [line.partition(". Ctrl-C")[0] for line in where]
            raise Endless("\n".join([ended.reason, *where]))
        if ended.reason:
            raise Failed(ended.reason)
        if ended.status not in GOOD_STATUS:
            how = "\n".join([f"ended with {describe(ended.status)}", *said])
            raise (Refused if ended.status == BAD_USAGE else Failed)(how)
        text = ended.files.get("report", "")
        try:
            rows = csv_file.parse(ended.output, Path("table")).rows
        except (LabError, csv.Error):
            if purpose == CHECK and text:  # which says why
                return Run([], said, text)
            raise Failed("\n".join(["printed no table", *said])) from None
        try:
            counts = raw_csv.parse(text) if purpose == PROFILE else None
        except csv.Error:
            raise Failed("\n".join(["left no counts", *said])) from None
        return Run(rows, said, text, counts)

    def _limits(self, on_gpu: bool) -> Limits:
        limits = RUNNING_ON_GPU if on_gpu else RUNNING
        seconds = self.seconds * (TIMES_LONGER if on_gpu else 1)
        return replace(limits, seconds=seconds, cpu_seconds=seconds)

    def _run(
        self,
        command: list[str],
        limits: Limits,
        folder: Path,
        readable: list[Path],
        writable: list[Path],
        single_process: bool = False,
        gpu: bool = False,
    ) -> Ended:
        of_lab = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return sandbox.run(
            command,
            limits,
            readable=[folder, *readable],
            writable=writable,
            variables={**VARIABLES, **of_lab},
            cwd=folder,
            kept=FILES,
            sandboxed=self.sandboxed,
            single_process=single_process,
            gpu=gpu,
        )


def of_compiler() -> list[Path]:
    """The folder of a compiler that is not one of the system's in /usr; what it makes needs its libraries.
    LabError where that folder has more in it, which is nobody's business."""
    compiler = Path(os.path.realpath(find_compiler() or "/usr/bin/c++"))
    if Path("/usr") in compiler.parents:
        return []
    folder = compiler.parents[1]
    for other in (Path(os.path.expanduser("~")), ROOT):
        if folder in (other, *other.parents):
            raise LabError(
                f"the compiler {compiler}: submissions are compiled with all files of {folder} at hand, and "
                f"{other} is among them; CXX=COMPILER in the environment takes another"
            )
    return [folder]


def steady(text: str) -> str:
    """Without addresses, which differ from run to run, and without commands to a terminal."""
    return ADDRESS.sub("0x...", plain(text))


def excerpt(text: str, *folders: str) -> list[str]:
    """The first lines of what a program said that say something, without the names of the folders, and the
    same in each run."""
    for folder in folders:
        text = text[:MIB].replace(folder, "")
    lines = (line for line in text.splitlines() if line.strip())
    return [steady(as_written(line)).rstrip()[:LONGEST_LINE] for line in islice(lines, MOST_LINES)]
