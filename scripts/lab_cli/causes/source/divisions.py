"""Divisions and moduli of integers in loops, by what is not known at compile time.

A GPU has no instruction for them: each is some 20 instructions, of 64 bits more than twice as many. By a
constant it is a multiplication and a shift."""

from __future__ import annotations

from dataclasses import dataclass

from . import known
from .source import Source
from .syntax import Body, Loop, Node


@dataclass(frozen=True)
class Division:
    line: int
    column: int
    expression: str  # i / width
    loop: int  # line of the loop, or 0 where the function is called from one
    again: bool  # it has the same value each time around: the compiler can take it out of the loop
    function: str


def find(source: Source, first: int = 1, last: int | None = None) -> list[Division]:
    """Those in the lines from `first` to `last`; in the whole file without."""
    called = _called_in_loops(source)
    found = {}
    for body in source.functions_of(first, last):
        for node, loop in body.nodes():
            line = source.text.line(node.first)
            if not _is_division(node) or line < first or (last is not None and line > last):
                continue
            if loop is None and body.name not in called:
                continue
            one = _described(source, body, node, loop)
            found[one.line, one.column, one.expression] = one
    return [found[key] for key in sorted(found)]


def _is_division(node: Node) -> bool:
    if node.text not in ("/", "%", "/=", "%=") or node.kind not in ("binary", "assign"):
        return False
    left, right = node.parts
    if not (left.type.is_integer and right.type.is_integer):
        return False
    given = any(_is_given(part) for part in right.all())
    return given or known.of(right) == known.DYNAMIC


def _is_given(node: Node) -> bool:
    variable = node.variable
    return variable is not None and variable.is_parameter and not variable.is_template


def _described(source: Source, body: Body, node: Node, loop: Loop | None) -> Division:
    text = source.text
    again = node.kind == "binary" and loop is not None and not known.changes_in(node, loop)
    return Division(
        line=text.line(node.first),
        column=text.column(node.first),
        expression=text.between(node.first, node.last),
        loop=text.line(loop.at) if loop else 0,
        again=again,
        function=body.name,
    )


def _called_in_loops(source: Source) -> set[str]:
    """The functions that a loop calls, also through others."""
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for body in source.bodies:
        for node, loop in body.nodes():
            if node.kind == "call":
                calls.setdefault(body.name, set()).add(node.text)
                found |= {node.text} if loop else set()
    pending = list(found)
    while pending:
        for name in calls.get(pending.pop(), set()) - found:
            found.add(name)
            pending.append(name)
    return found
