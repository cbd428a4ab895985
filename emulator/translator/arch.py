"""Decides what `#if __CUDA_ARCH__ >= 700` and the like leave of the code.

nvcc compiles a file for the GPU, where __CUDA_ARCH__ is a number, and again for the host, where it
is not defined; the cpu back end compiles it once. Directives in device code are taken as the GPU
takes them, those in host code as the host does, and in a `__host__ __device__` function the program
chooses when it runs. Declarations are taken as those do who use them. The rest is refused.
"""

import re
from collections.abc import Iterator
from typing import Optional

from .condition import DEFINED, OF_NVCC, holds
from .lexer import Directive, Stream
from .scopes import OPEN, kind
from .unit import Source, Unit

ARCH = "900"  # of compute capability 9.0, which the emulated device has
NAME = re.compile(r"\b__CUDA_ARCH__\b")
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
QUALIFIER_MACROS = re.compile(
    r"(?:\s*#[ \t]*define[ \t]+\w+(?:[ \t]+(?:__\w+__|static|inline|extern))*[ \t]*(?://.*)?(?:\n|\Z))*\s*"
)
NO_DECLARATION = set(
    "return else do throw goto delete new case default break continue if for while switch".split()
)
NONE = -1  # the number of no branch

Edit = tuple[int, int, str]  # replaces source text [start, end)
Group = list[Directive]  # an #if, its #elif and #else, and the #endif


def arch_edits(unit: Unit, source: Source) -> list[Edit]:
    """What to change of the file's directives and of its uses of __CUDA_ARCH__. Raises
    TranslateError."""
    arch = _Arch(unit, source)
    result: list[Edit] = []
    for group in _groups(source.directives):
        result += arch.edits(group)
    for stream in source.streams:
        for i, token in enumerate(stream.tokens):
            if token.text == "__CUDA_ARCH__":
                if stream.macro or kind(unit.scopes(stream)[i]) != "host":
                    result.append((token.start, token.end, ARCH))
    return result


def _groups(directives: list[Directive]) -> list[Group]:
    """The groups that are complete, and not within an `#if 0`."""
    result = []
    stack: list[Group] = []
    for directive in directives:
        if directive.name.startswith("if"):
            stack.append([directive])
        elif stack:
            stack[-1].append(directive)
            if directive.name == "endif":
                result.append(stack.pop())
    return [group for group in result if group[0].live]


class _Arch:
    def __init__(self, unit: Unit, source: Source) -> None:
        self._unit = unit
        self._source = source
        self._stream = source.streams[0]

    def edits(self, group: Group) -> list[Edit]:
        words = {word for d in group for word in re.findall(r"\w+", d.condition)}
        for macro in sorted(words & self._unit.arch_macros):
            self._source.fail(
                group[0].start,
                f"'{macro}' stands for __CUDA_ARCH__, which is not the same on host and GPU: write "
                "__CUDA_ARCH__ in this directive",
            )
        if "__CUDA_ARCH__" not in words:
            return []
        before = group[0].token - 1
        where = kind(self._unit.scopes(self._stream)[before] if before >= 0 else OPEN)
        if where == "open":
            where = self._kind_of_contents(group)
        if where == "device":
            return [edit for d in group for edit in _as_gpu(d)]
        return self._at_run_time(group) if where == "both" else []

    # ---- in a __host__ __device__ function

    def _at_run_time(self, group: Group) -> list[Edit]:
        """Makes an `if` of the group, around the branches of the GPU and of the host."""
        gpu, host = _taken(group, ARCH), _taken(group, None)
        if gpu is None or host is None:
            self._source.fail(
                group[0].start,
                "this directive of a __host__ __device__ function asks for more than "
                "__CUDA_ARCH__: put that into an #if of its own, around or inside of this one",
            )
        if gpu == host:
            return []
        first = self._stream.text(group[0].token - 1) in (";", "{", "}")
        for branch in (gpu, host):
            if not first or not self._holds_statements(group, branch):
                self._source.fail(
                    group[0].start,
                    "host and GPU differ in part of a statement or in a declaration here, and the "
                    "cpu back end compiles this function once: have whole statements between "
                    "these directives, and declare variables before them",
                )
        result = []
        closing = ""  # what ends the branch before
        opened = False
        for i, directive in enumerate(group):
            line = self._source.text.count("\n", 0, directive.start) + 1
            text = closing
            if closing == "#endif":
                text += f"\n#line {line}\n"
            if directive.name == "endif":
                pass
            elif i in (gpu, host):
                condition = "::emu::onDevice()" if i == gpu else "!::emu::onDevice()"
                text += " else {" if opened else f"if ({condition}) {{"
                opened, closing = True, "}"
            else:
                text += "\n#if 0" if text else "#if 0"
                closing = "#endif"
            result.append((directive.start, directive.end, text))
        return result

    def _holds_statements(self, group: Group, branch: int) -> bool:
        """Whether a branch is whole statements, and declares nothing for those behind it."""
        if branch == NONE:
            return True
        stream = self._stream
        start, end = group[branch].token, group[branch + 1].token
        if start < end and stream.text(end - 1) not in (";", "}"):
            return False
        for declaration in _declarations(stream, start, end):
            if declaration is None or _is_variable(stream, declaration):
                return False
        return True

    # ---- outside of functions

    def _kind_of_contents(self, group: Group) -> str:
        """Whose code the declarations between the directives are."""
        gpu, host = _taken(group, ARCH), _taken(group, None)
        if gpu is not None and gpu == host:
            return "host"  # no difference
        branches = {gpu, host} if None not in (gpu, host) else set(range(len(group) - 1))
        if self._are_qualifiers(group, branches):
            return "device"  # they mean nothing to a host's compiler
        kinds: set[str] = set()
        names: set[str] = set()
        for branch in branches - {NONE}:
            stretch = self._source.text[group[branch].end : group[branch + 1].start]
            names.update(DEFINE.findall(stretch))
            if re.search(r"^[ \t]*#[ \t]*include\b", stretch, re.MULTILINE) and branch != host:
                kinds.add("include")
            start, end = group[branch].token, group[branch + 1].token
            for declaration in _declarations(self._stream, start, end):
                words = {self._stream.text(i) for i in declaration or range(start, end)}
                if words.isdisjoint(self._unit.device_words):
                    names.update(_declared(self._stream, declaration or []))
                    kinds.add("other")
                else:
                    both = not words.isdisjoint(self._unit.host_words)
                    kinds.add("both" if both else "device")
        users = set(self._users(names, group)) if names else set()
        if kinds | users in ({"device"}, {"device", "other"}) and (users or "other" not in kinds):
            return "device"
        if kinds <= {"other"} and (users <= {"host"} or gpu == NONE):
            return "host"
        self._source.fail(
            group[0].start,
            "host and GPU see different declarations here, and the cpu back end compiles them once, "
            "for both: put the #if into the body of the function that differs",
        )

    def _are_qualifiers(self, group: Group, branches: set[Optional[int]]) -> bool:
        """Whether the branches define the same macros for qualifiers, or qualifiers as macros."""
        defined: list[set[str]] = [set()] if NONE in branches else []
        for branch in sorted(b for b in branches if b is not None and b != NONE):
            stretch = self._source.text[group[branch].end : group[branch + 1].start]
            stretch = stretch.partition("\n")[2]
            if QUALIFIER_MACROS.fullmatch(stretch) is None:
                return False
            defined.append(set(DEFINE.findall(stretch)) - OF_NVCC.keys())
        return all(names == defined[0] for names in defined)

    def _users(self, names: set[str], group: Group) -> Iterator[str]:
        """The kinds of code that use the names, outside of the group."""
        for source in self._unit.sources.values():
            for directive in source.directives:
                if not names.isdisjoint(re.findall(r"\w+", directive.condition)):
                    yield "both"
            for stream in source.streams:
                for i, token in enumerate(stream.tokens):
                    if token.text not in names:
                        continue
                    if source is self._source and group[0].start < token.start < group[-1].start:
                        continue
                    where = "both" if stream.macro else kind(self._unit.scopes(stream)[i])
                    yield self._kind_of_header(stream, i) if where == "open" else where

    def _kind_of_header(self, stream: Stream, index: int) -> str:
        """Whose code a declaration is that token `index` is in, outside of functions."""
        start = end = index
        while stream.text(start - 1) not in ("", ";", "{", "}"):
            start -= 1
        while stream.text(end) not in ("", ";", "{", "}"):
            end += 1
        words = {stream.text(i) for i in range(start, end)}
        on_gpu = not words.isdisjoint(self._unit.device_words)
        return "device" if on_gpu and words.isdisjoint(self._unit.host_words) else "both"


def _as_gpu(directive: Directive) -> list[Edit]:
    """The directive as the GPU's compiler reads it."""
    name, condition = directive.name, directive.condition
    if not NAME.search(condition):
        return []
    if name.endswith("def"):
        value = "0" if name.endswith("ndef") else "1"
        name = "elif" if name.startswith("el") else "if"
    else:
        known = DEFINED.sub(lambda m: "1" if "__CUDA_ARCH__" in (m[1], m[2]) else m[0], condition)
        value = NAME.sub(ARCH, known)
    return [(directive.start, directive.end, f"#{name} {value}")]


def _taken(group: Group, arch: Optional[str]) -> Optional[int]:
    """The number of the branch that is compiled, or NONE, where __CUDA_ARCH__ is `arch`, or not
    defined. None if that depends on more."""
    for i, directive in enumerate(group[:-1]):
        holds = True if directive.name == "else" else _holds(directive, arch)
        if holds is None:
            return None
        if holds:
            return i
    return NONE


def _holds(directive: Directive, arch: Optional[str]) -> Optional[bool]:
    return holds(directive.name, directive.condition, {**OF_NVCC, "__CUDA_ARCH__": arch})


def _declarations(stream: Stream, start: int, end: int) -> Iterator[Optional[list[int]]]:
    """The tokens of each declaration or statement in [start, end), without those in braces. None
    for a bracket that does not end there."""
    part: list[int] = []
    i = start
    while i < end:
        text = stream.text(i)
        close = stream.pair(i) if text in ("(", "[", "{", ")", "]", "}") else i
        if close is None or not i <= close < end:
            yield None
            return
        part.append(i)
        if text == "{" and stream.text(close + 1) in (";", ",", ")", "=") and close + 1 < end:
            i = close + 1  # an initialiser, or a class
            continue
        if text in (";", "{"):
            yield part
            part = []
        else:
            part += range(i + 1, close + 1)
        i = close + 1
    if part:
        yield part


def _is_variable(stream: Stream, statement: list[int]) -> bool:
    """Whether a statement may declare a name."""
    if stream.text(statement[0]) in NO_DECLARATION:
        return False
    for i in statement[:-1]:
        if stream.text(i) in ("=", "(", "[", "{", "."):
            break
        behind = i + 1
        while stream.text(behind) in ("*", "&", ">"):
            behind += 1
        if stream.kind(i) == "name" and stream.kind(behind) == "name":
            return True
    return False


def _declared(stream: Stream, declaration: list[int]) -> Iterator[str]:
    """The names that stand where a declaration has its own."""
    in_value = False
    for before, i in zip(declaration, declaration[1:]):
        text = stream.text(i)
        if text in ("=", "(", "[", "{", ";", ",") and not in_value:
            if stream.kind(before) == "name":
                yield stream.text(before)
        in_value = text != "," and (in_value or text == "=")
        if text in ("(", "{"):
            return
