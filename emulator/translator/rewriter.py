"""Rewrites what C++ cannot parse. Every edit stays in its place and keeps its line breaks."""

import re
from typing import NamedTuple, NoReturn

from .arithmetic import Arithmetic
from .by_value import ByValue
from .callee import is_name, name_literal, postfix_start
from .constant_memory import behind_constants, constant_variables
from .decisions import Decisions, edits
from .discarded import discarded_edits
from .errors import compile_error
from .heap import Heap
from .lanes import Lanes
from .lexer import Stream
from .missing import NAMES, missing_name
from .polls import Polls
from .scopes import Scope
from .shared_memory import (
    behind_shared,
    dynamic_arrays,
    initialiser_error,
    shared_edits,
    shared_variables,
)
from .statements import statement_edits
from .unit import ALIGNMENTS, BUILTIN_TYPES, Source, Unit, parameter_list, reference_mark
from .volatile import find_use

VOID_POINTER = re.compile(r"(const )?void( const)? \*( const)?")
LAUNCH_FUNCTIONS = ("cudaLaunchKernel", "cudaLaunchCooperativeKernel")
NO_MEMBER = (
    "a kernel cannot be a member of a class: declare it outside, and pass it what it needs of an "
    "object as arguments"
)
NO_RESULT = "a kernel returns void: store the result through a pointer to device memory"
# The runtime finds it in the symbol table (src/engine/program_symbols.h).
BOUNDS = " static const int emuLaunchBounds EMU_KEPT = static_cast<int>({});"
NO_PTX = compile_error("inline PTX is not supported on the cpu back end")


class Declared(NamedTuple):
    """A variable: the end of the block that it is in, and the branches of #if around it."""

    name: str
    end: int
    branches: list[int]


class Rewriter:
    """Finds what has to be rewritten in one stream of a source and adds it to source.edits."""

    def __init__(
        self,
        unit: Unit,
        lanes: Lanes,
        polls: Polls,
        heap: Heap,
        by_value: ByValue,
        source: Source,
        stream: Stream,
        instrument: bool,
    ) -> None:
        self._unit = unit
        self._lanes = lanes
        self._polls = polls
        self._heap = heap
        self._by_value = by_value
        self._instrument = instrument  # for the profiler; see translate.py
        self._source = source
        self._stream = stream
        self._shared_variables: list[Declared] = []
        self._constants: list[Declared] = []
        self._at_body: dict[int, str] = {}  # declarations to put behind a function's `{`

    def run(self) -> None:
        text = self._stream.text
        if self._stream.macro and [token.text for token in self._stream.tokens] == [">"] * 3:
            self._edit(0, 3, ")")  # of a launch
        for i, token in enumerate(self._stream.tokens):
            if token.text == "<":
                # `operator<< <T>` is the one other place where three `<` may meet.
                if text(i + 1) == "<" and text(i + 2) == "<" and text(i - 1) != "operator":
                    self._launch(i)
            elif token.kind != "name":
                continue
            elif token.text == "__shared__":
                self._shared(i)
            elif token.text == "__global__" and not self._stream.macro:
                self._kernel(i)
            elif token.text in ("asm", "__asm__", "__asm"):
                self._asm(i)
            elif token.text == "volatile" and not self._stream.macro:
                self._volatile(i)
            elif token.text in self._unit.constant_words:
                self._constant(i)
            elif token.text in NAMES and not self._stream.macro:
                message = missing_name(self._unit, self._stream, i)
                if message:
                    self._fail(i, message)
            elif token.text in LAUNCH_FUNCTIONS and text(i + 1) == "(":
                self._drop_cast(i + 2)
            elif token.text in self._unit.launch_macros:
                if self._launcher(i, i, ""):
                    self._fail_of_references(i)
        for body, bounds in self._unit.launch_bounds(self._stream).items():
            self._at_body[body] = BOUNDS.format(bounds) + self._at_body.get(body, "")
        for i, declarations in self._at_body.items():
            self._edit(i, i + 1, "{" + declarations)
        if not self._stream.macro and self._unit.device_words & {
            token.text for token in self._stream.tokens
        }:
            self._arithmetic()
        self._source.edits += self._lanes.edits(self._stream)
        for edit in self._polls.edits(self._stream, self._unit) + self._heap.edits(self._stream):
            self._edit(*edit)
        if self._instrument and not self._stream.macro:
            for find in (statement_edits, discarded_edits, self._by_value.edits):
                self._source.edits += find(self._stream, lambda i: self._scope(i).device)
            self._decisions()

    def _fail(self, index: int, message: str) -> NoReturn:
        self._source.fail(self._stream.tokens[index].start, message)

    def _edit(self, first: int, end: int, text: str, tail: str = "") -> None:
        """Replaces tokens [first, end) and what is between them by `text`, their line breaks, and
        `tail`."""
        start, stop = self._stream.tokens[first].start, self._stream.tokens[end - 1].end
        # `case 1:k<<<...` must not become `case 1:::emu`.
        space = " " if text and self._source.text[start - 1 : start] == ":" else ""
        newline = "\\\n" if self._stream.macro else "\n"
        breaks = newline * self._source.text.count("\n", start, stop)
        self._source.edits.append((start, stop, space + text + breaks + tail))

    # ---- Kernels and launches ----

    def _kernel(self, index: int) -> None:
        """Refuses members of a class, results, and references with a default, in the declaration at
        `__global__`."""
        stream = self._stream
        first = index
        while stream.kind(first - 1) == "name":
            first -= 1
        if self._scope(index).in_class and stream.text(first) != "friend":
            at = stream.tokens[index].start
            self._source.edits.append((at, at, compile_error(NO_MEMBER) + " "))
        opener = parameter_list(stream, index + 1)
        close = stream.pair(opener) if opener is not None else None
        if opener is None or close is None:
            return
        if self._has_result(first, opener):
            at = stream.tokens[index].start
            self._source.edits.append((at, at, compile_error(NO_RESULT) + " "))
        for parameter in stream.split(opener + 1, close):
            reference = reference_mark(stream, parameter)
            if reference is not None and "=" in (stream.text(i) for i in parameter):
                self._fail(
                    reference,
                    f"a parameter of the kernel '{stream.text(opener - 1)}' is a reference with a "
                    "default, which each CUDA thread would look up here, and the host does with nvcc: "
                    "leave out the default",
                )

    def _has_result(self, first: int, opener: int) -> bool:
        """Whether a type that is built in, but not void, stands before the parameters at `opener`,
        outside of brackets."""
        stream, words = self._stream, set()
        while first < opener:
            words.add(stream.text(first))
            is_angle = stream.text(first) == "<"
            first = (stream.angle_end(first) if is_angle else stream.pair(first)) or first
            first += 1
        return "void" not in words and not words.isdisjoint(BUILTIN_TYPES - {"auto"})

    def _launch(self, opening: int) -> None:
        """Rewrites the launch whose `<<<` starts at token `opening`."""
        stream = self._stream
        if opening == 0 and stream.macro and len(stream.tokens) == 3:
            self._edit(0, 3, ".emuConfig(")  # `>>>` is elsewhere
            return
        closing = self._config_end(opening)
        if closing == opening + 3:
            self._fail(opening, "this launch has no grid: <<<grid, block>>>")
        references: set[int] = set()
        if opening == 0 and stream.macro in self._unit.launch_macros:
            self._edit(opening, opening + 3, ".emuConfig(")
        else:
            references = self._launcher(opening, opening + 3, ".emuConfig(")
        self._edit(closing, closing + 3, ")")
        if stream.text(closing + 3) != "(":
            if references:
                self._fail_of_references(opening)
            return  # a macro for all but the arguments
        end = stream.pair(closing + 3)
        if end is None:
            self._fail(closing + 3, "the arguments of this launch never end")
        if references:
            self._refer(closing + 4, end, references)
        i = closing + 4
        while i < end:
            if stream.text(i) == "NULL" and stream.text(i - 1) in ("(", ","):
                if stream.text(i + 1) in (")", ","):
                    self._edit(i, i + 1, "nullptr")
            i = (stream.pair(i) or i) + 1

    def _config_end(self, opening: int) -> int:
        """Index of the first `>` of the `>>>` that ends the configuration."""
        stream = self._stream
        fallback = None  # a `>>>` that may as well end template arguments
        angles = 0
        i = opening + 3
        while i < len(stream.tokens):
            text = stream.text(i)
            if text in ("(", "[", "{"):
                close = stream.pair(i)
                if close is None:
                    self._fail(i, f"this '{text}' is never closed")
                i = close
            elif text in (")", "]", "}", ";"):
                break
            elif text == "<":
                if stream.text(i + 1) == "<" and stream.text(i + 2) == "<":
                    break
                angles += stream.kind(i - 1) == "name" and stream.text(i + 1) != "<"
            elif text == ">":
                end = i
                while stream.text(end) == ">":
                    end += 1
                after = stream.text(end)
                complete = after == "(" or (stream.macro and after in ("", *stream.parameters))
                if end - i >= 3 and complete:
                    if angles <= end - i - 3:
                        return end - 3
                    fallback = fallback or end - 3
                angles = max(0, angles - (end - i))
                i = end - 1
            i += 1
        if fallback is None:
            message = "this launch never ends: expected '>>>' and the arguments in parentheses"
            self._fail(opening, message)
        return fallback

    def _refer(self, start: int, end: int, references: set[int]) -> None:
        """Marks the arguments, tokens [start, end) of a launch, for those parameters."""
        for number, argument in enumerate(self._stream.split(start, end), 1):
            if number in references:
                before = self._stream.tokens[argument[0]].start
                behind = self._stream.tokens[argument[-1]].end
                self._source.edits.append((before, before, f"::emu::refer<{number}>("))
                self._source.edits.append((behind, behind, ")"))

    def _references(self, callee: list[int]) -> set[int]:
        """The numbers of the parameters that are references, of a kernel whose types C++ cannot tell,
        since its template arguments are deduced."""
        name = self._stream.text(callee[-1])
        if name == ">":
            opener = self._stream.angle_start(callee[-1])
            name = self._stream.text(opener - 1) if opener is not None else ""
        references = self._unit.references(name)
        if references is None:
            self._fail_of_references(callee[0])
        return references

    def _fail_of_references(self, index: int) -> NoReturn:
        self._fail(
            index,
            "some parameters of this launch's kernel are references, and its template arguments do not "
            "tell which: give all of them, or pass pointers to device memory",
        )

    def _launcher(self, callee_end: int, end: int, tail: str) -> set[int]:
        """Replaces the callee, which ends before token `callee_end`, and the tokens up to `end` by
        a launcher and `tail`. Returns the numbers of the arguments to be marked as references."""
        stream = self._stream
        start = self._callee_start(callee_end)
        callee = list(range(start, callee_end))
        if stream.text(start) == "(" and stream.pair(start) == callee[-1]:
            if is_name(stream, callee[1:-1], self._unit.macros):
                callee = callee[1:-1]
        code = stream.plain(callee)
        name = name_literal(stream, callee)
        references: set[int] = set()
        if is_name(stream, callee, self._unit.macros):
            known = self._unit.address_known(stream, callee)
            bare = len(callee) == 1 or stream.text(callee[1]) == "<"
            prefix = self._unit.global_prefix(stream.text(callee[0])) if bare else ""
            address = f"::emu::emuId({prefix}{code})" if known else "nullptr"
            if not known:
                references = self._references(callee)
            call = self._caller(code, bool(references))
            launcher = f"::emu::emuKernel({name}, {address}, {call})"
        else:  # an expression: it is evaluated once, not by every CUDA thread
            launcher = (
                f"[&](auto emuKernel) {{ return ::emu::emuKernel({name}, ::emu::emuId(emuKernel), "
                f"{self._caller('emuKernel')}); }}({code})"
            )
        self._edit(start, end, launcher, tail)
        return references

    def _caller(self, callee: str, has_references: bool = False) -> str:
        """What every CUDA thread runs."""
        if self._instrument:
            head = "[=](auto... emuArgs) EMU_NOT_RECORDED { ::emu::KernelFrame emuFrame;"
        else:
            head = "[=](auto... emuArgs) {"
        arguments = "::emu::referred(emuArgs)..." if has_references else "emuArgs..."
        return f"{head} {callee}({arguments}); }}"

    def _callee_start(self, end: int) -> int:
        """First token of the callee that ends before token `end`."""
        start = postfix_start(self._stream, end - 1)
        if start is not None and self._stream.text(start - 1) != "<":
            return self._behind_statement(start)
        hint = ""
        if start is not None or self._stream.text(end - 1) == ">":
            hint = ": put comparisons in template arguments into parentheses, k<(a > b)>"
        self._fail(end, "no kernel's name before this launch" + hint)

    def _behind_statement(self, start: int) -> int:
        """The first token behind a macro's statement: `DO(x) ::k<<<1, 1>>>()` looks like a name."""
        stream = self._stream
        if stream.text(start) not in self._unit.statement_macros:
            return start
        close = stream.pair(start + 1) if stream.text(start + 1) == "(" else None
        return (start if close is None else close) + 1

    def _scope(self, index: int) -> Scope:
        if self._stream.macro:
            return Scope(True, True)  # the more likely
        return self._unit.scopes(self._stream)[index]

    def _arithmetic(self) -> None:
        """Adds what does not meet an edit that is there."""
        arithmetic = Arithmetic(self._unit, self._stream, lambda i: self._scope(i).device)
        taken = [(s, e) for s, e, _ in self._source.edits if s < e]
        for change in arithmetic.changes():
            if any(s < end and start < e for start, end, _ in change for s, e in taken):
                continue
            for start, end, text in change:
                space = " " if self._source.text[start - 1 : start] == ":" else ""
                breaks = "\n" * self._source.text.count("\n", start, end)
                self._source.edits.append((start, end, space + text + breaks))

    def _declared_before(
        self, variables: list[Declared], names: list[str], index: int
    ) -> list[str]:
        """Those of `variables` that are sure to be there at token `index`. Adds `names`, which are
        declared there."""
        stream = self._stream
        branches = stream.branches(index)
        before = [
            name
            for name, end, around in variables
            if end > index and around == branches[: len(around)]
        ]
        end = _end_of_block(stream, index)
        variables += [Declared(name, end, branches) for name in names]
        return before

    # ---- For the profiler ----

    def _decisions(self) -> None:
        stream, unit = self._stream, self._unit
        found = Decisions(
            stream, lambda i: self._scope(i).device, unit.device_words, unit.literal_macros
        ).find()
        if unit.overloads_and_or:
            found = [decision for decision in found if decision.kind == "?"]
        self._source.edits += edits(found, stream, self._source.text, self._source.edits)

    def _drop_constant(self, index: int) -> None:
        """Drops `__constant__` at token `index` from a const variable, which cannot be in a section
        with the others."""
        stream = self._stream
        first = index
        while stream.text(first - 1) not in ("", ";", "{", "}", ")", ":"):
            first -= 1
        is_const = False
        while stream.text(first) not in ("", ";", "=", "[", "(", "{", ",", ")"):
            text = stream.text(first)
            if text == "*":
                is_const = False  # but what it points to may be
            is_const = is_const or text == "const"
            if text in ALIGNMENTS:
                first = stream.pair(first + 1) or first
            elif text == "<":
                first = stream.angle_end(first) or first
            elif text == "constexpr":
                is_const = True
                break
            first += 1
        if is_const:
            self._edit(index, index + 1, "")

    # ---- __constant__, __shared__ ----

    def _constant(self, index: int) -> None:
        if self._instrument:
            self._drop_constant(index)
        if not self._scope(index).in_function:
            end, names = constant_variables(self._stream, index)
            if names:
                before = self._declared_before(self._constants, names, index)
                after = self._stream.tokens[end].end
                self._source.edits.append((after, after, behind_constants(names, before)))

    def _shared(self, index: int) -> None:
        stream, scope = self._stream, self._scope(index)
        error = initialiser_error(stream, index, self._unit.macros)
        if error is not None:
            at = stream.tokens[error[0]].start
            self._source.edits.append((at, at, compile_error(error[1]) + " "))
        for edit in shared_edits(stream, index, scope.in_function, self._fail):
            self._edit(*edit)
        line = self._source.text.count("\n", 0, stream.tokens[index].start) + 1
        for name in dynamic_arrays(stream, index):
            self._unit.dynamic_arrays.append((name, self._source.path, line))
        if scope.in_function and scope.device:
            end, names = shared_variables(stream, index, self._unit.device_words)
            if names:
                before = self._declared_before(self._shared_variables, names, index)
                after = stream.tokens[end].end
                self._source.edits.append((after, after, behind_shared(names, before)))

    # ---- volatile, inline PTX, casts ----

    def _volatile(self, index: int) -> None:
        device = self._scope(index).device
        use = find_use(self._stream, index, device, self._unit.device_words)
        if use is not None:
            for edit in use.edits:
                self._edit(*edit)
            if use.body is not None:
                self._at_body[use.body] = self._at_body.get(use.body, "") + use.declaration

    def _asm(self, index: int) -> None:
        """Makes an asm statement in device code an error for those who compile it: the preprocessor
        may yet drop it."""
        stream = self._stream
        opener = index + 1
        while stream.text(opener) in ("volatile", "__volatile__", "goto"):
            opener += 1
        end = stream.pair(opener) if stream.text(opener) == "(" else None
        statement = stream.text(index - 1) in ("", ";", "{", "}", ")", ":", "else", "do")
        barrier = stream.text(opener + 1) == '""'  # for the compiler only
        if end is not None and statement and not barrier and self._scope(index).device:
            self._edit(index, end + 1, NO_PTX)

    def _drop_cast(self, index: int) -> None:
        """Removes a cast to void* that starts at token `index`."""
        stream = self._stream
        first, end = index + 1, None
        if stream.text(index) == "(":
            end = stream.pair(index)
        elif stream.text(index) == "reinterpret_cast":
            first, end = index + 2, stream.angle_end(index + 1)
        if end is not None:
            target = " ".join(stream.text(i) for i in range(first, end))
            if VOID_POINTER.fullmatch(target):
                self._edit(index, end + 1, "")


def _end_of_block(stream: Stream, index: int) -> int:
    """The `}` of the block that token `index` is in; in a macro perhaps none: then its own end."""
    while index < len(stream.tokens):
        close = stream.pair(index) if stream.text(index) == "{" else None
        if stream.text(index) == "}":
            return index
        index = (close or index) + 1
    return index
