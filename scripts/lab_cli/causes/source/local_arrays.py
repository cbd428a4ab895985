"""Arrays of a thread that are indexed with what is not known at compile time. Registers have no index: such
an array is in local memory, which is device memory.

nvcc avoids that for small arrays that a thread only reads this way: it selects one of the registers. The
machine code of nvcc 13.0 for sm_90 had a stack frame for arrays of 8 elements that are stored to with a
dynamic index, and for those of 128 that are read so; for no array of 4. Between these, ptxas tells
(resources.py), or an array may be in local memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import known
from .source import Source
from .syntax import Body, Node, Variable
from .values import value

STORED, READ = 8, 128  # elements: at least so many are in local memory for sure
FEWEST = 5  # elements: smaller ones never were


@dataclass(frozen=True)
class LocalArray:
    line: int  # of its first access with such an index, or of the first store
    column: int
    lines: tuple[int, ...]  # of all accesses with such an index
    name: str
    declared: int  # line
    elements: int | None  # None: not known here
    index: str
    stored: bool  # a store has such an index
    function: str
    certain: bool  # else it may be in registers, or its index may be known after all


def find(source: Source, first: int = 1, last: int | None = None) -> list[LocalArray]:
    """Those with such an access in the lines from `first` to `last`; in the whole file without."""
    found = []
    for body in source.functions_of(first, last):
        for variable in body.variables:
            if variable.is_local_array and not _is_table(variable):
                array = _judged(source, body, variable, first, last)
                found += [array] if array else []
    return sorted(found, key=lambda array: (array.line, array.column))


def _is_table(variable: Variable) -> bool:
    """An array of constants: the compiler puts it into constant memory."""
    if variable.is_constant or variable.initial is None:
        return variable.is_constant
    return False


def _judged(
    source: Source, body: Body, variable: Variable, first: int, last: int | None
) -> LocalArray | None:
    elements = _elements(variable)
    if elements is not None and elements < FEWEST:
        return None
    worst, at, stored = known.STATIC, None, False
    lines = set()
    for node, index in _accesses(body, variable):
        sure = known.of(index)
        line = source.text.line(node.first)
        if sure == known.STATIC or line < first or (last is not None and line > last):
            continue
        lines.add(line)
        is_store = _is_target(body, node)
        if at is None or sure > worst or (sure == worst and is_store and not stored):
            worst, at = max(worst, sure), (node, index)
        stored |= is_store
    if at is None or worst == known.UNSURE:
        return None
    least = STORED if stored else READ
    node, index = at
    return LocalArray(
        line=source.text.line(node.first),
        column=source.text.column(node.first),
        lines=tuple(sorted(lines)),
        name=variable.name,
        declared=source.text.line(variable.at),
        elements=elements,
        index=source.text.between(index.first, index.last),
        stored=stored,
        function=body.name,
        certain=elements is not None and elements >= least,
    )


def _elements(variable: Variable) -> int | None:
    product = 1
    for size in variable.sizes:
        number = value(size) if size else None
        if size is None and variable.initial is not None:
            number = len(variable.initial.parts)
        if number is None or number != number:
            return None
        product *= int(number)
    return product


def _accesses(body: Body, variable: Variable) -> list[tuple[Node, Node]]:
    """The accesses to elements of the array, each with its index: of several, the one known least."""
    found = []
    for node, _ in body.nodes():
        indices = []
        inner = node
        while inner.kind == "index":
            indices.append(inner.parts[1])
            inner = inner.parts[0]
        if indices and inner.variable is variable and len(indices) == len(variable.sizes):
            found.append((node, max(indices, key=known.of)))
    return found


def _is_target(body: Body, node: Node) -> bool:
    """Whether the element is assigned to."""
    return any(
        other.kind == "assign" and _owner(other.parts[0]) is node for other, _ in body.nodes()
    )


def _owner(target: Node) -> Node:
    while target.kind == "member":
        target = target.parts[0]
    return target
