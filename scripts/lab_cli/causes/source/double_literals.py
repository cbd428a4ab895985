"""Literals of type double in float code: 0.5 where 0.5f is meant.

C++ then computes in double precision, and a GPU has few units for that: half as many as for float on an
H200, a 64th on a consumer's GPU. nvcc takes the arithmetic back to float in some cases, where that gives
the same result. Those cost nothing and are no finding. What was seen in the machine code that nvcc 13.0
makes for sm_90 (and tests/scripts/causes/source/test_double_literals_nvcc.py compares, where nvcc is there):

- y = x * 0.5, x + 1.0, 1.0 / x, x / 3.0: one operation of a float and a literal that a float holds exactly,
  whose result goes right into a float. It is a float operation. So is y += 1.0.
- y = x * 0.1: a float does not hold 0.1, so this takes two conversions and a multiplication in double.
  A float does not hold 1.0 / 3.0 either, which the compiler evaluates first.
- y = 2.0 * x + 1.0, y += 0.5 * x, sqrt(x + 1.0): two operations, or one whose result goes on as a double.
  All of it is computed in double, however the literals look.
- y = i * 0.5 with an integer: conversion and multiplication in double.
- x > 0.5 compares floats, x > 0.1 doubles.
- pow(x, 2.0), fmax(x, 0.0): the function for double is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .expressions import CONSTANTS
from .source import Source
from .syntax import ARITHMETIC, Body, Node, Root
from .types import AUTO, DOUBLE, FLOAT, INT, LONG, UNKNOWN, Type
from .values import fits_float, is_constant, value


@dataclass(frozen=True)
class DoubleLiteral:
    """A literal because of which float code is computed in double precision."""

    line: int
    column: int
    literal: str  # 0.5
    through: str  # the macro or constant that has it, or empty
    instead: str  # 0.5f
    expression: str  # what is computed in double
    function: str  # that it stands in
    certain: bool  # else it is so if a type that is not known here is float


@dataclass
class _Region:
    """Arithmetic in double that hangs together."""

    top: Node
    operations: list[Node] = field(default_factory=list)
    leaves: list[Node] = field(default_factory=list)  # what is converted to double, or is double
    constants: list[Node] = field(default_factory=list)
    inner: list[tuple[Node, Type | None]] = field(default_factory=list)  # to be looked at by itself


def find(source: Source, first: int = 1, last: int | None = None) -> list[DoubleLiteral]:
    """Those of device code in the lines from `first` to `last`; in the whole file without."""
    found: dict[tuple[int, int, str], DoubleLiteral] = {}
    for body in source.functions_of(first, last):
        for root in body.roots:
            for literal in _of(source, body, root):
                if first <= literal.line and (last is None or literal.line <= last):
                    key = (literal.line, literal.column, literal.literal)
                    found[key] = literal
    return [found[key] for key in sorted(found)]


def _of(source: Source, body: Body, root: Root) -> Iterator[DoubleLiteral]:
    pending: list[tuple[Node, Type | None]] = [(root.node, root.wanted)]
    while pending:
        node, wanted = pending.pop()
        if node.kind == "ternary":  # each of its values is converted
            pending += [(node.parts[0], None), (node.parts[1], wanted), (node.parts[2], wanted)]
        elif _is_top(node):
            region = _Region(node)
            for part in node.parts:
                _collect(region, part)
            pending += region.inner
            yield from _judged(source, body, region, wanted)
        else:
            pending += zip(node.parts, node.wanted)


def _is_top(node: Node) -> bool:
    """Whether a value of type double is computed here."""
    if value(node) is not None:
        return False
    if node.kind in ("binary", "call") and _computes(node):
        return True
    if node.kind == "unary":
        return node.type == DOUBLE
    is_compound = node.kind == "assign" and node.text[:1] in ARITHMETIC and len(node.parts) == 2
    if is_compound or node.kind == "compare":
        return any(part.type == DOUBLE for part in node.parts) and all(
            part.type.is_number or not part.type.is_known for part in node.parts
        )
    return False


def _computes(node: Node) -> bool:
    if node.kind == "call":
        return node.computes and any(part.type == DOUBLE for part in node.parts)
    return node.type == DOUBLE


def _collect(region: _Region, node: Node) -> None:
    if is_constant(node):
        region.constants.append(node)
    elif node.type == DOUBLE and node.kind in ("binary", "unary", "call") and _computes(node):
        if node.kind != "unary":
            region.operations.append(node)
        for part in node.parts:
            _collect(region, part)
    elif _is_accident(node) and node.variable and node.variable.initial:
        _collect(region, node.variable.initial)
    elif node.type == DOUBLE and node.kind == "ternary":
        region.operations.append(node)
        region.inner.append((node.parts[0], None))
        for part in node.parts[1:]:
            _collect(region, part)
    else:
        region.leaves.append(node)
        region.inner.append((node, None if node.type.is_number else UNKNOWN))


def _judged(
    source: Source, body: Body, region: _Region, wanted: Type | None
) -> Iterator[DoubleLiteral]:
    top = region.top
    wanted = top.type if top.kind == "assign" else wanted
    if not region.leaves or wanted == DOUBLE or _is_free(region, wanted):
        return
    if not all(_is_of_float_code(node) for node in region.leaves):
        return
    known = all(node.type.is_known for node in region.leaves)
    takes = wanted in (None, AUTO) or wanted.is_number
    text = source.text
    for constant in region.constants:
        for node, through in _literals(constant):
            place = constant.first if through else node.first
            yield DoubleLiteral(
                line=text.line(place),
                column=text.column(place),
                literal=node.text,
                through=through or text.macros[node.first],
                instead=_as_float(node.text),
                expression=text.between(top.first, top.last),
                function=body.name,
                certain=known and takes,
            )


def _is_of_float_code(node: Node) -> bool:
    """Whether the value is converted to double because of a literal, not meant to be double."""
    return node.type in (FLOAT, INT, LONG) or not node.type.is_known


def _is_free(region: _Region, wanted: Type | None) -> bool:
    """Whether nvcc makes float arithmetic of it."""
    top = region.top
    if top.kind == "compare":
        exact = all(fits_float(node) for node in region.constants)
        return not region.operations and exact
    operations = [
        node
        for node in [top, *region.operations]
        if node.kind != "unary" and not _is_identity(node)
    ]
    # What becomes of a value of `auto`, or of an argument of a function not seen here, is not known.
    is_taken_back = wanted in (FLOAT, AUTO) or (wanted is not None and not wanted.is_known)
    if not operations:
        return is_taken_back
    if len(operations) > 1 or operations[0].kind not in ("binary", "assign"):
        return False
    floats = all(node.type == FLOAT or not node.type.is_known for node in region.leaves)
    own = [node for node in operations[0].parts if is_constant(node)]
    return is_taken_back and floats and all(fits_float(node) for node in own)


def _is_identity(node: Node) -> bool:
    """x * 1.0 and x / 1.0: nothing is left to do."""
    if node.kind not in ("binary", "assign") or len(node.parts) != 2:
        return False
    left, right = (value(part) for part in node.parts)
    operator = node.text[:1]
    return (operator in "*/" and right == 1) or (operator == "*" and left == 1)


def _is_accident(node: Node) -> bool:
    """A variable that is double since it is `auto`."""
    variable = node.variable
    is_auto = variable is not None and variable.is_auto and not variable.stores
    return is_auto and node.type == DOUBLE


def _literals(node: Node) -> Iterator[tuple[Node, str]]:
    """The literals of type double in a constant, each with the name of the constant that has it."""
    for part in node.all():
        if part.kind == "name" and part.variable and part.variable.initial:
            for literal, _ in _literals(part.variable.initial):
                yield literal, part.text
        elif part.type == DOUBLE and (part.kind == "literal" or part.text in CONSTANTS):
            yield part, ""


def _as_float(literal: str) -> str:
    if literal in CONSTANTS:
        return f"(float){literal}"
    return literal.rstrip("lL") + "f"
