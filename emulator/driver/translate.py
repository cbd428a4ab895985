#!/usr/bin/env python3
"""Translates a CUDA source file to C++17 for the cpu back end.

C++ cannot parse two things of CUDA: a launch, `k<<<grid, block>>>(x)`, and dynamic shared memory,
`extern __shared__ T s[];`. The translator rewrites just these, in place, and keeps every line's
number. Two more things are rewritten because they could not work: the cast to `void*` in
`cudaLaunchKernel((void*)k, ...)`, which would lose the kernel's type, and inline PTX, which becomes
a compile error that says so, as does what nvcc refuses and C++ does not: a kernel that is called
like a function, a variable of the host in a kernel (translator/sides.py). And C++ gives device code
some other meaning than a GPU: directives on __CUDA_ARCH__ (translator/arch.py), shifts and casts
(translator/arithmetic.py). Headers of the user that contain any of this are translated as well.

With --instrument the output is for the profiler, which counts what g++'s debug code does: device
code is made to branch as nvcc's debug code does (translator/decisions.py), launches say where a
kernel begins and ends (emu/kernel_frame.h), and `__constant__` goes from const variables.
"""

import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True  # a full disk would cut it short for all later runs

import argparse
import os
import zlib
from typing import Optional

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # translator/

from ending import end_by_exception
from make_rule import quoted, rule
from output_file import write
from translator.arch import arch_edits
from translator.by_value import ByValue
from translator.device_variables import DeviceVariables
from translator.heap import Heap
from translator.lanes import Lanes
from translator.lexer import TranslateError
from translator.missing import missing_includes
from translator.polls import Polls
from translator.rewriter import Rewriter
from translator.sides import Sides
from translator.unit import Source, Unit
from working import keep_own_rights

OWN_INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "include")


def translate(
    path: str,
    output: str,
    include_dirs: list[str],
    instrument: bool = False,
    relaxed: bool = False,
) -> dict[str, str]:
    """Translates the file at `path`, and those of the user's headers that need it into the folder
    `output`.headers. Returns the files read, `path` first, by the files that a compiler reads in their
    place (the real path of the translation, or of the file itself). `relaxed`: device code may call
    constexpr functions of the host. Writes nothing unless all could be
    translated. Raises TranslateError or OSError."""
    unit = Unit(path, include_dirs, OWN_INCLUDE)
    lanes, polls, heap, sides = Lanes(unit), Polls(unit), Heap(unit), Sides(unit, relaxed)
    variables = DeviceVariables(unit)
    by_value = ByValue(unit)
    sources = unit.sources.values()
    for source in sources:
        source.edits += missing_includes(source)
        if unit.has_cuda(source):
            source.edits += arch_edits(unit, source)
            for stream in source.streams:
                Rewriter(unit, lanes, polls, heap, by_value, source, stream, instrument).run()
            if instrument:
                source.edits += variables.edits(source)
        if source is unit.main or unit.has_cuda(source):
            source.edits += sides.edits(source)
        source.translated = source is unit.main or bool(source.edits)
    if instrument and len({name for name, _, _ in unit.dynamic_arrays}) > 1:
        end = len(unit.main.text)
        unit.main.edits.append((end, end, _dynamic_arrays(unit)))
    ending = heap.ending() + unit.ending() + variables.ending()
    if ending:
        end = len(unit.main.text)
        unit.main.edits.append((end, end, ending))
    changed = True
    while changed:  # what includes a translated header has to name the translation
        changed = False
        for source in sources:
            if not source.translated and any(s.translated for s in source.included.values()):
                source.translated = changed = True

    outputs = {unit.main: output}
    for real, source in unit.sources.items():
        if source.translated and source is not unit.main:
            place = os.path.relpath(real, os.path.dirname(os.path.realpath(output)))
            name = f"{zlib.crc32(os.fsencode(place)):08x}_{os.path.basename(real)}"
            outputs[source] = os.path.join(os.path.abspath(output) + ".headers", name)
    texts = {source: _render(source, outputs) for source in outputs}
    for source, text in texts.items():
        if source is unit.main or not _has_content(outputs[source], text):
            write(outputs[source], text)
    return {
        os.path.realpath(outputs.get(source, real)): source.path
        for real, source in unit.sources.items()
    }


def _render(source: Source, outputs: dict[Source, str]) -> str:
    edits = list(source.edits)
    for include in source.includes:
        target = source.included.get((include.name, include.quoted))
        beside = os.path.join(os.path.dirname(source.path), include.name)
        if target in outputs:
            edits.append((include.start, include.end, f'"{outputs[target]}"'))
        elif include.quoted and os.path.isfile(beside):  # but not beside the output
            edits.append((include.start, include.end, f'"{os.path.abspath(beside)}"'))
    parts = [f'#line 1 "{_escaped(source.path)}"\n']
    pos = 0
    for start, end, text in sorted(edits):
        parts += [source.text[pos:start], text]
        pos = end
    return "".join(parts) + source.text[pos:]


def _dynamic_arrays(unit: Unit) -> str:
    """Tells the check of the names for dynamic shared memory, behind the last line of the unit."""
    calls = [
        f'::emu::dynamicArray("{name}", "{_escaped(path)}", {line})'
        for name, path, line in unit.dynamic_arrays
    ]
    return f"\n[[maybe_unused]] static const bool emu_dynamic_arrays = {' && '.join(calls)};\n"


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _has_content(path: str, text: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read() == text
    except OSError:
        return False


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError:
        pass


def main(argv: Optional[list[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="translate.py",
        description="Translate a CUDA source file to C++17 for the cpu back end. Headers of yours "
        "that hold launches or dynamic shared memory are translated into OUTPUT.headers/.",
    )
    parser.add_argument("input", metavar="INPUT", help="the .cu file")
    parser.add_argument("-o", dest="output", metavar="OUTPUT", required=True, help="the C++ file")
    parser.add_argument(
        "-I", dest="dirs", metavar="DIR", action="append", default=[], help="look for headers here"
    )
    parser.add_argument("-MF", dest="rule", metavar="FILE", help="write a make rule of all inputs")
    parser.add_argument(
        "-MT", dest="target", metavar="TARGET", help="target of that rule (default: OUTPUT)"
    )
    parser.add_argument(
        "--instrument", action="store_true", help="prepare the C++ file for the profiler"
    )
    args = parser.parse_args(argv)
    if os.path.realpath(args.input) == os.path.realpath(args.output):
        parser.error(f"OUTPUT would overwrite INPUT {args.input!r}")
    try:
        read = translate(args.input, args.output, args.dirs, args.instrument)
        if args.rule:
            inputs = list(map(os.path.abspath, read.values()))
            write(args.rule, rule(quoted(args.target or args.output), inputs))
        return 0
    except TranslateError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename or args.output}: error: {error.strerror}", file=sys.stderr)
    _remove(args.output)  # an older one would be compiled in place of this
    return 1


if __name__ == "__main__":
    end_by_exception()
    keep_own_rights()
    sys.exit(main())
