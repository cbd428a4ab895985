"""Keeps the lanes of a warp in step where code relies on that: device functions with `volatile`
that find_use() knows, and those that call them. Lanes that an `if`, a loop, a `return` or a `?:`
parts are made to meet again behind it, as on a GPU; emu/engine.h says how.

The lanes also meet at a fence that all threads of a kernel come to: behind it one may change what
another has stored before. Not so where there may be a lock: who holds it should not wait."""

import re
from collections.abc import Iterator
from typing import NamedTuple, Optional

from .lexer import Stream
from .unit import ATTRIBUTES, CONTROL, Unit
from .volatile import find_use

LOOPS = {"while", "for", "do"}
CHOICES = {"?", "&&", "||", "and", "or"}
OPERATORS = set("+-*/%&|^")  # of `+=` and so on
BEHIND_PARAMETERS = {"{", "const", "noexcept", "override", "final", "->"}
STATEMENT_STARTS = {"{", "}", ";"}
FENCE = "__threadfence"  # and __threadfence_block, __threadfence_system
BARRIER = "__syncthreads"  # and __syncthreads_count ...
LOCKS = {"atomicCAS", "atomicExch"}
LOOP_END = re.compile(r"<(\d+)>")  # stands for the place at the end of that loop's body


class Function(NamedTuple):
    """A function of device code, by tokens."""

    name: str
    start: int
    body: int  # its `{`
    end: int  # its `}`
    is_kernel: bool


class Lanes:
    """What of a unit keeps lanes in step."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        sources = [source for source in unit.sources.values() if unit.has_cuda(source)]
        functions = []
        if any(word in source.text for source in sources for word in ("volatile", FENCE)):
            functions = [
                (source.streams[0], function)
                for source in sources
                for function in device_functions(source.streams[0], unit.device_words)
            ]
        uses = {f.name for s, f in functions if _uses_volatile(unit, s, f)}
        locks = {f.name for s, f in functions if _mentions(s, f, LOCKS)}
        self._in_step = with_callers(functions, uses)
        self._locking = with_callers(functions, locks)

    def edits(self, stream: Stream) -> list[tuple[int, int, str]]:
        """What to change in a source: (start, end, new text)."""
        edits: list[tuple[int, int, str]] = []
        fences = any(token.text.startswith(FENCE) for token in stream.tokens)
        if stream.macro or not (self._in_step or fences):
            return edits
        for function in device_functions(stream, self._unit.device_words):
            if function.name in self._in_step:
                edits += _Places(stream, function, self._unit.control_macros).edits()
            if function.is_kernel and function.name not in self._locking:
                for end in _fences_of_all(stream, function.body):
                    at = stream.tokens[end].end
                    edits.append((at, at, " ::emu::laneStep();"))
        return edits


def with_callers(functions: list[tuple[Stream, Function]], names: set[str]) -> set[str]:
    known = -1
    while known < len(names):
        known = len(names)
        names = names | {f.name for stream, f in functions if _calls(stream, f, names)}
    return names


def _fences_of_all(stream: Stream, brace: int) -> Iterator[int]:
    """The last tokens of the fences that all threads come to: in no `if` and no `while`."""
    end = stream.pair(brace)
    assert end is not None
    i = brace + 1
    while i < end:
        before, close = stream.text(i - 1), stream.pair(i)
        if stream.text(i) == "{" and close is not None:
            opener = stream.pair(i - 1) if before == ")" else None
            is_for = opener is not None and stream.text(opener - 1) == "for"
            if is_for or before in STATEMENT_STARTS:
                yield from _fences_of_all(stream, i)
        elif stream.text(i).startswith(FENCE) and before in STATEMENT_STARTS:
            if stream.text(i + 3) == ";":
                yield i + 3
        i = max(i, close or i) + 1


def device_functions(stream: Stream, device_words: set[str]) -> Iterator[Function]:
    i = 0
    while i < len(stream.tokens):
        found = function_at(stream, i)
        if found and not device_words.isdisjoint(_words(stream, found.start, i)):
            yield found
            i = found.end
        i += 1


def function_at(stream: Stream, brace: int) -> Optional[Function]:
    """The function whose body begins at this token, if one does. One that is `constexpr` is not seen."""
    end = stream.pair(brace) if stream.text(brace) == "{" else None
    if end is None:
        return None
    start = header_start(stream, brace)
    words = _words(stream, start, brace)
    name = _function_name(stream, start, brace)
    if not name or "constexpr" in words:
        return None
    return Function(name, start, brace, end, "__global__" in words)


def _words(stream: Stream, start: int, end: int) -> set[str]:
    return {stream.text(i) for i in range(start, end)}


def _function_name(stream: Stream, start: int, brace: int) -> str:
    for i in range(start, brace):
        close = stream.pair(i) if stream.text(i) == "(" else None
        if close is not None and stream.text(close + 1) in BEHIND_PARAMETERS:
            if stream.kind(i - 1) == "name" and stream.text(i - 1) not in ATTRIBUTES:
                return stream.text(i - 1)
    return ""


def header_start(stream: Stream, brace: int) -> int:
    start = brace
    while stream.text(start - 1) not in ("", ";", "{", "}"):
        opener = stream.pair(start - 1) if stream.text(start - 1) in (")", "]") else None
        start = opener if opener is not None and opener < start else start - 1
    return start


def _uses_volatile(unit: Unit, stream: Stream, function: Function) -> bool:
    words = [i for i in range(function.start, function.end) if stream.text(i) == "volatile"]
    scopes = unit.scopes(stream) if words else []
    return any(
        find_use(stream, i, scopes[i].device, unit.device_words) or is_dynamic_shared(stream, i)
        for i in words
    )


def is_dynamic_shared(stream: Stream, index: int) -> bool:
    """Whether the `volatile` at `index` is that of `extern __shared__ volatile float s[];`."""
    first = last = index
    while stream.kind(first - 1) == "name":
        first -= 1
    while stream.kind(last + 1) == "name":
        last += 1
    return {"extern", "__shared__"} <= {stream.text(i) for i in range(first, last)}


def _mentions(stream: Stream, function: Function, words: set[str]) -> bool:
    return any(stream.text(i) in words for i in range(function.body, function.end))


def _calls(stream: Stream, function: Function, names: set[str]) -> bool:
    return any(
        stream.text(i) in names and stream.text(i + 1) in ("(", "<") and stream.text(i + 2) != "<"
        for i in range(function.body, function.end)
    )


class _Places:
    """Finds the statements of a function that part lanes, and numbers the places behind them."""

    def __init__(self, stream: Stream, function: Function, macros: dict[str, bool]) -> None:
        self._stream = stream
        self._function = function
        self._macros = macros  # that hold such statements
        self._last = 0
        self._loops: list[str] = []  # that are open: the calls at the end of a turn
        self._loop_ends: list[int] = []  # for each loop, the place at the end of its body
        # Text to put behind a token: at the end of a statement, and before the next one.
        self._tails: dict[int, str] = {}
        self._heads: dict[int, str] = {}

    def edits(self) -> list[tuple[int, int, str]]:
        function = self._function
        if not function.is_kernel:
            self._insert(function.body + 1, self._call("laneEnters"))
        last = self._block(function.body)
        if not function.is_kernel and last != "return":
            self._insert(function.end, self._call("laneLeaves"))
        edits = []
        for token in self._tails.keys() | self._heads.keys():
            text = self._tails.get(token, "") + self._heads.get(token, "")
            at = self._stream.tokens[token].end
            edits.append((at, at, LOOP_END.sub(self._loop_end, text)))
        return edits

    def _loop_end(self, match: re.Match[str]) -> str:
        return str(self._loop_ends[int(match[1])])

    def _call(self, function: str) -> str:
        self._last += 1
        return f" ::emu::{function}({self._last});"

    def _insert(self, end: int, text: str) -> None:
        """Behind what has been inserted so far before the token `end`."""
        self._tails[end - 1] = self._tails.get(end - 1, "") + text

    def _enclose(self, first: int, end: int, head: str, tail: str) -> None:
        """In { }, with what has been inserted in the statement [first, end) and around it so far. (A
        #pragma may stand in front of it: then this is before that.)"""
        self._heads[first - 1] = " {" + head + self._heads.get(first - 1, "")
        self._insert(end, tail + " }")

    def _add(self, first: int, end: int, function: str, in_block: bool) -> None:
        """A call behind the statement [first, end)."""
        if in_block and end == self._function.end and self._function.is_kernel:
            return  # nothing comes behind it
        if in_block and self._is_barrier(end):
            function = "lanePasses"
        if in_block:
            self._insert(end, self._call(function))
        else:
            self._enclose(first, end, "", self._call(function))

    # ---- statements: each function returns the token behind the one that starts at `i`

    def _block(self, brace: int) -> str:
        """The statements in { }. Returns the first word of the last one."""
        end = self._stream.pair(brace)
        assert end is not None
        i, first = brace + 1, ""
        while i < end:
            first = self._stream.text(i)
            i = self._statement(i, end, in_block=True)
        return first

    def _statement(self, i: int, end: int, in_block: bool = False) -> int:
        """The statement that starts at `i`, in a block that ends at `end`."""
        text = self._stream.text(i)
        close = self._stream.pair(i)
        if text == "{" and close is not None:
            self._block(i)
            return close + 1
        if text in ("{", "}"):  # whose other half an #if hides
            return i + 1
        if text in CONTROL:
            return self._control(i, end, in_block)
        if text == "_Pragma":
            return self._statement((self._stream.pair(i + 1) or i) + 1, end, in_block)
        if text in ("case", "default") or self._stream.text(i + 1) == ":":
            while i < end and self._stream.text(i) != ":":
                i += 1
            return self._statement(i + 1, end, in_block) if i + 1 < end else end
        if text in self._macros and self._stream.text(i + 1) == "(":
            return self._macro(i, end, in_block)
        behind = self._end_of_expression(i, end)
        if text == "continue" and self._loops:
            self._enclose(i, behind, self._loops[-1], "")
        elif text == "return" and not self._function.is_kernel:
            self._enclose(i, behind, self._call("laneLeaves"), "")
        elif self._parts_lanes(i, behind):
            assign = self._assignment(i, behind)
            if assign is not None:
                self._last += 1
                self._heads[assign] = f" ::emu::laneAssigns({self._last},"
                self._insert(behind - 1, ")")
            elif in_block:
                self._insert(behind, self._call("laneJoin"))
        return behind

    def _parts_lanes(self, first: int, end: int) -> bool:
        """Whether some lanes may leave out a part of the expression [first, end)."""
        parts = any(self._stream.text(i) in CHOICES for i in range(first, end))
        return parts and not self._is_split(first, end)

    def _assignment(self, first: int, end: int) -> Optional[int]:
        """The `=` of the statement [first, end), if it is that of one store to memory."""
        stream = self._stream
        i = first
        while stream.text(i) == "*":
            i += 1
        if stream.kind(i) != "name" and stream.text(i) != "(":
            return None
        is_memory = i > first
        i = (stream.pair(i) or i) + 1
        while stream.text(i) in ("[", "(", ".", "->", "::"):
            is_memory = is_memory or stream.text(i) != "::"
            i = (stream.pair(i) or i + 1) + 1
        if stream.text(i) in OPERATORS and stream.text(i + 1) == "=":
            i += 1
        if not is_memory or stream.text(i) != "=" or stream.text(i + 1) in ("=", "{"):
            return None
        commas = stream.split(i + 1, end - 1)
        return i if len(commas) == 1 else None

    def _end_of_expression(self, i: int, end: int) -> int:
        while i < end and self._stream.text(i) != ";":
            i = max(i, self._stream.pair(i) or i) + 1
        return min(i + 1, end)

    def _macro(self, i: int, end: int, in_block: bool) -> int:
        behind = (self._stream.pair(i + 1) or i) + 1
        if self._stream.text(behind) == ";":
            behind += 1
        elif not self._macros[self._stream.text(i)]:
            return self._end_of_expression(i, end)
        if in_block:  # (elsewhere it would need braces, and it may declare something)
            self._insert(behind, self._call("laneJoin"))
        return behind

    def _control(self, i: int, end: int, in_block: bool) -> int:
        stream = self._stream
        kind = stream.text(i)
        saved = dict(self._heads), dict(self._tails)
        if kind == "do":
            behind = self._end_of_expression(self._loop_body(i + 1, end), end)
        else:
            is_constexpr = stream.text(i + 1) == "constexpr"  # then all lanes go the same way
            opener = i + 1 + is_constexpr
            close = stream.pair(opener) if stream.text(opener) == "(" else None
            if close is None:
                return self._end_of_expression(i, end)
            body = self._loop_body if kind in LOOPS else self._statement
            behind = body(close + 1, end)
            if kind == "if" and stream.text(behind) != "else" and stream.text(close + 1) != "{":
                self._enclose(close + 1, behind, "", "")  # or clang takes the call for its body
            if kind == "if" and stream.text(behind) == "else":
                head = "" if is_constexpr else self._call("laneJoin")  # the `if` comes first
                first, behind = behind + 1, self._statement(behind + 1, end)
                if head:
                    self._enclose(first, behind, head, "")
            if is_constexpr:
                return behind
        if self._is_split(i, behind):  # by an #if: leave all of it as it is
            self._heads, self._tails = saved
        else:
            function = "laneLeavesLoop" if kind in LOOPS else "laneJoin"
            if kind in LOOPS and self._ends_with_barrier(behind):
                function = "lanePasses"
            self._add(i, behind, function, in_block)
        return behind

    def _loop_body(self, first: int, end: int) -> int:
        """The body of a loop. One that is empty polls: lanes have nothing to do in step there."""
        stream = self._stream
        loop = len(self._loop_ends)
        self._loop_ends.append(0)
        next_turn = self._call("lanePasses")
        call = f" ::emu::laneJoin(<{loop}>);{next_turn}"
        self._loops.append(call)
        behind = self._statement(first, end)
        self._loops.pop()
        self._loop_ends[loop] = self._last = self._last + 1
        if stream.text(first) == "{":
            if self._ends_with_barrier(behind):
                self._insert(behind - 1, next_turn)
            elif behind > first + 2:
                self._insert(behind - 1, call)
        elif stream.text(first) != ";":
            self._enclose(first, behind, "", call)
        return behind

    # Threads that meet at a barrier of the block need not wait for one another before.

    def _is_barrier(self, i: int) -> bool:
        """Whether a statement at `i` is one; not if an #if may leave it out."""
        at_if = any(index == i for index, _ in self._stream.conditionals)
        return self._stream.text(i).startswith(BARRIER) and not at_if

    def _ends_with_barrier(self, end: int) -> bool:
        """Whether `__syncthreads(); }` is before the token `end`."""
        last = [self._stream.text(i) for i in range(end - 5, end)]
        cut = any(end - 5 <= index < end for index, _ in self._stream.conditionals)
        return last == [BARRIER, "(", ")", ";", "}"] and not cut

    def _is_split(self, first: int, end: int) -> bool:
        """Whether an #if or #else is inside of the statement, but not inside of a block of it."""
        outside = set()
        i = first
        while i < end:
            if self._stream.text(i) == "{":
                close = self._stream.pair(i)
                if close is None:
                    return True
                i = close
            i += 1
            outside.add(i)
        return any(
            first < index < end and index in outside for index, _ in self._stream.conditionals
        )
