"""Reads the callee in front of a launch: a postfix expression, read from its end."""

from typing import Optional

from .lexer import Stream

# Names that are no part of a callee: `return k<<<...>>>`, `if (x) k<<<...>>>`.
CONTROL = {"if", "while", "for", "switch", "catch", "constexpr"}  # a condition follows
KEYWORDS = CONTROL | set(
    "return else do case default goto throw co_return co_await co_yield new delete sizeof alignof "
    "and or not xor operator".split()
)


def is_name(stream: Stream, indices: list[int], macros: set[str]) -> bool:
    """Whether the tokens are a (qualified) name with template arguments, or a macro's call."""
    i = indices[-1] if indices else -1
    while indices and i >= indices[0]:
        text = stream.text(i)
        opener: Optional[int] = i
        if text == ">":
            opener = stream.angle_start(i)
        elif text == ")":
            opener = stream.pair(i)
            if opener is not None and stream.text(opener - 1) not in macros:
                return False
        elif text not in ("::", "##") and stream.kind(i) != "name":
            return False
        if opener is None:
            return False
        i = opener - 1
    return bool(indices)


def name_literal(stream: Stream, indices: list[int]) -> str:
    """The callee as a string literal. In a macro its parameters become what they stand for."""
    parameters = ["__VA_ARGS__" if p == "..." else p for p in stream.parameters]
    pieces: list[list[int]] = [[]]
    for i in indices:
        if stream.text(i) in parameters:
            pieces += [[i], []]
        elif stream.text(i) != "##":
            pieces[-1].append(i)
    literals = []
    for piece in pieces:
        text = stream.plain(piece)
        if text in parameters:
            literals.append("#" + text)
        elif text:
            escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            literals.append(f'"{escaped}"')
    return " ".join(literals)


def postfix_start(stream: Stream, last: int) -> Optional[int]:
    """First token of the postfix expression that ends with token `last`; None if none does."""
    text = stream.text(last)
    if text in (")", "]"):
        opener = stream.pair(last)
        if opener is not None and _ends_postfix(stream, opener - 1):
            return postfix_start(stream, opener - 1)  # a call or a subscript
        parenthesised = text == ")" and stream.text((opener or 0) - 1) not in CONTROL
        return opener if parenthesised else None
    if text == ">":
        angle = stream.angle_start(last)
        return None if angle is None else _name_start(stream, angle - 1)
    return _name_start(stream, last)


def _ends_postfix(stream: Stream, index: int) -> bool:
    """Whether a '(' or '[' after this token would be a call or a subscript."""
    text = stream.text(index)
    if text == ")":
        opener = stream.pair(index)
        is_cast = opener == index - 2 and stream.text(index - 1) == "void"
        return opener is not None and not is_cast and stream.text(opener - 1) not in KEYWORDS
    if text == ">":
        angle = stream.angle_start(index)
        return angle is not None and stream.kind(angle - 1) == "name"
    return text == "]" or (stream.kind(index) == "name" and text not in KEYWORDS)


def _name_start(stream: Stream, index: int) -> Optional[int]:
    """First token of the qualified name or member access that ends with token `index`."""
    if stream.kind(index) != "name" or stream.text(index) in KEYWORDS:
        return None
    before = index - 1
    if stream.text(before) == "template":
        before -= 1
    if stream.text(before) == "##":
        return _name_start(stream, before - 1)
    if stream.text(before) == "::":
        return postfix_start(stream, before - 1) if _ends_postfix(stream, before - 1) else before
    if stream.text(before) in (".", "->"):
        return postfix_start(stream, before - 1)
    return index
