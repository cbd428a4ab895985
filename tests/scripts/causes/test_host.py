"""What the host does from one line: launches, waits and copies."""

from __future__ import annotations

import pytest
from cause_sample import access, host, kernel, line, place
from lab_cli.causes.finding import Finding
from lab_cli.lines.model import HostCall, Kernel, Place
from lab_cli.paths import ROOT

LAUNCHES, WAITS = "many tiny launches", "synchronisation after each launch"
COPIES, PAGEABLE = "many small copies", "pageable memory under cudaMemcpyAsync"


def found(*calls: HostCall, of: Kernel | None = None) -> list[str]:
    return [finding.symptom for finding in host(calls, [of or kernel([access()], launches=100)])]


def only(*calls: HostCall) -> Finding:
    (finding,) = host(calls, [kernel([access()], launches=100)])
    return finding


def launch(calls: int = 100, name: str = "sample") -> HostCall:
    return HostCall("launch", place(30), calls, kernel=name)


def wait(after_launch: int = 100) -> HostCall:
    return HostCall("synchronize", place(31), 100, after_launch=after_launch)


def copy(calls: int = 100, size: int = 4, **fields: bool) -> HostCall:
    return HostCall("copy", place(32), calls, calls * size, "host to device", **fields)


def taking(microseconds: float) -> Kernel:
    """A kernel whose work takes so long on 132 SMs."""
    cycles = microseconds * 1000 * 1.98 * 132
    return kernel([], [line(5, int(cycles / 0.5))])


def test_launches() -> None:
    finding = only(launch())
    assert finding.symptom == LAUNCHES and finding.place == place(30)
    assert "100 launches of sample" in finding.says and "290 us" in finding.gain
    assert "99 of 100 launches" in finding.gain and finding.exercises == ["launchCost"]
    assert found(launch(16)) == [LAUNCHES]
    assert found(launch(15)) == []


@pytest.mark.parametrize(("microseconds", "expected"), [(2.8, [LAUNCHES]), (3.0, [])])
def test_launches_of_longer_kernels(microseconds: float, expected: list[str]) -> None:
    assert found(launch(), of=taking(microseconds)) == expected
    assert found(launch(name="sample<16>"), of=taking(microseconds)) == expected
    assert found(launch(name="pointer"), of=taking(microseconds)) == expected


def test_waits() -> None:
    finding = only(wait())
    assert finding.symptom == WAITS and finding.place == place(31)
    assert "waits 100 times right behind a launch" in finding.says and "630 us" in finding.gain
    assert found(wait(16)) == [WAITS]
    assert found(wait(15)) == []
    assert found(wait(), of=taking(62)) == [WAITS]
    assert found(wait(), of=taking(64)) == []


def test_copies() -> None:
    finding = only(copy())
    assert finding.symptom == COPIES and finding.place == place(32)
    assert "100 copies of 4 bytes each, host to device." in finding.says
    assert "One copy of 400 bytes removes 99 of 100 copies" in finding.gain
    assert found(copy(16)) == [COPIES]
    assert found(copy(15)) == []
    assert found(copy(size=32 * 1024 - 1)) == [COPIES]
    assert found(copy(size=32 * 1024)) == []


def test_pageable_memory() -> None:
    big = {"calls": 2, "size": 1 << 20, "asynchronous": True, "pageable": True}
    finding = only(copy(**big))
    assert finding.symptom == PAGEABLE and "2 asynchronous copies" in finding.says
    assert "38.6 us in place of 153 us" in finding.gain
    assert found(copy(**{**big, "asynchronous": False})) == []
    assert found(copy(**{**big, "pageable": False})) == []
    assert found(copy(**{**big, "size": 64 * 1024})) == []
    assert found(copy(**{**big, "size": 64 * 1024 + 1})) == [PAGEABLE]


def test_the_most_expensive_first() -> None:
    assert found(launch(), wait(), copy(1000)) == [COPIES, WAITS, LAUNCHES]


def test_what_exercises_do_to_check_and_measure_says_nothing() -> None:
    inside = Place(ROOT / "common" / "buffer.cuh", 91)
    assert found(HostCall("copy", inside, 1000, 4000)) == []
    assert found(HostCall("copy", None, 1000, 4000)) == []
