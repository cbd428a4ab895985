"""Reads nvcc's command line for cc.py.

Options that only make sense for a GPU are accepted and ignored, so that a Makefile written for nvcc
works; those that ask for what the cpu back end does not have are errors.
"""

import os
import re
import shlex
from dataclasses import dataclass, field
from typing import Optional

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
    "prec-sqrt fmad cudart cudadevrt diag-suppress diag-warn diag-error t threads "
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

# Taken with a value that may be the next argument.
WITH_VALUE = set(
    "o D U I L l isystem include Xcompiler Xlinker x std default-stream library precompile".split()
)
GPU_CODE = {"ptx", "cubin", "fatbin", "optix-ir", "ltoir"}
NVCC_WERROR = {"all-warnings", "cross-execution-space-call", "reorder", "default-stream-launch"}

# (NVTX is headers: what they name is in the recording.)
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
    elif name == "default-stream":
        if value not in ("legacy", "null", "per-thread"):
            raise UsageError(f"--default-stream {value}: it is legacy or per-thread")
        if value == "per-thread":
            job.flags.append("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1")
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
