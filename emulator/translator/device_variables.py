"""Tells the hazard check which variables of a program lie in the memory of the GPU: here they are
variables like those of the host. For the instrumented build (emu/device_variables.h)."""

from .declarations import Declarations
from .lexer import Stream
from .shared_memory import declaration, declared_name
from .sides import Sides
from .unit import BUILTIN_TYPES, Source, Unit, parameter_list

Edit = tuple[int, int, str]  # replaces source text [start, end)

OF_THE_HOST_TOO = {"const", "constexpr"}  # the compiler knows their values


class DeviceVariables:
    """Of a unit."""

    def __init__(self, unit: Unit, sides: Sides) -> None:
        self._unit = unit
        self._sides = sides
        self._names: set[str] = set()  # of variables that cannot be named outside of a function

    def edits(self, source: Source) -> list[Edit]:
        """What to put behind the declarations of a source that has CUDA."""
        for stream in source.streams:
            if stream.macro:
                self._add_names_of_macro(stream)
        stream = source.streams[0]
        declared = self._sides.declarations(source)
        edits, known = self._registered(stream, declared)
        self._add_names(stream, known)
        return edits

    def ending(self) -> str:
        """What comes behind the last line of the unit."""
        if not self._names:
            return ""
        names = " ".join(sorted(self._names))
        return f'\n[[maybe_unused]] static const ::emu::DeviceNames emuDeviceNames("{names}");\n'

    def _registered(
        self, stream: Stream, declared: Declarations
    ) -> tuple[list[Edit], set[int]]:
        """Edits for the variables at namespace scope, and the tokens where their declarations
        begin."""
        edits, known = [], set()
        for variables in declared.variables.values():
            for variable in variables:
                words = set(variable.words)
                if self._unit.device_words.isdisjoint(words) or "extern" in words:
                    continue
                if not OF_THE_HOST_TOO.isdisjoint(words) and "*" not in words:
                    continue
                end = _end_of(stream, variable.name_at)
                if stream.text(end) != ";":
                    continue
                known.add(variable.start)
                name = variable.name
                behind = f"static const ::emu::DeviceVariable emuDevice_{name}({name});"
                at = stream.tokens[end].end
                edits.append((at, at, f" [[maybe_unused]] {behind}"))
        return edits, known

    def _add_names(self, stream: Stream, known: set[int]) -> None:
        """Those of other variables of the GPU: members of classes, templates, what is `static` in
        device code."""
        scopes = self._unit.scopes(stream)
        for i, token in enumerate(stream.tokens):
            inside = scopes[i].in_function and not scopes[i].in_class
            if token.text == "static" and inside and scopes[i].device:
                pass
            elif token.text not in self._unit.device_words or inside:
                continue
            start, end = declaration(stream, i)
            if start in known or (not inside and _is_function(stream, i)):
                continue
            names = {declared_name(stream, part) for part in stream.split(start, end)}
            if "" in names:
                names |= {stream.text(t) for t in range(start, end) if stream.kind(t) == "name"}
            self._names |= names - {""}

    def _add_names_of_macro(self, stream: Stream) -> None:
        texts = {token.text for token in stream.tokens}
        if "static" in texts or ("(" not in texts and not self._unit.device_words.isdisjoint(texts)):
            names = {token.text for token in stream.tokens if token.kind == "name"}
            self._names |= names
            if names & set(stream.parameters):
                self._names.add("*")  # any name


def _end_of(stream: Stream, index: int) -> int:
    """The `;` behind the variable at `index`."""
    while index < len(stream.tokens) and stream.text(index) != ";":
        index = max(index, stream.pair(index) or index) + 1
    return index


def _is_function(stream: Stream, index: int) -> bool:
    opener = parameter_list(stream, index + 1)
    if opener is None:
        return False
    is_pointer = stream.text(opener + 1) == "*" and stream.text(opener - 1) in BUILTIN_TYPES
    return not is_pointer
