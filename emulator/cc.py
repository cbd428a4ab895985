#!/usr/bin/env python3
"""Compiles CUDA source files for the cpu back end: takes nvcc's command line, runs the C++ compiler.

Options that only make sense for a GPU are accepted and ignored, so that a Makefile written for nvcc
works; those that ask for what the cpu back end does not have are errors.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Optional

from instrument_flags import instrument_flags
from translate import translate
from translator.lexer import TranslateError

OWN_INCLUDE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "include")

USAGE = """\
usage: lab cc FILE... [-o OUTPUT] [-c] [OPTIONS]

Compiles CUDA and C++ sources for the cpu back end and links them. OPTIONS are nvcc's or the C++
compiler's: -O0, -g, -std=c++20, -I, -D, -L, -l, -Xcompiler ...; the default is -O2 -g -Wall. The
compiler is $CXX (C sources: $CC), else c++ (cc). -v shows the commands.

--instrument makes a program for the profiler and the hazard check: without optimisation, so that it
does what the source says.
"""

LONG_NAMES = {
    "output-file": "o",
    "compile": "c",
    "device-c": "dc",
    "device-w": "dc",
    "dw": "dc",
    "define-macro": "D",
    "undefine-macro": "U",
    "include-path": "I",
    "system-include": "isystem",
    "pre-include": "include",
    "library-path": "L",
    "compiler-options": "Xcompiler",
    "linker-options": "Xlinker",
    "debug": "g",
    "device-debug": "G",
    "profile": "pg",
    "disable-warnings": "w",
    "verbose": "v",
    "help": "h",
    "dlink": "device-link",
}
# For a GPU, or about dependency files: nothing to do here.
IGNORED_WITH_VALUE = set(
    "arch gpu-architecture code gpu-code gencode generate-code rdc relocatable-device-code "
    "maxrregcount Xptxas ptxas-options Xnvlink nvlink-options Xcudafe Xarchive ftz prec-div "
    "prec-sqrt fmad cudart cudadevrt default-stream diag-suppress diag-warn diag-error t threads "
    "split-compile ccbin compiler-bindir Ofast-compile Ofc MF MT MQ dependency-output".split()
)
IGNORED = set(
    "lineinfo generate-line-info use_fast_math extended-lambda expt-extended-lambda "
    "expt-relaxed-constexpr restrict res-usage resource-usage src-in-ptx source-in-ptx dlto lto "
    "keep save-temps no-compress allow-unsupported-compiler forward-unknown-to-host-compiler "
    "forward-unknown-to-host-linker forward-unknown-opts Wno-deprecated-gpu-targets "
    "Wext-lambda-captures-this Wdefault-stream-launch Wmissing-launch-bounds extra-device-"
    "vectorization MD MMD MP".split()
)
# As in Emulator.cmake: src/engine/undefined_arithmetic.cpp has what the checks call. (The profiler
# would count them as branches.)
CHECK_FLAGS = ["-fsanitize=shift-exponent,float-cast-overflow"]
INSTRUMENT_LIBRARY = "libcuda_emulator_instrument.a"
# Beside the library: what --precompile wrote.
PRECOMPILED = os.path.join("precompiled", "runtime.h")

# Taken with a value that may be the next argument.
WITH_VALUE = set("o D U I L l isystem include Xcompiler Xlinker x std library precompile".split())
GPU_CODE = {"ptx", "cubin", "fatbin", "optix-ir", "ltoir"}
NVCC_WERROR = {"all-warnings", "cross-execution-space-call", "reorder", "default-stream-launch"}

# (NVTX is a header that does nothing.)
IGNORED_LIBRARIES = {"cudart", "cudart_static", "cudadevrt", "cuda", "nvToolsExt"}
LIBRARIES = {
    "cublas": "cuBLAS",
    "cudnn": "cuDNN",
    "cufft": "cuFFT",
    "cupti": "CUPTI",
    "curand": "cuRAND",
    "cusolver": "cuSOLVER",
    "cusparse": "cuSPARSE",
    "cutensor": "cuTENSOR",
    "nccl": "NCCL",
    "npp": "NPP",
    "nvidia-ml": "NVML",
    "nvJitLink": "nvJitLink",
    "nvjpeg": "nvJPEG",
    "nvrtc": "NVRTC",
}

LANGUAGES = {".cu": "cu", ".c": "c"}
LANGUAGES.update(dict.fromkeys((".cpp", ".cc", ".cxx", ".c++", ".C"), "c++"))
LANGUAGES.update(dict.fromkeys((".o", ".obj", ".a", ".so"), "link"))


class UsageError(Exception):
    """A command line that cannot be carried out, and why."""


@dataclass
class Job:
    """What the command line asks for."""

    sources: list[tuple[str, str]] = field(default_factory=list)  # (path, language)
    output: Optional[str] = None
    compile_only: bool = False
    verbose: bool = False
    help: bool = False
    library: Optional[str] = None  # the emulator's
    precompile: Optional[str] = None  # a header to write
    instrument: bool = False
    std: str = "c++17"
    include_dirs: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)  # of compiling and linking
    libraries: list[str] = field(default_factory=list)  # and where to find them, in order
    warn: bool = True
    optimize: Optional[str] = None


def parse(argv: list[str]) -> Job:
    """Reads nvcc's command line. Raises UsageError."""
    job = Job()
    language: Optional[str] = None  # of -x
    rest = list(argv)
    while rest:
        argument = rest.pop(0)
        if not argument.startswith("-") or argument == "-":
            job.sources.append((argument, _language(argument, language)))
            continue
        name, value = _split_option(argument)
        if value is None and (name in WITH_VALUE or name in IGNORED_WITH_VALUE):
            if not rest:
                raise UsageError(f"{argument} needs a value")
            value = rest.pop(0)
        if name == "x":
            if value not in ("cu", "c", "c++"):
                raise UsageError(f"-x {value}: the languages are cu, c and c++")
            language = value
        elif name == "Werror":
            kind = value if value else rest.pop(0) if rest and rest[0] in NVCC_WERROR else ""
            if kind not in NVCC_WERROR:
                job.flags.append(argument)
            elif kind == "all-warnings":
                job.flags.append("-Werror")
        elif name not in IGNORED and name not in IGNORED_WITH_VALUE:
            _option(job, argument, name, value or "")
    return job


def _split_option(argument: str) -> tuple[str, Optional[str]]:
    """-Idir, -I=dir and --include-path=dir give ("I", "dir"); an option without a value gives None
    for it."""
    name, equals, value = argument.lstrip("-").partition("=")
    name = LONG_NAMES.get(name, name)
    if name in WITH_VALUE | IGNORED_WITH_VALUE | {"Werror"}:
        return name, value if equals else None
    if argument[1] in "oDUILlO" and name not in IGNORED:
        return argument[1], argument[2:]
    return name, None


def _language(path: str, given: Optional[str]) -> str:
    suffix = os.path.splitext(path)[1]
    language = LANGUAGES.get(suffix) or ("link" if re.search(r"\.so(\.\d+)+$", path) else None)
    if language == "link":
        return language
    language = given or language
    if language is None:
        known = " ".join(LANGUAGES)
        raise UsageError(f"'{path}' is no source, object or library by its name ({known})")
    return language


def _option(job: Job, argument: str, name: str, value: str) -> None:
    """Notes one option that is not ignored."""
    if name == "o":
        job.output = value
    elif name in ("c", "dc"):
        job.compile_only = True
    elif name == "v":
        job.verbose = True
    elif name == "h":
        job.help = True
    elif name == "library":
        job.library = value
    elif name == "precompile":
        job.precompile = value
    elif name == "instrument":
        job.instrument = True
    elif name == "std":
        # The headers of the back end need C++17.
        older = re.fullmatch(r"(c|gnu)\+\+(98|03|0x|11|1y|14)", value)
        job.std = f"{older.group(1)}++17" if older else value
    elif name == "O":
        job.optimize = f"-O{value}"
    elif name == "G":
        job.optimize = job.optimize or "-O0"
    elif name == "w":
        job.warn = False
    elif name == "I":
        job.include_dirs += value.split(",")
    elif name == "L":
        job.libraries += [f"-L{folder}" for folder in value.split(",")]
    elif name == "l":
        for library in value.split(","):
            if library not in IGNORED_LIBRARIES:
                _check_library(library)
                job.libraries.append(f"-l{library}")
    elif name in ("D", "U"):
        job.flags.append(f"-{name}{value}")
    elif name in ("isystem", "include"):
        job.flags += [f"-{name}", value]
    elif name == "Xcompiler":
        job.flags += [word for part in value.split(",") for word in shlex.split(part)]
    elif name == "Xlinker":
        job.libraries += [word for part in value.split(",") for word in ("-Xlinker", part)]
    elif name in GPU_CODE:
        raise UsageError(f"{argument} makes GPU code, which the cpu back end does not have")
    elif name == "device-link":
        raise UsageError(f"{argument}: there is no device code to link; link the objects with -o")
    elif name == "shared":
        raise UsageError(
            f"{argument}: the cpu back end makes programs, no shared libraries; compile with -c, and "
            "link the objects into the program"
        )
    elif name in ("E", "M", "MM", "run"):
        raise UsageError(f"{argument} is not supported on the cpu back end")
    else:
        job.flags.append(argument)


def _check_library(name: str) -> None:
    for prefix, library in LIBRARIES.items():
        if name.startswith(prefix):
            raise UsageError(
                f"-l{name}: the cpu back end has no {library}; compile without it, or with nvcc"
            )


def _is_toolkit(folder: str) -> bool:
    """Whether the folder holds the real CUDA headers, which must not come before ours."""
    own = os.path.realpath(folder) == os.path.realpath(OWN_INCLUDE)
    return not own and os.path.isfile(os.path.join(folder, "cuda_runtime_api.h"))


def _environment() -> dict[str, str]:
    """This process's, in which CPATH names no real CUDA headers: they would come before ours."""
    environment = dict(os.environ)
    if "CPATH" in environment:
        folders = environment.pop("CPATH").split(os.pathsep)
        kept = os.pathsep.join(folder for folder in folders if not _is_toolkit(folder))
        environment.update({"CPATH": kept} if kept else {})
    return environment


class Driver:
    """Runs the compilers for a job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._cxx = shlex.split(os.environ.get("CXX", "")) or ["c++"]
        self._cc = shlex.split(os.environ.get("CC", "")) or ["cc"]
        self._dirs = [folder for folder in job.include_dirs if not _is_toolkit(folder)]
        self._hooks: Optional[list[str]] = None  # flags for --instrument, once known
        self._outputs = self._names_of_outputs()
        header = os.path.join(os.path.dirname(job.library or ""), PRECOMPILED)
        self._first_header = header if os.path.isfile(header) else "cuda_runtime.h"
        # As emulator/CMakeLists.txt: a large frame must not step over a stack's guard page.
        self._flags = ["-g", job.optimize or "-O2", "-fstack-clash-protection"]
        self._flags += (
            ["-Wall", "-Wno-unknown-pragmas", "-Wno-sign-compare"] if job.warn else ["-w"]
        )

    def run(self) -> int:
        """Returns the exit status: 0, or 1 after a compiler's message. Raises UsageError."""
        job = self._job
        if job.precompile:
            return self._precompile(job.precompile)
        if not job.sources:
            raise UsageError("no input files")
        for path, _ in job.sources:
            if not os.path.isfile(path):
                raise UsageError(f"'{path}' does not exist")
        self._keep([path for path, _ in job.sources])
        with tempfile.TemporaryDirectory(prefix="lab-cc-") as folder:
            return self._compile_only(folder) if job.compile_only else self._build(folder)

    def _precompile(self, header: str) -> int:
        """Writes `header`, which includes the runtime's, and beside it what GCC makes of it: of the
        files in header.gch/ it takes the one that was made with the flags at hand, or else the header
        itself, as other compilers do."""
        os.makedirs(f"{header}.gch", exist_ok=True)
        with open(header, "w") as file:
            file.write("#include <cuda_runtime.h>\n")
        common = [*self._cxx, f"-std={self._job.std}", *self._flags, "-isystem", OWN_INCLUDE]
        for name, flags in (
            ("optimised", CHECK_FLAGS),
            ("debug", ["-O0", *CHECK_FLAGS]),
            ("instrumented", self._instrument_flags()),
        ):
            output = os.path.join(f"{header}.gch", name)
            if not self._call([*common, *flags, "-x", "c++-header", header, "-o", output]):
                return 1
        return 0

    def _names_of_outputs(self) -> list[str]:
        """What is compiled: an object for each source, or one program."""
        job = self._job
        if not job.compile_only:
            return ["a.out" if job.output is None else job.output]
        paths = [path for path, language in job.sources if language != "link"]
        if job.output is None:
            return [f"{os.path.splitext(os.path.basename(path))[0]}.o" for path in paths]
        if len(paths) > 1:
            raise UsageError("-o with -c takes one source file")
        return [job.output]

    def _keep(self, inputs: list[str]) -> None:
        """Raises UsageError if an output is one of the inputs."""
        for output in self._outputs:
            if not output:
                raise UsageError("-o '': the output needs a name")
            if os.path.isdir(output):
                raise UsageError(f"-o {output}: this is a folder; name a file in it")
            for path in inputs:
                if os.path.exists(output) and os.path.samefile(output, path):
                    raise UsageError(
                        f"-o {output}: would overwrite '{path}', from which it is made; "
                        "choose another name"
                    )

    def _compile_only(self, folder: str) -> int:
        sources = [(path, lang) for path, lang in self._job.sources if lang != "link"]
        for (path, language), output in zip(sources, self._outputs):
            command = self._compiler(path, language, folder)
            if not self._write([*command, "-c"], output):
                return 1
        return 0

    def _build(self, folder: str) -> int:
        job = self._job
        if not job.library or not os.path.isfile(job.library):
            raise UsageError(
                f"no emulator library at '{job.library or ''}': give --library "
                "libcuda_emulator.a, or use ./lab cc, which builds it"
            )
        libraries = [job.library]
        if job.instrument:
            hooks = os.path.join(os.path.dirname(job.library), INSTRUMENT_LIBRARY)
            if not os.path.isfile(hooks):
                raise UsageError(f"no '{hooks}': use ./lab cc --instrument, which builds it")
            # All of it: it starts itself before main().
            whole = ["-Wl,--whole-archive", hooks, "-Wl,--no-whole-archive"]
            libraries = [*whole, job.library]
        objects = []
        for i, (path, language) in enumerate(job.sources):
            if language == "link":
                objects.append(path)
                continue
            objects.append(os.path.join(folder, f"{i}.o"))
            command = self._compiler(path, language, folder)
            if not self._call([*command, "-c", "-o", objects[-1]]):
                return 1
        command = [*self._cxx, *self._flags, *job.flags, *objects, *job.libraries]
        command += [*libraries, "-lboost_context", "-ldl", "-pthread"]
        return 0 if self._write(command, self._outputs[0]) else 1

    def _compiler(self, path: str, language: str, folder: str) -> list[str]:
        """The command for a source, but for the kind and name of the output. Translates it first."""
        job = self._job
        includes = [f"-I{folder}" for folder in self._dirs] + ["-isystem", OWN_INCLUDE]
        std = [f"-std={job.std}"]
        # Behind the user's flags: -O0 counts. All of C++, since functions of a header that several
        # files include are linked once.
        flags = [*job.flags, *(self._instrument_flags() if job.instrument else CHECK_FLAGS)]
        if language == "c":
            return [*self._cc, *self._flags, *includes, *job.flags, path]
        if language == "c++":
            return [*self._cxx, *std, *self._flags, *includes, *flags, "-x", "c++", path]
        translated = os.path.join(folder, os.path.basename(path) + ".cpp")
        self._keep(translate(path, translated, self._dirs, job.instrument))
        # Like nvcc, include the runtime's header without being asked.
        includes += ["-include", self._first_header, "-iquote", os.path.dirname(path) or "."]
        return [*self._cxx, *std, *self._flags, *includes, *flags, translated]

    def _write(self, command: list[str], output: str) -> bool:
        """Runs a compiler that makes `output`, which stays as it was if that fails."""
        if os.path.exists(output) and not os.path.isfile(output):  # such as /dev/null
            return self._call([*command, "-o", output])
        target = os.path.realpath(output) if os.path.islink(output) else output
        temporary = f"{target}.{os.getpid()}.tmp"
        try:
            if not self._call([*command, "-o", temporary]):
                return False
            if os.path.exists(temporary):  # but with -fsyntax-only
                os.replace(temporary, target)
            return True
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    def _call(self, command: list[str]) -> bool:
        if self._job.verbose:
            print("+", shlex.join(command), file=sys.stderr)
        try:
            return subprocess.run(command, env=_environment()).returncode == 0
        except FileNotFoundError:
            raise _no_compiler(command) from None

    def _instrument_flags(self) -> list[str]:
        if self._hooks is None:
            try:
                self._hooks = instrument_flags(self._cxx)
            except FileNotFoundError:
                raise _no_compiler(self._cxx) from None
        return self._hooks


def _no_compiler(command: list[str]) -> UsageError:
    return UsageError(f"no compiler '{command[0]}': install g++, or name one with CXX=...")


def main(argv: Optional[list[str]] = None) -> int:
    try:
        job = parse(sys.argv[1:] if argv is None else argv)
        if job.help:
            print(USAGE, end="")
            return 0
        return Driver(job).run()
    except UsageError as error:
        print(f"lab cc: error: {error}", file=sys.stderr)
        return 2
    except TranslateError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename}: error: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
