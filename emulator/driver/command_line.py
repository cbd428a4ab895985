"""Reads nvcc's command line for cc.py.

Options that only make sense for a GPU are accepted and ignored, so that a Makefile written for nvcc
works; those that ask for what the cpu back end does not have are errors. What nvcc does not know is
the host compiler's.
"""

import os
import re
import shlex
from dataclasses import dataclass, field
from typing import Optional

from make_rule import quoted
from nvcc_options import Option, apart, find

# Options of the host compiler whose value is the next argument.
HOST_WITH_VALUE = {
    *("-iquote", "-idirafter", "-imacros", "-isysroot", "-Xassembler", "-Xpreprocessor"),
    *("-Xclang", "-mllvm", "--param", "-B", "-T", "-u", "-z"),
}
# Kinds of nvcc's -Werror, and what they are to the host compiler.
WERROR = {
    "all-warnings": "-Werror",
    "reorder": "-Werror=reorder",
    "deprecated-declarations": "-Werror=deprecated-declarations",
    "cross-execution-space-call": "",
    "default-stream-launch": "",
    "missing-launch-bounds": "",
    "ext-lambda-captures-this": "",
}

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
    folder: str = ""  # of objects that have no name given
    kind: str = "program"  # or "objects", "archive", "rules"
    verbose: bool = False
    dry_run: bool = False
    help: bool = False
    version: bool = False
    library: Optional[str] = None  # the emulator's
    precompile: Optional[str] = None  # a folder for a precompiled header
    preamble: Optional[str] = None  # a folder for what the includes of the source compile to
    instrument: bool = False
    relaxed: bool = False  # device code may call constexpr functions of the host
    std: str = "c++17"
    include_dirs: list[str] = field(default_factory=list)
    system_dirs: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)  # of compiling and linking
    libraries: list[str] = field(default_factory=list)  # and where to find them, in order
    warn: bool = True
    optimize: Optional[str] = None
    # Rules for make:
    rules: str = ""  # the option that asks for them, such as "-MMD"
    rules_file: Optional[str] = None
    rules_target: Optional[str] = None  # as it stands in the rule
    rules_for_headers: bool = False


def parse(argv: list[str]) -> Job:
    """Reads nvcc's command line. Raises UsageError."""
    reader = _Reader(argv)
    reader.read()
    return reader.job


def split_words(what: str, text: str, separators: str = " \t\r\n") -> list[str]:
    """The words of a text, as a shell has them. Raises UsageError, which says `what` the text is, where
    a quote is not closed."""
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace = separators
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError as error:
        ending = "a backslash" if "escaped" in str(error) else "a quotation that is not closed"
        raise UsageError(f"{what} ends with {ending}: {_tail(text)}") from None


def _tail(text: str) -> str:
    """The last of a text that may be a file's."""
    line = text.strip().split("\n")[-1]
    return line if len(line) < 60 else f"...{line[-60:]}"


def _split_commas(option: str, value: str) -> list[str]:
    """nvcc's lists: a comma separates, but not between double quotes nor behind a backslash."""
    parts, part, quoted, i = [], "", False, 0
    while i < len(value):
        if value[i] == "\\" and value[i + 1 : i + 2] in (",", '"'):
            i += 1
            part += value[i]
        elif value[i] == "," and not quoted:
            parts.append(part)
            part = ""
        else:
            quoted ^= value[i] == '"'
            part += value[i]
        i += 1
    if quoted:
        raise UsageError(f"{option} ends with a quotation that is not closed: {_tail(value)}")
    return [part for part in [*parts, part] if part]


class _Reader:
    """Goes through the arguments."""

    def __init__(self, argv: list[str]) -> None:
        self.job = Job()
        self._rest = list(argv)
        self._language: Optional[str] = None  # of -x
        self._debug_device = False
        self._optimize_device = False
        self._options_files = 0
        self._awaits = ""  # an option of -Xcompiler whose value comes next

    def read(self) -> None:
        while self._rest:
            argument = self._rest.pop(0)
            if argument.startswith("@"):
                raise UsageError(f"{argument}: write --options-file {argument[1:]}, as for nvcc")
            if not argument.startswith("-") or argument == "-":
                self.job.sources.append((argument, _language(argument, self._language)))
            elif not self._own_option(argument):
                found = find(argument)
                if found is None:
                    self._host_option(argument)
                else:
                    self._nvcc_option(argument, *found)
        if self._awaits:
            raise UsageError(f"-Xcompiler {self._awaits} needs a value")
        if self.job.rules_file is not None and not self.job.rules:
            raise UsageError(f"-MF {self.job.rules_file} needs one of -M, -MM, -MD and -MMD")
        if self._debug_device and not self._optimize_device:
            self.job.optimize = self.job.optimize or "-O0"

    def _value(self, argument: str) -> str:
        if not self._rest:
            raise UsageError(f"{argument} needs a value")
        return self._rest.pop(0)

    def _own_option(self, argument: str) -> bool:
        """Those that nvcc does not have."""
        name, equals, value = argument.partition("=")
        if name == "--instrument":
            self.job.instrument = True
        elif name == "--emulator":
            self.job.library = value if equals else self._value(argument)
        elif name == "--precompile":
            self.job.precompile = value if equals else self._value(argument)
        elif name == "--preamble":
            self.job.preamble = value if equals else self._value(argument)
        elif name.lstrip("-") == "Werror":
            self._werror(argument, value)
        else:
            return False
        return True

    def _werror(self, argument: str, value: str) -> None:
        """nvcc's, which takes a value, or the host compiler's."""
        following = self._rest[0] if self._rest and "=" not in argument else ""
        if following and set(following.split(",")) <= set(WERROR):
            value = self._rest.pop(0)
        kinds = value.split(",")
        if value and set(kinds) <= set(WERROR):
            self.job.flags += [WERROR[kind] for kind in kinds if WERROR[kind]]
        else:
            self.job.flags.append(argument)

    def _host_option(self, argument: str) -> None:
        if argument == "--" or os.path.isfile(argument):
            name = argument if argument != "--" else "-NAME"
            raise UsageError(
                f"{argument}: a file whose name begins with a dash is given as ./{name}"
            )
        if argument == "-S":
            raise UsageError("-S: no assembly is written; compile with -c, then use objdump -d")
        if argument[:2] in ("-o", "-x"):  # g++'s way; one that is mistyped would name the output
            raise UsageError(f"{argument}: unknown option; is it {apart(argument)}?")
        if argument == "-MQ":
            self._rule_option("-MQ", self._value(argument))
        elif argument in HOST_WITH_VALUE:
            self.job.flags += [argument, self._value(argument)]
        else:
            self._host_word(argument)

    def _nvcc_option(self, argument: str, option: Option, value: Optional[str]) -> None:
        if option.refused:
            raise UsageError(argument + option.refused)
        if not option.takes_value:
            if value is not None:
                raise UsageError(f"{argument}: -{option.name} takes no value")
            if not option.ignored:
                self._flag(option.name)
            return
        separate = value is None
        if separate:
            value = self._value(argument)
        assert value is not None
        shown = f"{argument} {shlex.quote(value)}" if separate else argument
        if not value and option.name != "o":
            raise UsageError(f"{argument} needs a value")
        if expected := option.expected(value):
            raise UsageError(f"{shown}: the value is {expected}")
        if option.kind == "list":
            values = _split_commas(argument, value)
            if not option.ignored:
                self._list(option.name, values)
        elif not option.ignored:
            self._single(option.name, value)

    def _flag(self, name: str) -> None:
        """An option without a value."""
        job = self.job
        if name in ("c", "dc", "dw"):
            job.kind = job.kind if job.kind == "rules" else "objects"
        elif name == "lib":
            job.kind = "archive" if job.kind == "program" else job.kind
        elif name in ("M", "MM"):
            job.kind, job.rules = "rules", f"-{name}"
        elif name in ("MD", "MMD"):
            job.rules = job.rules if job.kind == "rules" else f"-{name}"
        elif name == "MP":
            job.rules_for_headers = True
        elif name == "G":
            self._debug_device = True
        elif name == "noeh":
            job.flags.append("-fno-exceptions")
        elif name in ("v", "dryrun"):
            job.verbose = True
            job.dry_run |= name == "dryrun"
        elif name == "expt-relaxed-constexpr":
            job.relaxed = True
        elif name == "w":
            job.warn = False
        elif name == "h":
            job.help = True
        elif name == "V":
            job.version = True
        elif name not in ("link", "m64"):  # what is done anyway
            job.flags.append(f"-{name}")

    def _single(self, name: str, value: str) -> None:
        """An option with one value."""
        job = self.job
        if name == "o":
            job.output = value
        elif name == "odir":
            job.folder = value
        elif name in ("MF", "MT"):
            self._rule_option(f"-{name}", value)
        elif name == "dopt":
            self._optimize_device = True
        elif name == "O":
            job.optimize = f"-O{value}"
        elif name == "x":
            self._language = value
        elif name == "std":
            # The headers of the back end need C++17.
            older = re.fullmatch(r"(c|gnu)\+\+(98|03|0x|11|1y|14)", value)
            job.std = f"{older.group(1)}++17" if older else value
        elif name == "default-stream":
            if value == "per-thread":
                job.flags.append("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1")
        elif name == "Xcompiler":
            for word in split_words("-Xcompiler", value, " \t\r\n,"):
                self._host_word(word)
        elif name != "m":
            job.flags.append(f"-{name}={value}")

    def _list(self, name: str, values: list[str]) -> None:
        """An option with several values."""
        job = self.job
        if name == "I":
            job.include_dirs += values
        elif name == "isystem":
            job.system_dirs += values
        elif name == "include":
            job.flags += [word for value in values for word in ("-include", value)]
        elif name == "L":
            job.libraries += [f"-L{folder}" for folder in values]
        elif name == "l":
            for library in values:
                if library not in IGNORED_LIBRARIES:
                    _check_library(library)
                    job.libraries.append(f"-l{library}")
        elif name == "Xlinker":
            job.libraries += [word for value in values for word in ("-Xlinker", value)]
        elif name == "optf":
            self._rest[:0] = [word for path in values for word in self._words_of_file(path)]
        else:
            job.flags += [f"-{name}{value}" for value in values]

    def _words_of_file(self, path: str) -> list[str]:
        self._options_files += 1
        if self._options_files > 100:
            raise UsageError(f"--options-file {path}: it includes itself")
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                return split_words(f"--options-file {path}", file.read())
        except OSError as error:
            raise UsageError(f"--options-file {path}: {error.strerror}") from None

    def _host_word(self, word: str) -> None:
        """A word for the host compiler. If it asks for a rule for make, that would be one of the
        translation: it is written here."""
        if self._awaits:
            self._rule_option(self._awaits, word)
            self._awaits = ""
        elif word in ("-M", "-MM", "-MD", "-MMD", "-MP"):
            self._flag(word[1:])
        elif word in ("-MF", "-MT", "-MQ"):
            self._awaits = word
        elif word[:3] in ("-MF", "-MT", "-MQ"):
            self._rule_option(word[:3], word[3:])
        else:
            self.job.flags.append(word)

    def _rule_option(self, option: str, value: str) -> None:
        if option == "-MF":
            self.job.rules_file = value
        else:
            self.job.rules_target = quoted(value) if option == "-MQ" else value


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


def _check_library(name: str) -> None:
    for prefix, library in LIBRARIES.items():
        if name.startswith(prefix):
            raise UsageError(
                f"-l{name}: the cpu back end has no {library}; compile without it, or with nvcc"
            )
