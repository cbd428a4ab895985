"""What calls return, and to what their arguments are converted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .types import DOUBLE, FLOAT, INT, LONG, UNKNOWN, VECTOR, Type, vector_element

# Overloaded for float and double. What they take and give is the widest of their arguments.
ROUNDING = set("floor ceil trunc round rint nearbyint".split())
UNARY = ROUNDING | set(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinpi cospi exp exp2 exp10 expm1 "
    "log log2 log10 log1p logb sqrt rsqrt cbrt rcbrt erf erfc erfinv erfcinv erfcx lgamma tgamma "
    "fabs abs normcdf normcdfinv j0 j1 y0 y1".split()
)
SEVERAL = set(
    "pow fmax fmin max min fmod remainder atan2 hypot rhypot copysign fdim fma nextafter clamp "
    "lerp norm3d norm4d rnorm3d".split()
)
FIRST = set("ldexp scalbn frexp modf".split())  # the first argument alone counts
TO_INTEGER = set("lround llround lrint llrint ilogb isnan isinf isfinite signbit".split())
OF_FLOATS = UNARY | SEVERAL | FIRST | set("fdivide saturate sincos sincospi".split())
INTRINSIC = re.compile(
    r"__(?:(?:sin|cos|tan|exp|exp10|log|log2|log10|pow|saturate|fdivide|tanh)f"
    r"|f(?:add|sub|mul|div|maf|ma|rcp|sqrt|rsqrt)_r[nzud]"
    r"|(?:int|uint|ll|ull|half|double|bfloat16|low|high)2float(?:_r[nzud])?|u?int_as_float)"
)
IN_DOUBLE = re.compile(
    r"__(?:d(?:add|sub|mul|div|rcp|sqrt)_r[nzud]|fma_r[nzud]|\w+2double\w*|\w+_as_double)"
)
INTEGER = re.compile(
    r"__(?:\w+2u?(?:int|ll)\w*|\w+_as_u?int|popc|clz|ffs|brev|u?mul24|mulhi|umulhi|any_sync|all_sync"
    r"|ballot_sync|activemask|syncthreads_\w+|dp4a|byte_perm|funnelshift_\w+|match_any_sync)"
)
ATOMIC = re.compile(r"atomic(?:Add|Sub|Max|Min|Exch|CAS|Inc|Dec|And|Or|Xor)(?:_block|_system)?")
LOADS = set("__ldg __ldcg __ldca __ldcs __ldlu __ldcv".split())
STORES = set("__stwb __stcg __stcs __stwt".split())
SHUFFLE = re.compile(r"__shfl(?:_up|_down|_xor)?(?:_sync)?")
MAKE = re.compile(r"make_(\w+)")
VARIADIC = {"printf", "assert", "sizeof", "alignof", "__assume", "static_assert"}


@dataclass(frozen=True)
class Signature:
    """What a call does to its arguments. Those beyond `wanted` have its last entry's type."""

    returns: Type
    wanted: Sequence[Type | None] = ()  # None: the value is taken as it is
    computes: bool = False  # it does arithmetic in the type that it returns

    def argument(self, number: int) -> Type | None:
        if not self.wanted:
            return UNKNOWN
        return self.wanted[min(number, len(self.wanted) - 1)]


def library(name: str, arguments: Sequence[Type], given: Type | None) -> Signature | None:
    """Of CUDA's own functions; None where it is none of them. `given` is the template's argument."""
    widest = given or _widest(arguments)
    if name in VARIADIC:
        return Signature(INT, [DOUBLE])  # printf takes no float
    if name in UNARY or name in SEVERAL:
        if name in UNARY and widest.is_integer and name != "abs":
            widest = DOUBLE
        return Signature(widest, [widest], computes=True)
    if name in FIRST:
        first = arguments[0] if arguments else UNKNOWN
        return Signature(first, [first, None], computes=True)
    if name in TO_INTEGER:
        return Signature(INT, [widest], computes=True)
    if (name[-1:] == "f" and name[:-1] in OF_FLOATS) or INTRINSIC.fullmatch(name):
        return Signature(FLOAT, [FLOAT])
    if IN_DOUBLE.fullmatch(name):
        return Signature(DOUBLE, [DOUBLE])
    if INTEGER.fullmatch(name):
        return Signature(INT, [FLOAT if name.startswith("__float") else UNKNOWN])
    return _of_memory(name, arguments)


def _of_memory(name: str, arguments: Sequence[Type]) -> Signature | None:
    first = arguments[0] if arguments else UNKNOWN
    if ATOMIC.fullmatch(name):
        return Signature(first.element, [None, first.element])
    if name in LOADS:
        return Signature(first.element, [None])
    if name in STORES:
        return Signature(UNKNOWN, [None, first.element])
    if SHUFFLE.fullmatch(name):
        value = arguments[1] if name.endswith("_sync") and len(arguments) > 1 else first
        return Signature(value, [INT, value, INT])
    make = MAKE.fullmatch(name)
    if make and VECTOR.fullmatch(make[1]):
        return Signature(Type("vector", 0, make[1]), [vector_element(make[1])])
    if name in ("clock", "clock64"):
        return Signature(LONG)
    return None


def _widest(arguments: Sequence[Type]) -> Type:
    """Of overloaded functions with arguments of these types."""
    plain = [type for type in arguments if type.depth == 0]
    bases = {type.base for type in plain}
    if not plain or not bases <= {"", "int", "long", "float", "double"}:
        return UNKNOWN
    for type in (DOUBLE, UNKNOWN, FLOAT, LONG):
        if type.base in bases:
            return type
    return INT
