"""Finds `volatile` in device code that a class of the back end has to stand for: pointers, and
shared variables. (What it is good for: emu/volatile.h.)"""

from typing import NamedTuple, Optional

from .lexer import Edit, Stream

SHARED_SPECIFIERS = {"__shared__", "static", "volatile"}
POINTER_MARKS = {"const", "volatile", "__restrict__", "__restrict", "restrict"}
NOT_UNDERSTOOD = set(
    "asm __asm__ __asm constexpr auto struct union enum typedef using extern register inline "
    "friend mutable new sizeof return else do case goto throw".split()
)


class Use(NamedTuple):
    """What to do about one `volatile`: edits here, and a declaration at the start of a body."""

    edits: list[Edit]
    body: Optional[int] = None  # its `{`
    declaration: str = ""


def find_use(stream: Stream, index: int, in_device: bool, device_words: set[str]) -> Optional[Use]:
    """Looks at the declaration or cast around the `volatile` at `index`. None if it is no concern
    of ours, or written in a way that is not understood: then it stays as it is."""
    first = index
    while stream.kind(first - 1) == "name" or stream.text(first - 1) == "::":
        first -= 1
    words, name = _type_words(stream, first)
    kind = " ".join(word for word in words if word not in SHARED_SPECIFIERS)
    if not kind or not NOT_UNDERSTOOD.isdisjoint(words):
        return None
    if stream.text(name) != "*":
        return _shared(stream, name - 1, kind) if "__shared__" in words else None
    if "__shared__" in words or "static" in words:
        return None
    name += 1
    while stream.text(name) in POINTER_MARKS:
        name += 1
    pointer = f"::emu::VolatilePointer<{kind}>"
    after = stream.text(name + 1)
    if stream.text(name) == ")":  # a cast
        return Use([Edit(first, name, pointer)]) if in_device else None
    if stream.kind(name) != "name":
        return None
    if after in (",", ")") and stream.text(first - 1) in ("(", ","):
        return _parameter(stream, first - 1, name, pointer, device_words)
    if in_device and after in ("=", "(", "{", ";") and _is_only_declarator(stream, name + 1):
        return Use([Edit(first, name + 1, f"{pointer} {stream.text(name)}")])
    return None


def _type_words(stream: Stream, index: int) -> tuple[list[str], int]:
    """Words of a type from token `index` on, and the token behind them: `*`, or behind the name of
    a variable, which counts as a word that is left out."""
    words: list[str] = []
    while True:
        text = stream.text(index)
        close = stream.angle_end(index) if text == "<" else None
        if close is not None:
            words += [stream.text(i) for i in range(index, close + 1)]
            index = close
        elif stream.kind(index) == "name" or text == "::":
            words.append(text)
        else:
            break
        index += 1
    if stream.text(index) != "*":
        words = words[:-1]
    return words, index


def _shared(stream: Stream, name: int, kind: str) -> Optional[Use]:
    """`__shared__ volatile int x;` or `x[64];`: x becomes another name for it."""
    text = stream.text(name)
    after = stream.text(name + 1)
    if after == ";":
        alias = f" auto& {text} = ::emu::volatileVariable(emu_{text});"
        return Use([Edit(name, name + 1, f"emu_{text}"), Edit(name + 1, name + 2, ";" + alias)])
    close = stream.pair(name + 1) if after == "[" else None
    if close is None or close == name + 2 or stream.text(close + 1) != ";":
        return None
    alias = f" ::emu::VolatilePointer<{kind}> {text}(emu_{text});"
    return Use([Edit(name, name + 1, f"emu_{text}"), Edit(close + 1, close + 2, ";" + alias)])


def _parameter(
    stream: Stream, before: int, name: int, pointer: str, device_words: set[str]
) -> Optional[Use]:
    """Keeps the parameter's type, since template arguments may be deduced from it, and declares the
    class under its name in the body."""
    opener = before
    while stream.text(opener) != "(":
        close = stream.pair(opener) if stream.text(opener) in (")", "]", "}") else opener
        if close is None or stream.text(close) in (";", "{", ""):
            return None
        opener = close - 1
    close = stream.pair(opener)
    body = close + 1 if close is not None else 0
    while stream.text(body) in ("const", "noexcept"):
        body += 1
    start = opener
    while stream.text(start - 1) not in ("", ";", "{", "}"):
        start -= 1
    header = {stream.text(i) for i in range(start, opener)}
    if stream.text(body) != "{" or device_words.isdisjoint(header):
        return None
    text = stream.text(name)
    edit = Edit(name, name + 1, f"emu_{text}")
    return Use([edit], body, f" {pointer} {text}(emu_{text});")


def _is_only_declarator(stream: Stream, index: int) -> bool:
    while stream.text(index) not in (";", "", ")"):
        if stream.text(index) == ",":
            return False
        close = stream.pair(index) if stream.text(index) in ("(", "[", "{") else None
        index = (close or index) + 1
    return stream.text(index) == ";"
