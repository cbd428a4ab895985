"""Splits code into expressions and statements, and these into what operators stand between."""

from typing import NamedTuple, Optional

from .brackets import WORD_OPERATORS, Brackets
from .lexer import Stream

# An operand starts after these.
BEFORE_OPERAND = set(", ; : ? return else do throw case default goto co_return co_yield".split())
ASSIGNMENTS = set("= += -= *= /= %= &= |= ^= <<= >>= and_eq or_eq xor_eq".split())
TYPES = set(
    "void bool char short int long float double unsigned signed wchar_t char16_t char32_t".split()
)
QUALIFIERS = {"const", "volatile", "typename", "__restrict__", "__restrict", "restrict"}
CASTS = {"static_cast", "const_cast", "reinterpret_cast", "dynamic_cast"}
# No operand starts with these: a `>` in front of them ends template arguments.
AFTER_TEMPLATE = set(") ] } , ; : :: ? . -> ... = == != && || and or / % | ^ < <= >= >".split())
LOWER_THAN_LESS = set("== != | ^ & && || and or bitor xor bitand not_eq".split())


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


class Segments:
    """Of one stream."""

    def __init__(self, stream: Stream, brackets: Brackets) -> None:
        self._stream = stream
        self._brackets = brackets
        self._templates = self._template_names()

    def bounds(self, index: int) -> tuple[int, int]:
        """Tokens [start, end) of the segment that `index` is in."""
        stream, brackets = self._stream, self._brackets
        start = index
        while start > 0 and stream.text(start - 1) not in (";", "(", "[", "{"):
            before = start - 1
            if stream.text(before) in (")", "]", "}"):
                opener = stream.pair(before)
                if opener is None or (stream.text(opener) == "{" and brackets.is_block(opener)):
                    break
                before = opener
            start = before
        end = index
        while stream.text(end) not in ("", ";", ")", "]", "}"):
            if stream.text(end) in ("(", "[", "{"):
                close = stream.pair(end)
                if close is None or (stream.text(end) == "{" and brackets.is_block(end)):
                    break
                end = close
            end += 1
        return start, end

    def segment(self, start: int, end: int, opener: Optional[int]) -> Segment:
        """The segment of the tokens [start, end), which are in the bracket `opener`."""
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
        in_block = self._brackets.holds_statements(opener)
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


def _is_operator(left: str, right: str) -> bool:
    """Whether two tokens that touch are one operator."""
    if right == "=":
        return len(left) == 1 and left in "=!+-*/%&|^"
    return (left, right) in (("<", "<"), ("<<", "<"), ("<", "<="), (">", ">="))
