"""The tokens of a CUDA source file as the compiler sees them: macros expanded, comments and what `#if 0`
hides left out. Each token keeps the place at which it stands in the file."""

from __future__ import annotations

import bisect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...paths import ROOT

# The translator of the cpu back end has a lexer for CUDA.
if str(ROOT / "emulator") not in sys.path:
    sys.path.append(str(ROOT / "emulator"))

from translator.lexer import Lexer, Stream, Token, TranslateError  # noqa: E402

# The lexer gives these as single characters; `>` stays one for the sake of template arguments.
JOINED = {"++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "==", "!=", "<<", "<<="}
DEEPEST = 20  # macros in macros, and headers in headers
PRAGMA_TEXT = re.compile(r"[ \t]*unroll\b[ \t]*\(?[ \t]*(\w*)")
PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+" + PRAGMA_TEXT.pattern, re.MULTILINE)
FUNCTION_LIKE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class Macro:
    tokens: Sequence[Token]
    parameters: Sequence[str] | None  # None: it takes no arguments


@dataclass
class Text:
    """`macros[i]` is the macro that token i comes from, or empty."""

    source: str
    stream: Stream
    macros: list[str]
    defined: Mapping[str, Macro]
    included: list[Text] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", self.source))]
        self._pragmas = {
            self.source.count("\n", 0, match.start()) + 1: match[1]
            for match in PRAGMA.finditer(self.source)
        }

    def line(self, index: int) -> int:
        """From 1, of a token; for one out of a macro, where the macro is used."""
        return bisect.bisect(self._starts, self.stream.tokens[index].start)

    def column(self, index: int) -> int:
        start = self.stream.tokens[index].start
        return start - self._starts[bisect.bisect(self._starts, start) - 1] + 1

    def between(self, first: int, last: int) -> str:
        """What the file has from one token to another, on one line, with brackets in pairs."""
        tokens = self.stream.tokens
        pairs = [self.stream.pair(i) for i in range(first, last + 1)]
        places = [pair for pair in pairs if pair is not None]
        first, last = min([first, *places]), max([last, *places])
        return " ".join(self.source[tokens[first].start : tokens[last].end].split())

    def unroll(self, index: int) -> str | None:
        """What `#pragma unroll` above the loop at this token says: a number, or nothing. None where there
        is no such line."""
        if self.stream.text(index - 4) == "_Pragma":
            match = PRAGMA_TEXT.match(self.stream.text(index - 2).strip('"'))
            return match[1] if match else None
        line = self.line(index) - 1
        while line > 0 and not self._line(line).strip():
            line -= 1
        return self._pragmas.get(line)

    def _line(self, number: int) -> str:
        end = self._starts[number] if number < len(self._starts) else len(self.source)
        return self.source[self._starts[number - 1] : end]


def read(path: Path) -> Text | None:
    """The file, with the headers beside it that it includes. None where it cannot be read."""
    return _read(path, set())


def of(source: str) -> Text | None:
    """None where a comment or a string never ends."""
    return _text(source, "source", [])


def _read(path: Path, seen: set[Path]) -> Text | None:
    if path in seen or len(seen) > DEEPEST:
        return None
    seen.add(path)
    try:
        source = path.read_text(encoding="utf-8", errors="replace")
        names = [one.name for one in Lexer(str(path), source).includes if one.quoted]
    except (OSError, TranslateError):
        return None
    headers = [_read(path.parent / name, seen) for name in names]
    return _text(source, str(path), [header for header in headers if header])


def _text(source: str, path: str, included: list[Text]) -> Text | None:
    try:
        streams = Lexer(path, source).streams
    except TranslateError:
        return None
    defined: dict[str, Macro] = {}
    for header in included:
        defined.update(header.defined)
    defined.update(_macros(source, streams[1:]))
    stream, macros = _expanded(streams[0], defined)
    return Text(source, stream, macros, defined, included)


def _macros(source: str, streams: Sequence[Stream]) -> dict[str, Macro]:
    """Those with one definition, which has no `#` in it."""
    with_arguments = set(FUNCTION_LIKE.findall(source))
    found: dict[str, Macro] = {}
    unsure = set()
    for stream in streams:
        name = stream.macro
        parameters = stream.parameters if name in with_arguments else None
        texts = {token.text for token in stream.tokens}
        if name in found or not texts.isdisjoint({"#", "##", "__VA_ARGS__"}):
            unsure.add(name)
        found[name] = Macro(_joined(stream.tokens), parameters)
    return {name: macro for name, macro in found.items() if name not in unsure}


def _joined(tokens: Sequence[Token]) -> list[Token]:
    """With operators of two or three characters in one piece."""
    result: list[Token] = []
    for token in tokens:
        last = result[-1] if result else None
        if last and last.end == token.start and last.text + token.text in JOINED:
            result[-1] = Token(last.kind, last.text + token.text, last.start, token.end)
        else:
            result.append(token)
    return result


def _expanded(stream: Stream, defined: Mapping[str, Macro]) -> tuple[Stream, list[str]]:
    result = Stream()
    macros: list[str] = []
    places: dict[int, int] = {}  # in the new stream, by offset in the file
    tokens = _joined(stream.tokens)
    for token, macro in _expand(tokens, defined, frozenset()):
        places.setdefault(token.start, len(result.tokens))
        result.tokens.append(token)
        macros.append(macro)
    starts = sorted(places)
    for index, what in stream.conditionals:
        end = index == len(stream.tokens)
        at = len(starts) if end else bisect.bisect_left(starts, stream.tokens[index].start)
        place = places[starts[at]] if at < len(starts) else len(result.tokens)
        result.conditionals.append((place, what))
    return result, macros


def _expand(
    tokens: Sequence[Token], defined: Mapping[str, Macro], within: frozenset[str]
) -> Iterator[tuple[Token, str]]:
    i = 0
    while i < len(tokens):
        token = tokens[i]
        macro = defined.get(token.text) if token.kind == "name" else None
        i += 1
        if macro is None or token.text in within or len(within) > DEEPEST:
            yield token, ""
            continue
        body, end = _filled(macro, tokens, i)
        if body is None:
            yield token, ""
            continue
        inner = within | {token.text}
        stop = tokens[end - 1].end if end > i else token.end
        for part, _ in _expand(body, defined, inner):
            yield Token(part.kind, part.text, token.start, stop), token.text
        i = end


def _filled(macro: Macro, tokens: Sequence[Token], i: int) -> tuple[list[Token] | None, int]:
    """The macro's body, and where the tokens behind its use begin. None where this is no use of it."""
    if macro.parameters is None:
        return list(macro.tokens), i
    if i == len(tokens) or tokens[i].text != "(":
        return None, i
    arguments: list[list[Token]] = [[]]
    depth = 0
    for end in range(i, len(tokens)):
        text = tokens[end].text
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth == 0:
            break
        if text == "," and depth == 1:
            arguments.append([])
        elif end > i:
            arguments[-1].append(tokens[end])
    else:
        return None, i
    if not macro.parameters and arguments == [[]]:
        arguments = []
    if len(arguments) != len(macro.parameters):
        return None, i
    values = dict(zip(macro.parameters, arguments))
    body: list[Token] = []
    for token in macro.tokens:
        body += values.get(token.text, [token]) if token.kind == "name" else [token]
    return body, end + 1
