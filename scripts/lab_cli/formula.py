"""Formulas of .toml files, such as "8 * rows * cols": numbers, names, + - * / // % **, min, max and ceil;
and conditions, such as "rows >= 32"."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Callable

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "ceil": math.ceil,
}


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Formula:
    """ValueError says what in `text` is no formula."""

    text: str
    _tree: ast.expr = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            tree = ast.parse(self.text.strip(), mode="eval").body
        except SyntaxError as error:
            raise ValueError(f"{self.text!r}: {error.msg}") from error
        _check(tree)
        object.__setattr__(self, "_tree", tree)

    @property
    def names(self) -> list[str]:
        """Those that it takes numbers for, each once."""
        walked = ast.walk(self._tree)
        found = [node.id for node in walked if isinstance(node, ast.Name)]
        return list(dict.fromkeys(name for name in found if name not in _FUNCTIONS))

    def value(self, names: Mapping[str, float]) -> float:
        """ValueError says which name is not in `names`, or what cannot be computed."""
        try:
            return _value(self._tree, names)
        except KeyError as error:
            raise ValueError(f"there is no number {error.args[0]}") from error
        except ArithmeticError as error:
            raise ValueError(str(error)) from error


@dataclass(frozen=True)
class Condition:
    """Two formulas with <, <=, > or >= between them. ValueError says what in `text` is none."""

    text: str
    _left: Formula = field(init=False, repr=False, compare=False)
    _right: Formula = field(init=False, repr=False, compare=False)
    _holds: Callable[[float, float], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = re.split(r"(<=|>=|<|>)", self.text)
        if len(parts) != 3:
            raise ValueError(
                f"{self.text!r}: expected two formulas with <, <=, > or >= between them"
            )
        object.__setattr__(self, "_left", Formula(parts[0]))
        object.__setattr__(self, "_holds", _COMPARISONS[parts[1]])
        object.__setattr__(self, "_right", Formula(parts[2]))

    @property
    def names(self) -> list[str]:
        """Those that it takes numbers for, each once."""
        return list(dict.fromkeys([*self._left.names, *self._right.names]))

    def holds(self, names: Mapping[str, float]) -> bool:
        """ValueError as Formula.value()."""
        return self._holds(self._left.value(names), self._right.value(names))


def _check(node: ast.expr) -> None:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        parts = [node.left, node.right]
    elif _is_call(node):
        parts = node.args
    elif isinstance(node, ast.Name) or _is_number(node):
        parts = []
    else:
        raise ValueError(
            f"{ast.unparse(node)}: expected numbers, names, + - * / // % **, min, max and ceil"
        )
    for part in parts:
        _check(part)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _is_call(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and not node.keywords
        and (len(node.args) == 1 if node.func.id == "ceil" else len(node.args) > 1)
    )


def _value(node: ast.expr, names: Mapping[str, float]) -> float:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.Call):
        return _FUNCTIONS[node.func.id](*[_value(part, names) for part in node.args])
    return names[node.id] if isinstance(node, ast.Name) else node.value
