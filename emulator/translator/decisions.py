"""Finds `A && B`, `A || B` and `C ? a : b` in device code, for the instrumented build.

nvcc's debug code (-G) computes A && B as a value: it branches on A, merges with B, and whoever uses
the result branches on that. g++ makes nested jumps of it, and a minimum or an absolute value of
some `?:`. Calls of ::emu::truth() (emu/decisions.h) in the right places make g++ branch as nvcc
does. What is not sure to be such an expression stays as it is.
"""

from collections.abc import Iterable
from typing import Callable, NamedTuple

from .brackets import WORD_OPERATORS, Brackets
from .lexer import Stream
from .segments import (
    AFTER_TEMPLATE,
    ASSIGNMENTS,
    BEFORE_OPERAND,
    QUALIFIERS,
    TYPES,
    Item,
    Segment,
    Segments,
)

OPERATORS = {"&&": "&&", "and": "&&", "||": "||", "or": "||", "?": "?"}
CONTROL = {"if", "while", "for", "switch", "catch"}  # a condition follows
# Declarations, and what may stand in no operand.
NO_OPERAND = CONTROL | set(
    "const volatile static auto struct class union enum constexpr using typedef extern register "
    "operator requires concept static_assert asm __asm__ __shared__ break continue try".split()
)
NO_EXPRESSION = set("using typedef static_assert template friend enum namespace concept".split())
# Their parentheses hold no code that runs, or text for a message.
NEVER_RUN = set(
    "sizeof alignof alignas decltype noexcept typeid static_assert requires explicit constexpr "
    "__attribute__ __align__ __launch_bounds__ asm __asm__ __asm volatile assert".split()
)


class Decision(NamedTuple):
    """Tokens [first, last] are the condition of a `?:`, or an && or || with its operands."""

    kind: str  # &&, || or ?
    first: int
    operator: int
    last: int


class Decisions:
    """Of one stream. `literal_macros` are those that make strings or names of their arguments."""

    def __init__(
        self,
        stream: Stream,
        in_device: Callable[[int], bool],
        device_words: set[str],
        literal_macros: set[str],
    ) -> None:
        self._stream = stream
        self._in_device = in_device
        self._never_run = NEVER_RUN | literal_macros
        self._brackets = Brackets(stream, device_words)
        self._segments = Segments(stream, self._brackets)

    def find(self) -> list[Decision]:
        found: list[Decision] = []
        done: set[int] = set()  # starts of segments
        for i, token in enumerate(self._stream.tokens):
            if token.text in OPERATORS and self._in_device(i):
                start, end = self._segments.bounds(i)
                if start not in done:
                    done.add(start)
                    segment = self._segments.segment(start, end, self._brackets.around[i])
                    if self._is_code(segment):
                        found += self._decisions(segment)
        return [d for d in found if not self._is_split(d)]

    def _is_split(self, decision: Decision) -> bool:
        """Whether an #if or #else is somewhere inside."""
        return any(
            decision.first < index <= decision.last for index, _ in self._stream.conditionals
        )

    def _is_code(self, segment: Segment) -> bool:
        """Whether the segment is an expression or statement that runs."""
        stream, brackets = self._stream, self._brackets
        opener = segment.opener
        if segment.items[0].text in NO_EXPRESSION:
            return False
        texts = [item.text for item in segment.items]
        if "requires" in texts or "<<<" in texts:  # (and a launch: it is no operand)
            return False
        if opener is not None:
            text, outer = stream.text(opener), brackets.around[opener]
            in_class = outer is not None and stream.text(outer) == "{" and brackets.is_class(outer)
            if text == "{" and brackets.is_class(opener):
                return False
            if text == "(" and (in_class or brackets.are_lambda_parameters(opener)):
                return False
            if text == "[" and (brackets.is_capture(opener) or stream.text(opener - 1) == "["):
                return False
        while opener is not None:
            if stream.text(opener) == "(" and stream.text(opener - 1) in self._never_run:
                return False
            opener = brackets.around[opener]
        return True

    # ---- operators

    def _decisions(self, segment: Segment) -> list[Decision]:
        found = []
        for p, item in enumerate(segment.items):
            kind = OPERATORS.get(item.text)
            if kind is None or not 0 < p < len(segment.items) - 1:
                continue
            first, last = self._left(segment, p, kind), p - 1
            if kind != "?":
                if item.text == "&&" and self._may_be_reference(segment, first, p):
                    continue
                last = self._right(segment, p, kind)
            elif segment.items[p + 1].text == ":":
                continue  # `a ?: b` has the type of a
            if self._are_operands(segment, first, p, last):
                items = segment.items
                decision = Decision(kind, items[first].first, item.first, items[last].last)
                found.append(decision)
        return found

    def _left(self, segment: Segment, p: int, kind: str) -> int:
        """The first item of what is left of the operator at p."""
        items = segment.items
        while p > 0:
            before = items[p - 1]
            if before.text in BEFORE_OPERAND or before.text in ASSIGNMENTS:
                break
            if kind == "&&" and OPERATORS.get(before.text) == "||":
                break
            if before.text == "(" and p >= 2 and items[p - 2].text in CONTROL | {"constexpr"}:
                break
            p -= 1
        return p

    def _right(self, segment: Segment, p: int, kind: str) -> int:
        """The last item of what is right of the operator at p."""
        items = segment.items
        ends = BEFORE_OPERAND | ASSIGNMENTS
        while p + 1 < len(items):
            after = items[p + 1].text
            if after in ends or OPERATORS.get(after) == kind or OPERATORS.get(after) == "||":
                break
            p += 1
        return p

    def _may_be_reference(self, segment: Segment, first: int, p: int) -> bool:
        """Whether `&&` at p may belong to a type, not to an expression that starts at `first`."""
        items = segment.items
        before, after = items[p - 1], items[p + 1]
        if before.text in TYPES | QUALIFIERS | {"*", "auto"} or after.text in QUALIFIERS:
            return True
        if after.text in AFTER_TEMPLATE - {"::"} or after.text in ("{", "noexcept"):
            return True
        if before.text == "(" and p >= 2 and items[p - 2].text == "decltype":
            return True
        left = items[first:p]
        is_type = all(item.is_name or item.text in ("::", "<>") for item in left)
        if not is_type or (first > 0 and items[first - 1].text not in (",", ";", "(")):
            return False  # `x = a && b`, `return a && b`
        beyond = items[p + 2].text if p + 2 < len(items) else ""
        if not after.is_name:
            return after.text == "["
        if beyond in ("=", ":"):
            return True
        if beyond not in ("(", "{", "[", ";", ",", "") or not self._brackets.holds_statements(
            segment.opener
        ):
            return False
        return not (len(left) == 1 and self._is_variable(left[0].text))

    def _is_variable(self, name: str) -> bool:
        """Whether the file declares a variable of that name, of a built-in type."""
        stream = self._stream
        return any(
            token.text == name and stream.text(i - 1) in TYPES | {"auto"}
            for i, token in enumerate(stream.tokens)
        )

    def _are_operands(self, segment: Segment, first: int, p: int, last: int) -> bool:
        """Whether items [first, last] look like an expression with an operator at p."""
        items = segment.items
        if first >= p or (last <= p and last != p - 1) or items[first].text == "{":
            return False
        if first > 0 and items[first - 1].text in ("case", "goto"):
            return False
        around = items[max(0, first - 1) : last + 2]
        for begin, end in segment.unsure:
            if around[0].first <= end and begin <= around[-1].last:
                return False
        if "..." in (items[p - 1].text, items[p + 1].text) or items[p - 1].text == "operator":
            return False
        if items[first].text == "[" and self._stream.text(items[first].first + 1) == "[":
            return False
        return all(self._fits(items, q, first) for q in range(first, last + 1))

    def _fits(self, items: list[Item], q: int, first: int) -> bool:
        """Whether the item may stand in an expression, after the one before it."""
        item = items[q]
        after = items[q + 1].text if q + 1 < len(items) else ""
        if item.text in NO_OPERAND or (item.text in TYPES and after not in ("(", "{")):
            return False
        if q == first or not item.is_name or item.text in WORD_OPERATORS:
            return True
        before = items[q - 1]
        if before.is_name:
            return before.text in WORD_OPERATORS
        if before.text == "(":  # a cast, but not a call
            called = items[q - 2] if q - 1 > first else before
            is_call = called.is_name and called.text not in WORD_OPERATORS
            return not is_call and called.text not in ("<>", ")", "]")
        return before.text not in ("]", "{", "<>") and self._stream.kind(before.first) != "number"


def edits(
    decisions: Iterable[Decision], stream: Stream, text: str, taken: list[tuple[int, int, str]]
) -> list[tuple[int, int, str]]:
    """What to change in the source `text`, as (start, end, new text). Leaves out decisions that
    begin, end or have their operator within a change of `taken`."""
    before: dict[int, list[tuple[int, str]]] = {}  # offset: (length, text) of what starts there
    behind: dict[int, list[tuple[int, str]]] = {}
    result = []
    tokens = stream.tokens
    for kind, first, operator, last in decisions:
        start, stop = tokens[first].start, tokens[last].end
        middle = tokens[operator].start, tokens[operator].end
        if any(
            s < start < e or s < stop < e or (s < middle[1] and middle[0] < e) for s, e, _ in taken
        ):
            continue
        # The condition of a `?:` is around an && of the same extent.
        extent = 2 * (stop - start) + (kind == "?")
        if kind == "?":
            head, tail = "::emu::truth(!!(", "))"
        elif kind == "&&":
            head, tail = "bool(::emu::truth(!!(", ")) : ::emu::truth(false))"
            result.append((*middle, ")) ? ::emu::truth(!!("))
        else:
            head, tail = "bool(::emu::truth(!!(", ")))"
            result.append((*middle, ")) ? ::emu::truth(true) : ::emu::truth(!!("))
        before.setdefault(start, []).append((-extent, head))
        behind.setdefault(stop, []).append((extent, tail))
    for places in (before, behind):
        for place, pieces in places.items():
            space = " " if places is before and text[place - 1 : place] == ":" else ""
            result.append((place, place, space + "".join(piece for _, piece in sorted(pieces))))
    return result
