"""Which array of the source an access goes to."""

from __future__ import annotations

from ..model import Access, Kernel, Memory
from ..source_text import function_at


def name_of(access: Access, kernel: Kernel) -> str:
    """The arrays that sampled warps touched by it; empty where they have no name."""
    try:
        number = kernel.accesses.index(access)
    except ValueError:
        return ""
    memories = dict.fromkeys(
        step.memory
        for sample in kernel.samples
        for step in sample.steps
        if step.access == number and step.memory is not None
    )
    names = dict.fromkeys(label(kernel.memories[memory], kernel) for memory in memories)
    return " or ".join(name for name in names if name)


def label(memory: Memory, kernel: Kernel) -> str:
    """The name of a variable, or of the parameter that points into the array."""
    if memory.name or memory.parameter is None or kernel.definition is None:
        return memory.name
    function = function_at(kernel.definition.file, kernel.definition.line)
    parameters = function.parameters if function else ()
    return parameters[memory.parameter] if memory.parameter < len(parameters) else ""
