#!/usr/bin/env python3
"""Compiles CUDA source files for the cpu back end: takes nvcc's command line, runs the C++ compiler."""

import os
import shlex
import sys
import tempfile
from typing import Optional

from command_line import USAGE, Job, UsageError, parse
from ending import end_by_exception, run
from instrument_flags import instrument_flags
from translate import translate
from translator.lexer import TranslateError

OWN_INCLUDE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "include")

# As in Emulator.cmake: src/engine/undefined_arithmetic.cpp has what the checks call. (The profiler
# would count them as branches.)
CHECK_FLAGS = ["-fsanitize=shift-exponent,float-cast-overflow"]
INSTRUMENT_LIBRARY = "libcuda_emulator_instrument.a"
# Beside the library: what --precompile wrote.
PRECOMPILED = os.path.join("precompiled", "runtime.h")


def _is_toolkit(folder: str) -> bool:
    """Whether the folder holds the real CUDA headers, which must not come before ours."""
    own = os.path.realpath(folder) == os.path.realpath(OWN_INCLUDE)
    return not own and os.path.isfile(os.path.join(folder, "cuda_runtime_api.h"))


def _environment(folder: str) -> dict[str, str]:
    """This process's, in which CPATH names no real CUDA headers: they would come before ours. Temporary
    files go to `folder`: a compiler that is killed leaves its own behind."""
    environment = {**os.environ, "TMPDIR": folder}
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
        self._folder = ""  # for what is made on the way
        self._outputs = self._names_of_outputs()
        header = os.path.join(os.path.dirname(job.library or ""), PRECOMPILED)
        self._first_header = header if os.path.isfile(header) else "cuda_runtime.h"
        # DWARF 5 would do, but for binutils before 2.41: addr2line takes the file of a source without
        # headers for the translated one. As emulator/CMakeLists.txt: a large frame must not step over
        # the gap below a stack.
        self._flags = ["-gdwarf-4", job.optimize or "-O2", "-fstack-clash-protection"]
        self._flags += (
            ["-Wall", "-Wno-unknown-pragmas", "-Wno-sign-compare"] if job.warn else ["-w"]
        )

    def run(self) -> int:
        """Returns the exit status: 0, or 1 after a compiler's message. Raises UsageError."""
        with tempfile.TemporaryDirectory(prefix="lab-cc-") as self._folder:
            if self._job.precompile:
                return self._precompile(self._job.precompile)
            return self._make_outputs()

    def _make_outputs(self) -> int:
        job = self._job
        if not job.sources:
            raise UsageError("no input files")
        for path, _ in job.sources:
            if not os.path.isfile(path):
                raise UsageError(f"'{path}' does not exist")
        self._keep([path for path, _ in job.sources])
        return self._compile_only() if job.compile_only else self._build()

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

    def _compile_only(self) -> int:
        sources = [(path, lang) for path, lang in self._job.sources if lang != "link"]
        for (path, language), output in zip(sources, self._outputs):
            command = self._compiler(path, language)
            if not self._write([*command, "-c"], output):
                return 1
        return 0

    def _build(self) -> int:
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
            objects.append(os.path.join(self._folder, f"{i}.o"))
            command = self._compiler(path, language)
            if not self._call([*command, "-c", "-o", objects[-1]]):
                return 1
        command = [*self._cxx, *self._flags, *job.flags, *objects, *job.libraries]
        # The library's folder has Boost.Context where the system's has no name for linking.
        command += [*libraries, f"-L{os.path.dirname(job.library) or '.'}", "-lboost_context"]
        command += ["-ldl", "-pthread"]
        return 0 if self._write(command, self._outputs[0]) else 1

    def _compiler(self, path: str, language: str) -> list[str]:
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
        translated = os.path.join(self._folder, os.path.basename(path) + ".cpp")
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
            return run(command, _environment(self._folder)) == 0
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
    end_by_exception()
    sys.exit(main())
