"""The functions and variables that a file declares outside of functions.

What is not sure to be understood is among `others`: names that may stand for anything."""

from collections import defaultdict
from typing import NamedTuple, Optional

from .lexer import Stream
from .scopes import is_class_head
from .unit import ALIGNMENTS, ATTRIBUTES, parameter_list

BEHIND_PARAMETERS = {"const", "noexcept", "override", "final"}
ACCESS = {"public", "private", "protected"}
NO_VARIABLE = set(
    "template using typedef namespace operator friend struct class union enum".split()
)


class Declaration(NamedTuple):
    """Of a function or a variable; the numbers are tokens."""

    name: str
    start: int
    name_at: int
    body: Optional[int]  # the `{` of a function that is defined here
    words: tuple[str, ...]  # before the name


class Declarations:
    """Of one file."""

    def __init__(self, stream: Stream) -> None:
        self.functions: dict[str, list[Declaration]] = defaultdict(list)
        self.variables: dict[str, list[Declaration]] = defaultdict(list)
        self.members: list[Declaration] = []  # functions of classes that have no base
        self.others: set[str] = set()
        self._classes: dict[str, list[int]] = defaultdict(list)  # the `{` of those without a base
        self._stream = stream
        self._scan(0, len(stream.tokens), None)

    def functions_of_class(self, name: str) -> dict[str, list[Declaration]]:
        """The member functions of the one class of that name, if it has no base and is no template;
        else none."""
        braces = self._classes.get(name, [])
        found: dict[str, list[Declaration]] = defaultdict(list)
        if len(braces) == 1:
            for member in self.members:
                if braces[0] < member.start < (self._stream.pair(braces[0]) or 0):
                    found[member.name].append(member)
        return found

    def has_default_constructor(self, name: str, unsure: set[str]) -> bool:
        """Whether the one class of that name, if it has no base and is no template, has a
        constructor without arguments that none of the `unsure` words precedes."""
        stream, braces = self._stream, self._classes.get(name, [])
        if len(braces) != 1:
            return False
        i, found = braces[0] + 1, False
        while stream.text(i) != "}":
            if [stream.text(t) for t in range(i, i + 3)] == [name, "(", ")"]:
                first = i
                while stream.text(first - 1) not in (";", "{", "}", ":"):
                    first -= 1
                words = {stream.text(t) for t in range(first, i)}
                if not words.isdisjoint(unsure | {"~"}) or stream.text(i + 3) == "=":
                    return False
                found = True
            i = max(i, stream.pair(i) or i) + 1
        return found

    def _scan(self, start: int, end: int, class_head: Optional[list[str]]) -> None:
        """Takes the declarations in tokens [start, end), which are those of a class if it has a
        head."""
        stream = self._stream
        first = start
        while first < end:
            if class_head is not None and stream.text(first) in ACCESS:
                first += 2
                continue
            brace = self._next(first, end, ("{", ";"))
            stray = stream.text(first) in (")", "]", "}")
            close = stream.pair(brace) if stream.text(brace) == "{" else None
            head = [stream.text(i) for i in range(first, brace)]
            if stray or brace == end or (close is None and stream.text(brace) == "{"):
                self.others.update(stream.text(i) for i in range(first, end))
                return  # an #if cuts through a bracket
            if close is None:
                self._simple(first, brace, class_head)
                first = brace + 1
            elif "namespace" in head or (len(head) == 2 and head[0] == "extern"):
                self.others.update(head)
                self._scan(brace + 1, close, None)
                first = close + 1
            elif is_class_head(head):
                if len(head) == 2 and class_head is None:
                    self._classes[head[1]].append(brace)
                self._scan(brace + 1, close, head)
                first = self._others(first, brace, close, end)
            elif "enum" in head or ("operator" not in head and self._has_value(first, brace)):
                first = self._initialised(first, brace, end, class_head)
            else:
                first = self._function(first, brace, end, class_head)

    def _next(self, index: int, end: int, texts: tuple[str, ...]) -> int:
        """The first of `texts` outside of brackets, or `end`."""
        stream = self._stream
        while index < end and stream.text(index) not in texts:
            close = stream.pair(index) if stream.text(index) in ("(", "[", "{") else None
            if stream.text(index) == "<" and stream.text(index - 1) == "template":
                close = stream.angle_end(index)
            index = (close or index) + 1
        return index

    def _has_value(self, first: int, end: int) -> bool:
        return self._next(first, end, ("=",)) < end

    def _others(self, first: int, brace: int, close: int, end: int) -> int:
        """Of a class: its name, and what is declared behind it. Returns where that ends."""
        semicolon = self._next(close, end, (";",))
        places = [*range(first, brace), *range(close, semicolon)]
        self.others.update(self._stream.text(i) for i in places)
        return semicolon + 1

    def _initialised(
        self, first: int, brace: int, end: int, class_head: Optional[list[str]]
    ) -> int:
        semicolon = self._next(brace, end, (";",))
        if "enum" in (self._stream.text(i) for i in range(first, brace)):
            self.others.update(self._stream.text(i) for i in range(first, semicolon))
        else:
            self._simple(first, semicolon, class_head)
        return semicolon + 1

    def _function(self, first: int, brace: int, end: int, class_head: Optional[list[str]]) -> int:
        """Takes a function with its body, or what else has braces. Returns where it ends."""
        stream = self._stream
        opener = self._parameters(first, brace)
        if opener is None:
            self.others.update(stream.text(i) for i in range(first, brace))
            close = stream.pair(brace)
            while stream.text((close or brace) + 1) in (",", "{"):  # S() : a{1}, b{2} {}
                brace = self._next((close or brace) + 1, end, ("{", ";"))
                close = stream.pair(brace)
            behind = (close or brace) + 1
            return behind + (stream.text(behind) == ";")
        self._add(first, opener, brace, class_head)
        return (stream.pair(brace) or brace) + 1

    def _parameters(self, first: int, brace: int) -> Optional[int]:
        """The `(` of the parameters of a function whose body is at `brace`."""
        stream = self._stream
        last = brace - 1
        while stream.text(last) in BEHIND_PARAMETERS:
            last -= 1
        opener = stream.pair(last) if stream.text(last) == ")" else None
        if opener is None or self._next(first, brace, (":",)) < brace:
            return None  # S() : a(1) {}
        is_name = stream.kind(opener - 1) == "name" and stream.text(opener - 1) not in ATTRIBUTES
        is_call = [stream.text(i) for i in range(opener - 3, opener)] == ["operator", "(", ")"]
        return opener if is_name or is_call else None

    def _simple(self, first: int, semicolon: int, class_head: Optional[list[str]]) -> None:
        """Takes a declaration that ends with `;`."""
        stream = self._stream
        texts = [stream.text(i) for i in range(first, semicolon)]
        has_value = self._has_value(first, semicolon)
        opener = None if has_value else parameter_list(stream, first)
        if opener is not None and stream.pair(opener) == semicolon - 1:
            self._add(first, opener, None, class_head)
            return
        names = [] if class_head is not None else self._variable_names(first, semicolon)
        if not names:
            self.others.update(texts)
        for name in names:
            words = tuple(texts[: names[0] - first])
            declaration = Declaration(stream.text(name), first, name, None, words)
            self.variables[declaration.name].append(declaration)

    def _add(
        self, first: int, opener: int, body: Optional[int], class_head: Optional[list[str]]
    ) -> None:
        """Notes a function with its parameters at `opener`."""
        stream = self._stream
        name_at = opener - 1 if stream.kind(opener - 1) == "name" else opener - 3
        name = "".join(stream.text(i) for i in range(name_at, opener))
        words = tuple(stream.text(i) for i in range(first, name_at))
        declaration = Declaration(name, first, name_at, body, words)
        cut = any(first < token <= opener for token, _ in stream.conditionals)
        qualified = words[-1:] == ("::",)
        if "(" in words:  # perhaps a macro's, which may declare its arguments
            self.others.update(words)
        if not words:
            self.others.update(stream.text(i) for i in range(first, stream.pair(opener) or opener))
        if cut or qualified or not words or "friend" in words or class_head is not None:
            self.others.add(declaration.name)
            if class_head is not None and ":" not in class_head and not cut:
                self.members.append(declaration)
        else:
            self.functions[declaration.name].append(declaration)

    def _variable_names(self, first: int, semicolon: int) -> list[int]:
        """The names in `T a = 1, *b, c[3];`; none if this may be something else."""
        stream = self._stream
        texts = {stream.text(i) for i in range(first, semicolon)}
        if not texts.isdisjoint(NO_VARIABLE):
            return []
        if any(first < token < semicolon for token, _ in stream.conditionals):
            return []
        names = []
        for part in stream.split(first, semicolon):
            i = part[0]
            while i <= part[-1] and stream.text(i) not in ("=", "[", "{", "("):
                if stream.text(i) == "<":
                    i = stream.angle_end(i) or i
                i += 1
            before = stream.text(i - 2)
            typed = stream.kind(i - 2) == "name" or before in ("*", ">", ",")
            if stream.text(i) == "(" or stream.kind(i - 1) != "name" or not typed:
                return []
            if before in ALIGNMENTS:
                return []
            names.append(i - 1)
        return names
