"""NAME.cu as students get it: a TODO in place of the bodies that they write, nothing of the kernels that
give them away."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from lab_cli.assignments import Assignment

from ..grading.gate import DECLARED
from ..grading.kernel_source import Function, KernelSource, replaced
from .choice import Part
from .host_code import HostCode, Span, names_of_rows, without_lines

from translator.lexer import Lexer  # isort: skip  # kernel_source.py says where it is

WIDTH = 100
UNUSED = "[[maybe_unused]] "
# A line of the list in the header comment: number, names, what they do.
LISTED = re.compile(r"^//( +(?:\d+ )?)((?:[A-Za-z_]\w*(?:, \w+)*)) {2,}(\S.*)$")


@dataclass(frozen=True)
class Changed:
    text: str
    removed: set[str]  # names of kernels and rows that are not there any more
    beside: set[str]  # kernels that were launched for such rows, too
    rows: set[str]  # names of those that are there


def of(text: str, part: Part) -> Changed:
    """LabError, which names the file, for a kernel that is not there, or cannot be taken out."""
    path = str(part.source)
    shipped = KernelSource(text, path)
    for name in [*part.kernels, *part.hidden]:
        shipped.function(name)  # or LabError
    for assignment in part.assignments:
        text = _with_todos(text, path, assignment, part.page.name)
    helpers = _helpers_of(shipped, part.hidden)
    text, host = _without_hidden(text, path, part.hidden, helpers)
    removed = {*part.hidden} | host.rows if part.hidden else set()
    text = _header(text, removed, part.assignments)
    written = _names_in_bodies(shipped, part.kernels)
    hidden = _names_in_bodies(shipped, [*part.hidden, *helpers])
    text = _constants(text, hidden | host.seen, written, "")
    text = _constants(text, written, set(), UNUSED)
    stream = Lexer(path, text).streams[0]
    rows = names_of_rows(stream, Span(0, len(stream.tokens)))
    return Changed(text, removed, host.beside, rows)


def _names_in_bodies(source: KernelSource, kernels: Iterable[str]) -> set[str]:
    return {name for kernel in kernels for name in source.function(kernel).names}


def _with_todos(text: str, path: str, assignment: Assignment, page: str) -> str:
    for number, kernel in enumerate(assignment.kernels):
        source = KernelSource(text, path)
        function = source.function(kernel)
        text = source.with_bodies({kernel: _todo(function, assignment, page)})
        if assignment.comment:
            above = _start_of_comment(text, function.start)
            new = _comment(assignment.comment, "") if number == 0 else ""
            text = replaced(text, [(above, function.start, new)])
    return text


def _todo(function: Function, assignment: Assignment, page: str) -> str:
    """A body that compiles without a warning, and does nothing."""
    lines = _comment(f"TODO: {assignment.sentence}", "    ")
    lines += _comment(f"{page} has the assignment. ./lab hint gives one hint at a time.", "    ")
    unused = ", ".join(f"(void){name}" for name in parameters(function))
    if unused:
        lines += (
            textwrap.fill(unused + ";", WIDTH, initial_indent="    ", subsequent_indent="    ")
            + "\n"
        )
    if not is_void(function):
        lines += "    return {};\n"
    return "\n" + lines


def _comment(text: str, indent: str) -> str:
    paragraphs = [
        textwrap.fill(part, WIDTH, initial_indent=indent + "// ", subsequent_indent=indent + "// ")
        for part in text.strip().splitlines()
    ]
    return "\n".join(paragraphs) + "\n"


def _start_of_comment(text: str, start: int) -> int:
    """Of the lines of comment directly above the line in which a function begins."""
    start = text.rfind("\n", 0, start) + 1
    while True:
        before = text.rfind("\n", 0, max(start - 1, 0)) + 1
        if start == 0 or not text[before:start].lstrip().startswith("//"):
            return start
        start = before


def is_void(function: Function) -> bool:
    words = function.signature[: _name_at(function)]
    return any(word == "void" and after != "*" for word, after in zip(words, [*words[1:], ""]))


def _name_at(function: Function) -> int:
    """The token of the signature that is the function's name."""
    return max(i for i, token in enumerate(function.signature) if token == function.name)


def parameters(function: Function) -> list[str]:
    """The names of those that have one."""
    signature = function.signature
    begin = _name_at(function) + 1
    names, depth, parameter = [], 0, []  # type: list[str], int, list[str]
    for token in signature[begin + 1 :]:
        if token in (",", ")") and depth == 0:
            name = _name(parameter)
            names += [name] if name else []
            parameter = []
            if token == ")":
                break
            continue
        depth += (token in ("(", "<", "[", "{")) - (token in (")", ">", "]", "}"))
        parameter.append(token)
    return names


def _name(parameter: list[str]) -> str:
    """Of `const float* in`, `int (&tile)[32]`, `unsigned n = 1`; empty of `int`."""
    if "=" in parameter:
        parameter = parameter[: parameter.index("=")]
    if "(" in parameter:
        inner = parameter[parameter.index("(") + 1 : parameter.index(")")]
        return inner[-1] if inner else ""
    while parameter and parameter[-1] == "]":
        parameter = parameter[: len(parameter) - 1 - parameter[::-1].index("[")]
    words = [token for token in parameter if re.fullmatch(r"[^\W\d]\w*", token)]
    is_type = len(words) < 2 or parameter[-1] != words[-1]
    return "" if is_type else words[-1]


def _without_hidden(
    text: str, path: str, hidden: list[str], helpers: list[str]
) -> tuple[str, HostCode]:
    kernels = {function.name for function in KernelSource(text, path).functions}
    for name in [*hidden, *helpers]:
        function = KernelSource(text, path).function(name)
        text = without_lines(text, function.start, function.end + 1)
    host = HostCode(text, path, kernels)
    host.take_out(hidden)
    return host.text, host


def _helpers_of(source: KernelSource, hidden: Iterable[str]) -> list[str]:
    """Functions of device code that nothing but hidden kernels calls. What students write may: `source` has
    the solutions."""
    gone = set(hidden)
    helpers: list[str] = []
    while True:
        kept = [function for function in source.functions if function.name not in gone]
        used = {name for function in kept for name in function.names - {function.name}}
        new = [
            function.name
            for function in kept
            if not function.is_kernel
            and function.name not in used
            and any(function.name in source.function(name).names for name in gone)
        ]
        if not new:
            return helpers
        helpers += new
        gone |= {*new}


def _constants(text: str, names: set[str], keep: set[str], mark: str) -> str:
    """What declares constants that only code used which is not there any more: with `mark`, or where that
    is empty, gone, but for those to `keep`."""
    todo = sorted(names)
    while todo:
        name = todo.pop()
        found = [match for match in DECLARED.finditer(text) if match[1] == name]
        code = re.sub(r"//[^\n]*", "", text)
        if name in keep or len(found) != 1 or len(re.findall(rf"\b{name}\b", code)) != 1:
            continue
        start = found[0].start()
        if re.match(r"struct|using|template", text[start:]):
            continue  # nobody warns of these
        end = text.find(";", start) + 1
        if mark:
            text = replaced(text, [(start, start, mark)])
        else:
            todo += re.findall(r"\w+", text[found[0].end() : end])  # of its value
            text = without_lines(text, start, end)
    return text


# ---- the header comment


def _header(text: str, removed: set[str], assignments: Iterable[Assignment]) -> str:
    """Without the lines of its list that are about rows which are gone, and with what assignments say in
    place of theirs."""
    instead = {
        name: each.listed
        for each in assignments
        if each.listed
        for name in [*each.kernels, *each.rows]
    }
    head = re.match(r"(?://[^\n]*\n)*", text)
    assert head is not None
    lines: list[str] = []
    column, dropped = 0, False  # of the entry that we are in
    for line in head[0].splitlines():
        entry = LISTED.match(line)
        if entry:
            names = re.findall(r"[A-Za-z_]\w*", entry[2])
            column = entry.start(3)
            dropped = bool({*names} & removed)
            new = next((instead[name] for name in names if name in instead), "")
            if new:
                line = line[:column] + new
                lines.append(line)
                dropped = True  # what went on there
                continue
        elif not (column and not line[2:column].strip() and line[column:].strip()):
            column, dropped = 0, False
        if not dropped:
            lines.append(line)
    return "\n".join(lines) + "\n" + text[head.end() :] if lines else text
