"""Finds the functions of device code in a .cu file, and puts other bodies in their place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lab_cli.errors import LabError
from lab_cli.paths import ROOT

# The translator of the cpu back end knows where a function of CUDA begins and ends.
sys.path.append(str(ROOT / "emulator"))

from translator.lanes import device_functions  # noqa: E402
from translator.lexer import Lexer, TranslateError  # noqa: E402

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
        self.functions: list[Function] = []
        for found in device_functions(stream, DEVICE_WORDS):
            tokens = stream.tokens[found.start : found.end + 1]
            before_body = found.body - found.start
            self.functions.append(
                Function(
                    name=found.name,
                    start=tokens[0].start,
                    body=tokens[before_body].end,
                    end=tokens[-1].start,
                    signature=tuple(token.text for token in tokens[:before_body]),
                    names=frozenset(token.text for token in tokens if token.kind == "name"),
                )
            )

    def function(self, name: str) -> Function:
        """LabError where there is none of this name, or more than one."""
        found = [function for function in self.functions if function.name == name]
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


def replaced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """`text`, each part [start, end) replaced; they do not overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
