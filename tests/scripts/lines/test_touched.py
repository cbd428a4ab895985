"""Compares what an access of a warp touches with what the theory says."""

from __future__ import annotations

import pytest
from lab_cli.lines.model import LOAD, STORE
from lab_cli.lines.page import touched
from lab_cli.lines.page.touched import elements, in_bank, in_global, in_shared

ALL = 0xFFFFFFFF


def every(distance: int, first: int = 0, lanes: int = ALL) -> touched.Elements:
    return elements(lanes, [first + distance * lane for lane in touched.active(lanes)])


@pytest.mark.parametrize(
    ("wanted", "size", "sectors", "lines", "used", "least"),
    [
        (every(4), 4, 4, 1, 128, 4),
        (every(4, first=4), 4, 5, 2, 128, 4),
        (every(8), 4, 8, 2, 128, 4),
        (every(128), 4, 32, 32, 128, 4),
        (every(0), 4, 1, 1, 4, 1),
        (every(16), 16, 16, 4, 512, 16),
        (every(4, lanes=0b101), 4, 1, 1, 8, 1),
        (every(6, first=30), 2, 7, 2, 64, 2),
    ],
)
def test_global(
    wanted: touched.Elements, size: int, sectors: int, lines: int, used: int, least: int
) -> None:
    found = in_global(wanted, size)
    assert (len(found.sectors), found.lines, found.used, found.least) == (
        sectors,
        lines,
        used,
        least,
    )
    assert found.moved == 32 * sectors


def test_bytes_of_a_sector() -> None:
    assert in_global({0: 36, 5: 60}, 4).sectors == {1: 0xF00000F0}


@pytest.mark.parametrize(
    ("wanted", "size", "kind", "wavefronts"),
    [
        (every(4), 4, LOAD, 1),
        (every(128), 4, LOAD, 32),
        (every(132), 4, LOAD, 1),
        (every(8), 4, LOAD, 2),
        (every(0), 4, LOAD, 1),
        (every(8), 8, LOAD, 2),
        (every(16), 16, LOAD, 4),
        (every(8), 8, STORE, 2),
        (every(16), 16, STORE, 4),
        (every(0), 8, LOAD, 1),
        (every(1), 1, LOAD, 1),
        ({}, 4, LOAD, 0),
    ],
)
def test_wavefronts(wanted: touched.Elements, size: int, kind: str, wavefronts: int) -> None:
    found = in_shared(wanted, size, kind)
    assert len(found) == wavefronts
    for delivered in found:  # a word from each bank, and each bank once
        banks = [word % touched.BANKS for word in delivered]
        assert len(banks) == len(set(banks))
    words = {word for at in wanted.values() for word in touched.words(at, size)}
    assert {word for delivered in found for word in delivered} == words


def test_an_array_that_begins_behind_bank_0() -> None:
    assert in_shared(every(4), 4, LOAD, shift=4) == [[lane + 1 for lane in range(32)]]
    assert in_bank({0: 0}, 4, shift=8) == {2: 1}


def test_words_that_meet_in_a_bank() -> None:
    assert in_bank(every(128), 4) == {0: 32}
    assert in_bank(every(64), 4) == {0: 16, 16: 16}
    assert in_bank(every(0), 4) == {0: 1}
