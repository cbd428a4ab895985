"""Tells of the cases of a test that has many: a line for each, and at the end the first that failed."""

from __future__ import annotations

from collections.abc import Sequence

# Words that begin the line of a case, or of what is to be said of it; lab_cli/testing/summary.py reads them.
OK, FAILED, LEFT_OUT, NOTE = "ok      ", "FAILED  ", "skipped ", "note    "
SKIPPED = 77  # the exit status by which ctest knows a test that cannot be made here


class CaseLines:
    """Prints what came of each case."""

    def __init__(self) -> None:
        self._failed: list[str] = []
        self._ran = 0

    @property
    def any_failed(self) -> bool:
        return bool(self._failed)

    def tell(self, name: str, problems: Sequence[str] = ()) -> None:
        """Prints "ok" and the name, or "FAILED", the name and the problems."""
        self._ran += 1
        if problems:
            self._failed.append(name)
        line = f"{FAILED}{name}: {'; '.join(problems)}" if problems else f"{OK}{name}"
        print(line, flush=True)

    def note(self, text: str) -> None:
        """Prints what a student may want to know, right or wrong."""
        print(f"{NOTE}{text}", flush=True)

    def leave_out(self, name: str) -> None:
        """Prints that a case was skipped."""
        print(f"{LEFT_OUT}{name}", flush=True)

    def end(self) -> int:
        """Names the first case that failed. Returns the exit status of the test, which was skipped where no
        case ran."""
        if self._failed:
            print(f"{len(self._failed)} of {self._ran} cases failed; the first: {self._failed[0]}")
            return 1
        return 0 if self._ran else SKIPPED
