"""Finds the functions in a .cu file, and puts other bodies in their place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lab_cli.errors import LabError
from lab_cli.paths import ROOT

# The translator of the cpu back end knows where a function of CUDA begins and ends.
sys.path.append(str(ROOT / "emulator"))

from translator.lanes import Function as Found  # noqa: E402
from translator.lanes import device_functions, function_at, header_start  # noqa: E402
from translator.lexer import Lexer, Stream, TranslateError  # noqa: E402

DEVICE_WORDS = {"__global__", "__device__"}


@dataclass(frozen=True)
class Function:
    """A definition; the numbers are offsets in the text."""

    name: str
    start: int  # of `template`, or of what comes first
    body: int  # of what stands behind its `{`
    end: int  # of its `}`
    signature: tuple[str, ...]  # tokens from `start` to the `{`
    names: frozenset[str]  # identifiers, those of the signature as well
    members: frozenset[str]  # of these, those behind a `.` or `->`

    @property
    def is_kernel(self) -> bool:
        return "__global__" in self.signature

    @property
    def of_host(self) -> bool:
        return DEVICE_WORDS.isdisjoint(self.signature)


class KernelSource:
    """A .cu file, or a header of device code. LabError, which names `path`, where it has no end of a
    comment or the like."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        try:
            stream = Lexer(path, text).streams[0]
        except TranslateError as error:
            raise LabError(str(error)) from error
        self.functions = [  # of device code
            _function(stream, found) for found in device_functions(stream, DEVICE_WORDS)
        ]
        self.host_functions = [_function(stream, found) for found in _host_functions(stream)]

    def function(self, name: str) -> Function:
        """Of device code, or else of the host. LabError where there is none of this name, or more than
        one."""
        found = [function for function in self.functions if function.name == name]
        found = found or [function for function in self.host_functions if function.name == name]
        if len(found) != 1:
            times = f"is defined {len(found)} times" if found else "is not there"
            raise LabError(f"{self.path}: {name} {times}: it must be there once")
        return found[0]

    def body(self, name: str) -> str:
        """What stands between the braces."""
        function = self.function(name)
        return self.text[function.body : function.end]

    def line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def with_bodies(self, bodies: Mapping[str, str]) -> str:
        """The text, the bodies of the functions of these names replaced."""
        return replaced(
            self.text,
            [
                (self.function(name).body, self.function(name).end, body)
                for name, body in bodies.items()
            ],
        )


def _host_functions(stream: Stream) -> Iterator[Found]:
    """Those that stand in no class and no other function."""
    i = 0
    while i < len(stream.tokens):
        end = stream.pair(i) if stream.text(i) == "{" else None
        if end is not None:
            words = {stream.text(k) for k in range(header_start(stream, i), i)}
            found = function_at(stream, i)
            if found and DEVICE_WORDS.isdisjoint(words):
                yield found
            if "namespace" not in words:
                i = end
        i += 1


def _function(stream: Stream, found: Found) -> Function:
    tokens = stream.tokens[found.start : found.end + 1]
    before_body = found.body - found.start
    names = [i for i, token in enumerate(tokens) if token.kind == "name"]
    return Function(
        name=found.name,
        start=tokens[0].start,
        body=tokens[before_body].end,
        end=tokens[-1].start,
        signature=tuple(token.text for token in tokens[:before_body]),
        names=frozenset(tokens[i].text for i in names),
        members=frozenset(
            tokens[i].text for i in names if i > 0 and tokens[i - 1].text in (".", "->")
        ),
    )


def replaced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """`text`, each part [start, end) replaced; they do not overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
