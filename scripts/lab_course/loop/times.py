"""What a student's kernel takes on a GPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    gpu: str  # its name, and the options of the run
    rows: list[tuple[str, float]]  # kernels and milliseconds, the student's first
