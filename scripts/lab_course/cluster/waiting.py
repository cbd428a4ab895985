"""Waits for a job, or for each element of an array: looks for the status that it leaves, and asks Slurm now
and then, which is asked by many."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lab_cli.paths import shown
from lab_cli.process import say

from . import slurm
from .folder import Folder
from .slurm import State

LOOK = 0.5  # seconds between two looks at files
ASK = 2.0  # seconds between two questions to Slurm at first, and after each change
SELDOM = 15.0  # and in the end, where nothing changes
LONGER = 1.3
GRACE = 60.0  # seconds for a network file system to show a file: as long as NFS may keep a folder


@dataclass(frozen=True)
class End:
    status: int | None  # that it has noted
    state: State | None  # that Slurm had last, where it was asked

    @property
    def by_itself(self) -> bool:
        """It ran to its end, and the status is that of what it ran."""
        known = self.state is not None and self.state.is_end
        return self.status is not None and (not known or self.state.name in slurm.BY_ITSELF)

    def problem(self, folder: Folder) -> str:
        """How it ended, where that was not by itself."""
        if self.state is None or not self.state.is_end:
            said = f", and last was {self.state}" if self.state else ""
            return f"Slurm no longer knows it{said}; {_no_status(folder)}"
        text = f"{self.state.name}: {slurm.ENDS[self.state.name]}"
        return f"{text}; {_no_status(folder)}" if self.state.name in slurm.BY_ITSELF else text


def _no_status(folder: Folder) -> str:
    return (
        f"it has left no exit status in {shown(folder.path)}: that must be on a file system which its node "
        "shares, and the node must run bash"
    )


class Watch:
    """`indices`: of the elements of the array; of a job that is none, ''."""

    def __init__(self, job: str, folder: Folder, indices: Sequence[str] = ("",)) -> None:
        self.job = job
        self.folder = folder
        self.ended: dict[str, End] = {}
        self._open = [*indices]
        self._states: dict[str, State] = {}
        self._failed: set[str] = set()  # those that have noted another status than 0
        self._missed_since: dict[str, float] = {}
        self._interval = ASK
        self._ask_at = time.monotonic() + ASK
        self._answers = True

    def look(self) -> bool:
        """Whether all have ended."""
        statuses = self.folder.statuses(self._open)
        for index in [index for index, status in statuses.items() if status == 0]:
            self._end(index, End(0, None))
        new = {index for index, status in statuses.items() if status != 0} - self._failed
        if new:  # Slurm says whether that is its own doing, and whether it goes on
            self._failed |= new
            self._interval = ASK
        if self._open and (new or time.monotonic() >= self._ask_at):
            self._ask()
        return not self._open

    @property
    def about(self) -> str:
        """In what states those are that have not ended; of a single one, why."""
        if not self._answers:
            return "Slurm does not answer"
        open_states = [self._states[index] for index in self._open if index in self._states]
        if len(open_states) == 1:
            return str(open_states[0])
        counts = Counter(state.name for state in open_states)
        return ", ".join(f"{count} {State(name)}" for name, count in counts.items())

    def _end(self, index: str, end: End) -> None:
        self.ended[index] = end
        self._open.remove(index)

    def _ask(self) -> None:
        states = self._answer()
        if states is not None:
            changed = any(states.get(index) != self._states.get(index) for index in self._open)
            self._states.update(states)
            statuses = self.folder.statuses(self._open)  # after what Slurm says
            for index in [*self._open]:
                self._judge(index, statuses.get(index), states.get(index))
            self._interval = ASK if changed else min(SELDOM, self._interval * LONGER)
        self._ask_at = time.monotonic() + self._interval

    def _answer(self) -> dict[str, State] | None:
        try:
            states = slurm.states(self.job)
        except slurm.NoAnswer as problem:
            if self._answers:
                say(
                    f"Slurm does not answer ({problem}): waiting on, job {self.job} is not lost by that"
                )
            self._answers = False
            return None
        self._answers = True
        return states

    def _judge(self, index: str, status: int | None, state: State | None) -> None:
        """`state`: what Slurm says now; None where it has forgotten the job."""
        if state and not state.is_end:  # also of one that is back in the queue
            self._missed_since.pop(index, None)
        elif status is not None or (state and state.name not in slurm.BY_ITSELF):
            self._end(index, End(status, self._states.get(index)))
        else:
            since = self._missed_since.setdefault(index, time.monotonic())
            if time.monotonic() - since >= GRACE:
                self._end(index, End(None, self._states.get(index)))
