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

# In namespace std. These are the host's: objects of these classes, streams, and functions; of the
# latter the second set is constexpr, at least in C++20, which nvcc's --expt-relaxed-constexpr allows
# in device code.
STREAMS = {"cout", "cerr", "clog", "cin"}
CLASSES = set("vector string deque list map set".split())
OF_HOST = set("to_string stoi stol stof stod rand srand getline stable_sort shuffle".split())
CONSTEXPR_OF_HOST = set(
    "max min clamp swap sort copy fill reverse iota accumulate find count lower_bound upper_bound "
    "make_pair max_element min_element partial_sort nth_element transform".split()
)


class _Function(NamedTuple):
    side: str
    at: Declaration
    body: int  # its `{`
    end: int  # its `}`


class Sides:
    """Of a unit."""

    def __init__(self, unit: Unit, relaxed: bool = False) -> None:
        self._unit = unit
        self._refused_functions = OF_HOST | (set() if relaxed else CONSTEXPR_OF_HOST)
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
            if side in (KERNEL, DEVICE) and not self._may_be_unused(definition):
                result += self._errors_of_objects(stream, brackets, function, declared)
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

    def _may_be_unused(self, definition: Declaration) -> bool:
        """Whether it is a template that nobody may use: nvcc does not look into it then."""
        if "template" not in definition.words:
            return False
        tokens = (t for source in self._unit.sources.values() for t in source.streams[0].tokens)
        return sum(token.text == definition.name for token in tokens) < 2

    def _errors_of_objects(
        self, stream: Stream, brackets: Brackets, function: _Function, declared: Declarations
    ) -> list[Edit]:
        """For what the function uses of namespace std, and for the members of classes of the host."""
        messages: dict[str, Edit] = {}
        for i in range(function.body + 1, function.end):
            if stream.kind(i) != "name" or brackets.in_lambda(i, function.body):
                continue
            message = None
            if stream.text(i) == "std" and stream.text(i + 1) == "::":
                message = self._message_of_std(stream, i, function)
            elif stream.text(i - 1) in (".", "->") and stream.text(i + 1) == "(":
                message = self._message_of_member(stream, i, function, declared)
            elif _makes_object(stream, i):
                message = self._message_of_constructor(stream, i, function, declared)
            if message is None or self._is_left_out(stream, brackets, i, function.body):
                continue
            at = stream.tokens[i].start
            messages.setdefault(message, (at, at, compile_error(message) + " "))
        return list(messages.values())

    def _message_of_std(self, stream: Stream, index: int, function: _Function) -> Optional[str]:
        """What is wrong about the `std::name` whose first token is at `index`."""
        if stream.kind(index - 1) == "name" and stream.text(index - 1) not in BEFORE_EXPRESSION:
            if stream.text(index - 1) != "const":
                return None  # using, namespace
        if "std" in self._unit.macros or stream.text(index - 1) == "::":
            return None
        name = stream.text(index + 2)
        by = f"the {function.side} '{function.at.name}'"
        behind = _behind_name(stream, index + 2)
        if name in STREAMS and stream.text(behind) in ("<", ">", "."):
            return f"'std::{name}' is of the host, and {by} cannot use it: print with printf()"
        if name in CLASSES and stream.kind(behind) == "name":
            if stream.text(behind + 1) in (";", "(", "{", "="):
                return (
                    f"'std::{name}' is a class of the host, and {by} cannot make an object of it: "
                    "use an array, or memory that the host has allocated"
                )
        if name in self._refused_functions and stream.text(behind) == "(":
            instead = "do that on the host, or write it out"
            if name in ("max", "min"):
                instead = f"use {name}() without std::"
            return f"'std::{name}' is a function of the host, which {by} cannot call: {instead}"
        return None

    def _message_of_member(
        self,
        stream: Stream,
        index: int,
        function: _Function,
        declared: Declarations,
    ) -> Optional[str]:
        """What is wrong about the call of a member function whose name is at `index`."""
        class_name = _class_of(stream, index - 2, function)
        if class_name is None or class_name in self._unit.macros:
            return None
        name = stream.text(index)
        members = declared.functions_of_class(class_name).get(name, [])
        if not members or {self._side(m.words) for m in members} != {HOST}:
            return None
        if self._is_of_device_outside(stream, class_name, name):
            return None
        return (
            f"'{class_name}::{name}' is a function of the host, which the {function.side} "
            f"'{function.at.name}' cannot call: declare it __device__, or __host__ __device__ for "
            "both"
        )

    def _is_of_device_outside(self, stream: Stream, class_name: str, name: str) -> bool:
        """Whether a definition behind the class makes the function that of the device, too."""
        for i in range(2, len(stream.tokens)):
            if [stream.text(t) for t in range(i - 2, i + 1)] != [class_name, "::", name]:
                continue
            first = i - 2
            while stream.text(first - 1) not in ("", ";", "{", "}"):
                first -= 1
            words = {stream.text(t) for t in range(first, i - 2)}
            if not words.isdisjoint(self._unit.device_words | self._unit.macros):
                return True
        return False

    def _message_of_constructor(
        self, stream: Stream, index: int, function: _Function, declared: Declarations
    ) -> Optional[str]:
        """What is wrong about an object of the class at `index`, which is made without arguments."""
        name = stream.text(index)
        unsure = UNSURE | self._unit.device_words | self._unit.macros
        if name in self._unit.macros or not declared.has_default_constructor(name, unsure):
            return None
        return (
            f"'{name}::{name}()' is a function of the host, which the {function.side} "
            f"'{function.at.name}' cannot call: declare it __device__, or __host__ __device__ for "
            "both"
        )

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


def _makes_object(stream: Stream, index: int) -> bool:
    """Whether the name begins `S x;`, or follows `new` without arguments."""
    if stream.text(index - 1) == "new":
        behind = [stream.text(index + 1), stream.text(index + 2)]
        return behind[0] == ";" or behind == ["(", ")"]
    is_first = stream.text(index - 1) in (";", "{", "}")
    return is_first and stream.kind(index + 1) == "name" and stream.text(index + 2) == ";"


def _class_of(stream: Stream, index: int, function: _Function) -> Optional[str]:
    """The class of the parameter or variable at `index`, if the function declares one of the name,
    as `S name`, `S* name` or `S& name`."""
    opener = stream.pair(index) if stream.text(index) == "]" else None
    index = index if opener is None else opener - 1
    if stream.kind(index) != "name" or stream.text(index - 1) in (".", "->", "::"):
        return None
    classes = set()
    for i in range(function.at.name_at + 1, function.end):
        if stream.text(i) != stream.text(index) or i == index:
            continue
        before = i - 1
        while stream.text(before) in ("*", "&", "const", "__restrict__"):
            before -= 1
        declares = stream.text(i + 1) in (",", ")", ";", "=", "{", "(", "[")
        if stream.kind(before) == "name" and stream.text(before) not in BEFORE_EXPRESSION:
            qualified = stream.text(before - 1) in ("::", ".", "->")
            classes.add(stream.text(before) if declares and not qualified else "")
    return classes.pop() or None if len(classes) == 1 else None


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
