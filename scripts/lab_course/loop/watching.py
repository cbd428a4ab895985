"""./lab watch: a verdict after each save, and keys."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

from lab_cli.assignments import POINTS, Assignment
from lab_cli.commands.layout import wrapped
from lab_cli.errors import LabError
from lab_cli.paths import shown
from lab_cli.process import show
from lab_cli.results import marks
from lab_cli.verdicts import in_colour

from . import current, hints, screen
from .copy import Copy
from .keyboard import Keyboard
from .times import Times
from .verdict import Bench, Verdict
from .worker import Worker

LOOK = 0.1  # seconds between two looks at the file. (inotify sees nothing of a network folder.)
SETTLED = 0.05  # seconds in which a file has not changed: an editor has written all of it
CLEAR = "\x1b[H\x1b[2J\x1b[3J"
PRESS = " Press n."
KEYS = "h hint   r reset   n next   q quit"


class Watch:
    """Of one exercise after the other."""

    def __init__(self, copy: Copy, keyboard: Keyboard) -> None:
        self._keyboard = keyboard
        self._paint = screen.coloured if in_colour(sys.stdout) else screen.plain
        self._begin(copy)

    def _begin(self, copy: Copy) -> None:
        self._copy = copy
        self._bench = Bench(copy.exercise)
        self._worker: Worker | None = None
        self._verdict: Verdict | None = None
        self._times: Times | None = None
        self._message: list[str] = []
        self._asked = ""  # a key that is to be pressed twice
        self._seen = ()  # of the file that was judged last
        self._quits = self._busy = False

    def run(self) -> None:
        """Until somebody quits; where nobody can, one verdict."""
        signal.signal(signal.SIGWINCH, self._resized)
        try:
            while not self._quits:
                self._look()
                others = [self._worker.descriptor] if self._worker else []
                key = self._keyboard.wait(LOOK, others)
                if key:
                    self._press(key)
                if self._worker and self._worker.has_news():
                    self._take(self._worker)
        finally:
            self._stop()
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)

    def _resized(self, _: int, __: FrameType | None) -> None:
        self._draw()

    # ---- the file

    def _look(self) -> None:
        """Begins a verdict where the file has changed, and ends the one that is being made."""
        now = self._state()
        if not now or now == self._seen:
            return
        time.sleep(SETTLED)
        if self._state() != now:
            return
        self._stop()
        self._seen = now
        self._message, self._asked, self._times = [], "", None
        bench, assignment = self._bench, self._assignment()

        def work() -> Iterator[Verdict | Times]:
            verdict = bench.verdict(assignment)
            yield verdict
            if assignment and verdict.is_right:
                yield from bench.times(assignment)

        self._worker = Worker(work)
        self._busy = True
        self._draw()

    def _state(self) -> tuple[int, ...]:
        """Empty where the file is not there, as it may be while an editor saves it."""
        try:
            found = os.stat(self._copy.file)
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _assignment(self) -> Assignment | None:
        return current.assignment(self._copy.exercise)

    def _stop(self) -> None:
        if self._worker:
            self._worker.close()
            self._worker = None
        self._busy = False

    def _take(self, worker: Worker) -> None:
        for found in worker.take():
            if isinstance(found, LabError):
                raise found
            self._busy = False
            if isinstance(found, Times):
                self._times = found
            else:
                self._judged(found)
            self._draw(news=True)
        if worker.ended:
            if self._busy:
                raise LabError("the copy could not be judged: the reason is above")
            self._stop()
            self._quits = not self._keyboard.somebody

    def _judged(self, verdict: Verdict) -> None:
        self._verdict, self._times = verdict, verdict.times
        if verdict.assignment:
            marks.record_points(verdict.assignment.name, verdict.points)
            if verdict.points == POINTS:
                self._message = self._after()

    @property
    def is_solved(self) -> bool:
        """What was judged last."""
        assignment = self._verdict.assignment if self._verdict else None
        if not (self._verdict and assignment):
            return bool(self._verdict and self._verdict.is_right)
        return self._verdict.points == POINTS

    def _after(self) -> list[str]:
        """What comes next, where an assignment is solved."""
        left = self._assignment()
        if left and not marks.of(left.name).solved:
            return [f"Next: {left.name}, in the same file.{PRESS * self._keyboard.is_there}"]
        following = current.next_after(self._copy.exercise)
        if not following:
            return ["That was the last one: all assignments are solved."]
        press = PRESS * self._keyboard.is_there
        page = shown(self._copy.exercise.page)
        return [
            "./lab solution shows our code beside yours.",
            f"Next: the tasks of {page}; or ./lab start {following.name}.{press}",
        ]

    # ---- keys

    def _press(self, key: str) -> None:
        asked, self._asked = self._asked, ""
        if key in ("q", "\x04"):
            self._quits = True
            return
        if key == "h":
            self._hint()
        elif key == "r" and asked != "r":
            self._asked = "r"
            self._message = ["Press r again to start over. Your file is kept beside the new one."]
        elif key == "r":
            kept = self._copy.reset()
            file = shown(self._copy.file)
            self._message = [f"{file} is blank again; your version is kept in {shown(kept)}."]
        elif key == "n" and asked != "n" and not self.is_solved:
            self._asked = "n"
            name = self._copy.exercise.name
            self._message = [
                f"This one is not solved. Press n again to go on; ./lab watch {name} comes back to it."
            ]
        elif key == "n":
            self._next()
        self._draw()

    def _hint(self) -> None:
        assignment = self._assignment()
        if assignment is None:
            self._message = [hints.instead(self._copy.exercise)]
        else:
            self._message = hints.next_of(assignment)

    def _next(self) -> None:
        """The next assignment of this exercise, or the next exercise."""
        self._stop()
        left = self._assignment()
        own = self._verdict.assignment if self._verdict else None
        if left and own and left.name != own.name:
            self._copy.refresh()  # what the solved assignment hid
            self._seen = ()
            return
        following = current.next_after(self._copy.exercise)
        if not following:
            self._message = ["All other assignments are solved."]
            return
        copy = Copy(following)
        if not copy.is_there:
            copy.start()
        self._begin(copy)

    # ---- the screen

    def _draw(self, news: bool = False) -> None:
        """On a terminal, the whole screen. Into a pipe or a file goes what is new alone."""
        verdict, below = self._verdict_lines(), self._lines_below()
        if self._keyboard.is_there:
            size = shutil.get_terminal_size((screen.WIDTH, 24))
            show(CLEAR + "\n".join(screen.fitted(verdict, below, size.lines - 1)))
        elif news:
            show("\n".join([*verdict, *below, "", ""]))

    def _verdict_lines(self) -> list[str]:
        verdict, paint = self._verdict, self._paint
        assignment = verdict.assignment if verdict else self._assignment()
        right = "looking at your file ..." if self._busy else screen.took(verdict)
        lines = [screen.heading(self._copy, assignment, right, paint), ""]
        if verdict:
            lines += screen.lines(self._copy, verdict, paint)
        else:
            lines += screen.beginning(self._copy, assignment)
        if self._times:
            lines.append(screen.times(self._times))
        return "\n".join(lines).split("\n")

    def _lines_below(self) -> list[str]:
        """What lab has to say, and the keys."""
        lines: list[str] = []
        for line in self._message:
            lines += ["", *wrapped(line, screen.WIDTH - 2, "  ", "  ").split("\n")]
        if self._keyboard.is_there:
            lines += ["", self._paint(KEYS, screen.SOFT)]
        return lines
