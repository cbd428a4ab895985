"""Tells the hazard check which variables of a program lie in the memory of the GPU: here they are
variables like those of the host. For the instrumented build (emu/device_variables.h)."""

from typing import NamedTuple, Optional

from .lexer import Stream
from .shared_memory import declaration, declared_name
from .sides import SPECIFIERS
from .unit import ATTRIBUTES, BUILTIN_TYPES, Source, Unit

Edit = tuple[int, int, str]  # replaces source text [start, end)

OF_THE_HOST_TOO = {"const", "constexpr"}  # the compiler knows their values


class _Variables(NamedTuple):
    """Those of one declaration. Without an end they have no name outside of a function, a class or
    a template."""

    names: set[str]
    end: Optional[int]  # the `;`


class DeviceVariables:
    """Of a unit."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._names: set[str] = set()  # of variables that cannot be named at namespace scope

    def edits(self, source: Source) -> list[Edit]:
        """What to put behind the declarations of a source that has CUDA."""
        for stream in source.streams:
            if stream.macro:
                self._add_names_of_macro(stream)
        stream, told = source.streams[0], dict[int, str]()
        for i in range(len(stream.tokens)):
            found = self._declared(stream, i)
            if found is None:
                continue
            if found.end is None:
                self._names |= found.names
            else:
                told[stream.tokens[found.end].end] = "".join(
                    f" [[maybe_unused]] static const ::emu::DeviceVariable emuDevice_{n}({n});"
                    for n in sorted(found.names)
                )
        return [(at, at, text) for at, text in told.items()]

    def ending(self) -> str:
        """What comes behind the last line of the unit."""
        if not self._names:
            return ""
        names = " ".join(sorted(self._names))
        return f'\n[[maybe_unused]] static const ::emu::DeviceNames emuDeviceNames("{names}");\n'

    def _declared(self, stream: Stream, index: int) -> Optional[_Variables]:
        """The variables of the device in the declaration with the token, which makes them that."""
        scope = self._unit.scopes(stream)[index]
        in_code = scope.in_function and not scope.in_class
        if stream.text(index) == "static" and in_code and scope.device:
            is_device = True
        else:
            is_device = not in_code and stream.text(index) in self._unit.device_words
        if not is_device or (not in_code and _is_function(stream, index + 1)):
            return None
        start, end = declaration(stream, index)
        words = {stream.text(i) for i in range(start, end)}
        is_const = not words.isdisjoint(OF_THE_HOST_TOO) and "*" not in words
        if is_const or "__shared__" in words:
            return None
        names = {declared_name(stream, part) for part in stream.split(start, end)}
        if "" in names:
            names |= {stream.text(i) for i in range(start, end) if stream.kind(i) == "name"}
        elsewhere = scope.in_function or "::" in words or "extern" in words
        is_template = stream.text(start - 1) == ">"
        told = not elsewhere and not is_template and "" not in names and stream.text(end) == ";"
        return _Variables(names - {""}, end if told else None)

    def _add_names_of_macro(self, stream: Stream) -> None:
        texts = {token.text for token in stream.tokens}
        declares = "(" not in texts and not self._unit.device_words.isdisjoint(texts)
        if declares or "static" in texts:
            names = {token.text for token in stream.tokens if token.kind == "name"}
            names -= SPECIFIERS | self._unit.device_words
            self._names |= names
            if names & set(stream.parameters):
                self._names.add("*")  # any name


def _is_function(stream: Stream, index: int) -> bool:
    """Whether what comes from `index` on, behind `__device__`, seems to declare a function."""
    while stream.text(index) not in ("", ";", "=", "{"):
        before = stream.text(index - 1)
        is_operator = stream.text(index) == "operator"
        is_call = stream.text(index) == "(" and stream.kind(index - 1) == "name"
        is_pointer = stream.text(index + 1) == "*" and before in BUILTIN_TYPES
        if is_operator or (is_call and before not in ATTRIBUTES and not is_pointer):
            return True
        index = max(index, stream.pair(index) or index) + 1
    return False
