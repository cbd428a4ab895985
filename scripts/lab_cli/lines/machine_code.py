"""The machine code of an instrumented program: which source line each instruction is of, and what it computes.

objdump reads it (binutils, which a compiler needs). The programs are compiled with -O0, so that each
operation of the source is an instruction or a call of its own line.
"""

from __future__ import annotations

import bisect
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import LabError
from ..paths import ROOT, TRANSLATED
from .model import Place

FP32, FP64, TO_DOUBLE, SPECIAL, DIVISION = "fp32", "fp64", "to_double", "special", "division"
FLOAT_ATOMIC = "float_atomic"  # a sum by atomicAdd, which is none of the others
_CALLS = ("call", "callq", "bl")
HOOK = "__sanitizer_cov_trace_pc"  # begins each basic block

# Instructions of x86-64 and AArch64, and how many operations each is. (AArch64 says by the register
# whether numbers are floats or doubles: s0, d0.)
_X86 = {
    **{f"{name}ss": (FP32, 1) for name in ("add", "sub", "mul", "div")},
    **{f"{name}sd": (FP64, 1) for name in ("add", "sub", "mul", "div")},
    "sqrtss": (SPECIAL, 1),
    "sqrtsd": (FP64, 1),
    "cvtss2sd": (TO_DOUBLE, 1),
    **{name: (DIVISION, 1) for name in ("div", "idiv", "divl", "divq", "idivl", "idivq")},
}
_ARM_FLOAT = {"fadd": 1, "fsub": 1, "fmul": 1, "fnmul": 1, "fdiv": 1, "fmadd": 2, "fmsub": 2}
_ARM_DIVISION = ("sdiv", "udiv")

# Functions that user code calls: of the C library, or CUDA's, which the emulation defines.
_FUSED = re.compile(r"(emu::)?(__)?fmaf?(_r[nzud])?$")
_DOUBLE = re.compile(r"__(dadd|dsub|dmul|ddiv)_r[nzud]$")
_SINGLE = re.compile(r"__(fadd|fsub|fmul|fdiv|fdividef)(_r[nzud])?$")
_FUNCTION = re.compile(
    r"(__)?(a?(sin|cos|tan)h?(pi)?|sincos(pi)?|exp(2|10|m1)?|log(2|10|1p)?|r?sqrt|r?cbrt|pow|rcp|erfc?"
    r"|hypot|[lt]gamma|fmod|atan2|fdivide)(?P<float>f)?(_r[nzud])?$"
)
# As emulator/include/emu/atomics.h declares it.
_FLOAT_ATOMIC = re.compile(r"(float|double)[234]? (emu::)?atomicAdd(_block|_system)?<")
# How the translator has a kernel divide (emulator/include/emu/division.h), and a constant for the divisor.
_DIVIDES = re.compile(r"emu::operator[/%]=?<(?P<types>.*)>\(.*emu::Divi(dend|sor)<")
_CONSTANT_DIVISOR = re.compile(r"\$0x[0-9a-f]+, *%[er]si|[wx]1, *#")
_CAST_ARGUMENTS = re.compile(r"\((?P<types>[^()]*)\)$")

_LINE = re.compile(r"^(?P<file>.+?):(?P<line>\d+)(?: \(discriminator \d+\))?$")
_INLINED = re.compile(r"^ ?\(inlined by\) (?P<rest>.+)$")
_CODE = re.compile(r"^ +(?P<address>[0-9a-f]+):\s+(?P<name>\S+) *(?P<operands>.*)$")
_HEADING = re.compile(r"^[0-9a-f]+ <.*>:$")
_CALL = re.compile(r"<(?P<name>.+)>")
_FOLDERS_OF_OTHERS = (str(ROOT / "emulator" / "include") + "/", "/usr/")

_cache: dict[str, Path] = {}


@dataclass(frozen=True)
class Instruction:
    address: int
    chain: tuple[Place, ...]  # the user's lines: its own, then those that it was put into in line
    name: str
    operands: str
    function: int = 0  # a number: functions follow one another


class MachineCode:
    """The instructions between two addresses of a program, in their order."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.instructions = list(instructions)
        self._addresses = [each.address for each in self.instructions]

    def before(self, address: int) -> Instruction | None:
        """The instruction that ends at or before `address`, which is a return address."""
        index = bisect.bisect_left(self._addresses, address) - 1
        return self.instructions[index] if index >= 0 else None

    def at(self, address: int) -> Instruction | None:
        """The first instruction at or behind `address`."""
        index = bisect.bisect_left(self._addresses, address)
        return self.instructions[index] if index < len(self.instructions) else None

    def basic_block(self, address: int) -> list[Instruction]:
        """What follows the call of the hook that returns to `address`, up to the next such call."""
        first = bisect.bisect_left(self._addresses, address)
        last = first
        while last < len(self.instructions) and not self._ends(first, last):
            last += 1
        return self.instructions[first:last]

    def _ends(self, first: int, last: int) -> bool:
        code = self.instructions
        return self._is_hook(last) or code[last].function != code[first].function

    def _is_hook(self, index: int) -> bool:
        instruction = self.instructions[index]
        return HOOK in instruction.operands and instruction.name in _CALLS


def read(program: Path, first: int, last: int) -> MachineCode:
    """The code in [first, last). LabError without objdump."""
    command = ["objdump", "-d", "-l", "-C", "--inlines", "--no-show-raw-insn"]
    command += [f"--start-address={first:#x}", f"--stop-address={last:#x}", str(program)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LabError(
            f"counts by line need objdump, which does not work here ({error}): install binutils"
        ) from None
    return MachineCode(list(parsed(done.stdout.splitlines())))


def parsed(
    lines: Iterable[str], is_user: Callable[[Path], bool] | None = None
) -> Iterator[Instruction]:
    """From what objdump prints."""
    of_user = is_user or is_of_user
    chain: list[Place] = []
    function = 0
    for line in lines:
        code = _CODE.match(line)
        if code:
            address, operands = int(code["address"], 16), code["operands"].strip()
            yield Instruction(address, tuple(chain), code["name"], operands, function)
            continue
        if _HEADING.match(line):
            function += 1
            chain = []
            continue
        inlined = _INLINED.match(line)
        place = _LINE.match(inlined["rest"] if inlined else line)
        if not place:
            continue
        if not inlined:
            chain = []
        path = _path(place["file"])
        number = int(place["line"])
        if number > 0 and of_user(path):
            chain.append(Place(path, number))


def is_of_user(path: Path) -> bool:
    """Whether it is neither a header of the emulator or of the compiler nor a translated source. (objdump
    names the latter for the code of some headers, although the source names the user's file.)"""
    name = str(path)
    return f"{TRANSLATED}/" not in name and not name.startswith(_FOLDERS_OF_OTHERS)


def operations(code: Sequence[Instruction]) -> Iterator[tuple[Instruction, str, int]]:
    """The instructions of a basic block that do arithmetic or call a function that does, of which kind it
    is, and how many operations. Divisions of integers by a constant are none: a GPU multiplies."""
    for index, instruction in enumerate(code):
        found = _operation(instruction)
        if found and not (found[0] == DIVISION and _has_constant_divisor(code[:index])):
            yield instruction, *found


def _has_constant_divisor(before: Sequence[Instruction]) -> bool:
    """Whether the second argument of the call that follows is a constant."""
    for instruction in reversed(before[-4:]):
        if instruction.name in _CALLS:
            return False
        if _CONSTANT_DIVISOR.search(instruction.operands) and instruction.name.startswith("mov"):
            return True
    return False


def _operation(instruction: Instruction) -> tuple[str, int] | None:
    name, operands = instruction.name, instruction.operands
    if name in _CALLS:
        return _of_call(operands)
    if name.startswith("v") and name[1:] in _X86:  # AVX
        return _X86[name[1:]]
    if name in _X86:
        return _X86[name]
    if name in _ARM_FLOAT:
        return (FP64 if operands.startswith("d") else FP32), _ARM_FLOAT[name]
    if name in _ARM_DIVISION:
        return DIVISION, 1
    if name == "fcvt" and re.match(r"d\d+, *s\d+", operands):
        return TO_DOUBLE, 1
    return None


def _of_call(operands: str) -> tuple[str, int] | None:
    called = _CALL.search(operands)
    if not called:
        return None
    divides = _DIVIDES.search(called["name"])
    if divides:
        types = divides["types"]
        kind = FP64 if "double" in types else FP32 if "float" in types else DIVISION
        return kind, 1
    if _FLOAT_ATOMIC.match(called["name"]):
        return FLOAT_ATOMIC, 1
    text = called["name"].split("@")[0]
    arguments = _CAST_ARGUMENTS.search(text)
    floats = bool(arguments and "float" in arguments["types"])
    function = re.sub(r"\(.*$", "", text).split("::")[-1]
    if _FUSED.match(function):
        single = floats or "fmaf" in function
        return (FP32 if single else FP64), 2
    if _SINGLE.match(function):
        return FP32, 1
    if _DOUBLE.match(function):
        return FP64, 1
    known = _FUNCTION.match(function)
    if not known:
        return None
    single = floats or bool(known["float"])
    return (SPECIAL, 1) if single else (FP64, 1)


def _path(text: str) -> Path:
    """Relative names are those of the project."""
    known = _cache.get(text)
    if known is None:
        known = _cache[text] = (ROOT / text).resolve()
    return known
