#!/usr/bin/env python3
"""Runs clang for a program that can be profiled and checked, so that it tells what g++'s would tell.

    instrument_clang.py COMPILER ARGUMENT...

clang's -fsanitize=thread sees a call of memcpy() where a struct is copied, and neither the type nor
its alignment: whether 16 bytes are a float4, which is one access, or four floats, which are four. And
clang makes no branch of `c ? 1 : 2`. So the compiler stops at its intermediate code, which is changed
before the rest is compiled. Commands that compile nothing with hooks are run as they are.
"""

import os
import re
import sys
from collections.abc import Iterator
from typing import Optional

from ending import end_by_exception
from working import run, temporary_folder

INTERMEDIATE = ["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
# What still matters behind the intermediate code; its own text has the rest.
BACK_END = re.compile(r"-(f|m|O|g|-?target|stdlib)")
WITH_VALUE = {"-mllvm", "-target"}
HOOKS = [
    "-tsan-distinguish-volatile=1",
    "-tsan-instrument-read-before-write=1",  # of the same: as in a[i] += 1
    "-tsan-instrument-memintrinsics=0",  # have hooks already
]

# In the intermediate code:
SANITIZED = re.compile(r"^attributes (#\d+) = \{.*\bsanitize_thread\b", re.MULTILINE)
LABEL = re.compile(r'(".*"|[\w.$-]+):')
COPY = re.compile(r" *(?:tail )?call void @llvm\.(memcpy|memmove|memset)\.[^(]*\((.*)\)(.*)")
POINTER = re.compile(
    r"(?P<type>ptr|i8\*) (?:(?:align (?P<align>\d+)|noundef|nonnull|noalias|writeonly|readonly"
    r"|dereferenceable\(\d+\)) )*(?P<value>.*)"
)
SELECT = re.compile(r" *(%[\w.]+) = select (?:\w+ )*?i1 (%[\w.]+), (.*)")
TYPED = re.compile(r'((?:%?[\w.]+|%"[^"]*"|\[.*?\]|<.*?>)\**) (.+)')
PREDECESSOR = re.compile(r", %([^ ]+) \]")
LINE = re.compile(r", !dbg !\d+")

ONE_ACCESS = ("1", "2", "4", "8", "16")  # bytes


def with_hooks(code: str) -> str:
    """Intermediate code with calls of ThreadSanitizer's hooks before each copy and fill of memory, and
    with branches in place of choices, in the functions that it looks at."""
    sanitized = set(SANITIZED.findall(code))
    calls: dict[str, str] = {}
    function: Optional[_Function] = None
    lines: list[str] = []
    for line in code.split("\n"):
        if line.startswith("define ") and not sanitized.isdisjoint(re.findall(r"#\d+", line)):
            function = _Function(line, calls)
        elif function is None:
            lines.append(line)
        else:
            function.add(line)
            if line == "}":
                lines += function.finished()
                function = None
    lines += [text for name, text in calls.items() if f"@{name}(" not in code]
    return "\n".join(lines)


class _Function:
    """One in which hooks are put; `calls` gets the declarations of those that it calls."""

    def __init__(self, head: str, calls: dict[str, str]) -> None:
        self._lines = [head]
        self._calls = calls
        # The first block has the number behind those of the parameters, if it has no name.
        numbers = [int(number) for number in re.findall(r" %(\d+)[,)]", head)]
        self._block = str(max(numbers, default=-1) + 1)
        self._ends: dict[str, str] = {}  # what is now the last piece of a block
        self._choices = 0

    def add(self, line: str) -> None:
        label = LABEL.match(line)
        copy = COPY.fullmatch(line)
        select = SELECT.fullmatch(line)
        if label:
            self._block = label[1]
        if copy:
            self._lines += self._hooks(copy)
        if select:
            self._branch(select)
        else:
            self._lines.append(line)

    def finished(self) -> list[str]:
        def end(found: "re.Match[str]") -> str:
            return f", %{self._ends.get(found[1], found[1])} ]"

        return [PREDECESSOR.sub(end, line) if " = phi " in line else line for line in self._lines]

    def _hooks(self, copy: "re.Match[str]") -> Iterator[str]:
        kind, operands, behind = copy.groups()
        first, second, size = list(_parts(operands))[:3]
        accesses = [("write", first)] + ([("read", second)] if kind != "memset" else [])
        for access, operand in accesses:
            pointer = POINTER.fullmatch(operand)
            assert pointer, operand
            size_type, bytes_ = size.split()
            arguments = f"{pointer['type']} {pointer['value']}"
            types = pointer["type"]
            if bytes_ in ONE_ACCESS and int(pointer["align"] or 1) >= int(bytes_):
                hook = f"__tsan_{access}{bytes_}"
            else:
                hook = f"__tsan_{access}_range"
                arguments += f", {size}"
                types += f", {size_type}"
            self._calls[hook] = f"declare void @{hook}({types})"
            yield f"  call void @{hook}({arguments}){_line(behind)}"

    def _branch(self, select: "re.Match[str]") -> None:
        """A choice between two values becomes two blocks, which go on to a third."""
        result, condition, operands = select.groups()
        values = [TYPED.fullmatch(part) for part in list(_parts(operands))[:2]]
        if not values[0] or not values[1] or values[1][2].startswith("("):
            self._lines.append(select.group())
            return
        line = _line(operands)
        name = f"choice.{self._choices}"
        self._choices += 1
        self._lines += [
            f"  br i1 {condition}, label %{name}.true, label %{name}.false{line}",
            f"{name}.true:",
            f"  br label %{name}.end{line}",
            f"{name}.false:",
            f"  br label %{name}.end{line}",
            f"{name}.end:",
            f"  {result} = phi {values[0][1]} "
            f"[ {values[0][2]}, %{name}.true ], [ {values[1][2]}, %{name}.false ]{line}",
        ]
        self._ends[self._block] = f"{name}.end"


def _line(behind: str) -> str:
    """The part of what is behind an instruction that says to which line of the source it belongs."""
    found = LINE.search(behind)
    return found.group() if found else ""


def _parts(text: str) -> Iterator[str]:
    """What commas outside of brackets separate."""
    depth, start = 0, 0
    for i, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    yield text[start:].strip()


def compile_with_hooks(command: list[str]) -> int:
    """Returns the status of the compiler that failed, or 0. Raises OSError."""
    environment = dict(os.environ)
    instruments = "-c" in command and "-fsanitize=thread" in command
    if not instruments or "-fsyntax-only" in command:
        return run(command, environment)
    output = command.index("-o") + 1
    with temporary_folder("lab-clang-") as folder:
        code = os.path.join(folder, "code.ll")
        front = [argument for argument in command if argument != "-c"]
        front[front.index("-o") + 1] = code
        status = run([*front, *INTERMEDIATE], environment)
        if status != 0:
            return status
        with open(code, encoding="utf-8", errors="surrogateescape") as file:
            text = with_hooks(file.read())
        with open(code, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        return run([*_back_end(command), "-c", code, "-o", command[output]], environment)


def _back_end(command: list[str]) -> list[str]:
    """The compiler, with the flags that matter behind the intermediate code."""
    kept, i = [], 0
    while i < len(command) and not command[i].startswith("-"):  # such as `zig c++`
        kept.append(command[i])
        i += 1
    while i < len(command):
        count = 2 if command[i] in WITH_VALUE else 1
        if BACK_END.match(command[i]):
            kept += command[i : i + count]
        i += count
    hooks = [word for hook in HOOKS for word in ("-mllvm", hook)]
    return [*kept, *hooks, "-Wno-unused-command-line-argument", "-Wno-override-module"]


if __name__ == "__main__":
    end_by_exception()
    try:
        sys.exit(compile_with_hooks(sys.argv[1:]))
    except OSError as error:
        sys.exit(f"instrument_clang.py: {error.filename or sys.argv[1]}: {error.strerror}")
