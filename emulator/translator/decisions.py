"""Finds `A && B`, `A || B` and `C ? a : b` in device code, for the instrumented build.

nvcc's debug code (-G) computes A && B as a value: it branches on A, merges with B, and whoever uses
the result branches on that. g++ makes nested jumps of it, and a minimum or an absolute value of
some `?:`. Calls of ::emu::truth() (emu/decisions.h) in the right places make g++ branch as nvcc
does. What is not sure to be such an expression stays as it is.
"""

from collections.abc import Iterable
from typing import Callable, NamedTuple, Optional

from .lexer import Stream
from .unit import ALIGNMENTS

OPERATORS = {"&&": "&&", "and": "&&", "||": "||", "or": "||", "?": "?"}
CONTROL = {"if", "while", "for", "switch", "catch"}  # a condition follows
# An operand starts after these.
BEFORE_OPERAND = set(", ; : ? return else do throw case default goto co_return co_yield".split())
ASSIGNMENTS = set("= += -= *= /= %= &= |= ^= <<= >>= and_eq or_eq xor_eq".split())
TYPES = set(
    "void bool char short int long float double unsigned signed wchar_t char16_t char32_t".split()
)
QUALIFIERS = {"const", "volatile", "typename", "__restrict__", "__restrict", "restrict"}
# Declarations, and what may stand in no operand.
NO_OPERAND = CONTROL | set(
    "const volatile static auto struct class union enum constexpr using typedef extern register "
    "operator requires concept static_assert asm __asm__ __shared__ break continue try".split()
)
NO_EXPRESSION = set("using typedef static_assert template friend enum namespace concept".split())
# Prefix operators, and binary ones in letters.
WORD_OPERATORS = set(
    "sizeof alignof new delete not compl and or xor bitand bitor not_eq typename template throw "
    "co_await return else do case goto __extension__".split()
)
# Their parentheses hold no code that runs, or text for a message.
NEVER_RUN = set(
    "sizeof alignof alignas decltype noexcept typeid static_assert requires explicit constexpr "
    "__attribute__ __align__ __launch_bounds__ asm __asm__ __asm volatile assert".split()
)
CASTS = {"static_cast", "const_cast", "reinterpret_cast", "dynamic_cast"}
# No operand starts with these: a `>` in front of them ends template arguments.
AFTER_TEMPLATE = set(") ] } , ; : :: ? . -> ... = == != && || and or / % | ^ < <= >= >".split())
LOWER_THAN_LESS = set("== != | ^ & && || and or bitor xor bitand not_eq".split())
LAMBDA_WORDS = {"mutable", "noexcept", "constexpr"}


class Decision(NamedTuple):
    """Tokens [first, last] are the condition of a `?:`, or an && or || with its operands."""

    kind: str  # &&, || or ?
    first: int
    operator: int
    last: int


class Item(NamedTuple):
    """Tokens [first, last]: one, an operator of several, or a pair of brackets and all in it."""

    text: str  # of the opening bracket in the last case; <> for template arguments
    first: int
    last: int
    is_name: bool


class Segment(NamedTuple):
    """An expression or a statement: what is in one pair of brackets, between two `;`."""

    items: list[Item]
    opener: Optional[int]  # the bracket around it
    unsure: list[tuple[int, int]]  # items from a `<` to a `>` that may or may not be a template's


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
        self._lambda_words = LAMBDA_WORDS | device_words | {"__host__"}
        self._never_run = NEVER_RUN | literal_macros
        self._around = self._openers()
        self._templates = self._template_names()

    def find(self) -> list[Decision]:
        found: list[Decision] = []
        done: set[int] = set()  # starts of segments
        for i, token in enumerate(self._stream.tokens):
            if token.text in OPERATORS and self._in_device(i):
                start, end = self._bounds(i)
                if start not in done:
                    done.add(start)
                    segment = self._segment(start, end, self._around[i])
                    if self._is_code(segment):
                        found += self._decisions(segment)
        return [d for d in found if not self._is_split(d)]

    # ---- brackets

    def _openers(self) -> list[Optional[int]]:
        """For each token the bracket around it."""
        stream = self._stream
        result: list[Optional[int]] = []
        stack: list[int] = []
        for i in range(len(stream.tokens)):
            opener = stream.pair(i)
            if opener is not None and opener < i and stack and stack[-1] == opener:
                stack.pop()
            result.append(stack[-1] if stack else None)
            if opener is not None and opener > i:
                stack.append(i)
        return result

    def _is_split(self, decision: Decision) -> bool:
        """Whether an #if or #else is somewhere inside."""
        return any(
            decision.first < index <= decision.last for index, _ in self._stream.conditionals
        )

    def _bounds(self, index: int) -> tuple[int, int]:
        """Tokens [start, end) of the segment that `index` is in."""
        stream = self._stream
        start = index
        while start > 0 and stream.text(start - 1) not in (";", "(", "[", "{"):
            before = start - 1
            if stream.text(before) in (")", "]", "}"):
                opener = stream.pair(before)
                if opener is None or (stream.text(opener) == "{" and self._is_block(opener)):
                    break
                before = opener
            start = before
        end = index
        while stream.text(end) not in ("", ";", ")", "]", "}"):
            if stream.text(end) in ("(", "[", "{"):
                close = stream.pair(end)
                if close is None or (stream.text(end) == "{" and self._is_block(end)):
                    break
                end = close
            end += 1
        return start, end

    def _is_block(self, brace: int) -> bool:
        """Whether `{` starts statements or a class, and no lambda's body or initialiser."""
        stream = self._stream
        before = stream.text(brace - 1)
        if stream.text(brace) != "{" or self._is_lambda_body(brace):
            return False
        if before in ("", ";", "}", ":", "else", "do", "try") or self._is_class(brace):
            return True
        if before == "{":
            return self._is_block(brace - 1) or self._is_lambda_body(brace - 1)
        opener = stream.pair(brace - 1) if before == ")" else None
        # (but a compound literal: `(int2){1, 2}`)
        return opener is not None and stream.kind(opener - 1) == "name"

    def _holds_statements(self, opener: Optional[int]) -> bool:
        if opener is None or self._is_block(opener):
            return True
        before = self._stream.text(opener - 1)
        is_body = before in (")", "const", "noexcept", "override") or self._is_lambda_body(opener)
        return self._stream.text(opener) == "{" and is_body

    def _is_lambda_body(self, brace: int) -> bool:
        stream = self._stream
        last = brace - 1
        arrow = last
        while stream.kind(arrow) == "name" or stream.text(arrow) in ("::", "*", "&", "<", ">", ","):
            arrow -= 1
        if stream.text(arrow) == "->":
            last = arrow - 1
        while stream.text(last) in self._lambda_words:
            last -= 1
        if stream.text(last) == ")":
            opener = stream.pair(last)
            return opener is not None and self._are_lambda_parameters(opener)
        return self._is_capture(stream.pair(last) if stream.text(last) == "]" else None)

    def _are_lambda_parameters(self, paren: int) -> bool:
        stream = self._stream
        last = paren - 1
        while stream.text(last) in self._lambda_words:
            last -= 1
        angle = stream.angle_start(last) if stream.text(last) == ">" else None
        last = last if angle is None else angle - 1
        return self._is_capture(stream.pair(last) if stream.text(last) == "]" else None)

    def _is_capture(self, bracket: Optional[int]) -> bool:
        if bracket is None:
            return False
        stream = self._stream
        before = stream.text(bracket - 1)
        is_operand = stream.kind(bracket - 1) in ("name", "string") and before not in WORD_OPERATORS
        return not is_operand and before not in (")", "]", "}", "[")

    def _is_class(self, brace: int) -> bool:
        stream = self._stream
        i = brace - 1
        angles = 0
        while stream.text(i) not in ("", ";", "(", "[", "{", "}", "="):
            text = stream.text(i)
            angles += (text == ">") - (text == "<")
            if angles <= 0 and text in ("struct", "class", "union", "enum", "namespace"):
                return True
            if text in (")", "]"):
                opener = stream.pair(i)
                if opener is None:
                    return False
                attribute = stream.text(opener - 1) in ALIGNMENTS or stream.text(opener + 1) == "["
                if angles <= 0 and not attribute:
                    return False  # a function, or an array
                i = opener
            i -= 1
        return False

    def _template_names(self) -> set[str]:
        """What the file itself declares as templates."""
        stream = self._stream
        names = set()
        for i, token in enumerate(stream.tokens):
            end = stream.angle_end(i + 1) if token.text == "template" else None
            if end is not None and stream.text(i + 1) == "<":
                while stream.text(end + 1) not in ("", "(", "{", ";", "=", ":"):
                    end += 1
                names.add(stream.text(end))
        return names

    # ---- segments

    def _segment(self, start: int, end: int, opener: Optional[int]) -> Segment:
        items = self._items(start, end)
        merged: list[Item] = []
        unsure: list[tuple[int, int]] = []
        p = 0
        while p < len(items):
            sure, close = self._template_end(items, p, opener)
            if close is None:
                merged.append(items[p])
            elif sure:
                merged.append(Item("<>", items[p].first, items[close].last, False))
                p = close
            else:
                unsure.append((items[p].first, items[close].last))
                merged.append(items[p])
            p += 1
        return Segment(merged, opener, unsure)

    def _items(self, start: int, end: int) -> list[Item]:
        stream = self._stream
        items: list[Item] = []
        i = start
        while i < end:
            text, last = stream.text(i), i
            close = stream.pair(i) if text in ("(", "[", "{") else None
            if close is not None and close < end:
                last = close
            before = items[-1] if items else None
            touches = before is not None and stream.tokens[i - 1].end == stream.tokens[i].start
            if before and touches and _is_operator(before.text, text):
                items[-1] = Item(before.text + text, before.first, i, False)
            else:
                is_name = stream.kind(i) == "name"
                items.append(Item(text, i, last, is_name))
            i = last + 1
        return items

    def _template_end(
        self, items: list[Item], p: int, opener: Optional[int]
    ) -> tuple[bool, Optional[int]]:
        """Whether the template arguments that `<` at items[p] starts are sure to be such, and the
        place of their `>`; None if this is a comparison."""
        name = items[p - 1] if p > 0 else None
        if items[p].text != "<" or name is None or not name.is_name:
            return False, None
        close = self._closing(items, p)
        if close is None:
            return False, None
        inside = items[p + 1 : close]
        # A & that ends an argument is no operator: f<A&, B&&>(x)
        ends = [*(item.text for item in inside[1:]), ","]
        marks = {"&", "&&", "*"}
        is_type = any(i.text in marks and e == "," for i, e in zip(inside, ends))
        texts = {i.text for i, e in zip(inside, ends) if i.text not in marks or e != ","}
        after = items[close + 1].text if close + 1 < len(items) else ""
        known = name.text in self._templates or name.text in CASTS or name.text == "template"
        if known or not inside or after in AFTER_TEMPLATE or not after:
            return True, close
        first = p - 1
        while first > 0 and (items[first - 1].is_name or items[first - 1].text == "::"):
            if items[first - 1].text in WORD_OPERATORS:
                break
            first -= 1
        in_block = self._holds_statements(opener)
        if first == 0 and in_block:
            return True, close  # no statement starts with a comparison
        if "?" in texts:  # x < low ? low : x > high ? high : x
            in_for = opener is not None and self._stream.text(opener - 1) == "for"
            return False, close if after in ("(", "{") or (in_for and first == 0) else None
        qualified = items[first].text == "std"
        if not texts.isdisjoint(LOWER_THAN_LESS):  # i < n && j > m
            called = after == "(" and self._looks_called(items, p, close)
            return False, close if qualified or called else None
        if "," not in texts:
            return True, close  # a < b > c would make no sense
        return is_type or qualified or not texts.isdisjoint(TYPES | QUALIFIERS), close

    def _looks_called(self, items: list[Item], p: int, close: int) -> bool:
        """Whether `name<A && B>(x)` is written in this way, without spaces around < and >."""
        arguments = items[close + 1]
        pairs = [(p - 1, p), (p, p + 1), (close - 1, close), (close, close + 1)]
        is_empty = arguments.last == arguments.first + 1
        return is_empty or all(self._touch(items[a], items[b]) for a, b in pairs)

    def _closing(self, items: list[Item], p: int) -> Optional[int]:
        """Place of the `>` that belongs to the `<` at items[p]."""
        depth = 1
        q = p + 1
        while q < len(items):
            text = items[q].text
            if text == "<" and items[q - 1].is_name:
                depth += 1
            elif text == ">":
                follows = items[q + 1] if q + 1 < len(items) else None
                if depth == 1 and follows and follows.text == ">":
                    if follows.first == items[q].last + 1 and self._touch(items[q], follows):
                        q += 2  # a shift
                        continue
                depth -= 1
                if depth == 0:
                    return q
            elif text in ASSIGNMENTS or text in BEFORE_OPERAND - {",", "?", ":"}:
                return None
            q += 1
        return None

    def _touch(self, left: Item, right: Item) -> bool:
        return self._stream.tokens[left.last].end == self._stream.tokens[right.first].start

    def _is_code(self, segment: Segment) -> bool:
        """Whether the segment is an expression or statement that runs."""
        stream = self._stream
        opener = segment.opener
        if segment.items[0].text in NO_EXPRESSION:
            return False
        texts = [item.text for item in segment.items]
        if "requires" in texts or "<<<" in texts:  # (and a launch: it is no operand)
            return False
        if opener is not None:
            text, outer = stream.text(opener), self._around[opener]
            in_class = outer is not None and stream.text(outer) == "{" and self._is_class(outer)
            if text == "{" and self._is_class(opener):
                return False
            if text == "(" and (in_class or self._are_lambda_parameters(opener)):
                return False
            if text == "[" and (self._is_capture(opener) or stream.text(opener - 1) == "["):
                return False
        while opener is not None:
            if stream.text(opener) == "(" and stream.text(opener - 1) in self._never_run:
                return False
            opener = self._around[opener]
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
        if beyond not in ("(", "{", "[", ";", ",", "") or not self._holds_statements(
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


def _is_operator(left: str, right: str) -> bool:
    """Whether two tokens that touch are one operator."""
    if right == "=":
        return len(left) == 1 and left in "=!+-*/%&|^"
    return (left, right) in (("<", "<"), ("<<", "<"), ("<", "<="), (">", ">="))


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
