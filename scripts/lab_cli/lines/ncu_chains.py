"""Finds the line of the user's source that an instruction of a GPU belongs to, and the lines that call it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from . import machine_code, nvdisasm, source_text
from .model import Place
from .ncu_page import Instruction
from .nvdisasm import Function

IN_THE_TOOLKIT = "cuda_runtime.h"  # lies beside the toolkit's headers, or above them

Chain = tuple[Place, ...]


def chains(
    instructions: Sequence[Instruction], kernel: str, functions: Sequence[Function] = ()
) -> list[Chain]:
    """Returns for each instruction its own line, then the lines of the calls that lead to it.

    `kernel` is the kernel's name, `functions` come from nvdisasm and know all calls. Without them the
    lines are those of ncu, which knows only a line in CUDA's headers for some inlined instructions. Such
    an instruction gets the lines of the instruction before it.
    """
    function = nvdisasm.function_of(functions, instructions, kernel)
    if function:
        first = instructions[0].address
        return [_of_user(function.places[each.address - first]) for each in instructions]
    return _as_ncu_knows(instructions, kernel)


def _of_user(places: Iterable[Place]) -> Chain:
    own = [place for place in places if _is_of_user(place.file)]
    return tuple(place for i, place in enumerate(own) if i == 0 or own[i - 1] != place)


def _as_ncu_knows(instructions: Sequence[Instruction], kernel: str) -> list[Chain]:
    function = kernel.partition("<")[0].rpartition("::")[2]
    found: list[Chain] = []
    known: Chain = ()
    for instruction in instructions:
        chain = _in_order(instruction.places, function)
        if not chain:
            chain = known
        elif known and not _is_in(chain[-1], function) and _is_in(known[-1], function):
            chain = (*chain, known[-1])
        found.append(chain)
        known = chain
    return found


def _in_order(places: Iterable[Place], kernel: str) -> Chain:
    """Sorts from the innermost outwards. A function stands above its callers, or in a header."""
    own = [place for place in places if _is_of_user(place.file)]
    home = {place.file for place in own if _is_in(place, kernel)}
    return tuple(sorted(own, key=lambda place: (_is_in(place, kernel), place.file in home, place)))


@lru_cache(maxsize=4096)
def _is_in(place: Place, kernel: str) -> bool:
    function = source_text.function_at(place.file, place.line)
    return function is not None and function.is_kernel and function.name == kernel


@lru_cache(maxsize=256)
def _is_of_user(file: Path) -> bool:
    return machine_code.is_of_user(file) and not any(
        (folder / IN_THE_TOOLKIT).exists() for folder in file.parents
    )
