"""Refuses more __constant__ variables than a GPU has memory for."""

from .lexer import Stream
from .shared_memory import declaration, declared_name

TOO_MUCH = (
    "with '{name}', this file uses too much global constant data: there are 64 KiB (0x10000 bytes) "
    "for its __constant__ variables; put larger tables into device memory"
)


def constant_variables(stream: Stream, index: int) -> tuple[int, list[str]]:
    """The `;` of the declaration around `__constant__` at token `index`, and the names of what it
    defines. None where it is extern or a template, or not understood."""
    start, end = declaration(stream, index)
    words = {stream.text(i) for i in range(start, end)}
    if "extern" in words or stream.text(start - 1) == ">" or stream.text(end) != ";":
        return end, []
    names = [declared_name(stream, part) for part in stream.split(start, end)]
    return end, [name for name in names if name]


def behind_constants(names: list[str], before: list[str]) -> str:
    """What to put behind a declaration of `names` in a file that has declared `before`."""
    size = " + ".join(f"sizeof({name})" for name in dict.fromkeys(before + names))
    message = TOO_MUCH.format(name=names[-1])
    return f' static_assert({size} <= ::emu::kConstantMemory, "{message}");'
