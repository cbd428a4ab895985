"""What the condition of an `#if` is worth: numbers and operators, with the meaning they have in C.
A name is not known, nor is what depends on it: `0 && X` does not."""

import operator
import re
from collections.abc import Mapping
from typing import Callable, Optional

TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)(?P<suffix>[uUlL]*)\b"
    r"|(?P<operator>&&|\|\||[=!<>]=|[-+*/%<>!()]|and\b|or\b|not\b)"
    r"|(?P<name>[^\W\d]\w*))"
)
DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
NAME = re.compile(r"\b[^\W\d]\w*")
UNKNOWN = "UNKNOWN"  # stands for a value
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


# What is known of macros: the text of the value, UNKNOWN if there is one, None if it is not defined.
Known = Mapping[str, Optional[str]]
# What nvcc defines for every source, and the headers here do as well (emu/qualifiers.h).
OF_NVCC: dict[str, Optional[str]] = {
    "__CUDACC__": "1",
    "__NVCC__": "1",
    **dict.fromkeys(
        "__cplusplus __CUDACC_VER_MAJOR__ __CUDACC_VER_MINOR__ __host__ __device__ __global__ "
        "__constant__ __managed__ __shared__ __grid_constant__ __launch_bounds__ __align__ "
        "__forceinline__ __noinline__".split(),
        UNKNOWN,
    ),
}


class _Unknown(Exception):
    """More than is known here."""


def holds(directive: str, condition: str, known: Known) -> Optional[bool]:
    """Whether the branch is taken that an `if`, `ifdef`, `elifndef` ... begins, if no branch before
    it is. None if that depends on more."""
    if directive.endswith("def"):
        name = condition.strip()
        is_defined = known[name] is not None if name in known else None
        return is_defined if is_defined is None else is_defined != directive.endswith("ndef")

    def defined(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return str(int(known[name] is not None)) if name in known else UNKNOWN

    text = DEFINED.sub(defined, condition)
    value = evaluate(NAME.sub(lambda m: (known[m[0]] or "0") if m[0] in known else m[0], text))
    return None if value is None else value != 0


def evaluate(text: str) -> Optional[int]:
    """None if it depends on names, or has operators or numbers that are not known here."""
    try:
        return _Reader(text).whole()
    except _Unknown:
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []  # (text, kind)
        self._lowest = -(2**63)
        text = text.rstrip()
        end = 0
        while end < len(text):
            token = TOKEN.match(text, end)
            if token is None:
                raise _Unknown
            if token["number"] and "u" in token["suffix"].lower():
                self._lowest = 0  # below, unsigned arithmetic is another one
            found = token["number"] or token["name"] or token["operator"]
            found = SPELLINGS.get(found, found)
            kind = "number" if token["number"] else "name" if token["name"] else "operator"
            self._tokens.append((found, kind))
            end = token.end()

    def whole(self) -> Optional[int]:
        result = self._operation(0)
        if self._tokens:
            raise _Unknown
        return result

    def _operation(self, level: int) -> Optional[int]:
        if level == len(LEVELS):
            return self._operand()
        left = self._operation(level + 1)
        while self._tokens and self._tokens[0][0] in LEVELS[level]:
            name = self._tokens.pop(0)[0]
            left = self._result(name, left, self._operation(level + 1))
        return left

    def _result(self, name: str, left: Optional[int], right: Optional[int]) -> Optional[int]:
        if left is None or right is None:
            known = right if left is None else left
            if name == "||" and known:
                return 1
            return 0 if name == "&&" and known == 0 else None
        if name in ("/", "%") and (left < 0 or right <= 0):  # Python rounds another way
            raise _Unknown
        operation = next(level[name] for level in LEVELS if name in level)
        return self._checked(operation(left, right))

    def _operand(self) -> Optional[int]:
        if not self._tokens:
            raise _Unknown
        text, kind = self._tokens.pop(0)
        if kind == "number":
            octal = text.startswith("0") and text.isdecimal()
            return self._checked(int(text, 8 if octal else 0))
        if kind == "name":
            return None
        if text == "(":
            result = self._operation(0)
            if not self._tokens or self._tokens.pop(0)[0] != ")":
                raise _Unknown
            return result
        if text not in ("!", "+", "-"):
            raise _Unknown
        operand = self._operand()
        if operand is None:
            return None
        if text == "!":
            return int(operand == 0)
        return self._checked(operand if text == "+" else -operand)

    def _checked(self, result: int) -> int:
        if not self._lowest <= result < 2**63:
            raise _Unknown
        return int(result)
