"""Splits a CUDA source file into tokens with their exact places.

What may be parsed together forms a stream: the file without its directives, and the body of each
#define. Other directives and `#if 0` blocks are left out.
"""

import re
from typing import NamedTuple, Optional

# `<` and `>` are single tokens: whether `>>>` ends a launch or three template argument lists is
# for the parser to find out.
TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\v\f\r]|\\[ \t]*\r?\n)+)
      | (?P<newline>\n)
      | (?P<comment>//(?:\\\r?\n|[^\n])*|/\*[\s\S]*?\*/)
      | (?P<open_comment>/\*)
      | (?P<string>(?:u8|[uUL])?(?:R"(?P<delimiter>[^()\\\s"]{0,16})\([\s\S]*?\)(?P=delimiter)"
            |"(?:\\[\s\S]|[^"\\\n])*"))
      | (?P<open_raw>(?:u8|[uUL])?R"[^()\\\s"]{0,16}\()
      | (?P<char>(?:u8|[uUL])?'(?:\\[\s\S]|[^'\\\n])+')
      | (?P<open_quote>["'])
      | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[0-9a-zA-Z_]|\.)*)
      | (?P<name>[^\W\d][\w$]*)
      | (?P<punct>->\*?|::|<=>|<=|>=|\#\#|\.\.\.|&&|\|\||[\s\S])""",
    re.VERBOSE,
)
DIRECTIVE = re.compile(r"#(?:[ \t]|\\\r?\n)*([A-Za-z_]*)")
DEFINE = re.compile(r"(?:[ \t]|\\\r?\n)+([^\W\d]\w*)(\([^)]*\))?")
INCLUDE = re.compile(r'[ \t]*(?P<spelling>"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)')
ALWAYS_FALSE = re.compile(r"[ \t]*(?:0|false)[ \t]*(?:/[/*]|\r?\n|$)")
CONDITIONALS = set("if ifdef ifndef else elif elifdef elifndef endif".split())
UP_TO_COMMENT = re.compile(r"(?:\\\r?\n|(?!/[/*]|\r?\n)[\s\S])*")
REST_OF_LINE = re.compile(r"(?:\\\r?\n|[^\n])*")


class TranslateError(Exception):
    """What the user has to change; str() is `file:line: error: ...`."""


class Token(NamedTuple):
    kind: str  # string, char, number, name or punct
    text: str
    start: int  # offsets in the file's text
    end: int


class Include(NamedTuple):
    start: int  # of `"name"` or `<name>`
    end: int
    name: str
    quoted: bool


class Directive(NamedTuple):
    """One of `#if`, `#ifdef`, `#ifndef`, `#elif` ..., `#else`, `#endif`."""

    name: str
    start: int  # of its `#`
    end: int  # of its line, but for a comment
    condition: str
    token: int  # index of the next token of the file's own stream
    live: bool  # not within an `#if 0`


class Edit(NamedTuple):
    """Tokens [first, end) of a stream become `text`."""

    first: int
    end: int
    text: str


class Stream:
    """Tokens that may be parsed together: a file's own, or those of the body of one #define."""

    def __init__(self, macro: str = "", parameters: Optional[list[str]] = None) -> None:
        self.tokens: list[Token] = []
        self.macro = macro  # its name; empty for a file's own tokens
        self.parameters = parameters or []
        self.conditionals: list[tuple[int, str]] = []  # (index of the next token, if|else|endif)
        self._pairs: Optional[dict[int, int]] = None

    def text(self, index: int) -> str:
        """Text of a token; empty before the first and after the last."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def kind(self, index: int) -> str:
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else ""

    def plain(self, indices: list[int]) -> str:
        """Text of several tokens, without comments and with single spaces."""
        text = ""
        previous = None
        for i in indices:
            token = self.tokens[i]
            text += token.text if previous in (None, token.start) else " " + token.text
            previous = token.end
        return text

    def pair(self, index: int) -> Optional[int]:
        """Index of the bracket ()[]{} that belongs to the one at `index`; None if there is none."""
        if self._pairs is None:
            self._pairs = self._match_brackets()
        return self._pairs.get(index)

    def branches(self, index: int) -> list[int]:
        """The branches of #if around token `index`, outermost first: the number of the directive at
        which each begins."""
        stack: list[int] = []
        for number, (token, what) in enumerate(self.conditionals):
            if token > index:
                break
            if what != "if" and stack:
                stack.pop()
            if what != "endif":
                stack.append(number)
        return stack

    def _match_brackets(self) -> dict[int, int]:
        pairs: dict[int, int] = {}
        stack: list[int] = []
        openers = {")": "(", "]": "[", "}": "{"}
        for i, token in enumerate(self.tokens):
            if token.text in ("(", "[", "{"):
                stack.append(i)
            elif token.text in openers:
                # Branches of an #if may open a bracket twice: pass over what stays open.
                for depth in range(len(stack) - 1, -1, -1):
                    if self.tokens[stack[depth]].text == openers[token.text]:
                        pairs[i], pairs[stack[depth]] = stack[depth], i
                        del stack[depth:]
                        break
        return pairs

    def angle_start(self, index: int) -> Optional[int]:
        """Index of the `<` that belongs to the `>` at `index`."""
        depth = 0
        while index >= 0:
            text = self.text(index)
            opener = self.pair(index) if text in (")", "]", "}") else None
            if opener is not None:
                index = opener
            elif text in ("<", ">"):
                depth += 1 if text == ">" else -1
                if depth == 0:
                    return index
            elif text in (";", "(", "[", "{", ")", "]", "}"):
                return None
            index -= 1
        return None

    def angle_end(self, index: int) -> Optional[int]:
        """Index of the `>` that belongs to the `<` at `index`."""
        depth = 0
        while index < len(self.tokens):
            text = self.text(index)
            closer = self.pair(index) if text in ("(", "[", "{") else None
            if closer is not None:
                index = closer
            elif text in ("<", ">"):
                depth += 1 if text == "<" else -1
                if depth == 0:
                    return index
            elif text in (";", "(", "[", "{", ")", "]", "}"):
                return None
            index += 1
        return None

    def split(self, start: int, end: int) -> list[list[int]]:
        """Token indices [start, end), split at the commas outside brackets and template arguments;
        without empty parts."""
        parts: list[list[int]] = [[]]
        depth = 0
        i = start
        while i < end:
            text = self.text(i)
            close = self.pair(i) if text in ("(", "[", "{") else None
            depth += (text == "<") - (text == ">")
            if close is not None and close < end:
                parts[-1].extend(range(i, close + 1))
                i = close
            elif text == "," and depth <= 0:
                parts.append([])
            else:
                parts[-1].append(i)
            i += 1
        return [part for part in parts if part]


class Lexer:
    """Lexes one file. `path` is for error messages."""

    def __init__(self, path: str, text: str) -> None:
        self.streams = [Stream()]  # the file's own, then one for each #define
        self.includes: list[Include] = []
        self.directives: list[Directive] = []
        self._path = path
        self._text = text
        self._dropped = Stream()
        self._depth = 0  # of #if
        self._dead = 0  # depth of the `#if 0` that we are in
        self._run()

    def _run(self) -> None:
        text = self._text
        current = self.streams[0]
        in_directive = False
        line_start = True
        pos = 0
        while pos < len(text):
            match = TOKEN.match(text, pos)
            assert match is not None and match.lastgroup is not None
            kind = match.lastgroup
            start, pos = pos, match.end()
            if kind in ("space", "comment"):
                continue
            if kind == "newline":
                line_start = True
                in_directive = False
                current = self._dropped if self._dead else self.streams[0]
            elif kind in ("open_comment", "open_raw"):
                self._never_ends(start, "comment" if kind == "open_comment" else "raw string")
            elif kind == "open_quote":
                # Text that the preprocessor drops may have an apostrophe: the compiler knows.
                if not in_directive and self._depth == 0:
                    what = "string" if match.group() == '"' else "character"
                    self._never_ends(start, what + " literal")
                rest = REST_OF_LINE.match(text, pos)
                pos = rest.end() if rest else pos
            elif line_start and match.group() == "#":
                in_directive, line_start = True, False
                current, pos = self._directive(start)
            else:
                line_start = False
                current.tokens.append(Token(kind, match.group(), start, pos))

    def _never_ends(self, offset: int, what: str) -> None:
        line = self._text.count("\n", 0, offset) + 1
        raise TranslateError(f"{self._path}:{line}: error: this {what} never ends")

    def _directive(self, start: int) -> tuple[Stream, int]:
        """Reads the directive whose `#` is at `start`: returns where its remaining tokens go, and
        the offset at which they begin."""
        match = DIRECTIVE.match(self._text, start)
        assert match is not None
        name, pos = match.group(1), match.end()
        if name in CONDITIONALS:
            rest = UP_TO_COMMENT.match(self._text, pos)
            text = rest.group().rstrip() if rest else ""
            condition = re.sub(r"\\\r?\n", " ", text).strip()
            next_token = len(self.streams[0].tokens)
            live = not self._dead
            end = pos + len(text)
            self.directives.append(Directive(name, start, end, condition, next_token, live))
        if name in ("if", "ifdef", "ifndef"):
            self._depth += 1
            self._conditional("if")
            if not self._dead and name == "if" and ALWAYS_FALSE.match(self._text, pos):
                self._dead = self._depth
        elif name in ("else", "elif", "elifdef", "elifndef", "endif"):
            self._conditional("endif" if name == "endif" else "else")
            if self._dead == self._depth:
                self._dead = 0
            if name == "endif" and self._depth > 0:
                self._depth -= 1
        elif name == "include" and not self._dead:
            include = INCLUDE.match(self._text, pos)
            if include:
                start, pos = include.span("spelling")
                quoted, angled = include.group("quoted", "angled")
                self.includes.append(Include(start, pos, quoted or angled, bool(quoted)))
        elif name == "define" and not self._dead:
            define = DEFINE.match(self._text, pos)
            if define:
                self.streams.append(
                    Stream(define.group(1), re.findall(r"\w+|\.\.\.", define.group(2) or ""))
                )
                return self.streams[-1], define.end()
        return self._dropped, pos

    def _conditional(self, what: str) -> None:
        own = self.streams[0]
        own.conditionals.append((len(own.tokens), what))
