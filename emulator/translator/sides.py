"""Finds what nvcc refuses since a program has two sides: a kernel that is called like a function, a
function that is launched like a kernel, a function or a variable of the host in device code, a
`__device__` function in host code.

Only where that is sure: the name is declared in the program alone, outside of classes, always for
the same side, and nothing in the function around it may be a declaration of the same name."""

import re
from typing import NamedTuple, Optional

from .brackets import WORD_OPERATORS, Brackets
from .declarations import Declaration, Declarations
from .errors import compile_error
from .lexer import Stream, TranslateError
from .library_names import LIBRARY_NAMES
from .unit import ALIGNMENTS, BUILTIN_TYPES, Source, Unit

Edit = tuple[int, int, str]  # replaces source text [start, end)

KERNEL, DEVICE, HOST = "kernel", "__device__ function", "host function"
BOTH = "__host__ __device__ function"
MEMORY = {"__device__", "__constant__", "__managed__", "__shared__"}
UNSURE = {"constexpr", "consteval", "auto", "__attribute__", "__declspec", "decltype"}
MARKS = MEMORY | UNSURE | {"__global__", "__host__", "const"}
WORDS = set(
    "volatile static inline extern typename class struct template thread_local __inline__ "
    "__forceinline__ __noinline__ __restrict__ __launch_bounds__ wchar_t".split()
)
SPECIFIERS = WORDS | BUILTIN_TYPES | MARKS | ALIGNMENTS
BEFORE_EXPRESSION = set(
    "return else do case throw delete and or not xor bitand bitor compl not_eq co_return "
    "co_yield".split()
)
NOT_EVALUATED = set(
    "sizeof decltype noexcept alignof typeid typeof __typeof__ static_assert assert".split()
)


class _Function(NamedTuple):
    side: str
    at: Declaration
    body: int  # its `{`
    end: int  # its `}`


class Sides:
    """Of a unit."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._words = {s: set(re.findall(r"\w+", s.text)) for s in unit.sources.values()}
        self._declared: dict[Source, Declarations] = {}
        self._of_macros = {
            stream.text(i)
            for source in unit.sources.values()
            if unit.has_cuda(source)
            for stream in source.streams
            if stream.macro
            for i in range(1, len(stream.tokens))
            if stream.kind(i - 1) == "name" and stream.text(i - 1) not in BEFORE_EXPRESSION
        }  # what macros may declare
        self._side_of_name: dict[str, Optional[str]] = {}
        self._is_host_variable: dict[str, bool] = {}

    def edits(self, source: Source) -> list[Edit]:
        """Errors for the compiler to show, if it comes there."""
        declared = self._declarations(source)
        stream = source.streams[0]
        brackets = Brackets(stream, self._unit.device_words)
        definitions = [d for many in declared.functions.values() for d in many]
        result = []
        for definition in [*definitions, *declared.members]:
            body = definition.body
            end = stream.pair(body) if body is not None else None
            side = self._side(definition.words)
            if body is None or end is None or side is None:
                continue
            if any(_is_if_constexpr(stream, i) for i in range(body, end)):
                continue  # it may leave out what is wrong
            function = _Function(side, definition, body, end)
            result += self._errors(stream, brackets, function)
        taken = [(start, end) for start, end, _ in source.edits if start < end]
        return [e for e in result if not any(start < e[0] < end for start, end in taken)]

    def _errors(self, stream: Stream, brackets: Brackets, function: _Function) -> list[Edit]:
        """One for each name, at its first place."""
        messages: dict[str, Edit] = {}
        local: dict[str, bool] = {}
        for i in range(function.body + 1, function.end):
            name = stream.text(i)
            if stream.kind(i) != "name" or name in messages:
                continue
            if stream.text(i - 1) in (".", "->", "::") or stream.text(i + 1) == "::":
                continue
            in_lambda = brackets.in_lambda(i, function.body)
            if _is_launched(stream, i):
                message = self._message_of_launch(name)
            else:
                message = self._message(name, _is_called(stream, i), function, in_lambda)
            if message is None or self._is_left_out(stream, brackets, i, function.body):
                continue
            if name not in local:
                local[name] = self._may_be_declared(stream, brackets, name, function)
            if not local[name]:
                at = stream.tokens[i].start
                messages[name] = (at, at, compile_error(message) + " ")
        return list(messages.values())

    def _message_of_launch(self, name: str) -> Optional[str]:
        """What is wrong about a launch of the name: even where a library has functions of the name,
        none of them is a kernel."""
        side = self._side_of(name)
        if side in (None, KERNEL):
            return None
        return f"'{name}' is a {side}, which cannot be launched: declare it __global__"

    def _message(
        self, name: str, called: bool, function: _Function, in_lambda: bool
    ) -> Optional[str]:
        """What is wrong about the name in the function."""
        by = f"the {function.side} '{function.at.name}'"
        on_device = function.side in (KERNEL, DEVICE)
        side = self._side_of(name) if called and not self._is_of_library(name) else None
        if side == KERNEL:
            return (
                f"the kernel '{name}' is called like a function, which CUDA does not allow: launch "
                f"it, {name}<<<grid, block>>>(...)"
            )
        if in_lambda:
            return None  # it may be for the other side
        if side == HOST and on_device:
            return (
                f"'{name}' is a function of the host, which {by} cannot call: declare it "
                "__device__, or __host__ __device__ for both"
            )
        if side == DEVICE and function.side == HOST:
            return (
                f"'{name}' is a __device__ function, which {by} cannot call: declare it __host__ "
                "__device__, or call it in a kernel"
            )
        if side is None and on_device and self._is_variable_of_host(name):
            return (
                f"'{name}' is a variable of the host, which {by} cannot use: pass its value as an "
                "argument, or declare it __device__ or __constant__ and copy the value there"
            )
        return None

    def _is_left_out(self, stream: Stream, brackets: Brackets, index: int, body: int) -> bool:
        """Whether the place is not evaluated, or in the arguments of a macro."""
        opener = brackets.around[index]
        while opener is not None and opener > body:
            called = stream.text(opener) == "("
            if called and stream.text(opener - 1) in NOT_EVALUATED:
                return True
            if self._is_for_macro(stream, opener):
                return True
            opener = brackets.around[opener]
        return stream.text(index - 1) in NOT_EVALUATED

    def _may_be_declared(
        self, stream: Stream, brackets: Brackets, name: str, function: _Function
    ) -> bool:
        """Whether a parameter or a local declaration of the function may have the name."""
        for i in range(function.at.start, function.end):
            text = stream.text(i)
            if text == name and i != function.at.name_at:
                if i < function.body or _may_declare(stream, brackets, i):
                    return True
                if self._is_for_macro(stream, brackets.around[i]):
                    return True
            elif text in self._unit.macros:
                if any(name in meaning for meaning in self._unit.meanings(text)):
                    return True
        return False

    def _is_for_macro(self, stream: Stream, opener: Optional[int]) -> bool:
        """Whether the bracket holds the arguments of a macro."""
        if opener is None or stream.text(opener) != "(":
            return False
        before = stream.text(opener - 1)
        return before in self._unit.macros or before.isupper()

    # ---- what the unit declares

    def _declarations(self, source: Source) -> Declarations:
        if source not in self._declared:
            self._declared[source] = Declarations(source.streams[0])
        return self._declared[source]

    def _with_name(self, name: str) -> Optional[list[Declarations]]:
        """What declares the name; None if that is not sure."""
        if name in self._unit.macros or name in self._of_macros or name.startswith("__"):
            return None
        found = [source for source, words in self._words.items() if name in words]
        try:
            declared = [self._declarations(source) for source in found]
        except TranslateError:
            return None  # a header without CUDA, perhaps for others than a compiler
        return None if any(name in d.others for d in declared) else declared

    def _side_of(self, name: str) -> Optional[str]:
        """What all functions of that name are; None if that is not sure."""
        if name not in self._side_of_name:
            self._side_of_name[name] = self._find_side(name)
        return self._side_of_name[name]

    def _find_side(self, name: str) -> Optional[str]:
        declared = self._with_name(name)
        if declared is None or any(name in d.variables for d in declared):
            return None
        sides = {self._side(f.words) for d in declared for f in d.functions.get(name, [])}
        return sides.pop() if len(sides) == 1 else None

    def _is_of_library(self, name: str) -> bool:
        """Whether a library may have a function of the name: sin, sinf, make_float2."""
        if not LIBRARY_NAMES.isdisjoint((name, name[:-1])) or name.startswith("make_"):
            return True
        return self._unit.own_header_has(name)

    def _is_variable_of_host(self, name: str) -> bool:
        if name not in self._is_host_variable:
            declared = self._with_name(name) or []
            variables = [v for d in declared for v in d.variables.get(name, [])]
            marks = [self._marks(v.words) for v in variables]
            is_other = any("&" in v.words for v in variables)
            is_other = is_other or any(name in d.functions for d in declared)
            is_host = bool(variables) and all(m is not None and not m for m in marks)
            self._is_host_variable[name] = is_host and not is_other
        return self._is_host_variable[name]

    def _side(self, words: tuple[str, ...]) -> Optional[str]:
        """Of a function that is declared with the words; None if that is not sure."""
        marks = self._marks(words)
        if marks is None or not UNSURE.isdisjoint(marks):
            return None
        if "__global__" in marks:
            return KERNEL
        if "__device__" in marks:
            return BOTH if "__host__" in marks else DEVICE
        return HOST

    def _marks(self, words: tuple[str, ...]) -> Optional[set[str]]:
        """Those of MARKS that the words of a declaration are, or stand for; None if not sure."""
        result: set[str] = set()
        for word, behind in zip(words, (*words[1:], "")):
            if word in self._unit.macros:
                meanings = {frozenset(m & MARKS) for m in self._unit.meanings(word)}
                if len(meanings) != 1 or behind == "(" or self._unit.may_mean_more(word):
                    return None
                result |= meanings.pop()
            elif word in MARKS:
                result.add(word)
            elif re.match(r"\w", word) and word not in SPECIFIERS:
                is_type = behind in ("const", "volatile") or not re.match(r"[^\W\d]|\(", behind)
                if not is_type:
                    return None  # it may be a macro that the command line defines
        return result


def _is_if_constexpr(stream: Stream, index: int) -> bool:
    return stream.text(index) == "if" and stream.text(index + 1) == "constexpr"


def _is_called(stream: Stream, index: int) -> bool:
    """Whether the name is in front of arguments."""
    return stream.text(_behind_name(stream, index)) == "("


def _is_launched(stream: Stream, index: int) -> bool:
    """Whether the name is in front of a `<<<`."""
    behind = _behind_name(stream, index)
    return all(stream.text(i) == "<" for i in range(behind, behind + 3))


def _behind_name(stream: Stream, index: int) -> int:
    """The token behind a name and its template arguments."""
    behind = index + 1
    if stream.text(behind) == "<" and stream.text(behind + 1) != "<":
        behind = (stream.angle_end(behind) or index) + 1
    return behind


def _may_declare(stream: Stream, brackets: Brackets, index: int) -> bool:
    """Whether the name at `index` may be one that is declared there."""
    before = stream.text(index - 1)
    around = brackets.around[index]
    assert around is not None  # the function's `{` at least
    opener = stream.text(around)
    in_parens = opener == "(" and stream.text(around - 1) not in ("for", "catch")
    in_parens = in_parens and not brackets.are_lambda_parameters(around)
    if before in (".", "->"):
        return False  # a member
    if before == "::":
        return True  # `using n::x`, or something else's
    if stream.kind(index - 1) == "name":
        return before not in BEFORE_EXPRESSION | NOT_EVALUATED
    if before == ",":
        return not in_parens
    if before in ("*", "&", "&&", ">"):
        if in_parens:
            is_pointer = stream.text(index + 1) == ")" and stream.text(index + 2) == "("
            return is_pointer or stream.text(index + 1) in ("=", "{", ":")
        return opener != "[" and not _is_in_value(stream, index - 1)
    if before == "[":
        array = stream.text(around - 1)
        is_name = stream.kind(around - 1) == "name" and array not in {"auto", *WORD_OPERATORS}
        return not is_name and array not in (")", "]")
    if before == "]":
        return True  # an attribute
    if before == ")":
        parens = stream.pair(index - 1)
        return parens is None or stream.text(parens - 1) in ALIGNMENTS
    return before == "{" and (brackets.is_class(around) or not brackets.holds_statements(around))


def _is_in_value(stream: Stream, index: int) -> bool:
    """Whether a `=` or `return` stands before the token in its statement, with no comma between."""
    while stream.text(index) not in ("", ",", ";", "{", "}", "(", "["):
        if stream.text(index) in ("=", "return"):
            return True
        opener = stream.pair(index) if stream.text(index) in (")", "]", "}") else None
        index = (index if opener is None else opener) - 1
    return False
