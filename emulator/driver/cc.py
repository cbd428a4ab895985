#!/usr/bin/env python3
"""Compiles CUDA source files for the cpu back end: takes nvcc's command line, runs the C++ compiler."""

import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True  # a full disk would cut it short for all later runs

from ending import end_at_once, end_by_exception

if __name__ == "__main__":
    end_at_once()  # Ctrl-C during the imports

import hashlib
import os
import platform
import shlex
import shutil
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Optional

from command_line import Job, UsageError, parse, split_words
from instrument_flags import instrument_flags, is_of_clang
from make_rule import inputs_of, quoted, rule
from output_file import write
from preamble import digest, split
from translate import OWN_INCLUDE, translate
from translator.lexer import TranslateError
from usage import usage
from working import keep_own_rights, run, temporary_folder

# As in Emulator.cmake: src/engine/undefined_arithmetic.cpp has what the checks call. (The profiler
# would count them as branches.)
CHECK_FLAGS = ["-fsanitize=shift-exponent,float-cast-overflow"]
# As there and in CMakeLists.txt.
FLAGS_OF_PROCESSOR: list[str] = []
CHECKS_ALIGNMENT = platform.machine() == "aarch64"
if CHECKS_ALIGNMENT:
    CHECK_FLAGS.append("-fsanitize=integer-divide-by-zero,alignment")
    FLAGS_OF_PROCESSOR.append("-ffp-contract=off")
# (What is for __launch_bounds__ alone is not used here.)
WARNINGS = ["-Wall", "-Wno-unknown-pragmas", "-Wno-unused-const-variable", "-Wno-sign-compare"]
INSTRUMENT_LIBRARY = "libcuda_emulator_instrument.a"
OWN_FOLDER = os.path.dirname(os.path.realpath(__file__))
INSTRUMENT_CLANG = os.path.join(OWN_FOLDER, "instrument_clang.py")
# What runs a compiler where ccache is installed, for no checkout.
THROUGH_CCACHE = ["sh", os.path.join(OWN_FOLDER, "ccache.sh"), ""]
# Beside the library, in a folder for each kind of program: what --precompile wrote.
PRECOMPILED = "precompiled"
COMPILER_OF_PRECOMPILED = "compiler.txt"
BY_CLANG = "\n(clang)"  # behind the compiler's name


class CompilerError(Exception):
    """A compiler did not do what it said."""


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


def _tool(variable: str, default: str) -> list[str]:
    """The command that a variable of the environment names, with its arguments."""
    return split_words(f"${variable}", os.environ.get(variable, "")) or [default]


def _show(text: str, descriptor: int = 2) -> None:
    """Prints bytes: a file's name may be no UTF-8. Raises OSError."""
    data = os.fsencode(text)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError as error:
        error.filename = "stdout"
        raise


def _say(text: str) -> None:
    """Where nobody can be told, nobody is."""
    try:
        _show(text + "\n")
    except OSError:
        pass


class Driver:
    """Runs the compilers for a job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._cxx, self._cc = _tool("CXX", "c++"), _tool("CC", "cc")
        self._dirs = [folder for folder in job.include_dirs if not _is_toolkit(folder)]
        self._system_dirs = [folder for folder in job.system_dirs if not _is_toolkit(folder)]
        self._hooks: Optional[list[str]] = None  # flags for --instrument, once known
        self._folder = ""  # for what is made on the way
        self._compiled = [path for path, language in job.sources if language != "link"]
        self._outputs = self._names_of_outputs()
        self._rules: dict[str, str] = {}  # texts for make by their files
        header = os.path.join(
            os.path.dirname(job.library or ""), PRECOMPILED, self._kind(), "runtime.h"
        )
        self._first_header = header if self._has_precompiled(header) else "cuda_runtime.h"
        # DWARF 5 would do, but for binutils before 2.41: addr2line takes the file of a source without
        # headers for the translated one. As emulator/CMakeLists.txt: a large frame must not step over
        # the gap below a stack.
        self._flags = ["-gdwarf-4", job.optimize or "-O2", "-fstack-clash-protection"]
        self._flags += FLAGS_OF_PROCESSOR
        self._flags += WARNINGS if job.warn else ["-w"]

    def run(self) -> int:
        """Returns the exit status: 0, or 1 after a compiler's message. Raises UsageError, OSError,
        TranslateError or CompilerError."""
        # The name of what is compiled is one of the things by which ccache knows it.
        name = f"{zlib.crc32(repr(self._job.sources).encode()):08x}"
        with temporary_folder("lab-cc-", name) as self._folder:
            if self._job.precompile:
                return self._precompile(self._job.precompile)
            return self._make_outputs()

    def _make_outputs(self) -> int:
        job = self._job
        if not job.sources:
            raise UsageError("no input files")
        for path, _ in job.sources:
            if not os.path.exists(path):
                raise UsageError(f"'{path}' does not exist")
            if not os.path.isfile(path):
                what = "a folder" if os.path.isdir(path) else "no regular file"
                raise UsageError(f"'{path}' is {what}")
        self._keep([path for path, _ in job.sources])
        if job.kind == "rules":
            return self._make_rules()
        if job.kind == "objects":
            return self._make_objects()
        return self._archive() if job.kind == "archive" else self._build()

    def _kind(self) -> str:
        """Of program: each has a precompiled header of its own. (What is compiled with yet other flags
        takes the header itself.)"""
        if self._job.instrument:
            return "instrumented"
        return "debug" if self._job.optimize == "-O0" else "optimised"

    def _precompile(self, folder: str) -> int:
        """Writes folder/runtime.h, which includes the runtime's, and beside it what GCC makes of it for
        this kind of program: it takes that where it was made with the flags at hand, or else the header
        itself. Others do not, so that a note says which compiler it was."""
        header = os.path.join(folder, "runtime.h")
        # (ccache knows a header by its preprocessed text, which other macros alone do not change.)
        write(
            header, f'#include <cuda_runtime.h>\nstatic_assert(true, "{_digest(OWN_INCLUDE)}");\n'
        )
        clang = is_of_clang(self._instrument_flags())
        note = self._which_compiler() + (BY_CLANG if clang else "")
        write(os.path.join(folder, COMPILER_OF_PRECOMPILED), note)
        flags = self._instrument_flags() if self._job.instrument else CHECK_FLAGS
        command = [*self._cxx, f"-std={self._job.std}", *self._flags, "-isystem", OWN_INCLUDE]
        command += [*flags, "-x", "c++-header", header, "-o"]
        return 0 if self._write(command, f"{header}.gch") else 1

    def _has_precompiled(self, header: str) -> bool:
        """Whether our compiler made the header's precompiled one, and it fits. GCC sees to the latter
        itself; clang ends with an error, or takes it although a macro is another."""
        try:
            with open(os.path.join(os.path.dirname(header), COMPILER_OF_PRECOMPILED)) as file:
                note = file.read()
        except OSError:
            return False
        if note == self._which_compiler():
            return True
        has_defaults = self._job.std == Job.std and all(
            flag.startswith("-g") for flag in self._job.flags
        )
        return note == self._which_compiler() + BY_CLANG and has_defaults

    def _which_compiler(self) -> str:
        path = shutil.which(self._cxx[0])
        return shlex.join([os.path.realpath(path or self._cxx[0]), *self._cxx[1:]])

    # Names

    def _names_of_outputs(self) -> list[str]:
        """What is compiled: an object for each source, or one program or archive; nothing for -M."""
        job = self._job
        if job.kind == "rules":
            return []
        if job.kind != "objects":
            default = "a.a" if job.kind == "archive" else "a.out"
            return [default if job.output is None else job.output]
        if job.output is None:
            return [self._object(path, ".o") for path in self._compiled]
        if len(self._compiled) > 1:
            raise UsageError("-o with -c takes one source file")
        return [job.output]

    def _object(self, path: str, suffix: str) -> str:
        stem = os.path.splitext(os.path.basename(path))[0]
        return os.path.join(self._job.folder, stem + suffix)

    def _rules_file(self, path: str) -> str:
        """Where the rule for a source goes, as with nvcc; empty: to stdout."""
        job = self._job
        if job.rules_file is not None:
            return job.rules_file
        if job.kind == "rules":
            return job.output or ""
        return (
            self._object(path, ".d")
            if job.output is None
            else os.path.splitext(job.output)[0] + ".d"
        )

    def _keep(self, inputs: list[str]) -> None:
        """Raises UsageError if an output is one of the inputs, or cannot be made where it should."""
        outputs = [("-o", output) for output in self._outputs]
        if self._job.rules:
            outputs += dict.fromkeys(("-MF", self._rules_file(path)) for path in self._compiled)
        for i, (option, output) in enumerate(outputs):
            if option == "-MF" and not output:
                continue
            if not output:
                raise UsageError(f"{option} '': the output needs a name")
            if os.path.isdir(output):
                raise UsageError(f"{option} {output}: this is a folder; name a file in it")
            folder = os.path.dirname(output)
            if folder and not os.path.isdir(folder):
                raise UsageError(f"{option} {output}: there is no folder '{folder}'; make it first")
            if any(_same(output, other) for _, other in outputs[:i]):
                raise UsageError(f"{option} {output}: two outputs would have this name")
            for path in inputs:
                if _same(output, path):
                    raise UsageError(
                        f"{option} {output}: would overwrite '{path}', from which it is made; "
                        "choose another name"
                    )

    # Kinds of jobs

    def _make_rules(self) -> int:
        for path, language in self._job.sources:
            if language != "link" and not self._compile(path, language, []):
                return 1
        return 0

    def _make_objects(self) -> int:
        sources = [(path, lang) for path, lang in self._job.sources if lang != "link"]
        for (path, language), output in zip(sources, self._outputs):
            if not self._compile(path, language, ["-c"], output):
                return 1
        return 0

    def _objects(self) -> Optional[list[str]]:
        """What is to be linked, once it is compiled; None if that fails."""
        objects = []
        for i, (path, language) in enumerate(self._job.sources):
            if language == "link":
                objects.append(path)
                continue
            objects.append(os.path.join(self._folder, f"{i}.o"))
            if not self._compile(path, language, ["-c", "-o", objects[-1]]):
                return None
        return objects

    def _archive(self) -> int:
        for path, language in self._job.sources:
            if language == "link" and not path.endswith((".o", ".obj")):
                raise UsageError(f"'{path}': -lib makes an archive of sources and objects alone")
        objects = self._objects()
        if objects is None:
            return 1
        done = self._write([*_tool("AR", "ar"), "rcs"], self._outputs[0], objects)
        return 0 if done else 1

    def _build(self) -> int:
        job = self._job
        if not job.library or not os.path.isfile(job.library):
            raise UsageError(
                f"no emulator library at '{job.library or ''}': give --emulator "
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
        objects = self._objects()
        if objects is None:
            return 1
        command = [*self._cxx, *self._flags, *job.flags, *objects, *job.libraries]
        done = self._write([*command, *libraries, "-ldl", "-pthread", "-o"], self._outputs[0])
        return 0 if done else 1

    # Sources

    def _compile(self, path: str, language: str, what: list[str], output: str = "") -> bool:
        """Translates and compiles a source; `what` is to be made of it."""
        names: dict[str, str] = {}
        if language == "cu":
            translated = os.path.join(
                self._job.preamble or self._folder, os.path.basename(path) + ".cpp"
            )
            if not self._job.dry_run:
                dirs = self._dirs + self._system_dirs
                names = translate(path, translated, dirs, self._job.instrument, self._job.relaxed)
                self._keep(list(names.values()))
            command = self._compiler(path, language, translated)
            if self._job.preamble and not is_of_clang(self._instrument_flags()):
                command = self._with_preamble(command, self._job.preamble, translated, names)
        else:
            command = self._compiler(path, language, path)
        found = os.path.join(self._folder, "rule.d")
        if self._job.rules:
            command += [self._job.rules, "-MF", found]
        if output:
            command = [*command, *what, "-o"]
            return self._write(command, output, done=lambda: self._write_rule(path, found, names))
        done = self._call([*command, *what])
        if done:
            self._write_rule(path, found, names)
        return done

    def _compiler(self, path: str, language: str, compiled: str) -> list[str]:
        """The command that compiles a source, but for the kind and name of the output."""
        job = self._job
        includes = [f"-I{folder}" for folder in self._dirs] + ["-isystem", OWN_INCLUDE]
        includes += [word for folder in self._system_dirs for word in ("-isystem", folder)]
        std = [f"-std={job.std}"]
        # Behind the user's flags: -O0 counts. All of C++, since functions of a header that several
        # files include are linked once.
        flags = [*job.flags, *(self._instrument_flags() if job.instrument else CHECK_FLAGS)]
        cxx = self._cxx
        if (job.instrument or CHECKS_ALIGNMENT) and is_of_clang(self._instrument_flags()):
            cxx = [sys.executable, INSTRUMENT_CLANG, *cxx]
        if language == "c":
            return [*self._cc, *self._flags, *includes, *job.flags, "-x", "c", compiled]
        if language == "c++":
            if job.instrument:
                includes += ["-include", "emu/memory_functions.h"]
            return [*cxx, *std, *self._flags, *includes, *flags, "-x", "c++", compiled]
        # Like nvcc, include the runtime's header without being asked.
        includes += ["-include", self._first_header, "-iquote", os.path.dirname(path) or "."]
        return [*cxx, *std, *self._flags, *includes, *flags, compiled]

    def _with_preamble(
        self, command: list[str], folder: str, translated: str, names: dict[str, str]
    ) -> list[str]:
        """The command that compiles all but the preamble of the file `translated`, with GCC. In `folder` the
        preamble is, and compiled, if it compiles. `names` has the files that were read, as the keys."""
        with open(translated, encoding="utf-8", errors="surrogateescape", newline="") as file:
            preamble, rest = split(file.read())
        header = os.path.join(folder, "preamble.h")
        first = command.index(self._first_header)
        precompile = [*command[: first - 1], *command[first + 1 : -1]]
        files = [*names, os.path.join(os.path.dirname(self._first_header), "runtime.h.gch")]
        files.remove(os.path.realpath(translated))
        wanted = digest(preamble, [*precompile, self._which_compiler()], files)
        text = f"// {wanted}\n#include <cuda_runtime.h>\n{preamble}"
        compiled = f"{header}.gch"
        if not self._is(header, text) or not os.path.exists(compiled):
            if os.path.exists(compiled):
                os.remove(compiled)
            write(header, text)
            self._write([*precompile, "-x", "c++-header", header, "-o"], compiled)
        write(translated, rest)
        return [*command[:first], header, *command[first + 1 :]]

    def _is(self, path: str, text: str) -> bool:
        try:
            with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                return file.read() == text
        except OSError:
            return False

    # Rules for make

    def _write_rule(self, path: str, found: str, names: dict[str, str]) -> None:
        """Writes the rule that the compiler found for a source, if one is asked for, in the user's
        names: without what is made on the way and the emulator's own headers."""
        if not self._job.rules or self._job.dry_run:
            return
        own = tuple(
            os.path.realpath(folder) + os.sep
            for folder in (OWN_INCLUDE, os.path.dirname(self._first_header) or OWN_INCLUDE)
        )
        with open(found, encoding="utf-8", errors="surrogateescape") as file:
            read = {name: os.path.realpath(name) for name in inputs_of(file.read())}
        inputs = [names.get(real, name) for name, real in read.items() if not real.startswith(own)]
        target = self._job.rules_target
        if target is None:
            made = self._job.output if self._job.kind != "rules" else None
            target = quoted(made or self._object(path, ".o"))
        text = rule(target, inputs, self._job.rules_for_headers)
        if any("\n" in name for name in [target, *inputs]):
            raise UsageError(
                f"'{path}': make has no way to name a file with a line break in its name"
            )
        output = self._rules_file(path)
        self._rules[output] = self._rules.get(output, "") + text
        if output:
            write(output, self._rules[output])
        else:
            _show(text, 1)

    # Programs that are run

    def _write(
        self,
        command: list[str],
        output: str,
        inputs: Sequence[str] = (),
        done: Callable[[], None] = lambda: None,
    ) -> bool:
        """Runs a command that makes `output`, which follows it, of `inputs`, which come then; calls
        `done` where that goes well. If it, or `done`, fails, the output stays as it was."""
        if os.path.exists(output) and not os.path.isfile(output):  # such as /dev/null
            if not self._call([*command, output, *inputs]):
                return False
            done()
            return True
        target = os.path.realpath(output) if os.path.islink(output) else output
        target = f"./{target}" if target.startswith("-") else target  # for ar it were an option
        temporary = f"{target}.{os.getpid()}.tmp"
        try:
            if not self._call([*command, temporary, *inputs]):
                return False
            done()
            if os.path.exists(temporary):
                os.replace(temporary, target)
            elif not self._job.dry_run and "-fsyntax-only" not in command:
                raise CompilerError(f"'{command[0]}' made no {output}: is it a compiler?")
            return True
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    def _call(self, command: list[str]) -> bool:
        if self._job.verbose:
            _say(f"+ {shlex.join(command)}")
        if self._job.dry_run:
            return True
        try:
            return run(self._through_ccache(command), _environment(self._folder)) == 0
        except FileNotFoundError:
            raise _no_compiler(command) from None

    def _through_ccache(self, command: list[str]) -> list[str]:
        """The command that runs one which compiles C++. A compiler of several words may be a launcher
        itself."""
        cxx = self._cxx[0]
        compiles = cxx in command and not {"-c", "c++-header"}.isdisjoint(command)
        is_there = shutil.which("ccache") and shutil.which(cxx)
        if len(self._cxx) > 1 or not compiles or not is_there or self._job.preamble:
            return command
        place = command.index(cxx)
        return [*command[:place], *THROUGH_CCACHE, *command[place:]]

    def _instrument_flags(self) -> list[str]:
        if self._hooks is None:
            try:
                self._hooks = instrument_flags(self._cxx)
            except FileNotFoundError:
                raise _no_compiler(self._cxx) from None
        return self._hooks


def _digest(folder: str) -> str:
    """Of all files in a folder and those below it."""
    digest = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _same(path: str, other: str) -> bool:
    """Whether two names are one file, or would be."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


def _no_compiler(command: list[str]) -> UsageError:
    return UsageError(f"no compiler '{command[0]}': install g++, or name one with CXX=...")


def _complain(error: Exception) -> None:
    text = str(error).replace("\n", "\\n")  # of a file's name
    _say(f"lab cc: error: {text}")


def _version() -> str:
    return "lab cc: the compiler driver of the cpu back end, with the API of CUDA release 13.0\n"


def main(argv: Optional[list[str]] = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if not arguments:
            _say(usage().rstrip("\n"))
            return 2
        job = parse(arguments)
        if job.help or job.version:
            _show(usage() if job.help else _version(), 1)
            return 0
        return Driver(job).run()
    except UsageError as error:
        _complain(error)
        return 2
    except CompilerError as error:
        _complain(error)
    except TranslateError as error:
        _say(str(error))
    except BrokenPipeError:  # nobody reads on
        pass
    except OSError as error:
        _say(f"{error.filename or 'lab cc'}: error: {error.strerror}")
    return 1


if __name__ == "__main__":
    end_by_exception()
    keep_own_rights()
    status = main()
    end_at_once()  # nothing is left to be removed
    sys.exit(status)
