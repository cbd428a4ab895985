"""What the findings ask of a source file: its functions of device code, with all that they use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from . import text as texts
from . import types
from .expressions import Expressions
from .functions import Signature
from .statements import Statements, constants_of_enum
from .syntax import Body, Variable
from .text import Text
from .types import UNKNOWN, Names, Type

from translator.lanes import Function, device_functions, header_start  # isort: skip  # text.py says where it is
from translator.scopes import is_class_head  # isort: skip

DEVICE_WORDS = {"__global__", "__device__"}


class Source:
    """A file of CUDA, with what the headers beside it declare."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.names = Names()
        self.functions: dict[str, Signature | None] = {}
        self.bodies: list[Body] = []
        self._globals: dict[str, Variable] = {}
        for part in [*text.included, text]:
            self._declare(part)
        for part in [text]:
            for function in device_functions(part.stream, DEVICE_WORDS):
                self.bodies.append(self._body(function))

    def functions_of(self, first: int = 1, last: int | None = None) -> list[Body]:
        """Those that have lines from `first` to `last`; all of the file without."""
        end = last or self.text.source.count("\n") + 1
        return [body for body in self.bodies if body.last_line >= first and body.first_line <= end]

    # ---- what the file declares

    def _declare(self, text: Text) -> None:
        for header in text.included:
            self._declare(header)
        expressions = self._expressions(text)
        for at, token in enumerate(text.stream.tokens):
            if token.text == "typedef":
                self._typedef(expressions, at)
            elif token.text == "using" and text.stream.text(at + 2) == "=":
                found = expressions.type_at(at + 3, len(text.stream.tokens))
                if found:
                    depth, _ = expressions.pointers(found[1])
                    self.names.aliases[text.stream.text(at + 1)] = found[0].pointer(depth)
            elif token.text == "{":
                self._struct_or_enum(expressions, at)
        self._variables(text)
        self._signatures(text)

    def _typedef(self, expressions: Expressions, at: int) -> None:
        stream = expressions.stream
        found = expressions.type_at(at + 1, len(stream.tokens))
        if found:
            depth, name = expressions.pointers(found[1])
            if stream.kind(name) == "name" and stream.text(name + 1) == ";":
                self.names.aliases[stream.text(name)] = found[0].pointer(depth)

    def _struct_or_enum(self, expressions: Expressions, brace: int) -> None:
        stream = expressions.stream
        close = stream.pair(brace)
        first = header_start(stream, brace)
        header = [stream.text(i) for i in range(first, brace)]
        if close is None or "(" in header:
            return
        if "enum" in header:
            parts = stream.split(brace + 1, close)
            names = [stream.text(part[0]) for part in parts]
            self._globals.update({one.name: one for one in constants_of_enum(names)})
        elif is_class_head(header) and "namespace" not in header:
            names = [word for word in header if word not in ("struct", "class", "union", "typedef")]
            if header[0] == "typedef" and stream.text(close + 2) == ";":
                names.append(stream.text(close + 1))
            members = dict(_members(expressions, brace + 1, close))
            for name in {name for name in names if name.isidentifier()}:
                self.names.structs[name] = members

    def _variables(self, text: Text) -> None:
        """Those outside of functions: they are read as the statements of one."""
        body = Body("", False, 0, 0)
        expressions = self._expressions(text)
        statements = Statements(expressions, body, None)
        stream = text.stream
        expressions.scopes.append({})
        at = 0
        while at < len(stream.tokens):
            end = at
            while end < len(stream.tokens) and stream.text(end) not in (";", "{"):
                close = stream.pair(end)
                end = (close if close is not None and close > end else end) + 1
            if stream.text(end) == "{" and stream.text(end - 1) == "=":
                end = statements.end_of(end, len(stream.tokens))
            elif stream.text(end) == "{":
                words = {stream.text(i) for i in range(at, end)}
                inside = "namespace" in words or "extern" in words
                at = end + 1 if inside else (stream.pair(end) or end) + 1
                continue
            if stream.text(at) not in ("using", "typedef", "template", "static_assert", "friend"):
                if stream.text(end - 1) != ")" or "=" in (stream.text(i) for i in range(at, end)):
                    statements.declaration(at, end)
            at = end + 1
        self._globals.update(expressions.scopes[-1])

    def _signatures(self, text: Text) -> None:
        found: dict[str, list[Signature]] = defaultdict(list)
        for function in device_functions(text.stream, DEVICE_WORDS):
            statements, parameters, returns = self._header(text, function)
            kinds = [UNKNOWN if one.is_auto else one.type for one in parameters]
            found[function.name].append(Signature(returns, kinds or [UNKNOWN]))
        for name, signatures in found.items():
            same = all(signature == signatures[0] for signature in signatures)
            self.functions[name] = signatures[0] if same else None

    def _header(self, text: Text, function: Function) -> tuple[Statements, list[Variable], Type]:
        """Reads what stands before a function's body."""
        stream = text.stream
        body = Body(
            function.name,
            function.is_kernel,
            text.line(function.start),
            text.line(function.end),
        )
        expressions = self._expressions(text)
        expressions.scopes.append({})
        statements = Statements(expressions, body, UNKNOWN)
        first = self._template(statements, expressions, function)
        places = range(function.start + 1, function.body)
        opener = next(
            (i for i in places if stream.text(i) == "(" and stream.text(i - 1) == function.name),
            function.body,
        )
        returns = UNKNOWN
        found = expressions.type_at(first, opener)
        if found and "auto" not in found[2]:
            depth, at = expressions.pointers(found[1])
            returns = found[0].pointer(depth) if at == opener - 1 else UNKNOWN
        statements.returns = [returns]
        parameters = statements.parameters(opener + 1, stream.pair(opener) or opener)
        return statements, parameters, returns

    def _template(
        self, statements: Statements, expressions: Expressions, function: Function
    ) -> int:
        """Reads template <...>; returns where that ends."""
        stream = expressions.stream
        first = function.start
        while stream.text(first) == "template" and stream.text(first + 1) == "<":
            close = stream.angle_end(first + 1)
            if close is None:
                break
            statements.parameters(first + 2, close, is_template=True)
            names = [stream.text(part[-1]) for part in stream.split(first + 2, close)]
            chosen = self._chosen(expressions, function, len(names))
            aliases = {name: type for name, type in zip(names, chosen) if type.is_known}
            expressions.names = Names({**self.names.aliases, **aliases}, self.names.structs)
            first = close + 1
        return first

    def _chosen(self, expressions: Expressions, function: Function, count: int) -> list[Type]:
        """The types for which the file names a template's instance, kernel<float>; UNKNOWN where there
        are several, or a call leaves it to the compiler."""
        stream = self.text.stream
        uses: list[list[Type]] = []
        for at, token in enumerate(stream.tokens):
            if token.text != function.name or function.start <= at < function.body:
                continue
            close = stream.angle_end(at + 1) if stream.text(at + 1) == "<" else None
            if close is None:
                return [UNKNOWN] * count
            types_of = []
            for part in stream.split(at + 2, close):
                found = expressions.type_at(part[0], part[-1] + 1)
                is_whole = found is not None and found[1] == part[-1] + 1
                types_of.append(found[0] if found and is_whole else UNKNOWN)
            uses.append([*types_of, *[UNKNOWN] * count][:count])
        return [types.same([use[number] for use in uses]) for number in range(count)]

    # ---- functions

    def _body(self, function: Function) -> Body:
        statements, _, _ = self._header(self.text, function)
        statements.block(function.body + 1, function.end)
        return statements.body

    def _expressions(self, text: Text) -> Expressions:
        expressions = Expressions(text, self.names, self.functions)
        expressions.scopes[0].update(self._globals)
        return expressions


def _members(expressions: Expressions, first: int, end: int) -> Iterator[tuple[str, Type]]:
    """Those of a struct that are variables."""
    stream = expressions.stream
    while first < end:
        behind = first
        while behind < end and stream.text(behind) not in (";", "{", ":"):
            close = stream.pair(behind)
            behind = (close if close is not None and close > behind else behind) + 1
        found = expressions.type_at(first, behind)
        if stream.text(behind) == ";" and found and stream.text(behind - 1) != ")":
            for part in stream.split(found[1], behind):
                depth, name = expressions.pointers(part[0])
                depth += [stream.text(i) for i in part].count("[")
                yield stream.text(name), found[0].pointer(depth)
        elif stream.text(behind) == "{":
            behind = stream.pair(behind) or end
        first = behind + 1


def read(path: Path) -> Source | None:
    """None where the file cannot be read."""
    text = texts.read(path)
    return Source(text) if text else None


def of(source: str) -> Source:
    """Of a file's text; LookupError where a comment in it never ends."""
    text = texts.of(source)
    if text is None:
        raise LookupError("a comment or a string never ends")
    return Source(text)
