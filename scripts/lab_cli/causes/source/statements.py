"""Walks through the statements of a function: which variables it declares, which expressions it has and to
what their values are converted, and which loops are around them.

A statement that is not understood is passed over: nothing is found in it."""

from __future__ import annotations

from collections.abc import Sequence

from .expressions import Expressions, NotUnderstood
from .syntax import Body, Loop, Node, Root, Variable
from .types import AUTO, BUILT_IN, INT, QUALIFIERS, UNKNOWN, Type

PASSED_OVER = {
    "using",
    "typedef",
    "static_assert",
    "goto",
    "asm",
    "__asm__",
    "struct",
    "class",
    "enum",
}
NOT_OF_A_THREAD = {"__shared__", "static", "__constant__", "__device__", "extern", "__managed__"}
LABEL_ENDS = {"case", "default", "public", "private", "protected"}
DECLARES = {"=", ";", ",", "[", "(", "{", ":"}


class Statements:
    """Of one function."""

    def __init__(self, expressions: Expressions, body: Body, returns: Type | None) -> None:
        self._expressions = expressions
        self._stream = expressions.stream
        self._text = expressions.text
        self.body = body
        self.returns: list[Type | None] = [returns]
        self._loop: Loop | None = None
        self._in_lambda = False

    def parameters(self, first: int, end: int, is_template: bool = False) -> list[Variable]:
        """Those between the brackets of a function, a lambda or a template."""
        found = []
        for indices in self._stream.split(first, end):
            type = self._expressions.type_at(indices[0], indices[-1] + 1)
            if type is None:
                continue
            depth, at = self._expressions.pointers(type[1])
            at += self._stream.text(at) == "..."
            name = self._stream.text(at) if at <= indices[-1] else ""
            if not name or self._stream.kind(at) != "name":
                continue
            depth += self._stream.text(at + 1) == "[" and at < indices[-1]
            variable = Variable(name, type[0].pointer(depth), at, is_parameter=True)
            variable.is_template = is_template
            variable.is_of_kernel = self.body.is_kernel and not self._in_lambda
            variable.is_auto = "auto" in type[2]
            self._expressions.scopes[-1][name] = variable
            found.append(variable)
        return found

    def block(self, first: int, end: int) -> None:
        """The statements that tokens [first, end) are."""
        self._expressions.scopes.append({})
        while first < end:
            first = max(self._statement(first, end), first + 1)
        self._expressions.scopes.pop()

    # ---- statements

    def _statement(self, i: int, end: int) -> int:
        """Returns where the next one begins."""
        stream = self._stream
        text = stream.text(i)
        close = stream.pair(i)
        if text == "{":
            if close is None or close > end:
                return end
            self.block(i + 1, close)
            return close + 1
        if text == ";":
            return i + 1
        if text == "_Pragma" and stream.pair(i + 1) is not None:
            return self._statement((stream.pair(i + 1) or i) + 1, end)
        if text in ("if", "while", "switch"):
            return self._condition(i, end)
        if text == "for":
            return self._for(i, end)
        if text == "do":
            return self._do(i, end)
        if text == "else":
            return self._statement(i + 1, end)
        if text == "return":
            behind = self.end_of(i, end)
            if behind > i + 1:
                self._root(i + 1, behind, self.returns[-1])
            return behind + 1
        if text in LABEL_ENDS:
            while i < end and stream.text(i) not in (":", ";"):
                i += 1
            return i + 1
        if text in PASSED_OVER and not self._is_declared(i):
            return self.end_of(i, end) + 1
        if stream.kind(i) == "name" and stream.text(i + 1) == ":" and text not in BUILT_IN:
            return i + 2
        behind = self.end_of(i, end)
        if not self.declaration(i, behind):
            self._root(i, behind, None)
        return behind + 1

    def _is_declared(self, i: int) -> bool:
        """`struct Name x;` declares a variable, `struct Name { ... };` a type."""
        words = self._stream
        return words.text(i) in QUALIFIERS and words.kind(i + 2) == "name"

    def end_of(self, i: int, end: int) -> int:
        """The `;` of the statement at i."""
        while i < end and self._stream.text(i) != ";":
            close = self._stream.pair(i)
            i = (close if close is not None and close > i else i) + 1
        return min(i, end)

    def _condition(self, i: int, end: int) -> int:
        stream = self._stream
        opener = i + 1 + (stream.text(i + 1) == "constexpr")
        close = stream.pair(opener) if stream.text(opener) == "(" else None
        if close is None or close >= end:
            return self.end_of(i, end) + 1
        self._expressions.scopes.append({})
        loop = self._begin(i) if stream.text(i) == "while" else None
        first = opener + 1
        semicolon = self.end_of(first, close)
        if semicolon < close:  # if (int k = 1; k < n)
            self._simple(first, semicolon)
            first = semicolon + 1
        if not self.declaration(first, close):
            condition = self._root(first, close, None)
            if loop:
                loop.condition = condition
        behind = self._statement(close + 1, end)
        if loop:
            self._finish(loop, behind)
        if stream.text(i) == "if" and stream.text(behind) == "else" and behind < end:
            behind = self._statement(behind + 1, end)
        self._expressions.scopes.pop()
        return behind

    def _do(self, i: int, end: int) -> int:
        loop = self._begin(i)
        behind = self._statement(i + 1, end)
        close = self._stream.pair(behind + 1)
        if self._stream.text(behind) == "while" and close is not None and close < end:
            loop.condition = self._root(behind + 2, close, None)
            behind = close + 1
        self._finish(loop, behind)
        return behind

    def _for(self, i: int, end: int) -> int:
        stream = self._stream
        close = stream.pair(i + 1) if stream.text(i + 1) == "(" else None
        if close is None or close >= end:
            return self.end_of(i, end) + 1
        self._expressions.scopes.append({})
        first = self.end_of(i + 2, close)
        second = self.end_of(first + 1, close)
        before = set(self._expressions.scopes[-1])
        if first == close:  # for (auto x : xs)
            colon = next((k for k in range(i + 2, close) if stream.text(k) == ":"), close)
            self.declaration(i + 2, colon)
            self._root(colon + 1, close, None)
            loop = self._begin(i)
        else:
            self._simple(i + 2, first)
            loop = self._begin(i)
            declared = [
                variable
                for name, variable in self._expressions.scopes[-1].items()
                if name not in before
            ]
            loop.counter = declared[0] if declared else None
            loop.condition = self._root(first + 1, second, None)
            loop.step = self._root(second + 1, close, None)
            loop.counter = loop.counter or _stored(loop.step)
            for variable in [loop.counter] if loop.counter else []:
                variable.loop = loop
        behind = self._statement(close + 1, end)
        self._finish(loop, behind)
        self._expressions.scopes.pop()
        return behind

    def _begin(self, i: int) -> Loop:
        loop = Loop(i, self._loop, unroll=self._text.unroll(i))
        self.body.loops.append(loop)
        self._loop = self._expressions.loop = loop
        return loop

    def _finish(self, loop: Loop, behind: int) -> None:
        loop.end = behind - 1
        self._loop = self._expressions.loop = loop.outer

    def _simple(self, first: int, end: int) -> None:
        """A declaration or an expression."""
        if first < end and not self.declaration(first, end):
            self._root(first, end, None)

    # ---- expressions

    def _root(self, first: int, end: int, wanted: Type | None) -> Node | None:
        if first >= end:
            return None
        try:
            node = self._expressions.read(first, end)
        except NotUnderstood:
            self._expressions.lambdas.clear()
            return None
        self.body.roots.append(Root(node, wanted, self._loop))
        self._lambdas()
        return node

    def _lambdas(self) -> None:
        """Reads the bodies of those that stood in the last expression."""
        stream = self._stream
        found, self._expressions.lambdas[:] = list(self._expressions.lambdas), []
        for bracket in found:
            at = (stream.pair(bracket) or bracket) + 1
            self._expressions.scopes.append({})
            outer, self._in_lambda = self._in_lambda, True
            if stream.text(at) == "(":
                close = stream.pair(at) or at
                self.parameters(at + 1, close)
                at = close + 1
            returns: Type | None = AUTO
            while stream.text(at) not in ("{", ""):
                if stream.text(at) == "->":
                    type = self._expressions.type_at(at + 1, len(stream.tokens))
                    returns = type[0] if type else UNKNOWN
                at += 1
            self.returns.append(returns)
            self.block(at + 1, stream.pair(at) or at + 1)
            self.returns.pop()
            self._in_lambda = outer
            self._expressions.scopes.pop()

    # ---- declarations

    def declaration(self, first: int, end: int) -> bool:
        """Whether tokens [first, end) declare variables, which are then known."""
        stream = self._stream
        found = self._expressions.type_at(first, end)
        if found is None:
            return False
        type, at, words = found
        depth, name = self._expressions.pointers(at)
        if stream.text(first) not in QUALIFIERS and not self._is_type(first, type, at, name, end):
            return False
        if stream.kind(name) != "name" or name >= end:
            return stream.text(name) != "("  # T (x) = 1, or float(x)
        for number, indices in enumerate(stream.split(at, end)):
            last = indices[-1] + 1
            depth, name = self._expressions.pointers(indices[0])
            if name < last and stream.kind(name) == "name":
                self._declare(type.pointer(depth), words, name, last, number)
        return True

    def _is_type(self, first: int, type: Type, at: int, name: int, end: int) -> bool:
        """Whether `first` begins a declaration, not an expression such as a * b."""
        stream = self._stream
        if stream.text(first) in BUILT_IN:
            return stream.text(at) not in ("(", "{")
        if self._expressions.find(stream.text(first)) or stream.kind(name) != "name" or name >= end:
            return False
        behind = stream.text(name + 1) if name + 1 < end else ";"
        if behind not in DECLARES:
            return False
        return at == name or type.is_known or behind == "="

    def _declare(self, type: Type, words: set[str], name: int, end: int, number: int) -> None:
        stream = self._stream
        sizes: list[Node | None] = []
        at = name + 1
        while stream.text(at) == "[" and at < end:
            close = stream.pair(at) or end
            sizes.append(self._quiet(at + 1, close))
            at = close + 1
        text = stream.text(name)
        variable = Variable(
            text,
            type.pointer(len(sizes)),
            name,
            is_constant=not words.isdisjoint({"const", "constexpr"}) and type.depth == 0,
            is_constexpr="constexpr" in words,
            is_auto="auto" in words,
            is_local_array=bool(sizes) and words.isdisjoint(NOT_OF_A_THREAD),
            sizes=sizes,
        )
        variable.initial = self._initial(variable, at, end)
        if variable.is_auto and variable.initial:
            variable.type = variable.initial.type
        self._expressions.scopes[-1][text] = variable
        self.body.variables.append(variable)

    def _quiet(self, first: int, end: int) -> Node | None:
        """An expression that the compiler evaluates."""
        try:
            return self._expressions.read(first, end) if first < end else None
        except NotUnderstood:
            return None

    def _initial(self, variable: Variable, at: int, end: int) -> Node | None:
        stream = self._stream
        wanted = AUTO if variable.is_auto else variable.type
        if at >= end:
            return None
        text = stream.text(at)
        close = stream.pair(at)
        if text == "=" and stream.text(at + 1) == "{":
            at, text, close = at + 1, "{", stream.pair(at + 1)
        if text == "=":
            return self._root(at + 1, end, wanted)
        if text == "(" and close == end - 1:
            if variable.type.is_number or variable.is_auto:
                return self._root(at + 1, close, wanted)
            for indices in stream.split(at + 1, close):
                self._root(indices[0], indices[-1] + 1, UNKNOWN)
        if text == "{" and close == end - 1:
            try:
                node = self._expressions.read_list(at + 1, close, variable.type)
            except NotUnderstood:
                return None
            self.body.roots.append(Root(node, wanted, self._loop))
            return node
        return None


def _stored(step: Node | None) -> Variable | None:
    """The variable that the step of a `for` changes."""
    if step is None or step.kind != "assign":
        return None
    return step.parts[0].variable


def constants_of_enum(text: Sequence[str]) -> list[Variable]:
    return [Variable(name, INT, is_constant=True, is_template=True) for name in text]
