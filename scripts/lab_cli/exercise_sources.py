"""What an exercise is made of: NAME.cu, and the files of its chapter that this includes."""

from __future__ import annotations

import os
import re
from pathlib import Path

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def sources(source: Path) -> dict[Path, bytes]:
    """What an exercise's own files have in them: NAME.cu and the files of its chapter that it includes, or
    that those include. Without those that cannot be read."""
    contents: dict[Path, bytes] = {}
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path in contents:
            continue
        try:
            contents[path] = path.read_bytes()
        except OSError:  # of common/, or of CUDA
            continue
        for name in INCLUDE.findall(contents[path]):
            file = Path(os.path.normpath(path.parent / os.fsdecode(name)))
            if source.parents[1] in file.parents:
                waiting.append(file)
    return contents
