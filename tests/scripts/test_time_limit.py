"""--timeout of ./lab run and ./lab profile; test_check_command.py has that of ./lab check."""

from __future__ import annotations

import threading
import time

import pytest
from lab_cli.building import instrumented
from lab_cli.commands import run
from lab_cli.counters import collect, ncu
from lab_cli.errors import LabError
from lab_cli.process import run as run_shown
from lab_cli.time_limit import TimeLimit

SLEEPS = ["sleep", "1000"]


def test_a_program_in_time() -> None:
    for seconds in (1000, None):
        with TimeLimit(seconds) as limit:
            assert run_shown(["true"]) == 0
        assert not limit.passed


def test_a_program_that_takes_too_long_is_ended() -> None:
    start = time.monotonic()
    with pytest.raises(LabError, match=r"had not ended after 0\.2 seconds \(--timeout\)") as error:
        with TimeLimit(0.2):
            run_shown(SLEEPS)
    assert error.value.status == 1
    assert time.monotonic() - start < 500


def test_a_program_that_starts_when_the_time_has_passed() -> None:
    start = time.monotonic()
    with pytest.raises(LabError, match="had not ended"), TimeLimit(0.01) as limit:
        while not limit.passed:
            time.sleep(0.01)
        time.sleep(0.2)  # nothing was there to be ended
        run_shown(SLEEPS)
    assert time.monotonic() - start < 500


def timers() -> list[threading.Timer]:
    return [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


def test_the_time_begins_anew() -> None:
    with TimeLimit(1000) as limit:
        (first,) = timers()
        limit.begin()
        (second,) = timers()
        assert second is not first
    assert timers() == []
    with pytest.raises(LabError, match="had not ended"), TimeLimit(0.2) as limit:
        limit.begin()
        run_shown(SLEEPS)


def test_one_of_several(capsys) -> None:
    late = run.run_showing("late", SLEEPS, 0.2)
    early = run.run_showing("early", ["true"], 1000)
    assert (late.result, late.remark) == ("FAILED", "had not ended (--timeout)")
    assert (early.result, early.remark) == ("ok", "")


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_profile(monkeypatch: pytest.MonkeyPatch, tmp_path, backend: str) -> None:
    class Choice:
        nvcc = "nvcc"

    source = tmp_path / "mine.cu"
    source.touch()
    monkeypatch.setattr(instrumented, "built", lambda exercise, source: SLEEPS)
    monkeypatch.setattr(collect.profilers, "require_gpu", lambda instead: (Choice(), None))
    monkeypatch.setattr(collect.setup, "ensure", lambda backend: "cmake")
    monkeypatch.setattr(collect.own_program, "for_gpu", lambda *arguments: "sleep")
    monkeypatch.setattr(ncu, "find", lambda *arguments: "ncu")
    monkeypatch.setattr(ncu, "run", lambda *arguments: run_shown(SLEEPS))
    with pytest.raises(LabError, match=r"had not ended after 0\.2 seconds"):
        collect.collect([str(source)], backend, timeout=0.2)
