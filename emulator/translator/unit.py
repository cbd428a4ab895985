"""A translation unit: the file, the user's headers that it includes, and their kernels."""

import functools
import os
import re
from typing import NamedTuple, NoReturn, Optional

from .condition import NAME, OF_NVCC, Known
from .lexer import Directive, Include, Lexer, Stream, TranslateError
from .scopes import Scope, kind, scopes_of

# Quick looks into a header before it is worth lexing.
ANY_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
ANY_DECIDED = re.compile(
    rf"^[ \t]*#[ \t]*(?:el)?if\w*[ \t]+(?:[01]\b|.*\b(?:{'|'.join(OF_NVCC)})\b)", re.MULTILINE
)
ANY_UNDEF = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.MULTILINE)
ANY_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
# Macros that make a string or a name of a parameter.
ANY_LITERAL_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)\([^)]*\)(?:\\\r?\n|[^\n#])*#", re.MULTILINE
)
# What declares the name of a type.
ANY_TYPE = re.compile(
    r"\b(?:typename|class|struct|union|enum|using)\s+(\w+)|\btypedef\b[^;{}]*?(\w+)\s*;"
)
# `unsigned a : 3, b : 5;`, and some of what looks like it.
SPACE = r"(?:\s|//.*|/\*[\s\S]*?\*/)*"
ANY_BIT_FIELD = re.compile(
    rf"(?:[;{{}}:]{SPACE}(?:[\w:<>]+\s+)+|,{SPACE})(\w+)\s*:(?!:)[\w\s()+*/-]+(?=[;,={{])"
)
ANY_PACKED = re.compile(r"\b(?:__)?packed(?:__)?\b")
ANY_MEMBER = re.compile(r"(?:\.|->)\s*(\w+)\s*(?:<<|>>)=")
ANY_OVERLOADED = re.compile(r"\boperator\s*(?:&&|\|\||and\b|or\b)\s*\(")
# What may be a declaration of a function in a header of ours, and the macros that declare several.
ANY_FUNCTION = re.compile(r"[\w*&>]\s+[*&]*(\w+)\s*\(")
ANY_DECLARING_MACRO = re.compile(r"\bEMU_\w+\(([^)]*)")
ANY_DIRECTIVE = re.compile(r"\busing\s+namespace\b")
ANY_CUDA = re.compile(
    r"<\s*<\s*<|__shared__|__global__|__device__|__constant__|\b(?:__)?asm|cudaLaunch|__CUDA_ARCH__"
    r"|\b(?:texture|surface)\s*<|cudaBind(?:Texture|Surface)|cuda\w*Mipmapped"
)

BUILTIN_TYPES = set("void bool char short int long float double unsigned signed auto".split())
CONTROL = {"if", "switch", "while", "for", "do"}
ALIGNMENTS = {"__align__", "alignas", "__attribute__"}
# What stands between __global__ and the kernel's name and looks like a function.
ATTRIBUTES = ALIGNMENTS | set(
    "__launch_bounds__ __cluster_dims__ __block_size__ __maxnreg__ __declspec decltype".split()
)


class Source:
    """A file of the unit; lexed when first asked for."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path  # as diagnostics shall show it
        self.text = text
        self.included: dict[tuple[str, bool], Source] = {}  # by (name, in quotes?)
        self.edits: list[tuple[int, int, str]] = []  # (start, end, text instead)
        self.translated = False
        self.known: Known = OF_NVCC
        self._lexer: Optional[Lexer] = None

    def fail(self, offset: int, message: str) -> NoReturn:
        """Tells the user of an error at this place of the text."""
        line = self.text.count("\n", 0, offset) + 1
        raise TranslateError(f"{self.path}:{line}: error: {message}")

    def _lexed(self) -> Lexer:
        if self._lexer is None:
            self._lexer = Lexer(self.path, self.text, self.known)
        return self._lexer

    def has_decided_branches(self) -> bool:
        """Whether an #if may be decided here that leaves out part of the file. No, where it cannot be
        lexed: it is perhaps for others than a compiler."""
        try:
            return bool(ANY_DECIDED.search(self.text) and self.streams)
        except TranslateError:
            return False

    def macros(self) -> set[str]:
        """The names of the macros that the file defines, as far as that is known."""
        if self.has_decided_branches():
            return {stream.macro for stream in self.streams if stream.macro}
        return set(ANY_DEFINE.findall(self.text))

    def headers(self) -> "list[Source]":
        """What the file includes, as far as that is known."""
        if self.has_decided_branches():
            named = {(include.name, include.quoted) for include in self.includes}
            return [header for key, header in self.included.items() if key in named]
        return list(self.included.values())

    @property
    def streams(self) -> list[Stream]:
        return self._lexed().streams

    @property
    def includes(self) -> list[Include]:
        return self._lexed().includes

    @property
    def directives(self) -> list[Directive]:
        return self._lexed().directives


class Template(NamedTuple):
    """Template parameters of a kernel: how many there are up to the last without a default, and
    whether one is a pack."""

    required: int
    pack: bool


Signature = tuple[bool, int, tuple[str, ...]]  # template?, template parameters, parameter types


class Unit:
    """Loads `path` and what it includes: "quoted" headers from beside the including file, then
    those found in `include_dirs`. Headers in `own_include` are ours and need no look."""

    def __init__(self, path: str, include_dirs: list[str], own_include: str) -> None:
        self._include_dirs = include_dirs
        self._own_include = os.path.realpath(own_include) + os.sep
        self._kernels: dict[str, dict[Signature, Template]] = {}
        # Of each kernel: the parameters that are references, counted from 1; None: not just those.
        self._references: dict[str, list[Optional[set[int]]]] = {}
        self._functions: dict[str, bool] = {}  # whether one of the name is no kernel
        self._kernel_words = {"__global__"}  # and the macros that hold it
        # Of __launch_bounds__: what the declarations of kernels say, and the definitions by their `{`.
        self._bounds: dict[tuple[str, Signature], set[str]] = {}
        self._bodies: dict[Stream, dict[int, tuple[str, Signature, str]]] = {}
        self._macro_kernels = False  # macros declare kernels: any name may be a template's
        self._global_kernels: set[str] = set()  # in no namespace
        self._directives = False  # `using namespace std` and the like
        self.sources: dict[str, Source] = {}  # by real path, in the order of inclusion
        self.macros: set[str] = set()
        self.literal_macros: set[str] = set()
        self.whole_macros: set[str] = set()  # that are one operand of any operator
        self.statement_macros: set[str] = set()  # that end with a whole statement
        self.types: set[str] = set()  # of the user; not all
        self.overloads_and_or = False  # the program defines an operator&& or operator||
        self.constant_words = {"__constant__"}  # and the macros that are just that
        self.launch_macros: set[str] = set()  # as in `#define CONFIG(g, b) <<<g, b>>>`, or `<<<`
        self.device_words = {"__device__", "__global__"}  # and the macros that stand for them
        self.host_words = {"__host__"}  # and the macros that hold it
        self.arch_macros: set[str] = set()  # those that hold __CUDA_ARCH__
        self._scopes: dict[Stream, list[Scope]] = {}
        self._own_functions: Optional[set[str]] = None  # of CUDA's headers, once it is asked for
        # Macros that hold an `if` or a loop: do they end with a whole statement?
        self.control_macros: dict[str, bool] = {}
        # Names for dynamic shared memory, with file and line; filled in by the rewriter.
        self.dynamic_arrays: list[tuple[str, str, int]] = []
        self.undefined: set[str] = set()  # what an #undef names
        self.main = self._load(path, path)
        self._leave_out_headers()
        for source in self.sources.values():
            self.macros.update(source.macros())
            self.literal_macros.update(ANY_LITERAL_MACRO.findall(source.text))
            self.types.update(name for names in ANY_TYPE.findall(source.text) for name in names)
            self.overloads_and_or |= ANY_OVERLOADED.search(source.text) is not None
            self._directives |= ANY_DIRECTIVE.search(source.text) is not None
            if ANY_CUDA.search(source.text):
                for stream in source.streams:
                    self._collect(stream)

    def has_cuda(self, source: Source) -> bool:
        """Whether the file may hold anything to translate."""
        if ANY_CUDA.search(source.text):
            return True
        words = self.launch_macros | self.device_words | self.constant_words
        return any(word in source.text for word in words)

    def scopes(self, stream: Stream) -> list[Scope]:
        """The scope of each token of a file's own stream."""
        if stream not in self._scopes:
            self._scopes[stream] = scopes_of(stream, self.device_words, self.host_words)
        return self._scopes[stream]

    def address_known(self, stream: Stream, callee: list[int]) -> bool:
        """Whether `&callee` is sure to be one function: no overloads, nothing left to deduce.
        `callee` are the tokens of a name, perhaps qualified and with template arguments."""
        arguments = None
        last = callee[-1]
        if stream.text(last) == ">":
            opener = stream.angle_start(last)
            assert opener is not None
            if any(stream.text(i) == "..." for i in range(opener, last)):
                return False
            arguments = len(stream.split(opener + 1, last))
            last = opener - 1
        name = stream.text(last)
        if name == ")" or name in self.macros or name in stream.parameters:
            return False  # a macro may become anything
        if stream.text(last - 1) == "##":
            return False
        declared = self._kernels.get(name)
        if not declared:
            return not self._macro_kernels  # a variable or a template parameter
        if len(declared) > 1 or self._is_function(name):
            return False
        (((is_template, _, _), template),) = declared.items()
        if not is_template:
            return True
        return arguments is not None and arguments >= template.required and not template.pack

    @functools.cached_property
    def bit_fields(self) -> set[str]:
        """The names of members to which no reference can be had; and some others."""
        texts = [source.text for source in self.sources.values()]
        found = {name for text in texts for name in ANY_BIT_FIELD.findall(text)}
        if any(ANY_PACKED.search(text) for text in texts):
            found.update(name for text in texts for name in ANY_MEMBER.findall(text))
        return found

    def references(self, name: str) -> Optional[set[int]]:
        """The numbers, from 1, of the parameters that are references in all kernels of that name. None
        if that cannot be said."""
        declared = self._references.get(name, [set()])
        return declared[0] if all(numbers == declared[0] for numbers in declared) else None

    def launch_bounds(self, stream: Stream) -> dict[int, str]:
        """By the `{` of each kernel that is defined in a file: the threads of a block that its
        __launch_bounds__ allows, or that of an earlier declaration."""
        result = {}
        for body, (name, signature, own) in self._bodies.get(stream, {}).items():
            declared = self._bounds.get((name, signature), set())
            if own or len(declared) == 1:
                result[body] = own or next(iter(declared))
        return result

    def ending(self) -> str:
        """What to put behind the main file: it tells the runtime (src/engine/program_symbols.h) that
        there are kernels with __launch_bounds__."""
        if not any(self.launch_bounds(stream) for stream in self._bodies):
            return ""
        return '\nextern "C" { extern const char emuHasLaunchBounds __attribute__((weak)) = 1; }\n'

    def declares(self, name: str) -> bool:
        """Whether the program has a function, a type or a template of its own by the name."""
        own = re.compile(rf"\b(?:struct|class|using|typedef\b[^;]*)\s+{name}\b(?!\s*<)")
        return self._is_function(name) or any(own.search(s.text) for s in self.sources.values())

    def meanings(self, macro: str) -> list[set[str]]:
        """What each definition of the macro holds, with what the macros in it hold."""
        return [self._held(stream, {macro}) for stream in self._definitions(macro)]

    def may_mean_more(self, macro: str) -> bool:
        """Whether the name may have a meaning that meanings() does not tell: that of a keyword where
        the definition does not count, or one that the command line gives it."""
        asked: set[str] = set().union(*(stream.asked for stream in self._definitions(macro)))
        is_keyword = macro in OF_NVCC
        return macro in asked or (is_keyword and (bool(asked) or macro in self.undefined))

    def _definitions(self, macro: str) -> list[Stream]:
        sources = [source for source in self.sources.values() if macro in source.text]
        return [s for source in sources for s in source.streams if s.macro == macro]

    def _held(self, definition: Stream, seen: set[str]) -> set[str]:
        texts = {token.text for token in definition.tokens}
        for macro in (texts & self.macros) - seen:
            for inner in self._definitions(macro):
                texts |= self._held(inner, seen | {macro})
        return texts

    def own_header_has(self, name: str) -> bool:
        """Whether one of CUDA's headers here seems to declare a function of that name."""
        if self._own_functions is None:
            self._own_functions = set()
            for folder, _, names in os.walk(self._own_include):
                for header in names:
                    with open(os.path.join(folder, header), encoding="utf-8") as file:
                        self._own_functions |= _seem_declared(file.read())
        return name in self._own_functions

    def _is_function(self, name: str) -> bool:
        """Whether a function that is no kernel has the name, too."""
        if name not in self._functions:
            self._functions[name] = any(
                source.text.count(name) > 0 and self._declares_function(source.streams[0], name)
                for source in self.sources.values()
            )
        return self._functions[name]

    def _declares_function(self, stream: Stream, name: str) -> bool:
        for i, token in enumerate(stream.tokens):
            close = stream.pair(i + 1) if token.text == name and stream.text(i + 1) == "(" else None
            if close is None or stream.text(close + 1) not in ("{", ";", "noexcept"):
                continue
            typed = stream.kind(i - 1) == "name" or stream.text(i - 1) in ("*", "&", ">")
            start = i
            while stream.text(start - 1) not in ("", ";", "{", "}"):
                start -= 1
            words = {stream.text(w) for w in range(start, i)}
            if typed and words.isdisjoint(self._kernel_words):
                if kind(self.scopes(stream)[i]) == "open":
                    return True
        return False

    def global_prefix(self, name: str) -> str:
        """What to put before a kernel's bare name where it must mean this kernel alone, whatever
        `using namespace std` adds: std::transform, std::copy ..."""
        return "::" if self._directives and name in self._global_kernels else ""

    def _load(self, path: str, shown: str) -> Source:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            source = Source(shown, file.read())
        self.sources[os.path.realpath(path)] = source
        for quoted, angled in ANY_INCLUDE.findall(source.text):
            beside = [os.path.dirname(shown)] if quoted else []
            for folder in beside + self._include_dirs:
                found = os.path.join(folder, quoted or angled)
                if os.path.isfile(found):
                    real = os.path.realpath(found)
                    if not real.startswith(self._own_include):
                        header = self.sources.get(real) or self._load(found, found)
                        source.included[(quoted or angled, bool(quoted))] = header
                    break
        return source

    def _leave_out_headers(self) -> None:
        """Removes the headers that are included in branches alone that nvcc does not take."""
        for source in self.sources.values():
            self.undefined.update(ANY_UNDEF.findall(source.text))
        known = {name: value for name, value in OF_NVCC.items() if name not in self.undefined}
        for source in self.sources.values():
            source.known = known
        reached: list[Source] = [self.main]
        for source in reached:
            reached += [header for header in source.headers() if header not in reached]
        self.sources = {real: s for real, s in self.sources.items() if s in reached}

    def _collect(self, stream: Stream) -> None:
        texts = {token.text for token in stream.tokens}
        if stream.macro:
            last = len(stream.tokens) - 1
            if last == 0 or (stream.text(0) == "(" and stream.pair(0) == last):
                self.whole_macros.add(stream.macro)
            if stream.text(last) in (";", "}"):
                self.statement_macros.add(stream.macro)
            if not self.device_words.isdisjoint(texts):
                self.device_words.add(stream.macro)
            if "__host__" in texts:
                self.host_words.add(stream.macro)
            if "__CUDA_ARCH__" in texts:
                self.arch_macros.add(stream.macro)
            if texts and texts <= self.constant_words:
                self.constant_words.add(stream.macro)
            if not CONTROL.isdisjoint(texts):
                self.control_macros[stream.macro] = stream.tokens[-1].text in (";", "}")
            if "__global__" in texts:
                self._kernel_words.add(stream.macro)
                self._macro_kernels = True
            if [stream.text(i) for i in range(3)] == ["<"] * 3:
                self.launch_macros.add(stream.macro)
        elif "__global__" in texts:
            depth = 0  # of braces, but for those of `extern "C" {`
            for i, token in enumerate(stream.tokens):
                if token.text == "__global__":
                    self._declare_kernel(stream, i, depth == 0)
                elif token.text in ("{", "}") and not _is_linkage(stream, i):
                    depth += 1 if token.text == "{" else -1

    def _declare_kernel(self, stream: Stream, index: int, is_global: bool) -> None:
        """Notes the kernel declared around `__global__` at `index`."""
        start = index
        while start > 0 and stream.text(start - 1) not in (";", "{", "}"):
            start -= 1
        count, template = 0, None
        inside = start  # of a parameter list, where `template` starts a template template parameter
        for i in range(start, index):
            if stream.text(i) == "template" and i >= inside:
                end = stream.angle_end(i + 1) if stream.text(i + 1) == "<" else None
                if end is None or end == i + 2:
                    return  # an instantiation or a specialisation: no overload
                words = [[stream.text(t) for t in p] for p in stream.split(i + 2, end)]
                count = len(words)
                required = max((n for n, p in enumerate(words, 1) if "=" not in p), default=0)
                template = Template(required, any("..." in p for p in words))
                inside = end
        opener = parameter_list(stream, index + 1)
        if opener is None:
            return
        close = stream.pair(opener)
        assert close is not None
        parameters = stream.split(opener + 1, close)
        types = tuple(_type_of(stream, p) for p in parameters)
        references = {n for n, p in enumerate(parameters, 1) if reference_mark(stream, p)}
        is_pack = any("..." in (stream.text(i) for i in parameters[n - 1]) for n in references)
        self._references.setdefault(stream.text(opener - 1), []).append(
            None if is_pack else references
        )
        if any("auto" in t.split() for t in types):
            template = Template(0, True)
        if is_global:
            self._global_kernels.add(stream.text(opener - 1))
        declared = self._kernels.setdefault(stream.text(opener - 1), {})
        key = (template is not None, count, types if types != ("void",) else ())
        name, bounds = stream.text(opener - 1), _launch_bounds(stream, start, opener)
        if stream.text(close + 1) == "{":
            self._bodies.setdefault(stream, {})[close + 1] = (name, key, bounds)
        elif bounds:
            self._bounds.setdefault((name, key), set()).add(bounds)
        template = template or Template(0, False)
        # Defaults may be on the first declaration only.
        required = min(template.required, declared.get(key, template).required)
        declared[key] = template._replace(required=required)


def _launch_bounds(stream: Stream, start: int, end: int) -> str:
    """The first argument of the __launch_bounds__ among tokens [start, end); empty if there is none."""
    for i in range(start, end):
        close = stream.pair(i + 1) if stream.text(i) == "__launch_bounds__" else None
        if close is not None and close > i + 2:
            return " ".join(stream.text(t) for t in stream.split(i + 2, close)[0])
    return ""


def _is_linkage(stream: Stream, index: int) -> bool:
    """Whether the brace at `index` opens or closes an `extern "C"` block."""
    opener = index if stream.text(index) == "{" else stream.pair(index)
    return opener is not None and stream.text(opener - 2) == "extern"


def parameter_list(stream: Stream, index: int) -> Optional[int]:
    """Index of the `(` of the first function declared from `index` on, if its declaration goes on
    to there; None for a specialisation such as `void k<int>(int)`."""
    while stream.text(index) not in ("", ";", "{", "}"):
        close = stream.pair(index) if stream.text(index) == "(" else None
        if close is not None:
            is_name = stream.kind(index - 1) == "name" and stream.text(index - 1) not in ATTRIBUTES
            if is_name and stream.kind(close + 1) != "name":
                return index
            index = close
        index += 1
    return None


def _type_of(stream: Stream, parameter: list[int]) -> str:
    """The type of a parameter as text, without the parameter's name and its default. May tell equal
    types apart (`unsigned` and `unsigned int`), but does not mix up different ones."""
    words = [stream.text(i) for i in parameter]
    words = [w for w in words if w not in ("__restrict__", "__restrict", "restrict")]
    if "=" in words:
        words = words[: words.index("=")]
    rest = ""
    if "[" in words:  # an array parameter is a pointer
        bracket = words.index("[")
        rest = " * " + " ".join(words[words.index("]", bracket) + 1 :])
        words = words[:bracket]
    if len(words) > 1:
        type_words = [w for w in words[:-1] if w not in ("const", "volatile", "struct", "typename")]
        named = re.match(r"[^\W\d]", words[-1]) and words[-1] not in BUILTIN_TYPES
        if named and type_words and type_words[-1] != "::":
            words.pop()
    if "*" not in words and "(" not in words and not rest:
        words = [w for w in words if w != "const"]  # no difference for a value
    return " ".join(words) + rest.rstrip()


def _seem_declared(header: str) -> set[str]:
    """The names of functions that a header of ours seems to declare."""
    names = set(ANY_FUNCTION.findall(header))
    return names.union(*(NAME.findall(text) for text in ANY_DECLARING_MACRO.findall(header)))


def reference_mark(stream: Stream, parameter: list[int]) -> Optional[int]:
    """The & or && that makes a parameter a reference, if one does."""
    i = parameter[0]
    while i <= parameter[-1] and stream.text(i) != "=":
        text = stream.text(i)
        if text in ("&", "&&"):
            return i
        close = stream.pair(i) if text == "(" and stream.text(i + 1) != "&" else None
        close = stream.angle_end(i) if text == "<" else close
        i = (close or i) + 1
    return None
