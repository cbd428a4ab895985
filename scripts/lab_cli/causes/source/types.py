"""The types that the findings tell apart: what is float, double or an integer, and what is not known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

INTEGERS = set("char short int long signed unsigned bool".split())
WIDE = set(
    "size_t ssize_t ptrdiff_t intptr_t uintptr_t int64_t uint64_t ulong ulonglong longlong".split()
)
NAMED_INTEGERS = WIDE | set(
    "int8_t int16_t int32_t uint8_t uint16_t uint32_t uchar ushort uint "
    "int_fast32_t uint_fast32_t clock_t".split()
)
BUILT_IN = INTEGERS | {"float", "double", "void", "auto", "wchar_t"}
QUALIFIERS = set(
    "const constexpr static volatile register extern inline typename struct class union enum mutable "
    "thread_local __shared__ __device__ __host__ __global__ __constant__ __managed__ __restrict__ "
    "__restrict restrict __forceinline__ __noinline__ __inline__ __grid_constant__ consteval "
    "constinit".split()
)
VECTOR = re.compile(
    r"(float|double|char|uchar|short|ushort|int|uint|long|ulong|longlong|ulonglong)([1-4])"
)
HALVES = {"half", "half2", "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162", "nv_bfloat16"}


@dataclass(frozen=True)
class Type:
    base: str  # float, double, int, long (64 bits), half, void, vector or struct; else empty
    depth: int = 0  # pointers and arrays around it
    name: str = ""  # of a vector type, a struct or a template's parameter

    @property
    def element(self) -> Type:
        return Type(self.base, self.depth - 1, self.name) if self.depth else UNKNOWN

    @property
    def is_integer(self) -> bool:
        return self.depth == 0 and self.base in ("int", "long")

    @property
    def is_number(self) -> bool:
        return self.depth == 0 and self.base in ("int", "long", "float", "double")

    @property
    def is_known(self) -> bool:
        return self.base != "" or self.depth > 0

    def pointer(self, levels: int = 1) -> Type:
        return Type(self.base, self.depth + levels, self.name)


UNKNOWN, FLOAT, DOUBLE, INT, LONG = (Type(base) for base in ("", "float", "double", "int", "long"))
HALF, VOID = Type("half"), Type("void")
AUTO = Type("auto")  # what a value is converted to: its own type


@dataclass
class Names:
    """What the names of types stand for."""

    aliases: dict[str, Type] = field(default_factory=dict)
    structs: dict[str, dict[str, Type]] = field(default_factory=dict)  # their members

    def find(self, name: str) -> Type | None:
        """None where no type of that name is known."""
        if name in self.aliases:
            return self.aliases[name]
        if name in self.structs:
            return Type("struct", 0, name)
        if name in NAMED_INTEGERS:
            return LONG if name in WIDE else INT
        if name in HALVES:
            return HALF
        if VECTOR.fullmatch(name) or name == "dim3":
            return Type("vector", 0, name)
        return None

    def member(self, type: Type, name: str) -> Type:
        if type.base == "vector":
            return vector_element(type.name)
        return self.structs.get(type.name, {}).get(name, UNKNOWN)


def vector_element(name: str) -> Type:
    match = VECTOR.fullmatch(name)
    if match is None:
        return INT  # dim3
    base = match[1]
    if base in ("float", "double"):
        return Type(base)
    return LONG if "long" in base else INT


def of_words(words: Iterable[str]) -> Type:
    """Of the words of a type that is built in."""
    names = list(words)
    if "double" in names:
        return DOUBLE
    if "float" in names:
        return FLOAT
    if "void" in names:
        return VOID
    if "long" in names:
        return LONG
    return INT if INTEGERS.intersection(names) else UNKNOWN


def together(left: Type, right: Type) -> Type:
    """Of a sum, product and the like."""
    for type in (left, right):
        if type.base in ("vector", "struct", "half") and type.depth == 0:
            return type
    if left.depth or right.depth:
        return INT if left.depth and right.depth else (left if left.depth else right)
    for type in (DOUBLE, UNKNOWN, FLOAT, LONG):
        if type.base in (left.base, right.base):
            return type
    return INT


def same(types: Sequence[Type]) -> Type:
    """The one type of all; UNKNOWN if they differ."""
    return types[0] if types and all(type == types[0] for type in types) else UNKNOWN
