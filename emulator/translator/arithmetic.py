"""Finds shifts and casts to integers in device code, for which a GPU has results where C++ leaves
it open what happens.

`a << n` becomes `a << ::emu::shift << n` (emu/shifts.h), `(int)x` becomes `::emu::cast<int>(x)`
(emu/casts.h). What is not sure to be such an expression stays as it is: a kernel that goes
out of range there is ended (src/engine/undefined_arithmetic.cpp).
"""

from typing import Callable, Optional

from .brackets import WORD_OPERATORS, Brackets
from .lexer import Stream
from .segments import ASSIGNMENTS, BEFORE_OPERAND, LOWER_THAN_LESS, Item, Segment, Segments
from .unit import Unit

Edit = tuple[int, int, str]  # replaces source text [start, end)

INTEGERS = set("char short int long unsigned signed".split())
NAMED_INTEGERS = set(
    "size_t ssize_t ptrdiff_t intptr_t uintptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t "
    "uint32_t uint64_t uchar ushort uint ulong".split()
)
BUILT_IN = set("threadIdx blockIdx blockDim gridDim warpSize".split())  # integers
BEFORE_EXPRESSION = set("return else do case throw co_return not and or".split())
NO_OPERAND = WORD_OPERATORS | set(
    "const volatile noexcept override final mutable constexpr".split()
)
PREFIXES = set("- + ~ ! * &".split())
BIND_TIGHTER = set("+ - * / % . -> [ (".split())  # than a shift, behind its right operand
LOWER = BEFORE_OPERAND | ASSIGNMENTS | LOWER_THAN_LESS | set("< > <= >=".split())  # than a shift
STREAMS = set("cout cerr clog endl".split())
NARROWEST = 32  # bits of what is shifted


class Arithmetic:
    """Of one stream."""

    def __init__(self, unit: Unit, stream: Stream, in_device: Callable[[int], bool]) -> None:
        self._stream = stream
        self._in_device = in_device
        self._unit = unit
        self._types = unit.types
        self._loose_macros = unit.macros - unit.whole_macros  # perhaps `a + b`
        self._brackets = Brackets(stream, unit.device_words)
        self._segments = Segments(stream, self._brackets)
        self._known: dict[int, Segment] = {}  # by the first token

    def changes(self) -> list[list[Edit]]:
        """Edits that belong together are in one list."""
        result = []
        for i, token in enumerate(self._stream.tokens):
            found: Optional[list[Edit]] = None
            if token.text in ("<", ">"):
                found = self._shift(i)
            elif token.text == "(":
                found = self._c_cast(i)
            elif token.text == "static_cast":
                found = self._static_cast(i)
            elif token.text in INTEGERS or token.text in NAMED_INTEGERS:
                found = self._functional_cast(i)
            if found and (self._in_device(i) or self._in_constructor(i)):
                result.append(found)
        return result

    def _in_constructor(self, index: int) -> bool:
        """Whether the token is in what a constructor of device code puts into members, `: x(a)`."""
        stream, around = self._stream, self._brackets.around
        opener = around[index]
        while opener is not None and stream.text(opener) == "(":
            index, opener = opener, around[opener]
        is_initialiser = False
        while stream.text(index - 1) not in ("", ";", "{", "}"):
            index -= 1
            is_initialiser |= stream.text(index) == ":" and stream.text(index - 1) == ")"
            if stream.text(index) in self._unit.device_words:
                return is_initialiser
        return False

    # ---- shifts

    def _shift(self, index: int) -> Optional[list[Edit]]:
        stream = self._stream
        first, second = stream.text(index), stream.text(index + 1)
        if second not in (first, first + "=") or not self._touch(index):
            return None
        three = (index - 1, index + 2)  # as of a launch, or the end of template arguments
        if stream.text(index - 1) == "operator" or any(stream.text(i) == first for i in three):
            return None
        place = self._place(index)
        if place is None or self._is_unsure(place[0], index, index + 1):
            return None
        segment, p = place
        if p == 0 or self._is_of_text(segment.items, p):
            return None
        compound = second != first
        if self._is_small(index + 2, compound):
            return None
        if compound and stream.text(index - 1) in self._unit.bit_fields:
            return None  # a reference to it cannot be had
        at = stream.tokens[index + 1].end
        return [(at, at, " ::emu::shift " + ("=" if compound else first * 2))]

    def _is_of_text(self, items: list[Item], p: int) -> bool:
        """Whether the operator at items[p] has text to the left or right, as those of streams have."""
        first, last = p, p
        while first > 0 and items[first - 1].text not in LOWER:
            first -= 1
        while last + 1 < len(items) and items[last + 1].text not in LOWER:
            last += 1
        operands = items[first : last + 1]
        return any(
            item.text in STREAMS
            or (self._stream.kind(item.first) == "string" and after.text != "[")
            for item, after in zip(operands, [*operands[1:], items[p]])
        )

    def _is_small(self, index: int, compound: bool) -> bool:
        """Whether the right operand is a number that is in range for every type."""
        try:
            amount = int(self._stream.text(index).rstrip("uUlL"), 0)
        except ValueError:
            return False
        behind = self._stream.text(index + 1)
        alone = behind in (";", ",", ")") if compound else behind not in BIND_TIGHTER
        return alone and amount < NARROWEST

    # ---- casts

    def _c_cast(self, index: int) -> Optional[list[Edit]]:
        stream = self._stream
        close = stream.pair(index)
        if close is None or not self._is_integer(index + 1, close):
            return None
        place = self._place(index)
        if place is None or not self._may_begin_operand(place):
            return None
        segment, p = place
        end = self._operand_end(segment.items, p + 1)
        if end is None or stream.text(close + 1) in BUILT_IN:
            return None
        last = segment.items[end].last
        if any(item.text in self._loose_macros for item in segment.items[p + 1 : end + 1]):
            return None  # the cast may be of a part of it
        if self._is_unsure(segment, index, last + 1) or self._is_split(index, last):
            return None
        kind = stream.plain(list(range(index + 1, close)))
        start, stop = stream.tokens[index].start, stream.tokens[close].end
        behind = stream.tokens[last].end
        return [(start, stop, f"::emu::cast<{kind}>("), (behind, behind, ")")]

    def _static_cast(self, index: int) -> Optional[list[Edit]]:
        stream = self._stream
        close = stream.angle_end(index + 1) if stream.text(index + 1) == "<" else None
        if close is None or not self._is_integer(index + 2, close):
            return None
        if self._is_built_in(close + 1):
            return None
        kind = stream.plain(list(range(index + 2, close)))
        return [(stream.tokens[index].start, stream.tokens[close].end, f"::emu::cast<{kind}>")]

    def _functional_cast(self, index: int) -> Optional[list[Edit]]:
        stream = self._stream
        close = stream.pair(index + 1) if stream.text(index + 1) == "(" else None
        if close is None or close == index + 2 or self._is_integer(index + 2, close):
            return None
        first = (
            index - 2
            if [stream.text(index - 2), stream.text(index - 1)] == ["std", "::"]
            else index
        )
        before = stream.text(first - 1)
        if before in ("", ";", "{", "}", ")", "]", "::", ".", "->") or (
            stream.kind(first - 1) == "name" and before not in BEFORE_EXPRESSION
        ):
            return None
        if stream.text(index + 2) in ("*", "&") or stream.text(close + 1) in ("(", "{"):
            return None  # perhaps a pointer to a function
        if self._is_built_in(index + 1):
            return None
        place = self._place(first)
        if place is None or place[0].items[0].text == "using":
            return None
        if self._is_unsure(place[0], first, close):
            return None
        start, stop = stream.tokens[first].start, stream.tokens[index].end
        kind = stream.plain(list(range(first, index + 1)))
        return [(start, stop, f"::emu::cast<{kind}>")]

    def _is_built_in(self, opener: int) -> bool:
        """Whether `(threadIdx.x)` or the like is at the bracket."""
        stream = self._stream
        return stream.text(opener + 1) in BUILT_IN and stream.pair(opener) in (
            opener + 2,
            opener + 4,
        )

    def _is_integer(self, start: int, end: int) -> bool:
        """Whether the tokens [start, end) are the name of an integer type."""
        words = [self._stream.text(i) for i in range(start, end)]
        if words[:2] == ["std", "::"]:
            words = words[2:]
        is_named = len(words) == 1 and words[0] in NAMED_INTEGERS
        return is_named or (bool(words) and INTEGERS.issuperset(words))

    def _may_begin_operand(self, place: tuple[Segment, int]) -> bool:
        """Whether a cast may stand there: not the parameters of a function."""
        segment, p = place
        if p == 0:
            opener = segment.opener
            return opener is None or not self._brackets.are_lambda_parameters(opener)
        before = segment.items[p - 1]
        if before.is_name:
            return before.text in BEFORE_EXPRESSION
        if before.text == "(":
            control = p > 1 and segment.items[p - 2].text in ("if", "while", "for", "switch")
            return control or self._is_type(before)
        return before.text not in ("[", "{", "<>")

    def _is_type(self, item: Item) -> bool:
        """Whether the parentheses hold a type for sure."""
        start, end = item.first + 1, item.last
        words = {self._stream.text(i) for i in range(start, end)}
        pointer = self._stream.text(end - 1) == "*"
        named = len(words) == 1 and not words.isdisjoint(self._types)
        return item.text == "(" and (
            pointer
            or named
            or self._is_integer(start, end)
            or bool(words & {"float", "double", "bool"})
        )

    def _operand_end(self, items: list[Item], q: int) -> Optional[int]:
        """The last item of the operand of a cast that begins at items[q]; None if not sure."""
        while q < len(items):
            item = items[q]
            behind = items[q + 1] if q + 1 < len(items) else None
            cast = item.text == "(" and (self._is_type(item) or self._is_operand(behind))
            if item.text not in PREFIXES and item.text != "::" and not cast:
                break
            q += 1
        if q == len(items) or not (items[q].text == "(" or self._is_operand(items[q])):
            return None
        while q + 1 < len(items):
            behind = items[q + 1]
            member = behind.text in (".", "->", "::")
            if behind.text in ("(", "[", "<>"):
                q += 1
            elif member and q + 2 < len(items) and items[q + 2].is_name:
                q += 2
            elif behind.text in ("+", "-") and self._touch(behind.first):
                if self._stream.text(behind.first + 1) != behind.text:
                    break
                q += 2
            else:
                break
        return q if q + 1 == len(items) or items[q + 1].text != "{" else None

    def _is_operand(self, item: Optional[Item]) -> bool:
        """Whether the item is a name or a literal."""
        if item is None or item.first != item.last:
            return False
        if item.is_name:
            return item.text not in NO_OPERAND
        return self._stream.kind(item.first) in ("number", "char")

    # ---- places

    def _place(self, index: int) -> Optional[tuple[Segment, int]]:
        """The segment of a token, and which item of it begins there; None if none does."""
        start, end = self._segments.bounds(index)
        if start not in self._known:
            around = self._brackets.around[index]
            self._known[start] = self._segments.segment(start, end, around)
        segment = self._known[start]
        for p, item in enumerate(segment.items):
            if item.first == index:
                return segment, p
        return None

    def _is_unsure(self, segment: Segment, first: int, last: int) -> bool:
        return any(begin <= last and first <= end for begin, end in segment.unsure)

    def _is_split(self, first: int, last: int) -> bool:
        """Whether an #if or #else is somewhere inside."""
        return any(first < index <= last for index, _ in self._stream.conditionals)

    def _touch(self, index: int) -> bool:
        """Whether nothing is between the token and the next."""
        tokens = self._stream.tokens
        return index + 1 < len(tokens) and tokens[index].end == tokens[index + 1].start
