"""Tells what is inside of functions, and what of device code."""

from typing import NamedTuple

from .lexer import Stream


class Scope(NamedTuple):
    """An open brace: what is inside, and where the current declaration in it started."""

    in_function: bool  # or in a class; not at namespace scope
    device: bool
    start: int = 0
    parens: int = 0  # open ones


def scopes_of(stream: Stream, device_words: set[str]) -> list[Scope]:
    """The scope of each token. `device_words` begin device code: __device__ and the like."""
    result = []
    stack = [Scope(False, False)]
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
            stack.append(Scope(in_function, device, i + 1))
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
