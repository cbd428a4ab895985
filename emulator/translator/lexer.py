"""Splits a CUDA source file into tokens with their exact places.

What may be parsed together forms a stream: the file without its directives, and the body of each
#define. Other directives are left out, and so are branches of an #if that are sure not to be taken.
"""

import re
from typing import NamedTuple, Optional

from .condition import NAME, Known, holds

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
GUARD = re.compile(r"ifndef (\w+)|if !\s*defined\s*\(?\s*(\w+)\s*\)?")
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
    live: bool  # not within a branch that is sure not to be taken


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
        # Of a macro: the names on which it depends whether this definition counts.
        self.asked: set[str] = set()
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


class _Group:
    """An #if with its #elif and #else, up to where the lexer is."""

    def __init__(self) -> None:
        self.dead = False  # this branch is sure not to be taken
        self.taken: Optional[bool] = False  # one of the branches up to here; None: that is unsure
        self.asked: set[str] = set()  # the names on which this branch depends

    def branch(self, taken: Optional[bool], names: set[str]) -> None:
        """Begins a branch that is taken, or is not, where none before it is; None if that depends
        on `names`."""
        self.dead = self.taken is True or taken is False
        if not self.dead:
            self.taken = taken
            self.asked |= names if taken is None else set()


class Lexer:
    """Lexes one file. `path` is for error messages; `known` says what is known of macros."""

    def __init__(self, path: str, text: str, known: Optional[Known] = None) -> None:
        self.streams = [Stream()]  # the file's own, then one for each #define
        self.includes: list[Include] = []
        self.directives: list[Directive] = []
        self._path = path
        self._text = text
        self._dropped = Stream()
        self._known: Known = {**(known or {}), "true": "1", "false": "0"}
        self._groups: list[_Group] = []  # around the place
        self._dead = False  # in a branch that is sure not to be taken
        self._guard = ""  # the macro of the #ifndef that the file begins with
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
                if not in_directive and not self._groups:
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
            self._branch(name, condition)
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
                self.streams[-1].asked = self._asked(define.group(1))
                return self.streams[-1], define.end()
        return self._dropped, pos

    def _asked(self, macro: str) -> set[str]:
        """The names on which it depends whether the macro's definition counts: the macro that guards
        the file is not one of them."""
        if len(self.streams) == 2 and macro != self._guard:
            self._guard = ""  # the first definition in a guard is its own
        asked: set[str] = set().union(*(group.asked for group in self._groups))
        return asked - ({self._guard} - {macro})

    def _branch(self, name: str, condition: str) -> None:
        """Goes into the branch that the directive begins, or out of the last one."""
        is_first = name.startswith("if")
        own = self.streams[0]
        what = "if" if is_first else "endif" if name == "endif" else "else"
        own.conditionals.append((len(own.tokens), what))
        if is_first:
            if not own.tokens and not self._groups and len(self.streams) == 1:
                guard = GUARD.fullmatch(f"{name} {condition}")
                self._guard = (guard[1] or guard[2]) if guard else ""
            self._groups.append(_Group())
        if self._groups and what == "endif":
            self._groups.pop()
        elif self._groups:
            taken = name == "else" or holds(name, condition, self._known)
            self._groups[-1].branch(taken, set(NAME.findall(condition)))
        self._dead = any(group.dead for group in self._groups)
