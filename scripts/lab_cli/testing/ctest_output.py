"""What of ctest's output a student needs while it runs."""

from __future__ import annotations

import re

from ..progress import Progress

END_OF_CASES = "% tests passed"  # of ctest's own summary, in its first line
START = re.compile(r"\s+Start +\d+: (.*)")
RESULT = re.compile(r"\s*(\d+)/(\d+) +Test +#\d+: .*?(Passed|\*\*\*\w+)")
BEGINNING = ("Internal ctest changing into directory", "Test project ")


class Reader:
    """Chooses lines, and keeps the progress. Tests that fail are shown with their output; each test's
    result unless `on_terminal`, where the progress stands for those that pass. ctest's own summary is left
    out. With `verbatim` all is shown as ctest prints it."""

    def __init__(self, progress: Progress, on_terminal: bool, verbatim: bool) -> None:
        self._progress = progress
        self._on_terminal = on_terminal
        self._verbatim = verbatim
        self._ended = False
        self._done = self._total = 0
        self.gap = ""  # an empty line, if anything stands above what comes

    def shown(self, line: str) -> str:
        """The line, or nothing."""
        text = self._chosen(line)
        if text.strip() or self._verbatim:
            self.gap = "\n"
        return text

    def _chosen(self, line: str) -> str:
        if line.startswith(BEGINNING):
            self._ended = False  # another ctest has begun
        self._ended = self._ended or END_OF_CASES in line
        start, result = START.match(line), RESULT.match(line)
        if start:
            self._progress.update("", self._done, self._total, start[1].strip())
        elif result:
            self._done, self._total = int(result[1]), int(result[2])
            self._progress.update("", self._done, self._total, self._progress.state.item)
        if self._verbatim:
            return line
        if self._ended:
            return ""
        if start or line.startswith(BEGINNING):
            return ""
        if self._on_terminal and result and result[3] in ("Passed", "***Skipped"):
            return ""
        return line if line.strip() or self.gap else ""
