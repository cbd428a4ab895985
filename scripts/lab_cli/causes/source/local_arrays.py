"""Arrays of a thread that are indexed with what is not known at compile time. Registers have no index: such
an array is in local memory, which is device memory.

nvcc avoids that for some arrays: it selects one of several registers. nvcc 13.0 for sm_90 did so for up to
64 elements where a program is compiled as a whole, for none with -rdc=true. With both, each array of 128
elements was in local memory, and each of eight that is stored to as well as read with such an index in a
loop. (test_local_arrays_nvcc.py looks, where nvcc is there.) Of others ptxas can tell (resources.py): they
may be in local memory. That holds for tables of constants as well, but for `static const` ones.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from . import known
from .source import Source
from .syntax import Body, Loop, Node, Variable
from .values import value

IN_LOOPS, ALWAYS = 8, 128  # elements: at least so many are in local memory for sure


@dataclass(frozen=True)
class LocalArray:
    line: int  # of the first store with such an index, else of the first access
    column: int
    lines: tuple[int, ...]  # of all accesses with such an index
    name: str
    declared: int  # line
    elements: int | None  # None: not known here
    index: str
    stored: bool  # a store has such an index
    function: str
    certain: bool  # else it may be in registers, or its index may be known after all


@dataclass(frozen=True)
class _Access:
    node: Node
    index: Node  # of several, the one that is known least
    loop: Loop | None
    stores: bool
    loads: bool


def find(source: Source, first: int = 1, last: int | None = None) -> list[LocalArray]:
    """Those with such an access in the lines from `first` to `last`; in the whole file without."""
    found = []
    for body in source.functions_of(first, last):
        for variable in body.variables:
            if variable.is_local_array:
                array = _judged(source, body, variable, first, last)
                found += [array] if array else []
    return sorted(found, key=lambda array: (array.line, array.column))


def _judged(
    source: Source, body: Body, variable: Variable, first: int, last: int | None
) -> LocalArray | None:
    elements = _elements(variable)
    found = [
        access
        for access in _accesses(body, variable)
        if first <= source.text.line(access.node.first) <= (last or sys.maxsize)
    ]
    dynamic = [access for access in found if known.of(access.index) == known.DYNAMIC]
    if not dynamic:
        return None
    shown = next((access for access in dynamic if access.stores), dynamic[0])
    in_loops = [access for access in dynamic if access.loop]
    both = any(one.stores for one in in_loops) and any(one.loads for one in in_loops)
    return LocalArray(
        line=source.text.line(shown.node.first),
        column=source.text.column(shown.node.first),
        lines=tuple(sorted({source.text.line(access.node.first) for access in dynamic})),
        name=variable.name,
        declared=source.text.line(variable.at),
        elements=elements,
        index=source.text.between(shown.index.first, shown.index.last),
        stored=any(access.stores for access in dynamic),
        function=body.name,
        certain=elements is not None and elements >= (IN_LOOPS if both else ALWAYS),
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


def _accesses(body: Body, variable: Variable) -> list[_Access]:
    """The accesses to elements of the array."""
    targets = {}
    for node, _ in body.nodes():
        if node.kind == "assign":
            targets[_owner(node.parts[0])] = node.text == "="
    found = []
    for node, loop in body.nodes():
        indices = []
        inner = node
        while inner.kind == "index":
            indices.append(inner.parts[1])
            inner = inner.parts[0]
        if indices and inner.variable is variable and len(indices) == len(variable.sizes):
            least_known = max(indices, key=known.of)
            stores, loads = node in targets, not targets.get(node, False)
            found.append(_Access(node, least_known, loop, stores, loads))
    return found


def _owner(target: Node) -> Node:
    while target.kind == "member":
        target = target.parts[0]
    return target
