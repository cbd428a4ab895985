"""Expressions of device code with the types of their parts, and the loops that they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .types import UNKNOWN, Type

ASSIGNMENTS = set("= += -= *= /= %= &= |= ^= <<= >>=".split())
COMPARISONS = {"==", "!=", "<", ">", "<=", ">="}
ARITHMETIC = {"+", "-", "*", "/", "%"}


@dataclass(eq=False)
class Node:
    """`kind` is literal, name, unary, postfix, binary, assign, compare, logical, ternary, call, cast,
    index, member, list or other. `wanted` says to what each part is converted; None: to nothing."""

    kind: str
    text: str  # the operator, name or literal
    first: int  # tokens
    last: int
    type: Type = UNKNOWN
    parts: Sequence[Node] = ()
    wanted: Sequence[Type | None] = ()
    variable: Variable | None = None  # of a name
    computes: bool = False  # of a call: arithmetic in its own type
    loop: Loop | None = None  # of an assignment: the innermost around it

    def all(self) -> Iterator[Node]:
        yield self
        for part in self.parts:
            yield from part.all()


@dataclass(eq=False)
class Variable:
    name: str
    type: Type
    at: int = -1  # token
    is_constant: bool = False  # const or constexpr
    is_constexpr: bool = False
    is_auto: bool = False
    is_parameter: bool = False
    is_of_kernel: bool = False  # a parameter of one
    is_template: bool = False  # a parameter of the template, or a constant of an enum
    is_local_array: bool = False  # of a thread, not __shared__
    sizes: Sequence[Node | None] = ()
    initial: Node | None = None
    stores: list[Node] = field(default_factory=list)  # what is assigned later, the whole expression
    loop: Loop | None = None  # that counts with it
    is_taken: bool = False  # its address is, or a function gets it as an array


@dataclass(eq=False)
class Loop:
    at: int  # its keyword
    outer: Loop | None = None
    counter: Variable | None = None
    condition: Node | None = None
    step: Node | None = None
    unroll: str | None = None  # what #pragma unroll says above it; None: there is none
    end: int = 0

    def contains(self, index: int) -> bool:
        return self.at <= index <= self.end


@dataclass(eq=False)
class Root:
    """A whole expression; `wanted` is the type that its value is converted to."""

    node: Node
    wanted: Type | None
    loop: Loop | None


@dataclass(eq=False)
class Body:
    """A function of device code, or what could be understood of it."""

    name: str
    is_kernel: bool
    first_line: int
    last_line: int
    roots: list[Root] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)

    def nodes(self) -> Iterator[tuple[Node, Loop | None]]:
        for root in self.roots:
            for node in root.node.all():
                yield node, root.loop
