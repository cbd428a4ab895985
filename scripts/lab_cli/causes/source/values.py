"""What the compiler evaluates: the values of constants."""

from __future__ import annotations

import math
import struct

from .expressions import CONSTANTS, value_of_number
from .syntax import Node, Variable
from .types import DOUBLE, FLOAT

EVALUATED = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "fabs": math.fabs,
}


def is_constant(node: Node) -> bool:
    return value(node) is not None


def value(node: Node) -> float | None:
    """Of what the compiler evaluates; None where the program does. NaN where it is not known here."""
    if node.kind == "literal":
        return value_of_number(node.text) if node.type.is_number else math.nan
    if node.kind == "name":
        if node.variable is None:
            return math.nan if node.text in CONSTANTS else None
        initial = node.variable.initial
        return value(initial) if initial and _is_fixed(node.variable) else None
    if node.kind in ("unary", "binary", "call", "cast"):
        values = [value(part) for part in node.parts]
        if not values or any(one is None for one in values):
            return None
        if node.kind == "call" and not node.computes:
            return None
        return _evaluated(node, [one for one in values if one is not None])
    return None


def _is_fixed(variable: Variable) -> bool:
    unchanged = variable.is_constant or not (variable.stores or variable.is_taken)
    return bool(unchanged and variable.initial and not variable.is_parameter)


def _evaluated(node: Node, values: list[float]) -> float:
    try:
        if node.kind == "cast":
            return _rounded(values[0]) if node.type == FLOAT else values[0]
        if node.kind == "unary":
            return {"-": -values[0], "+": values[0]}.get(node.text, math.nan)
        if node.kind == "call":
            function = EVALUATED.get(node.text)
            return function(values[0]) if function else math.nan
        left, right = values
        if node.text == "/":
            return left / right if node.type == DOUBLE else math.nan
        return {"+": left + right, "-": left - right, "*": left * right}.get(node.text, math.nan)
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan


def _rounded(number: float) -> float:
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.inf


def fits_float(node: Node) -> bool:
    """Whether a float holds the constant exactly."""
    number = value(node)
    return number is not None and _rounded(number) == number
