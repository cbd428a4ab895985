"""Finds structs that go by value out of memory to a function of the program, for the instrumented
build: `f(array[i])`, `array[i] + array[j]`.

g++ has no hook for such a load. emu_passed() (emu/decisions.h) around the argument makes up for it
where its type is a struct's. Only where all functions of that name take this parameter by value."""

from collections.abc import Iterator
from typing import Callable, Optional

from .callee import postfix_start
from .lexer import Stream
from .unit import BUILTIN_TYPES, Unit

Edit = tuple[int, int, str]  # replaces source text [start, end)

QUALIFIERS = set("const volatile typename struct class union enum __restrict__".split())
NO_FUNCTION = set("if while for switch catch return sizeof alignof decltype".split())
NO_VALUE = {"&", "*", "[", "(", "..."}
OPERATORS = set("+ - * / %".split())
# `T f(x)` declares; `return f(x)` calls.
BEFORE_CALL = set("return else do case throw and or not".split())


class ByValue:
    """Of a unit: which parameters of which functions are structs, by value."""

    def __init__(self, unit: Unit) -> None:
        self._parameters: dict[str, list[Optional[bool]]] = {}
        for source in filter(unit.has_cuda, unit.sources.values()):
            for stream in source.streams:
                for i in range(len(stream.tokens)):
                    name = _defined_function(stream, i)
                    if name:
                        self._add(name, stream, i)

    def _add(self, name: str, stream: Stream, opener: int) -> None:
        """Notes a function with its parameters at `opener`. None: of a type that is built in."""
        known = self._parameters.setdefault(name, [])
        parts = stream.split(opener + 1, stream.pair(opener) or opener + 1)
        for k, part in enumerate(parts):
            words = [stream.text(i) for i in part]
            types = [word for word in words if word not in QUALIFIERS]
            value: Optional[bool] = NO_VALUE.isdisjoint(words)
            if value and set(types[:-1] or types) <= BUILTIN_TYPES:
                value = None
            if k == len(known):
                known.append(value)
            elif known[k] is None or value is False:
                known[k] = value

    def edits(self, stream: Stream, in_device: Callable[[int], bool]) -> list[Edit]:
        """What to change in a stream that is no macro's."""
        wrapped: set[tuple[int, int]] = set()  # of tokens
        for i, token in enumerate(stream.tokens):
            if token.text == "(" and in_device(i) and stream.text(i - 1) in self._parameters:
                wrapped.update(self._arguments(stream, i))
            elif token.text in OPERATORS and in_device(i):
                wrapped.update(self._operands(stream, i))
        tokens = stream.tokens
        edits = []
        for first, last in wrapped:
            start, end = tokens[first].start, tokens[last].end
            # (These come inside of what others put at the same places.)
            edits += [(start, start, "emu_passed("), (end, end, ")")]
        return edits

    def _arguments(self, stream: Stream, opener: int) -> Iterator[tuple[int, int]]:
        before = stream.text(opener - 2)
        declares = stream.kind(opener - 2) == "name" and before not in BEFORE_CALL
        close = stream.pair(opener)
        if declares or before in (".", "->") or close is None or close == opener + 1:
            return
        parameters = self._parameters[stream.text(opener - 1)]
        for part, by_value in zip(stream.split(opener + 1, close), parameters):
            if by_value and part and _is_in_memory(stream, part[0], part[-1]):
                yield part[0], part[-1]

    def _operands(self, stream: Stream, index: int) -> Iterator[tuple[int, int]]:
        """Of the binary operator at `index`."""
        behind = index + 1
        name = f"operator{stream.text(index)}"
        if stream.text(behind) == "=" and stream.tokens[index].end == stream.tokens[behind].start:
            behind += 1
            name += "="
        parameters = self._parameters.get(name, [])
        is_binary = stream.kind(index - 1) in ("name", "number") or stream.text(index - 1) in (
            ")",
            "]",
        )
        if len(parameters) != 2 or not is_binary:
            return
        first = postfix_start(stream, index - 1) if stream.text(index - 1) == "]" else None
        if parameters[0] and first is not None and _is_in_memory(stream, first, index - 1):
            yield first, index - 1
        last = _postfix_end(stream, behind)
        if parameters[1] and last is not None and _is_in_memory(stream, behind, last):
            yield behind, last


def _defined_function(stream: Stream, opener: int) -> Optional[str]:
    """The name of the function whose parameters begin at token `opener`, if it is defined there."""
    close = stream.pair(opener) if stream.text(opener) == "(" else None
    if close is None or close < opener or stream.text(close + 1) != "{":
        return None
    for size in (1, 2):
        if stream.text(opener - size - 1) == "operator":
            return "".join(stream.text(i) for i in range(opener - size - 1, opener))
    name = stream.text(opener - 1)
    typed = stream.kind(opener - 2) == "name" or stream.text(opener - 2) in (">", "*", "&")
    is_name = stream.kind(opener - 1) == "name" and name not in NO_FUNCTION
    return name if is_name and typed and stream.text(opener - 2) != "else" else None


def _is_in_memory(stream: Stream, first: int, last: int) -> bool:
    """Whether the tokens are `a[i]`, `*p` or `p->member`, with what may follow of these."""
    start = first + (stream.text(first) == "*")
    reaches = start > first
    i = start
    while i <= last:
        text, close = stream.text(i), stream.pair(i)
        if text == "[" and close is not None and i > start:
            reaches = True
            i = close + 1
        elif text in (".", "->", "::") or stream.kind(i) == "name":
            reaches = reaches or text == "->"
            i += 1
        else:
            return False
    return reaches and stream.kind(start) == "name"


def _postfix_end(stream: Stream, first: int) -> Optional[int]:
    """The last token of the postfix expression that begins at `first`; None if it is a call."""
    i = first
    while stream.kind(i) == "name" or stream.text(i) in (".", "->", "::", "["):
        i = (stream.pair(i) or i) + 1 if stream.text(i) == "[" else i + 1
    return i - 1 if i > first and stream.text(i) not in ("(", "<", "{") else None
