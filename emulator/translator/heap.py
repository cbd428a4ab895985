"""Gives `new` in device code the heap of kernels (emu/kernel_heap.h): `new T` becomes
`new (::emu::kernelHeap) T`, which looks at run time where it is. `delete` tells by the address."""

import re

from .lexer import Edit, Stream
from .unit import BUILTIN_TYPES, Unit

HEAP = "(::emu::kernelHeap)"
NOTHROW = (["(", "std", "::", "nothrow", ")"], ["(", "nothrow", ")"])
# Virtual destructors delete.
CALLS = re.compile(r"\b(malloc|free|delete|virtual|override)\b")
OPERATOR = re.compile(r"\boperator\s*(new|delete)\b")


class Heap:
    """Of a unit: what it defines itself of `new` and `delete`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        scopes = [
            unit.scopes(stream)[i]
            for source in unit.sources.values()
            if OPERATOR.search(source.text)
            for stream in source.streams[:1]
            for i in range(len(stream.tokens))
            if stream.text(i) == "operator" and stream.text(i + 1) in ("new", "delete")
        ]
        self._replaced = any(not scope.in_function for scope in scopes)  # of the whole program
        self._in_classes = any(scope.in_class for scope in scopes)

    def edits(self, stream: Stream) -> list[Edit]:
        """What to change in a source that has CUDA."""
        if self._replaced:
            return []
        edits = []
        for i, token in enumerate(stream.tokens):
            if token.text != "new" or stream.text(i - 1) in ("operator", ".", "->"):
                continue
            if not stream.macro and not self._unit.scopes(stream)[i].device:
                continue
            if stream.text(i + 1) == "(":
                close = stream.pair(i + 1) or i
                if [stream.text(j) for j in range(i + 1, close + 1)] in NOTHROW:
                    edits.append(Edit(i + 1, close + 1, HEAP))
            elif stream.text(i + 1) and self._is_of_all(stream, i + 1):
                edits.append(Edit(i, i + 1, f"new {HEAP}"))
        return edits

    def _is_of_all(self, stream: Stream, index: int) -> bool:
        """Whether the type has no `operator new` of its own."""
        return not self._in_classes or stream.text(index) in BUILTIN_TYPES

    def ending(self) -> str:
        """What comes behind the last line of the unit."""
        calls = any(CALLS.search(source.text) for source in self._unit.sources.values())
        return "\nEMU_KERNEL_HEAP\n" if calls and not self._replaced else ""
