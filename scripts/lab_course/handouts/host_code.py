"""Finds in a .cu file what launches a kernel, and takes it out: the statement in which a row of the table
stands, with all of it; a lambda or a function of the host that launches nothing else; and variables
that nobody uses then."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lab_cli.errors import LabError

from ..grading.kernel_source import DEVICE_WORDS, replaced

from translator.lanes import device_functions  # isort: skip  # kernel_source.py says where it is
from translator.lexer import Lexer, Stream, Token  # isort: skip

CONTROL = {"if", "for", "while", "switch"}
# Of a statement, the name that it declares first; of what follows a comma, the next one.
DECLARATION = re.compile(
    r"(?:(?:const|constexpr|static|auto|unsigned|long|\[ \[ maybe_unused \] \]) )*"
    r"(?:\w+(?: :: \w+)*(?: <[^;=(]*>)? )?(?:(?:const|\*|&) )*(\w+) [=({;,\[]"
)
NO_TYPES = {
    "return",
    "delete",
    "throw",
    "using",
    "if",
    "for",
    "while",
    "switch",
    "do",
    "else",
    "case",
}
COMMENTS_ABOVE = re.compile(r"(?:^[ \t]*//[^\n]*\n)*\Z", re.MULTILINE)


@dataclass(frozen=True)
class Span:
    """Tokens [first, end)."""

    first: int
    end: int


class HostCode:
    """A text, and the rows and names that have been taken out of it."""

    def __init__(self, text: str, path: str, kernels: Iterable[str]) -> None:
        """`kernels`: all of the file, those that go as well."""
        self.text = text
        self.path = path
        self.kernels = set(kernels)
        self.hidden: set[str] = set()  # of them, those that are to go, and what launches them
        self.gone: set[str] = set()  # those, and lambdas, functions and variables that go with them
        self.rows: set[str] = set()  # of the table, that were taken out
        self.beside: set[str] = set()  # kernels that stay, in what was taken out
        self.seen: set[str] = set()  # names that stood there

    def take_out(self, names: Iterable[str]) -> None:
        """Of kernels, whose definitions are gone already. LabError where they cannot be taken out."""
        self.hidden |= set(names)
        self.gone |= set(names)
        while True:
            stream = self._stream()
            place = self._mention(stream)
            if place is None:
                break
            span = self._unit(stream, place)
            words = [stream.text(i) for i in range(span.first, span.end)]
            self.rows |= names_of_rows(stream, span)
            self.seen |= {word for word in words if re.fullmatch(r"[^\W\d]\w*", word)}
            self.beside |= {*words} & self.kernels
            declared = self._declared(stream, span)
            self.gone |= declared
            if words[-1] == "}" or "= [" in " ".join(words):  # who calls it launches the kernel
                self.hidden |= declared
            self._cut(stream, span)
        self.beside -= self.gone
        self._without_unused()

    # ---- what is taken out

    def _stream(self) -> Stream:
        return Lexer(self.path, self.text).streams[0]

    def _mention(self, stream: Stream) -> int | None:
        """A token that names something which is gone, or a note to the reader that does."""
        for i, token in enumerate(stream.tokens):
            member = stream.text(i - 1) in (".", "->")
            if token.kind == "name" and token.text in self.gone and not member:
                return i
            is_note = token.kind == "string" and stream.text(i - 2) == "note"
            if is_note and {*re.findall(r"\w+", token.text)} & self.hidden:
                return i
        return None

    def _unit(self, stream: Stream, place: int) -> Span:
        """What goes, since the token at `place` is a kernel that does."""
        for function in device_functions(stream, DEVICE_WORDS):
            if function.start <= place <= function.end:
                raise self._refused(stream, place, f"{function.name}, which stays, uses it")
        inner = place
        for brace in reversed(_braces_around(stream, place)):
            kind = _kind(stream, brace)
            if kind == "initialiser":
                continue
            if kind == "class":
                raise self._refused(stream, place, "a class uses it")
            span = _statement_with(stream, brace, inner)
            close = stream.pair(brace)
            assert close is not None
            others = self._stays(stream, Span(brace, span.first), Span(span.end, close))
            in_call = kind == "lambda" and not _has_a_name(stream, brace)
            own = kind == "lambda" or (kind == "function" and _name_before(stream, brace) != "main")
            alone = kind == "control" and span == Span(brace + 1, close)
            if in_call or (own and not others) or alone:
                inner = brace
                continue
            cascaded = stream.kind(place) == "name" and stream.text(place) not in self.hidden
            if (cascaded or stream.text(span.first) in CONTROL) and self._stays(stream, span):
                raise self._refused(stream, place, "other kernels stand in the same statement")
            return span
        return _top_level(stream, inner)

    def _stays(self, stream: Stream, *spans: Span) -> bool:
        """Whether a kernel that stays is named there."""
        stays = self.kernels - self.gone
        return any(stream.text(i) in stays for span in spans for i in range(span.first, span.end))

    def _refused(self, stream: Stream, place: int, why: str) -> LabError:
        hidden = ", ".join(sorted(self.hidden & self.kernels))
        return LabError(f"{self.path}: {hidden} cannot be hidden: {stream.text(place)}: {why}")

    def _declared(self, stream: Stream, span: Span) -> set[str]:
        """A function, or a variable of main, that goes: who uses it goes as well."""
        first = stream.text(span.first)
        if first == "template" or stream.text(span.end - 1) == "}":
            for i in range(span.first, span.end):
                if stream.text(i) == "{" and _kind(stream, i) == "function":
                    return {_name_before(stream, i)}
        return {*_declared_names(stream, span)}

    def _cut(self, stream: Stream, span: Span) -> None:
        """With the comment above, and whole lines."""
        start, end = stream.tokens[span.first].start, stream.tokens[span.end - 1].end
        self.text = without_lines(self.text, start, end)

    # ---- what is unused then

    def _without_unused(self) -> None:
        again = True
        while again:
            again = False
            stream = self._stream()
            for span in _statements(stream):
                names = _declared_names(stream, span)
                used = _in_scope(stream, span) if self.seen & {*names} else []
                unused = [name for name in names if name in self.seen and name not in used]
                words = [stream.text(i) for i in range(span.first, span.end)]
                again = bool(unused) and "maybe_unused" not in words
                if again and unused == names:
                    self.seen |= {*words}
                    self._cut(stream, _with_empty_blocks(stream, span))
                elif again:
                    at = stream.tokens[span.first].start
                    self.text = replaced(self.text, [(at, at, "[[maybe_unused]] ")])
                if again:
                    break


def without_lines(text: str, start: int, end: int) -> str:
    """Without [start, end), the comment above it, what is behind it in its last line, and one of two
    empty lines around it."""
    start = text.rfind("\n", 0, start) + 1
    above = COMMENTS_ABOVE.search(text, 0, start)
    start = above.start() if above else start
    end = text.find("\n", end) + 1 or len(text)
    if text[:start].endswith("\n\n") and text[end : end + 1] == "\n":
        end += 1
    return text[:start] + text[end:]


def names_of_rows(stream: Stream, span: Span) -> set[str]:
    """The names in rung("NAME", ...) and rung({"NAME", ...}, ...)."""

    def is_behind_rung(place: int) -> bool:
        before = "".join(stream.text(i) for i in range(max(0, place - 3), place))
        return before.endswith(("rung(", "rung({"))

    return {
        stream.text(i)[1:-1]
        for i in range(span.first, span.end)
        if re.fullmatch(r'"[^\W\d]\w*"', stream.text(i)) and is_behind_rung(i)
    }


def _braces_around(stream: Stream, place: int) -> list[int]:
    """Outermost first."""
    return [
        i
        for i in range(place)
        if stream.text(i) == "{"
        and (stream.pair(i) or 0) > place
        and not (stream.text(i - 1) == "}" and stream.text(i - 2) == "namespace")
    ]


def _in_scope(stream: Stream, span: Span) -> list[str]:
    """The tokens behind a declaration, to the end of the block in which it stands."""
    end = stream.pair(_braces_around(stream, span.first)[-1]) or span.end
    return [stream.text(i) for i in range(span.end, end) if stream.text(i - 1) not in (".", "->")]


def _with_empty_blocks(stream: Stream, span: Span) -> Span:
    """With the loops and conditions that have nothing else in them."""
    for brace in reversed(_braces_around(stream, span.first)):
        if _kind(stream, brace) != "control" or span != Span(brace + 1, stream.pair(brace) or 0):
            break
        outer = _braces_around(stream, brace)
        span = _statement_with(stream, outer[-1], brace) if outer else span
    return span


def _has_a_name(stream: Stream, brace: int) -> bool:
    """Of a lambda: `const auto name = [...] {`."""
    return stream.text(_first_of_lambda(stream, brace) - 1) == "="


def _first_of_lambda(stream: Stream, brace: int) -> int:
    i = brace
    while stream.text(i) != "[" and i > 0:
        opener = stream.pair(i - 1) if stream.text(i - 1) in (")", "]") else None
        i = opener if opener is not None and opener < i else i - 1
    return i


def _kind(stream: Stream, brace: int) -> str:
    """Of what stands in the braces: function, lambda, control, class or initialiser."""
    before = stream.text(brace - 1)
    first = _first_of_header(stream, brace)
    header = [stream.text(i) for i in range(first, brace)]
    if {"struct", "class", "union", "enum", "namespace"} & {*header[:4]} and "(" not in header:
        return "class"
    if before in ("else", "do", ";", "{", "}", ":") or not before:
        return "control"
    last = brace - 1
    if "->" in header:  # the type of what a lambda returns
        last = first + len(header) - 1 - header[::-1].index("->") - 1
    while stream.text(last) in ("mutable", "const", "noexcept"):
        last -= 1
    if stream.text(last) == "]":
        return "lambda"
    opener = stream.pair(last) if stream.text(last) == ")" else None
    if opener is None:
        return "initialiser"
    word = stream.text(opener - 1)
    if word == "]":
        return "lambda"
    if word in CONTROL or (word == "constexpr" and stream.text(opener - 2) == "if"):
        return "control"
    return "function"


def _first_of_header(stream: Stream, brace: int) -> int:
    i = brace
    while stream.text(i - 1) not in ("", ";", "{", "}", "(", ","):
        opener = stream.pair(i - 1) if stream.text(i - 1) in (")", "]") else None
        i = opener if opener is not None and opener < i else i - 1
    return i


def _name_before(stream: Stream, brace: int) -> str:
    """Of a function: the name before its parameters."""
    i = _first_of_header(stream, brace)
    while i < brace:
        if stream.text(i) == "(":
            return stream.text(i - 1)
        i += 1
    return ""


def _statement_with(stream: Stream, brace: int, place: int) -> Span:
    """The statement directly in the braces that has the token at `place`."""
    close = stream.pair(brace)
    assert close is not None
    i = brace + 1
    while i < close:
        end = _statement_end(stream, i, close)
        if i <= place < end:
            return Span(i, end)
        i = end
    return Span(brace + 1, close)


def _statement_end(stream: Stream, i: int, limit: int) -> int:
    """The token behind the statement that begins at `i`."""
    word = stream.text(i)
    if word == "{":
        return (stream.pair(i) or limit) + 1
    if word == "do":
        return _to_semicolon(stream, _statement_end(stream, i + 1, limit), limit)
    if word in CONTROL:
        opener = i + 2 if stream.text(i + 1) == "constexpr" else i + 1
        end = _statement_end(stream, (stream.pair(opener) or opener) + 1, limit)
        if word == "if" and stream.text(end) == "else":
            end = _statement_end(stream, end + 1, limit)
        return end
    return _to_semicolon(stream, i, limit)


def _to_semicolon(stream: Stream, i: int, limit: int) -> int:
    while i < limit and stream.text(i) != ";":
        close = stream.pair(i) if stream.text(i) in ("(", "[", "{") else None
        i = (close or i) + 1
    return min(i + 1, limit)


def _top_level(stream: Stream, place: int) -> Span:
    """The function or declaration of the file that has the token at `place`."""
    i = 0
    while i < len(stream.tokens):
        end = i
        while end < len(stream.tokens):
            text, close = stream.text(end), stream.pair(end)
            if text == ";":
                break
            if text == "{" and close is not None and _kind(stream, end) in ("function", "class"):
                end = close
                if stream.text(end + 1) != ";":
                    break
            end = (close if text in ("(", "[", "{") and close is not None else end) + 1
        if i <= place <= end:
            return Span(i, end + 1)
        i = end + 1
    raise LabError("no declaration is there")


def _statements(stream: Stream) -> Iterable[Span]:
    """Those in functions of the host that may declare something, inner ones as well."""
    in_device = [(f.start, f.end) for f in device_functions(stream, DEVICE_WORDS)]
    for brace, token in enumerate(stream.tokens):
        if token.text != "{" or any(start <= brace <= end for start, end in in_device):
            continue
        if _kind(stream, brace) not in ("function", "lambda", "control"):
            continue
        close = stream.pair(brace) or brace
        i = brace + 1
        while i < close:
            end = _statement_end(stream, i, close)
            yield Span(i, end)
            i = end


def _declared_names(stream: Stream, span: Span) -> list[str]:
    """Of variables that the statement declares; empty where it is none of that kind."""
    if stream.text(span.first) in NO_TYPES or stream.text(span.end - 1) != ";":
        return []
    outer = _outer_tokens(stream, span)
    text = " ".join(token.text for token in outer)
    first = DECLARATION.match(text)
    if not first or first.start(1) == 0 or first[1] == "auto":
        return []
    # Behind a comma that stands in no brackets the next declarator begins.
    behind = re.findall(r", (?:[*&] )*(\w+) [=({;,\[]", text[first.end(1) :])
    return [first[1], *behind]


def _outer_tokens(stream: Stream, span: Span) -> list[Token]:
    """Without what stands in brackets, but for the opening ones."""
    tokens = []
    i = span.first
    while i < span.end:
        tokens.append(stream.tokens[i])
        close = stream.pair(i) if stream.text(i) in ("(", "{", "[") else None
        i = close if close is not None and stream.text(i) != "[" else i + 1
        if close is not None and stream.text(close) in (")", "}"):
            i = close + 1
    return tokens
