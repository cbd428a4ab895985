"""Images of exercises: binary PGM files (P5), with facts about the machine as `# name: value` lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import LabError
from ..paths import shown

_MAGIC = b"P5\n"
_HEADER = re.compile(rb"P5\n((?:#[^\n]*\n)*)(\d+) (\d+)\n(\d+)\n")


@dataclass(frozen=True)
class Image:
    facts: dict[str, str]
    width: int
    height: int
    most: int  # white
    pixels: bytes  # lines from the top; one byte each, or two (the high one first) if `most` is above 255


def parse(data: bytes, path: Path) -> Image:
    """`path` is for messages. LabError if it is no image as exercises write them, or not all of it."""
    header = _HEADER.match(data)
    if header is None:
        raise LabError(f"{shown(path)}: not a binary PGM image (P5)")
    width, height, most = (int(number) for number in header.groups()[1:])
    pixels = data[header.end() :]
    wanted = width * height * (2 if most > 255 else 1)
    if len(pixels) != wanted:
        raise LabError(
            f"{shown(path)}: {len(pixels)} bytes of pixels, but {width} x {height} up to {most} are "
            f"{wanted}"
        )
    lines = header[1].decode(errors="replace").splitlines()
    facts = dict(line[1:].strip().split(": ", 1) for line in lines if ": " in line)
    return Image(facts, width, height, most, pixels)


def with_facts(facts: Mapping[str, str], data: bytes) -> bytes:
    """The image with these facts in front of its own."""
    lines = "".join(f"# {name}: {value}\n" for name, value in facts.items())
    return _MAGIC + lines.encode() + data[len(_MAGIC) :]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LabError(f"{shown(path)}: {error.strerror}") from error
