"""Puts several bodies of a kernel into one program, which a variable of the environment chooses from.

Each body becomes a kernel in a namespace of its own, and the kernel's name a pointer to the chosen one. So
the program executes, and a profiler counts, what it would with this body alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lab_course.grading.kernel_source import KernelSource, replaced

VARIABLE = "LAB_BODY"
NAMESPACE = re.compile(r"\blabBody\d+::")
TEMPLATE = re.compile(r"template\s*<([^<>]*)>")
CHOOSE = f"""\
#include <cstdlib>
template <typename Kernel, typename... Others>
Kernel labBody(Kernel first, Others... others) {{
    const Kernel all[] = {{first, others...}};
    return all[std::atoi(std::getenv("{VARIABLE}"))];
}}
#line 1
"""


def with_choice(source: KernelSource, kernel: str, bodies: Sequence[str]) -> str:
    """The text with all bodies; VARIABLE has the number of the one that the kernel has, from 0."""
    function = source.function(kernel)
    signature = source.text[function.start : function.body]
    template = TEMPLATE.match(signature)
    parameters = template[1].split(",") if template else []
    names = ", ".join(parameter.partition("=")[0].split()[-1] for parameter in parameters)
    arguments = f"<{names}>" if names else ""
    namespaces, pointers = [], []
    for number, body in enumerate(bodies):
        namespaces.append(f"namespace labBody{number} {{\n{signature}{body}}}\n}}\n")
        pointers.append(f"&labBody{number}::{kernel}{arguments}")
    chosen = f"const auto {kernel} = labBody({', '.join(pointers)});"
    line = f'#line {source.line(function.end)} "{source.path}"\n'
    text = [*namespaces, template[0] if template else "", chosen, line]
    edit = function.start, function.end + 1, "\n".join(text)
    return CHOOSE + replaced(source.text, [edit])


def without_namespaces(report: str) -> str:
    """What a program of with_choice() reports, in the names of the source."""
    return NAMESPACE.sub("", report)
