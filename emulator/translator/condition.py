"""What the condition of an `#if` is worth: numbers and operators, with the meaning they have in C."""

import operator
import re
from typing import Callable, Optional

TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)(?P<suffix>[uUlL]*)\b"
    r"|(?P<operator>&&|\|\||[=!<>]=|[-+*/%<>!()]|and\b|or\b|not\b))"
)
SPELLINGS = {"and": "&&", "or": "||", "not": "!"}
# Those of a line bind more tightly than those of the line before; `&` and others are not known.
LEVELS: list[dict[str, Callable[[int, int], int]]] = [
    {"||": lambda left, right: left != 0 or right != 0},
    {"&&": lambda left, right: left != 0 and right != 0},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.floordiv, "%": operator.mod},
]


class _Unknown(Exception):
    """More than is known here."""


def evaluate(text: str) -> Optional[int]:
    """None if the condition has names, or operators or numbers that are not known here."""
    try:
        return _Reader(text).whole()
    except _Unknown:
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, bool]] = []  # (text, whether it is a number)
        self._lowest = -(2**63)
        text = text.rstrip()
        end = 0
        while end < len(text):
            token = TOKEN.match(text, end)
            if token is None:
                raise _Unknown
            number, name = token["number"], token["operator"]
            if number and "u" in token["suffix"].lower():
                self._lowest = 0  # below, unsigned arithmetic is another one
            self._tokens.append((number or SPELLINGS.get(name, name), number is not None))
            end = token.end()

    def whole(self) -> int:
        result = self._operation(0)
        if self._tokens:
            raise _Unknown
        return result

    def _operation(self, level: int) -> int:
        if level == len(LEVELS):
            return self._operand()
        left = self._operation(level + 1)
        while self._tokens and self._tokens[0][0] in LEVELS[level]:
            name = self._tokens.pop(0)[0]
            right = self._operation(level + 1)
            if name in ("/", "%") and (left < 0 or right <= 0):  # Python rounds another way
                raise _Unknown
            left = self._checked(LEVELS[level][name](left, right))
        return left

    def _operand(self) -> int:
        if not self._tokens:
            raise _Unknown
        text, is_number = self._tokens.pop(0)
        if is_number:
            octal = text.startswith("0") and text.isdecimal()
            return self._checked(int(text, 8 if octal else 0))
        if text == "(":
            result = self._operation(0)
            if not self._tokens or self._tokens.pop(0)[0] != ")":
                raise _Unknown
            return result
        if text == "!":
            return int(self._operand() == 0)
        if text in ("+", "-"):
            operand = self._operand()
            return self._checked(operand if text == "+" else -operand)
        raise _Unknown

    def _checked(self, result: int) -> int:
        if not self._lowest <= result < 2**63:
            raise _Unknown
        return int(result)
