"""Where `./lab watch` keeps what copies include, compiled."""

from __future__ import annotations

import os
from pathlib import Path

from lab_course.loop import verdict


def test_preambles_go_unless_they_are_in_use(tmp_path: Path) -> None:
    mine, in_use, left = (tmp_path / name for name in ("mine", "inUse", "left"))
    for folder in (mine, in_use, left):
        folder.mkdir()
    os.utime(mine, (0, 0))
    os.utime(left, (0, 0))
    verdict.make_room(mine)
    assert mine.is_dir() and in_use.is_dir() and not left.exists()
