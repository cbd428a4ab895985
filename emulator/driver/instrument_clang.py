#!/usr/bin/env python3
"""Runs clang so that its programs tell what g++'s would tell.

    instrument_clang.py COMPILER ARGUMENT...

A program that can be profiled and checked: clang's -fsanitize=thread sees a call of memcpy() where a
struct is copied, and neither its members nor its alignment: whether 16 bytes are a float4, which is one
access, or four floats, which are four. And clang makes no branch of `c ? 1 : 2`, but one for each index
that -fsanitize=array-bounds compares.

Another, where -fsanitize=alignment is given: clang does not check whether a struct that is copied is
aligned.

So the compiler stops at its intermediate code, which is changed before the rest is compiled. Other
commands are run as they are.
"""

import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True  # a full disk would cut it short for all later runs

import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, Optional

from ending import end_by_exception
from working import run, temporary_folder

INTERMEDIATE = ["-Xclang", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]  # text, no object
ALIGNMENT = re.compile(r"-fsanitize=(.*,)?alignment(,.*)?")
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
INDEX_BRANCH = re.compile(
    r" *br i1 ([^,]+), label %(?P<behind>[^,]+), label %(?P<handler>handler\.out_of_bounds\d*),.*"
)
INDEX_CALL = re.compile(
    r"( *call void )@__ubsan_handle_out_of_bounds\(([^ ]+ .*), i64 ([^ ,]+)\)(.*)"
)
SELECT = re.compile(r" *(%[\w.]+) = select (?:\w+ )*?i1 (%[\w.]+), (.*)")
TYPED = re.compile(r'((?:%?[\w.]+|%"[^"]*"|\[.*?\]|<.*?>)\**) (.+)')
PREDECESSOR = re.compile(r", %([^ ]+) \]")
LINE = re.compile(r", !dbg !\d+")
# A value, and what it is: the instruction and what is behind its name.
DEFINITION = re.compile(r" *(%[^ ]+) = (\w+)(?: inbounds)? (.*)")
BASE = re.compile(r"(?:ptr|[^ ]+\*) (%[^ ,]+)")
LOCAL_STRUCT = re.compile(r"%.*, align \d")
ELEMENT = re.compile(r"[^,]+, [^,]+, i\d+ [^,]+(, !.*)?")  # of a pointer: p[i]
# The members of a struct that is copied, by offset and size.
MEMBERS = re.compile(r"^(!\d+) = !\{((?:i64 \d+, i64 \d+, (?:null|!\d+)(?:, )?)+)\}", re.MULTILINE)
MEMBER = re.compile(r"i64 (\d+), i64 (\d+)")
COPIED = re.compile(r"!tbaa\.struct (!\d+)")

# Inlined, where nothing is known of the address. src/engine/undefined_arithmetic.cpp has what it calls.
CHECK = """
define internal void @emu_check_copy(ptr %place, i64 %multiple) alwaysinline {
  %number = ptrtoint ptr %place to i64
  %rest = urem i64 %number, %multiple
  %aligned = icmp eq i64 %rest, 0
  br i1 %aligned, label %done, label %misaligned
misaligned:
  call void @emu_misaligned_copy(ptr %place, i64 %multiple)
  br label %done
done:
  ret void
}
declare void @emu_misaligned_copy(ptr, i64) cold nounwind
"""

ONE_ACCESS = (1, 2, 4, 8, 16)  # bytes
LARGEST_NUMBER = 8  # bytes

Structs = dict[str, list[tuple[int, int]]]


def with_hooks(code: str) -> str:
    """Intermediate code with calls of ThreadSanitizer's hooks before each copy and fill of memory, and
    with branches in place of choices, in the functions that it looks at."""
    sanitized = set(SANITIZED.findall(code))
    structs = {
        name: [(int(offset), int(size)) for offset, size in MEMBER.findall(text)]
        for name, text in MEMBERS.findall(code)
    }
    calls: dict[str, str] = {}
    function: Optional[_Function] = None
    lines: list[str] = []
    for line in code.split("\n"):
        if line.startswith("define ") and not sanitized.isdisjoint(re.findall(r"#\d+", line)):
            function = _Function(line, calls, structs)
        elif function is None:
            lines.append(line)
        else:
            function.add(line)
            if line == "}":
                lines += function.finished()
                function = None
    lines += [text for name, text in calls.items() if f"@{name}(" not in code]
    return "\n".join(lines)


class _Pointer(NamedTuple):
    type: str
    value: str
    align: int  # what clang knows of the address
    of_its_type: bool  # it knows that from the type alone


class _Function:
    """One in which hooks are put; `calls` gets the declarations of those that it calls. `structs` has
    the members of those that are copied."""

    def __init__(self, head: str, calls: dict[str, str], structs: Structs) -> None:
        self._lines = [head]
        self._calls = calls
        self._structs = structs
        self._definitions: dict[str, tuple[str, str]] = {}
        # The first block has the number behind those of the parameters, if it has no name.
        numbers = [int(number) for number in re.findall(r" %(\d+)[,)]", head)]
        self._block = str(max(numbers, default=-1) + 1)
        self._ends: dict[str, str] = {}  # what is now the last piece of a block
        self._choices = 0
        self._index: Optional[re.Match[str]] = None  # the branch of the one that is compared

    def add(self, line: str) -> None:
        if self._is_of_index(line):
            return
        label = LABEL.match(line)
        copy = COPY.fullmatch(line)
        select = SELECT.fullmatch(line)
        definition = DEFINITION.match(line)
        if definition:
            self._definitions[definition[1]] = (definition[2], definition[3])
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

    def _is_of_index(self, line: str) -> bool:
        """Takes a line of what compares an index and calls a handler: all becomes one call, in the block
        before, which goes on."""
        branch = INDEX_BRANCH.fullmatch(line)
        if branch:
            self._index = branch
            return True
        if not self._index:
            return False
        label = LABEL.match(line)
        call = INDEX_CALL.fullmatch(line)
        if call:
            hook = "__emu_check_index"
            type_ = call[2].split()[0]
            self._calls[hook] = f"declare void @{hook}({type_}, i64, i1 zeroext)"
            operands = f"{call[2]}, i64 {call[3]}, i1 zeroext {self._index[1]}"
            self._lines.append(f"{call[1]}@{hook}({operands}){_line(call[4])}")
        if label and label[1] == self._index["behind"]:
            self._ends[label[1]] = self._ends.get(self._block, self._block)
            self._block = label[1]
            self._index = None
            return True
        is_branch = line.lstrip().startswith(f"br label %{self._index['behind']},")
        return bool(label or call or is_branch or not line)

    def _hooks(self, copy: "re.Match[str]") -> Iterator[str]:
        kind, operands, behind = copy.groups()
        first, second, size = list(_parts(operands))[:3]
        accesses = [("write", self._pointer(first))]
        if kind != "memset":
            accesses.append(("read", self._pointer(second)))
        struct = COPIED.search(behind)
        members = self._structs.get(struct[1], []) if struct else []
        # Both are of one type. An element of an array may be aligned better than its type.
        of_type = [pointer.align for _, pointer in accesses if pointer.of_its_type]
        for access, pointer in accesses:
            align = max(of_type, default=pointer.align)
            for line in self._hooks_of(access, pointer, size, align, members):
                yield line + _line(behind)

    def _hooks_of(
        self, access: str, pointer: _Pointer, size: str, align: int, members: list[tuple[int, int]]
    ) -> Iterator[str]:
        """One hook, for all members: by its address those that belong together are known."""
        size_type, bytes_ = size.split()
        if _is_one_access(bytes_, align):
            # The sanitizer's hook for 16 bytes is for those at a multiple of 8 as well.
            hooks = "__emu" if bytes_ == "16" else "__tsan"
            yield self._call(f"{hooks}_{access}{bytes_}", [(pointer.type, pointer.value)])
        elif all(_is_member(offset, count, align) for offset, count in members) and members:
            numbers = [f"i64 {number}" for member in members for number in member]
            hook = f"__emu_{access}_members"
            type_ = f"void ({pointer.type}, i32, ...)"
            self._calls[hook] = f"declare void @{hook}({pointer.type}, i32, ...)"
            operands = [f"{pointer.type} {pointer.value}", f"i32 {len(members)}", *numbers]
            yield f"  call {type_} @{hook}({', '.join(operands)})"
        else:
            arguments = [(pointer.type, pointer.value), (size_type, bytes_)]
            yield self._call(f"__tsan_{access}_range", arguments)

    def _call(self, hook: str, arguments: list[tuple[str, str]]) -> str:
        self._calls[hook] = f"declare void @{hook}({', '.join(type_ for type_, _ in arguments)})"
        return f"  call void @{hook}({', '.join(' '.join(argument) for argument in arguments)})"

    def _pointer(self, operand: str) -> _Pointer:
        type_, value, align = _pointer_of(operand)
        return _Pointer(type_, value, align, self._is_aligned_by_type(value))

    def _is_aligned_by_type(self, value: str) -> bool:
        """Whether clang's alignment of an address is that of the type of what is there; if not, it has
        seen the array that this is in, or the struct."""
        if not value.startswith("%"):
            return False
        kind, text = self._definitions.get(value, ("parameter", ""))
        if kind == "alloca":
            return LOCAL_STRUCT.match(text) is not None
        if kind not in ("bitcast", "getelementptr"):
            return True
        base = BASE.search(text)
        if not base or (kind == "getelementptr" and not ELEMENT.fullmatch(text)):
            return False
        return self._is_aligned_by_type(base[1])

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


def _is_one_access(size: str, align: int) -> bool:
    return size.isdigit() and int(size) in ONE_ACCESS and align >= int(size)


def _is_member(offset: int, size: int, align: int) -> bool:
    """A number, and not an array of them."""
    return size <= min(LARGEST_NUMBER, align) and size in ONE_ACCESS and offset % size == 0


def _pointer_of(operand: str) -> tuple[str, str, int]:
    """Type, value and what clang knows of its alignment."""
    pointer = POINTER.fullmatch(operand)
    assert pointer, operand
    return pointer["type"], pointer["value"], int(pointer["align"] or 1)


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


def with_checks(code: str) -> str:
    """Intermediate code in which a kernel ends before it copies or fills what is not aligned as its type
    asks for. Of a clang whose pointers have no types (from 15 on)."""
    lines: list[str] = []
    for line in code.split("\n"):
        copy = COPY.fullmatch(line)
        if copy:
            operands = list(_parts(copy[2]))[: 1 if copy[1] == "memset" else 2]
            for _, value, align in map(_pointer_of, operands):
                if align > 1:
                    check = f"  call void @emu_check_copy(ptr {value}, i64 {align})"
                    lines.append(check + _line(copy[3]))
        lines.append(line)
    return "\n".join(lines) + CHECK


def _change(command: list[str]) -> Optional[Callable[[str], str]]:
    """What is done with the intermediate code."""
    if "-c" not in command or "-fsyntax-only" in command:
        return None
    if "-fsanitize=thread" in command:
        return with_hooks
    return with_checks if any(map(ALIGNMENT.fullmatch, command)) else None


def compile_changed(command: list[str]) -> int:
    """Returns the status of the compiler that failed, or 0. Raises OSError."""
    environment = dict(os.environ)
    change = _change(command)
    if not change:
        return run(command, environment)
    output = command.index("-o") + 1
    with temporary_folder("lab-clang-") as folder:
        code = os.path.join(folder, "code.ll")
        front = [*command[:output], code, *command[output + 1 :]]
        if not {"-MD", "-MMD"}.intersection(front):  # without such a rule zig goes on to its linker
            front += ["-MD", "-MF", os.path.join(folder, "rule.d")]
        status = run([*front, *INTERMEDIATE], environment)
        if status != 0:
            return status
        with open(code, encoding="utf-8", errors="surrogateescape") as file:
            text = change(file.read())
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
        sys.exit(compile_changed(sys.argv[1:]))
    except OSError as error:
        sys.exit(f"instrument_clang.py: {error.filename or sys.argv[1]}: {error.strerror}")
