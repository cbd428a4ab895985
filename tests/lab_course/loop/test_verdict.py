"""What `./lab watch` shows of several launches, and where it keeps what copies include, compiled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lab_cli.assignments import Bound
from lab_course.loop import verdict


@pytest.mark.parametrize(
    ("comparison", "worst"), [(">=", 1.0), (">", 1.0), ("<=", 9.0), ("<", 9.0), ("==", 9.0)]
)
def test_the_launch_that_is_shown_is_the_worst(comparison: str, worst: float) -> None:
    bound = Bound(f"a {comparison} 4", "a", comparison, 4, "")
    assert bound.worst([4.0, 1.0, 9.0]) == worst
    assert bound.worst([]) is None


def test_preambles_go_unless_they_are_in_use(tmp_path: Path) -> None:
    mine, in_use, left = (tmp_path / name for name in ("mine", "inUse", "left"))
    for folder in (mine, in_use, left):
        folder.mkdir()
    os.utime(mine, (0, 0))
    os.utime(left, (0, 0))
    verdict.make_room(mine)
    assert mine.is_dir() and in_use.is_dir() and not left.exists()
