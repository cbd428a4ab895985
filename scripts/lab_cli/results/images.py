"""Images of exercises: binary PGM (P5) and PPM (P6) files, with facts about the machine as `# name: value` lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import LabError
from ..paths import shown

_MAGIC_BYTES = 3
_HEADER = re.compile(rb"P([56])\n((?:#[^\n]*\n)*)(\d+) (\d+)\n(\d+)\n")


@dataclass(frozen=True)
class Image:
    facts: dict[str, str]
    width: int
    height: int
    most: int  # white
    pixels: bytes  # lines from the top; one byte each, or two (the high one first) if `most` is above 255
    channels: int = 1  # 3: red, green and blue of each pixel

    @property
    def suffix(self) -> str:
        return suffix(self.channels > 1)


def suffix(colour: bool) -> str:
    return ".ppm" if colour else ".pgm"


def parse(data: bytes, path: Path) -> Image:
    """`path` is for messages. LabError if it is no image as exercises write them, or not all of it."""
    header = _HEADER.match(data)
    if header is None:
        raise LabError(f"{shown(path)}: not a binary PGM or PPM image (P5, P6)")
    width, height, most = (int(number) for number in header.groups()[2:])
    channels = 3 if header[1] == b"6" else 1
    pixels = data[header.end() :]
    wanted = width * height * channels * (2 if most > 255 else 1)
    if len(pixels) != wanted:
        raise LabError(
            f"{shown(path)}: {len(pixels)} bytes of pixels, but {width} x {height} up to {most} are "
            f"{wanted}"
        )
    lines = header[2].decode(errors="replace").splitlines()
    facts = dict(line[1:].strip().split(": ", 1) for line in lines if ": " in line)
    return Image(facts, width, height, most, pixels, channels)


def with_facts(facts: Mapping[str, str], data: bytes) -> bytes:
    """The image with these facts in front of its own."""
    lines = "".join(f"# {name}: {value}\n" for name, value in facts.items())
    return data[:_MAGIC_BYTES] + lines.encode() + data[_MAGIC_BYTES:]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LabError(f"{shown(path)}: {error.strerror}") from error
