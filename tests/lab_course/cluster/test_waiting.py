"""Waiting for jobs: the files that they leave, what Slurm says, and when it says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from lab_course.cluster import slurm, waiting
from lab_course.cluster.folder import Folder
from lab_course.cluster.slurm import NoAnswer, State
from lab_course.cluster.waiting import GRACE, SELDOM, End, Watch

RUNNING, PENDING = State("RUNNING"), State("PENDING", "Resources")
FAILED, COMPLETED, TIMEOUT = State("FAILED"), State("COMPLETED"), State("TIMEOUT", "TimeLimit")


class Slurm:
    """Time, and what squeue says: `now` of each; None where it does not answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.time = 0.0
        self.now: dict[str, State] | None = {"": RUNNING}
        self.asked: list[float] = []

    def states(self, job: str) -> dict[str, State]:
        assert job == "7"
        self.asked.append(self.time)
        if self.now is None:
            raise NoAnswer("connect failure")
        return self.now

    def note(self, status: int, index: str = "") -> None:
        Folder(self.folder).file("status", index).write_text(f"{status}\n")

    def watch(self, *indices: str) -> Watch:
        return Watch("7", Folder(self.folder), indices or ("",))

    def wait(self, watch: Watch, seconds: float) -> bool:
        """Whether all have ended within that time."""
        limit = self.time + seconds
        while not watch.look():
            if self.time >= limit:
                return False
            self.time += waiting.LOOK
        return True


@pytest.fixture
def fake(tmp_path, monkeypatch) -> Slurm:
    found = Slurm(tmp_path)
    monkeypatch.setattr(slurm, "states", found.states)
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: found.time))
    return found


def test_a_status_of_0_is_enough(fake) -> None:
    watch = fake.watch()
    assert not watch.look()
    fake.note(0)
    assert watch.look()
    assert watch.ended[""] == End(0, None)
    assert watch.ended[""].by_itself
    assert fake.asked == []


@pytest.mark.parametrize(
    ("status", "now", "problem"),
    [
        (3, {"": FAILED}, ""),
        (3, {}, ""),
        (143, {"": TIMEOUT}, "TIMEOUT: its time was up (--time gives it more)"),
        (None, {"": State("NODE_FAIL")}, "NODE_FAIL: its node has failed"),
    ],
)
def test_of_another_status_slurm_is_asked(
    fake, status: int | None, now: dict[str, State], problem: str
) -> None:
    """A command that Slurm ends notes a status, too, or none."""
    watch = fake.watch()
    if status is not None:
        fake.note(status)
    fake.now = {"": State("COMPLETING")}
    assert not fake.wait(watch, 10)
    fake.now = now
    assert fake.wait(watch, 10)
    end = watch.ended[""]
    assert (end.status, end.by_itself) == (status, not problem)
    assert not problem or end.problem(watch.folder) == problem


@pytest.mark.parametrize("now", [{"": COMPLETED}, {"": FAILED}, {}])
def test_a_status_that_never_appears(fake, now: dict[str, State]) -> None:
    """As where the folder is not shared."""
    watch = fake.watch()
    fake.wait(watch, 5)
    fake.now = now
    assert not fake.wait(watch, GRACE / 2)
    assert fake.wait(watch, GRACE + 2 * SELDOM)
    end = watch.ended[""]
    assert not end.by_itself
    assert str(watch.folder.path) in end.problem(watch.folder)


def test_an_element_goes_back_to_the_queue(fake) -> None:
    """Its node failed: what it noted before counts for nothing."""
    fake.now = {"0": PENDING, "1": RUNNING}
    watch = fake.watch("0", "1")
    fake.note(143, "0")
    assert not fake.wait(watch, 100)
    fake.note(0, "1")
    assert not fake.wait(watch, 100)
    fake.note(0, "0")
    assert watch.look()
    assert watch.ended == {"0": End(0, None), "1": End(0, None)}


def test_slurm_does_not_answer_for_a_while(fake, capfd) -> None:
    watch = fake.watch()
    fake.wait(watch, 5)
    fake.now = None
    assert not fake.wait(watch, 3600)
    assert watch.about == "Slurm does not answer"
    fake.now = {"": State("STATE_THAT_NOBODY_KNOWS")}
    assert not fake.wait(watch, 2 * SELDOM)
    assert watch.about == "state that nobody knows"
    assert capfd.readouterr().err == (
        "Slurm does not answer (connect failure): waiting on, job 7 is not lost by that\n"
    )
    fake.now = None
    fake.note(0)
    assert watch.look()


def test_slurm_is_asked_seldom(fake) -> None:
    watch = fake.watch()
    fake.wait(watch, 600)
    gaps = gaps_of(fake.asked)
    assert min(gaps) >= 2
    assert max(gaps[10:]) >= SELDOM
    assert len(gaps) < 600 / SELDOM + 15
    fake.asked.clear()
    fake.now = {"": State("COMPLETING")}
    fake.note(1)
    fake.wait(watch, 60)
    assert min(gaps_of(fake.asked)) >= 2


def test_soon_after_it_has_failed(fake) -> None:
    watch = fake.watch()
    fake.wait(watch, 600)
    fake.note(1)
    assert not fake.wait(watch, 1)  # Slurm says that it runs
    fake.now = {"": FAILED}
    assert fake.wait(watch, 2 * waiting.ASK)


def test_each_run_of_an_element_has_its_time_to_leave_a_status(fake) -> None:
    fake.now = {"": COMPLETED}
    watch = fake.watch()
    assert not fake.wait(watch, GRACE / 2)
    fake.now = {"": PENDING}
    assert not fake.wait(watch, GRACE)
    fake.now = {"": COMPLETED}
    assert not fake.wait(watch, GRACE / 2)
    fake.note(0)
    assert watch.look()
    assert watch.ended[""].by_itself


def gaps_of(times: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in zip(times, times[1:])]


def test_many_in_words(fake) -> None:
    fake.now = {"0": RUNNING, "1": RUNNING, "2": PENDING, "3": PENDING, "4": COMPLETED}
    watch = fake.watch("0", "1", "2", "3", "4")
    fake.wait(watch, 3)
    assert watch.about == "2 running, 2 pending, 1 completed"
