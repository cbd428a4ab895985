"""Finds loops of device code that may poll what is `volatile`, by a name that no class of the back end
stands for (volatile.py): a variable, a member of a struct. Each turn calls ::emu::pollHint(), so that
whoever the thread waits for gets on."""

from typing import Optional

from .lanes import device_functions, is_dynamic_shared, with_callers
from .lexer import Edit, Stream
from .unit import BUILTIN_TYPES, Unit
from .volatile import find_use

HINT = "::emu::pollHint()"
NAME_ENDS = {";", "=", "[", ",", "{", ")", ":"}
BEFORE_NAME = {"*", "&", ">", ","}
NO_NAMES = BUILTIN_TYPES | set("const volatile struct class union enum".split())


class Polls:
    """Of a unit: names that are volatile, and functions that use them."""

    def __init__(self, unit: Unit) -> None:
        streams = [
            stream
            for source in unit.sources.values()
            if "volatile" in source.text
            for stream in source.streams
        ]
        names = {name for stream in streams for name in _volatile_names(unit, stream)}
        functions = []
        if names:
            functions = [
                (source.streams[0], function)
                for source in unit.sources.values()
                if unit.has_cuda(source)
                for function in device_functions(source.streams[0], unit.device_words)
            ]
        polling = {
            function.name
            for stream, function in functions
            if _mentions(stream, function.body, function.end, names)
        }
        self._names = names | with_callers(functions, polling)

    def edits(self, stream: Stream, unit: Unit) -> list[Edit]:
        """What to change in a source."""
        if not self._names or stream.macro:
            return []
        edits = []
        for i, token in enumerate(stream.tokens):
            if token.text not in ("while", "for") or not unit.scopes(stream)[i].device:
                continue
            at = _place_of_hint(stream, i)
            if at is not None and _mentions(stream, *_loop(stream, i), self._names):
                comma = "," if stream.text(at + 1) != ")" else ""
                edits.append(Edit(at, at + 1, f"{stream.text(at)}{HINT}{comma} "))
        return edits


def _volatile_names(unit: Unit, stream: Stream) -> set[str]:
    names = set()
    for i, token in enumerate(stream.tokens):
        if token.text != "volatile":
            continue
        if stream.macro:  # that casts, or declares
            names.add(stream.macro)
        elif find_use(stream, i, unit.scopes(stream)[i].device, unit.device_words) is None:
            if not is_dynamic_shared(stream, i):
                names.update(_declared(stream, i))
    return names


def _declared(stream: Stream, index: int) -> list[str]:
    """What the declaration with the `volatile` at `index` declares. Nothing for a cast, nor for a
    parameter that is a pointer: what has a body is a class there."""
    names: list[int] = []
    i = index
    while stream.text(i) not in ("", ";", ")", "}", "{"):
        i = (stream.pair(i) if stream.text(i) in ("[", "(") else None) or i
        i += 1
        name = stream.text(i - 1)
        is_name = stream.kind(i - 1) == "name" and name not in NO_NAMES
        behind = stream.kind(i - 2) == "name" or stream.text(i - 2) in BEFORE_NAME
        if is_name and behind and stream.text(i) in NAME_ENDS:
            names.append(i - 1)
    if names and stream.text(i) == ")":
        in_place = stream.text(names[0] - 1) == "&" or stream.text(names[0] + 1) == "["
        names = names[:1] if in_place else []
    return [stream.text(i) for i in names]


def _place_of_hint(stream: Stream, loop: int) -> Optional[int]:
    """The token behind which an expression of each turn begins: the `(` of `while (...)`, the second
    `;` of `for (...; ...; ...)`."""
    close = stream.pair(loop + 1) if stream.text(loop + 1) == "(" else None
    if close is None:
        return None
    inside = range(loop + 2, close)
    if stream.text(loop) == "for":
        ends = [i for i in inside if stream.text(i) == ";"]
        return ends[1] if len(ends) == 2 else None
    declares = any(
        stream.text(i) == "=" and stream.kind(i - 1) == stream.kind(i - 2) == "name" for i in inside
    )
    return None if declares else loop + 1


def _loop(stream: Stream, i: int) -> tuple[int, int]:
    """The first and the last token of the loop with the `while` or `for` at `i`."""
    close = stream.pair(i + 1) or i
    opener = stream.pair(i - 1) if stream.text(i - 1) == "}" else None
    if opener is not None and stream.text(opener - 1) == "do":
        return opener - 1, close
    end = close + 1
    while stream.text(end) not in ("", ";", "}"):
        brace = stream.pair(end) if stream.text(end) == "{" else None
        if brace is not None:
            return i, brace
        end = (stream.pair(end) or end) + 1
    return i, end


def _mentions(stream: Stream, first: int, last: int, names: set[str]) -> bool:
    return any(stream.text(i) in names for i in range(first, last))
