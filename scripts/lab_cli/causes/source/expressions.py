"""Reads an expression out of the tokens, and gives each part its type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from . import functions, types
from .functions import Signature
from .syntax import ARITHMETIC, ASSIGNMENTS, COMPARISONS, Loop, Node, Variable
from .text import Text
from .types import DOUBLE, FLOAT, INT, LONG, UNKNOWN, Names, Type

LEVELS = [
    {"||", "or"},
    {"&&", "and"},
    {"|"},
    {"^"},
    {"&"},
    {"==", "!="},
    {"<", ">", "<=", ">="},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "%"},
]
PREFIXES = {"-", "+", "!", "~", "*", "&", "not", "compl"}
CASTS = {"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"}
WORDS = {"new", "delete", "throw", "asm", "__asm__", "requires", "co_await", "operator"}
BUILT_IN = {"threadIdx", "blockIdx", "blockDim", "gridDim"}
NUMBER = re.compile(
    r"(?P<value>0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*(?:[pP][+-]?\d+)?|0[bB][01]+"
    r"|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?P<suffix>\w*)"
)
INTEGER_SUFFIX = re.compile(r"[uU]?(?:ll?|LL?|[zZ])?[uU]?")
CONSTANTS = {  # of <math.h> and CUDA: double
    "M_PI", "M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_E", "M_LOG2E", "M_LOG10E",
    "M_LN2", "M_LN10", "M_SQRT2", "M_SQRT1_2", "DBL_MAX", "DBL_MIN", "DBL_EPSILON", "CUDART_PI",
}  # fmt: skip
FLOATS = {"INFINITY", "NAN", "HUGE_VALF", "FLT_MAX", "FLT_MIN", "FLT_EPSILON"}
INTEGER_LIMIT = re.compile(r"(?:U?(?:CHAR|SHRT|INT|LONG|LLONG)_(?:MAX|MIN)|true|false|warpSize)")


class NotUnderstood(Exception):
    """What stands there is no expression that is known here."""


class Expressions:
    """Of one file. `scopes` has the variables that are in sight, innermost last."""

    def __init__(self, text: Text, names: Names, known: Mapping[str, Signature | None]) -> None:
        self.text = text
        self.stream = text.stream
        self.names = names
        self.functions = known  # of the file; None: several that differ
        self.scopes: list[dict[str, Variable]] = [{}]
        self.loop: Loop | None = None  # that what is read now stands in
        self.lambdas: list[int] = []  # the `[` of those in expressions that were read
        self._at = 0
        self._end = 0

    def find(self, name: str) -> Variable | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def read(self, first: int, end: int) -> Node:
        """The expression that tokens [first, end) are. NotUnderstood if they are none."""
        saved = self._at, self._end
        self._at, self._end = first, end
        try:
            node = self._comma()
            if self._at != end:
                raise NotUnderstood
            return node
        finally:
            self._at, self._end = saved

    def read_list(self, first: int, end: int, wanted: Type | None) -> Node:
        """What stands between the `{` at `first` - 1 and its `}` at `end`."""
        element = wanted
        if wanted and wanted.depth:
            element = wanted.element
        elif wanted and wanted.base == "vector":
            element = types.vector_element(wanted.name)
        elif wanted and not wanted.is_number:
            element = UNKNOWN
        members = list(self.names.structs.get(wanted.name, {}).values()) if wanted else []
        if wanted is None or wanted.depth or wanted.base != "struct":
            members = []
        parts, converted = [], []
        for number, indices in enumerate(self.stream.split(first, end)):
            kind = members[number] if number < len(members) else element
            parts.append(self._item(indices, kind))
            converted.append(kind)
        return Node("list", "{", first - 1, end, wanted or UNKNOWN, parts, converted)

    def type_at(self, index: int, end: int) -> tuple[Type, int, set[str]] | None:
        """A type, where it ends, and the words that qualify it; without `*` and `&`. A name that is not
        known counts as a type as well: whoever asks has to be sure."""
        stream = self.stream
        words: list[str] = []
        qualifiers: set[str] = set()
        found: Type | None = None
        while index < end:
            text = stream.text(index)
            if text == "[" and stream.text(index + 1) == "[":
                index = (stream.pair(index) or end) + 1
            elif text in ("__align__", "alignas", "__launch_bounds__", "__attribute__"):
                index = (stream.pair(index + 1) or end) + 1
            elif text in types.QUALIFIERS:
                qualifiers.add(text)
                index += 1
            elif text in types.BUILT_IN and found is None:
                words.append(text)
                index += 1
            elif stream.kind(index) == "name" and not words and found is None:
                found, index = self._named(index, end)
            else:
                break
        if found is None and not words:
            return None
        return found or types.of_words(words), index, {*qualifiers, *words}

    def _named(self, index: int, end: int) -> tuple[Type, int]:
        """A type with a name, of which the last part counts: cuda::std::uint32_t."""
        stream = self.stream
        while True:
            name = stream.text(index)
            index += 1
            close = stream.angle_end(index) if stream.text(index) == "<" else None
            if close is not None and close < end:
                index = close + 1
            if stream.text(index) != "::" or stream.kind(index + 1) != "name":
                break
            index += 1
        return self.names.find(name) or Type("", 0, name), index

    def pointers(self, index: int) -> tuple[int, int]:
        """How many `*` follow, and where they end."""
        depth = 0
        while self.stream.text(index) in ("*", "&", "&&") or (
            self.stream.text(index) in types.QUALIFIERS
        ):
            depth += self.stream.text(index) == "*"
            index += 1
        return depth, index

    # ---- operators

    def _text(self) -> str:
        return self.stream.text(self._at) if self._at < self._end else ""

    def _item(self, indices: Sequence[int], wanted: Type | None) -> Node:
        first, last = indices[0], indices[-1]
        if self.stream.text(first) == "{" and self.stream.pair(first) == last:
            return self.read_list(first + 1, last, wanted)
        if self.stream.text(first) == "." and self.stream.text(first + 2) == "=":
            return self.read(first + 3, last + 1)  # .x = 1
        if self.stream.text(last) == "...":
            last -= 1
        return self.read(first, last + 1)

    def _comma(self) -> Node:
        node = self._assignment()
        while self._text() == ",":
            self._at += 1
            right = self._assignment()
            node = Node("other", ",", node.first, right.last, right.type, [node, right], [None] * 2)
        return node

    def _assignment(self) -> Node:
        left = self._ternary()
        operator = self._text()
        if operator == ">" and self.stream.text(self._at + 1) == ">=":
            operator = ">>="
            self._at += 1
        if operator not in ASSIGNMENTS:
            return left
        self._at += 1
        if self._text() == "{":
            close = self._close()
            right = self.read_list(self._at + 1, close, left.type)
            self._at = close + 1
        else:
            right = self._assignment()
        wanted = [None, left.type]
        node = Node("assign", operator, left.first, right.last, left.type, [left, right], wanted)
        self._stored(left, node)
        return node

    def _stored(self, target: Node, node: Node) -> None:
        node.loop = self.loop
        if target.kind == "name" and target.variable:
            target.variable.stores.append(node)

    def _ternary(self) -> Node:
        condition = self._binary(0)
        if self._text() != "?":
            return condition
        self._at += 1
        yes = self._assignment()
        if self._text() != ":":
            raise NotUnderstood
        self._at += 1
        no = self._assignment()
        type = yes.type if yes.type == no.type else types.together(yes.type, no.type)
        parts = [condition, yes, no]
        return Node("ternary", "?", condition.first, no.last, type, parts, [None, type, type])

    def _operator(self) -> tuple[str, int]:
        text = self._text()
        tokens = self.stream.tokens
        if text == ">" and self._at + 1 < self._end:
            behind = tokens[self._at + 1]
            if behind.text == ">" and tokens[self._at].end == behind.start:
                return ">>", 2
            if behind.text == ">=" and tokens[self._at].end == behind.start:
                return "", 0
        return text, 1

    def _binary(self, level: int) -> Node:
        if level == len(LEVELS):
            return self._prefix()
        left = self._binary(level + 1)
        while True:
            operator, length = self._operator()
            if operator not in LEVELS[level]:
                return left
            self._at += length
            right = self._binary(level + 1)
            left = self._joined(operator, left, right)

    def _joined(self, operator: str, left: Node, right: Node) -> Node:
        parts = [left, right]
        ends = (left.first, right.last)
        if operator in COMPARISONS:
            return Node("compare", operator, *ends, INT, parts, [None, None])
        if operator in LEVELS[0] or operator in LEVELS[1]:
            return Node("logical", operator, *ends, INT, parts, [None, None])
        type = types.together(left.type, right.type)
        if operator in ("<<", ">>"):
            type = left.type
        wanted: list[Type | None] = [type, type] if type.is_number else [None, None]
        if type.base in ("vector", "struct", "half") and operator in ARITHMETIC:
            wanted = [UNKNOWN, UNKNOWN]  # whoever wrote the operator knows
        return Node("binary", operator, *ends, type, parts, wanted)

    def _prefix(self) -> Node:
        text, first = self._text(), self._at
        if text in ("++", "--"):
            self._at += 1
            part = self._prefix()
            node = Node("assign", text, first, part.last, part.type, [part], [None])
            self._stored(part, node)
            return node
        if text in PREFIXES:
            self._at += 1
            return self._unary(text, first, self._prefix())
        if text in ("sizeof", "alignof"):
            return self._sizeof()
        if text == "(":
            cast = self._c_cast()
            if cast:
                return cast
        return self._postfix(self._primary())

    def _unary(self, operator: str, first: int, part: Node) -> Node:
        type = part.type
        if operator == "*":
            type = type.element
        elif operator == "&":
            type = type.pointer()
            inner = part
            while inner.kind in ("index", "member") and inner.parts:
                inner = inner.parts[0]
            if inner.variable:
                inner.variable.is_taken = True
        elif operator in ("!", "not"):
            type = INT
        wanted = type if operator in "+-~" and type.is_number else None
        return Node("unary", operator, first, part.last, type, [part], [wanted])

    def _sizeof(self) -> Node:
        first = self._at
        self._at += 1
        if self._text() == "...":
            self._at += 1
        if self._text() != "(":
            self._prefix()
        else:
            self._at = self._close() + 1
        return Node("literal", "1", first, self._at - 1, LONG)

    def _c_cast(self) -> Node | None:
        """(float)x, if it is one."""
        first, close = self._at, self._close()
        found = self.type_at(first + 1, close)
        if found is None:
            return None
        type, index, words = found
        depth, index = self.pointers(index)
        name = self.stream.text(first + 1)
        is_known = type.is_known or depth > 0 or not words.isdisjoint(types.BUILT_IN)
        behind = self.stream.kind(close + 1) in ("name", "number") and close + 1 < self._end
        if index != close or self.find(name) or not (is_known or behind):
            return None
        if close + 1 >= self._end or self.stream.text(close + 1) in (")", ",", ";"):
            return None
        self._at = close + 1
        if self._text() == "{":
            inner = self._close()
            part = self.read_list(close + 2, inner, type)
            self._at = inner + 1
        else:
            part = self._prefix()
        type = type.pointer(depth)
        return Node("cast", "", first, part.last, type, [part], [type])

    # ---- what stands behind a value

    def _close(self) -> int:
        """The bracket that belongs to the one here."""
        close = self.stream.pair(self._at)
        if close is None or not self._at < close < self._end:
            raise NotUnderstood
        return close

    def _postfix(self, node: Node) -> Node:
        while True:
            text = self._text()
            if text == "[":
                close = self._close()
                index = self.read(self._at + 1, close)
                type = node.type.element
                node = Node("index", "[", node.first, close, type, [node, index], [None, None])
                self._at = close + 1
            elif text in (".", "->"):
                node = self._member(node)
            elif text == "(":
                node = self._call(node, None)
            elif text in ("++", "--"):
                before, node = (
                    node,
                    Node("assign", text, node.first, self._at, node.type, [node], [None]),
                )
                self._stored(before, node)
                self._at += 1
            elif text == "{" and node.kind == "name" and node.variable is None:
                found = self.names.find(node.text)
                close = self._close()
                part = self.read_list(self._at + 1, close, found)
                node = Node("cast", "", node.first, close, found or UNKNOWN, [part], [None])
                self._at = close + 1
            else:
                return node

    def _member(self, node: Node) -> Node:
        self._at += 1
        if self._text() == "template":
            self._at += 1
        if self._text() == "~" or self.stream.kind(self._at) != "name":
            raise NotUnderstood
        name, last = self._text(), self._at
        self._at += 1
        owner = node.type.element if node.type.depth else node.type
        type = self.names.member(owner, name)
        return Node("member", name, node.first, last, type, [node], [None])

    def _arguments(self) -> tuple[list[Node], int]:
        close = self._close()
        parts = [self._item(indices, None) for indices in self.stream.split(self._at + 1, close)]
        return parts, close

    def _call(self, callee: Node, given: Type | None) -> Node:
        parts, close = self._arguments()
        self._at = close + 1
        name = callee.text if callee.kind == "name" else ""
        kinds = [part.type for part in parts]
        type = self.names.find(name) if callee.kind == "name" and not callee.variable else None
        if type and type.is_number:
            return Node("cast", name, callee.first, close, type, parts, [type] * len(parts))
        signature: Signature | None = Signature(type) if type else None
        if callee.kind == "name" and callee.variable is None and not type:
            signature = self.functions.get(name)
            if name not in self.functions:
                signature = functions.library(name, kinds, given)
        signature = signature or Signature(UNKNOWN)
        for part in parts:
            if part.kind == "name" and part.variable and part.type.depth:
                part.variable.is_taken = True
        wanted = [signature.argument(number) for number in range(len(parts))]
        owner = [callee] if callee.kind != "name" else []
        return Node(
            "call",
            name,
            callee.first,
            close,
            signature.returns,
            [*owner, *parts],
            [*([None] * len(owner)), *wanted],
            computes=signature.computes,
        )

    # ---- values

    def _primary(self) -> Node:
        text, kind, first = self._text(), self.stream.kind(self._at), self._at
        if not text or text in WORDS:
            raise NotUnderstood
        if text == "(":
            close = self._close()
            node = self.read(first + 1, close)
            self._at = close + 1
            return node
        if text == "[":
            return self._lambda()
        if kind == "number":
            self._at += 1
            return Node("literal", text, first, first, type_of_number(text))
        if kind in ("string", "char"):
            while self.stream.kind(self._at) == kind and self._at < self._end:
                self._at += 1
            return Node("literal", "1", first, self._at - 1, INT if kind == "char" else UNKNOWN)
        if text in CASTS:
            return self._named_cast()
        if kind == "name" or text == "::":
            return self._name()
        raise NotUnderstood

    def _lambda(self) -> Node:
        """Its body is read by itself."""
        first = self._at
        at = self._close() + 1
        if self.stream.text(at) == "(":
            at = (self.stream.pair(at) or self._end) + 1
        while at < self._end and self.stream.text(at) != "{":
            if self.stream.text(at) in (";", ")", "}"):
                raise NotUnderstood
            at += 1
        self._at = at
        self._at = self._close() + 1
        self.lambdas.append(first)
        return Node("other", "lambda", first, self._at - 1)

    def _named_cast(self) -> Node:
        """static_cast<float>(x)"""
        first = self._at
        close = self.stream.angle_end(first + 1) if self.stream.text(first + 1) == "<" else None
        found = self.type_at(first + 2, close) if close is not None else None
        if close is None or found is None:
            raise NotUnderstood
        depth, _ = self.pointers(found[1])
        self._at = close + 1
        if self._text() != "(":
            raise NotUnderstood
        parts, last = self._arguments()
        self._at = last + 1
        type = found[0].pointer(depth)
        return Node("cast", "", first, last, type, parts, [type] * len(parts))

    def _name(self) -> Node:
        first = self._at
        while self.stream.text(self._at) == "::" or self.stream.text(self._at + 1) == "::":
            self._at += 1  # std::max: its last part counts
        if self.stream.kind(self._at) != "name":
            raise NotUnderstood
        text = self._text()
        variable = self.find(text)
        if text in types.BUILT_IN and variable is None:
            return self._functional_cast()
        self._at += 1
        if variable is not None:
            return Node("name", text, first, self._at - 1, variable.type, variable=variable)
        node = Node("name", text, first, self._at - 1, self._constant(text))
        close = self._template_arguments()
        if close is None:
            return node
        given = self.type_at(self._at + 1, close)
        self._at = close + 1
        if self._text() == "(":
            return self._call(node, given[0] if given and given[1] == close else None)
        if self._text() == "::":
            self._at += 1
            return self._name()
        return Node("name", text, first, close)

    def _constant(self, name: str) -> Type:
        if name in CONSTANTS:
            return DOUBLE
        if name in FLOATS or (name.startswith("CUDART_") and name.endswith("_F")):
            return FLOAT
        if INTEGER_LIMIT.fullmatch(name):
            return INT
        if name in BUILT_IN:
            return Type("vector", 0, "dim3")
        return UNKNOWN

    def _functional_cast(self) -> Node:
        """float(x), unsigned(x)"""
        first = self._at
        found = self.type_at(first, self._end)
        if found is None:
            raise NotUnderstood
        type, self._at, _ = found
        if self._text() == "{":
            close = self._close()
            part = self.read_list(self._at + 1, close, type)
            self._at = close + 1
            return Node("cast", "", first, close, type, [part], [type])
        if self._text() != "(":
            raise NotUnderstood
        parts, close = self._arguments()
        self._at = close + 1
        return Node("cast", "", first, close, type, parts, [type] * len(parts))

    def _template_arguments(self) -> int | None:
        """The `>` of max<float>(a, b); None where `<` compares."""
        stream = self.stream
        close = stream.angle_end(self._at) if self._text() == "<" else None
        if close is None or close >= self._end:
            return None
        inside = {stream.text(i) for i in range(self._at + 1, close)}
        if inside & {"&&", "||", "==", "!="}:
            return None
        return close if stream.text(close + 1) in ("(", "::", "{") else None


def type_of_number(text: str) -> Type:
    match = NUMBER.fullmatch(text.replace("'", ""))
    if match is None:
        return UNKNOWN
    value, suffix = match["value"], match["suffix"]
    is_hex = value[:2] in ("0x", "0X")
    if is_hex and not re.search("[pP.]", value) and suffix == "":
        return INT
    if re.search("[pP.]" if is_hex else "[.eE]", value) and value[:2] not in ("0b", "0B"):
        if suffix in ("f", "F"):
            return FLOAT
        return DOUBLE if suffix in ("", "l", "L") else UNKNOWN
    if INTEGER_SUFFIX.fullmatch(suffix):
        return LONG if "l" in suffix.lower() else INT
    return UNKNOWN


def value_of_number(text: str) -> float:
    """Of a literal of type double, or of an integer."""
    digits = text.replace("'", "").rstrip("lLuUzZ")
    if digits[:2] in ("0x", "0X"):
        is_float = re.search("[pP.]", digits) is not None
        return float.fromhex(digits.rstrip("fF")) if is_float else float(int(digits, 16))
    if digits[:2] in ("0b", "0B"):
        return float(int(digits, 2))
    if digits.isdigit() and digits[0] == "0":
        return float(int(digits, 8))
    return float(digits.rstrip("fF"))
