"""Bank conflicts by line, with the rule that explains them."""

from __future__ import annotations

import pytest
from cause_sample import access, kernel, line, only, place, share_of, symptoms
from lab_cli.lines.model import COPY, GLOBAL, IRREGULAR, SHARED, STORE, Access


def shared(line: int = 20, words: int = 32, meet: int = 32, **fields: object) -> Access:
    """A load of 1,000 requests, in which so many lanes meet in a bank."""
    units = meet * fields.get("requests", 1000)  # type: ignore[operator]
    least = fields.get("requests", 1000)
    given = {"units": units, "least": least, "conflicts": units - least}  # type: ignore[operator]
    return access(line, space=SHARED, stride=4 * words, **{**given, **fields})


@pytest.mark.parametrize(("words", "meet"), [(32, 32), (12, 4), (64, 32), (48, 16)])
def test_even_strides(words: int, meet: int) -> None:
    found = only(kernel([shared(words=words, meet=meet)]))
    assert found.symptom == "bank conflicts" and found.place == place(20)
    assert f"takes {meet} wavefronts; 1 would do" in found.says
    assert f"gcd({words}, 32) = {meet} of them meet" in found.says
    assert f"removes {meet - 1} of {meet} wavefronts" in found.gain
    assert f"{words} words to {words + 1}" in found.remedy


def test_without_conflicts() -> None:
    assert symptoms(kernel([shared(words=33, meet=1)])) == []
    assert symptoms(kernel([shared(words=0, meet=1)])) == []


def test_lanes_without_one_stride() -> None:
    found = only(kernel([shared(words=1, meet=8, strides={IRREGULAR: 1000})]))
    assert "gcd" not in found.says and "padding" in found.remedy


@pytest.mark.parametrize(("beside", "expected"), [(2000, ["bank conflicts"]), (2100, [])])
def test_share_of_the_wavefronts(beside: int, expected: list[str]) -> None:
    """1,000 of 5,000 are a fifth: requests of global memory go through the same unit."""
    broadcast = access(requests=1000, stride=0, units=1000, least=1000)
    others = shared(30, words=1, meet=1, requests=beside)
    assert symptoms(kernel([shared(words=2, meet=2), others, broadcast])) == expected


@pytest.mark.parametrize(("executions", "expected"), [(340_000, ["bank conflicts"]), (350_000, [])])
def test_share_of_the_work(executions: int, expected: list[str]) -> None:
    of = kernel([shared()], [line(21, executions)])
    assert (share_of(of, 31_000) >= 0.15) == bool(expected)
    assert symptoms(of) == expected


def test_loads_and_stores_of_a_line_are_one_finding() -> None:
    assert symptoms(kernel([shared(), shared(kind=STORE)])) == ["bank conflicts"]
    assert symptoms(kernel([shared(), shared(30, kind=STORE)])) == ["bank conflicts"]
    assert "The same at line 30." in only(kernel([shared(), shared(30)])).says
    assert len(symptoms(kernel([shared(), shared(30, words=16, meet=16)]))) == 2


def test_asynchronous_copies_conflict_at_their_end() -> None:
    copy = access(kind=COPY, space=GLOBAL, wavefronts=8000, conflicts=7000)
    assert "takes 8 wavefronts; 1 would do" in only(kernel([copy])).says
