"""The units that ncu writes, and those that tables show: one for each metric, whatever ncu chose."""

from __future__ import annotations

import re

from ..errors import LabError

_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "K": 3, "M": 6, "G": 9, "T": 12}  # of ten
_BASES = {"byte": "byte", "B": "byte", "second": "second", "s": "second", "hz": "Hz", "Hz": "Hz"}
_SCALED = re.compile(r"([numKMGT]?)(byte|B|second|s|hz|Hz)s?")


def _parse(unit: str) -> tuple[str, int]:
    """What is measured, and the power of ten: 'Gbyte/second' -> ('byte/second', 9).

    What has no scale, such as 'sector', 'register/thread' or '%', is a number.
    """
    dimensions, exponent = [], 0
    for place, word in enumerate(unit.split("/")):
        match = _SCALED.fullmatch(word)
        if not match:
            return "", 0
        dimensions.append(_BASES[match.group(2)])
        exponent += _EXPONENTS[match.group(1)] * (1 if place == 0 else -1)
    return "/".join(dimensions), exponent


def convert(value: float, unit: str, wanted: str) -> float:
    """`value` in `wanted`. LabError where the two do not measure the same."""
    dimension, exponent = _parse(unit)
    wanted_dimension, wanted_exponent = _parse(wanted)
    if dimension != wanted_dimension:
        raise LabError(f"a value in '{unit}' cannot be shown in '{wanted}'")
    shift = exponent - wanted_exponent
    return value * 10.0**shift if shift >= 0 else value / 10.0**-shift
