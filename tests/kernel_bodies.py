"""Puts several bodies of a kernel into one program, which a variable of the environment chooses from.

Each body becomes a kernel in a namespace of its own, and the kernel's name a pointer to the chosen one. So
the program executes, and a profiler counts, what it would with this body alone. A function that kernels call
becomes an object that calls the chosen one: kernels may not read a pointer of the host.
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
# How the object calls it is not recorded: neither a profiler nor the hazard check sees it.
CALLED = """\
{template}struct LabChosen_{name} {{
    static inline const auto body = {choice};
    template <typename... Arguments>
    EMU_NOT_RECORDED __host__ __device__ auto operator()(Arguments&&... arguments) const {{
        return body(arguments...);
    }}
}};
"""
OBJECT = "{template}constexpr LabChosen_{name}{arguments} {name};"
# Where a call leaves it to the compiler to find the types, an object of a template cannot be called.
DEDUCED = "{signature} return LabChosen_{name}{arguments}()({passed}); }}"


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
    head = f"{template[0]}\n" if template else ""
    choice = f"labBody({', '.join(pointers)})"
    chosen = f"{head}const auto {kernel} = {choice};"
    if not function.is_kernel:
        has_types = any(parameter.split()[0] == "typename" for parameter in parameters)
        form = CALLED + (DEDUCED if has_types else OBJECT)
        passed = ", ".join(_parameters(function.signature, kernel))
        chosen = form.format(
            template=head,
            name=kernel,
            choice=choice,
            arguments=arguments,
            signature=signature,
            passed=passed,
        )
    line = f'#line {source.line(function.end)} "{source.path}"\n'
    text = [*namespaces, chosen, line]
    edit = function.start, function.end + 1, "\n".join(text)
    return CHOOSE + replaced(source.text, [edit])


def _parameters(signature: Sequence[str], name: str) -> list[str]:
    """The names of a function's parameters, which have no comma and no parenthesis in their types."""
    words = signature[signature.index(name) + 2 :]
    declared = words[: words.index(")")]
    return [before for before, word in zip(declared, [*declared[1:], ","]) if word == ","]


def without_namespaces(report: str) -> str:
    """What a program of with_choice() reports, in the names of the source."""
    return NAMESPACE.sub("", report)
