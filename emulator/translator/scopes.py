"""Tells what is inside of functions, and what of device code."""

from typing import NamedTuple

from .lexer import Stream


class Scope(NamedTuple):
    """An open brace: what is inside, and where the current declaration in it started."""

    in_function: bool  # or in a class; not at namespace scope
    device: bool
    host: bool = False  # __host__ is among the words of the function, or one around it
    in_class: bool = False  # right in it, in no function
    start: int = 0
    parens: int = 0  # open ones


OPEN = Scope(False, False)  # the file's own


def kind(scope: Scope) -> str:
    """Whose code is in it: `device`, `host`, `both`, or `open` where declarations are."""
    if scope.device:
        return "both" if scope.host else "device"
    return "host" if scope.in_function and not scope.in_class else "open"


def scopes_of(stream: Stream, device_words: set[str], host_words: set[str]) -> list[Scope]:
    """The scope of each token. `device_words` begin device code: __device__ and the like;
    `host_words` say that it is host code as well."""
    result = []
    stack = [OPEN]
    saved: list[list[Scope]] = []
    conditionals = iter([*stream.conditionals, (len(stream.tokens), "")])
    change, what = next(conditionals)
    for i, token in enumerate(stream.tokens):
        while change <= i:  # each branch of an #if starts with the braces that were open there
            if what == "if":
                saved.append(list(stack))
            elif what == "else" and saved:
                stack = list(saved[-1])
            elif saved:
                saved.pop()
            change, what = next(conditionals)
        top = stack[-1]
        if token.text == "{":
            header = [t.text for t in stream.tokens[top.start : i]]
            linkage = len(header) == 2 and header[0] == "extern"
            in_function = top.in_function or not ("namespace" in header or linkage)
            device = top.device or not device_words.isdisjoint(header)
            host = top.host or not host_words.isdisjoint(header)
            stack.append(Scope(in_function, device, host, is_class_head(header), i + 1))
        elif token.text == "}" and len(stack) > 1:
            stack.pop()
            if stack[-1].parens == 0:
                stack[-1] = stack[-1]._replace(start=i + 1)
        elif token.text in ("(", ")"):
            stack[-1] = top._replace(parens=top.parens + (1 if token.text == "(" else -1))
        elif token.text == ";":
            stack[-1] = top._replace(start=i + 1)
        result.append(stack[-1])
    return result


def is_class_head(header: list[str]) -> bool:
    """Whether a brace after these tokens opens a class."""
    angles = 0
    for text in header:
        angles += (text == "<") - (text == ">")
        if angles == 0 and text in ("struct", "class", "union"):
            return header[-1] != ")"  # but a function that returns one
    return False
