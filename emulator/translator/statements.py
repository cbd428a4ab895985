"""Finds what else the instrumented build has to mark in device code: steps of loops, divisions, and
stores that g++ would not instrument.

nvcc's debug code (-G) has a block of its own for the step of a `for`, with a branch back to the
condition; g++ joins it with the loop's body. And g++ lets a function that returns a struct write it
right into `array[i]` of `array[i] = f()`, or into a __shared__ struct, without a hook. ::emu::loopStep() and ::emu::stored()
(emu/decisions.h) make up for both, ::emu::sign for the branch that a division is on a GPU
(emu/division.h). And clang joins a `return` with the end of the function: EMU_RETURNS tells of it.
What is not sure to be such a statement stays as it is.
"""

from typing import Callable, Optional

from .callee import postfix_start
from .lexer import Stream
from .shared_memory import declaration, declared_name
from .unit import BUILTIN_TYPES

Edit = tuple[int, int, str]  # replaces source text [start, end)

BEFORE_ASSIGN = set("= ! < > + - * / % & | ^".split())
ARITHMETIC = set("+ - * / %".split())
ON_DEVICE = {"__shared__", "__device__", "__managed__"}
STATEMENT_ENDS = {";", ")", ","}
STATEMENT_STARTS = {";", "{", "}", ")", "(", ",", ":", "else", "do"}
NO_CALL = set("sizeof alignof decltype typeid return new delete throw".split())


def statement_edits(stream: Stream, in_device: Callable[[int], bool]) -> list[Edit]:
    result: list[Edit] = []
    structs = _structs(stream)
    for i, token in enumerate(stream.tokens):
        if token.text == "for" and in_device(i):
            step = _step_of(stream, i)
            if step is not None:
                at = stream.tokens[step].start
                result.append((at, at, "::emu::loopStep(), "))
        elif token.text == "return" and in_device(i) and stream.text(i + 1) == ";":
            start, stop = token.start, stream.tokens[i + 1].end
            result += [(start, start, "{ EMU_RETURNS "), (stop, stop, " }")]
        elif token.text in ("/", "%") and in_device(i) and stream.text(i - 1) != "operator":
            compound = stream.text(i + 1) == "=" and _touch(stream, i)
            at = stream.tokens[i + compound].end
            result.append((at, at, f" ::emu::sign {'=' if compound else token.text}"))
        elif token.text == "=" and in_device(i) and _is_assignment(stream, i):
            end = _value_end(stream, i + 1)
            if end is not None and (_writes_memory(stream, i) or _writes_to(structs, stream, i)):
                start, stop = stream.tokens[i + 1].start, stream.tokens[end - 1].end
                result += [(start, start, "::emu::stored("), (stop, stop, ")")]
    return result


def _step_of(stream: Stream, index: int) -> Optional[int]:
    """The first token of the step of the `for` at `index`, if it has one."""
    closing = stream.pair(index + 1) if stream.text(index + 1) == "(" else None
    if closing is None:
        return None
    semicolons = []
    i = index + 2
    while i < closing:
        if stream.text(i) == ";":
            semicolons.append(i)
        i = _after(stream, i)
    if len(semicolons) != 2 or semicolons[1] + 1 == closing:
        return None
    return semicolons[1] + 1


def _after(stream: Stream, index: int) -> int:
    """The token after the one at `index`, or after the brackets that open there."""
    pair = stream.pair(index)
    return (pair if pair is not None and pair > index else index) + 1


def _touch(stream: Stream, index: int) -> bool:
    """The tokens at `index` and after it stand together, as those of one operator do."""
    tokens = stream.tokens
    return index + 1 < len(tokens) and tokens[index].end == tokens[index + 1].start


def _is_assignment(stream: Stream, index: int) -> bool:
    if stream.text(index + 1) == "=" and _touch(stream, index):
        return False
    return not (stream.text(index - 1) in BEFORE_ASSIGN and _touch(stream, index - 1))


def _writes_memory(stream: Stream, index: int) -> bool:
    """What stands before the `=` at `index` is `...[i]` or `*...`."""
    if stream.text(index - 1) == "]":
        return True
    i = index - 1
    while i >= 0:
        pair = stream.pair(i)
        if pair is not None and pair < i and stream.text(i + 1) != "*":
            i = pair
        elif stream.text(i) in STATEMENT_STARTS:
            break
        i -= 1
    return stream.text(i + 1) == "*" and i + 1 < index


def _structs(stream: Stream) -> set[str]:
    """The names of variables on the device whose type is not built in."""
    names: set[str] = set()
    for i, token in enumerate(stream.tokens):
        if token.text not in ON_DEVICE:
            continue
        start, end = declaration(stream, i)
        words = {stream.text(j) for j in range(start, end)}
        if stream.text(end) == ";" and words.isdisjoint(BUILTIN_TYPES | {"("}):
            names.update(declared_name(stream, part) for part in stream.split(start, end))
    return names - {""}


def _writes_to(names: set[str], stream: Stream, index: int) -> bool:
    """What stands before the `=` at `index` is one of these, or a member."""
    first = postfix_start(stream, index - 1)
    if first is None or stream.text(first) not in names:
        return False
    return stream.text(first - 1) in STATEMENT_STARTS


def _value_end(stream: Stream, first: int) -> Optional[int]:
    """The end of the value that starts at token `first`, if it may be a struct that was computed:
    a call, or a sum or product."""
    computed = False
    i = first
    while i < len(stream.tokens):
        text = stream.text(i)
        if text in STATEMENT_ENDS:
            return i if computed and i > first else None
        if text in ("{", "?", "<", ">", "=", "&", "|", "") or text in NO_CALL:
            return None
        if text == "(" and i > first and stream.kind(i - 1) == "name":
            computed = True
        if text in ARITHMETIC and i > first:
            computed = True
        i = _after(stream, i)
    return None
