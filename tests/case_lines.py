"""Tells of the cases of a test that has many: a line for each, and at the end the first that failed."""

from __future__ import annotations

from collections.abc import Sequence


class CaseLines:
    """Prints what came of each case."""

    def __init__(self) -> None:
        self._failed: list[str] = []
        self._number = 0

    def tell(self, name: str, problems: Sequence[str] = ()) -> None:
        """Prints "ok" and the name, or "FAILED", the name and the problems."""
        self._number += 1
        line = f"FAILED  {name}: {'; '.join(problems)}" if problems else f"ok      {name}"
        if problems:
            self._failed.append(line)
        print(line, flush=True)

    def end(self) -> int:
        """Names the first case that failed; the exit status of the test."""
        if not self._failed:
            return 0
        print(f"{len(self._failed)} of {self._number} cases failed; the first: {self._failed[0]}")
        return 1
