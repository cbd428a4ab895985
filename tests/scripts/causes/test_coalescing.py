"""Accesses of global memory: strides, structs, rows, and what is nothing to speak of."""

from __future__ import annotations

from pathlib import Path

import pytest
from cause_sample import (
    access,
    array,
    kernel,
    line,
    only,
    place,
    sample,
    share_of,
    symptoms,
    touch,
)
from lab_cli.lines.model import ATOMIC, IRREGULAR, STORE, Access, Kernel, Step
from lab_cli.lines.weights import SECTOR

STRIDED = "uncoalesced loads, strided by 8 elements (32 bytes)"
STRUCTS = "uncoalesced loads, array of structs"
SCATTERED = "uncoalesced loads, scattered"


def strided(stride: int = 32, requests: int = 1000, **fields: object) -> Access:
    """A sector for each lane, or as many as the stride takes."""
    units = min(32, -(-32 * abs(stride) // 32)) * requests
    return access(requests=requests, stride=stride, units=units, **fields)


def test_strides() -> None:
    found = only(kernel([strided()]))
    assert found.symptom == STRIDED
    assert "touches 32 sectors" in found.says and "4 would" in found.says
    assert "removes 28 of 32 sectors of each load: 88 % of the kernel's traffic" in found.gain
    assert found.exercises == ["stridedAccess"] and found.place == place(10)
    assert symptoms(kernel([access()])) == []


@pytest.mark.parametrize(("others", "expected"), [(107, [STRIDED]), (109, [])])
def test_share_of_the_traffic(others: int, expected: list[str]) -> None:
    """28,000 of 140,000 sectors are a fifth."""
    beside = access(11, requests=others * 250)
    assert symptoms(kernel([strided(), beside])) == expected


@pytest.mark.parametrize(("executions", "expected"), [(500_000, [STRIDED]), (600_000, [])])
def test_share_of_the_work(executions: int, expected: list[str]) -> None:
    """Few accesses beside much other work: below a tenth."""
    of = kernel([strided()], [line(12, executions)])
    assert (share_of(of, 28_000 * SECTOR) >= 0.1) == bool(expected)
    assert symptoms(of) == expected


def test_loads_and_stores_of_one_line_are_one_finding() -> None:
    both = [strided(), strided(kind=STORE)]
    assert symptoms(kernel(both)) == [STRIDED.replace("loads", "loads and stores")]
    assert len(symptoms(kernel([strided(), strided(64, line=11, kind=STORE)]))) == 2


def test_arrays_in_one_line_are_one_finding() -> None:
    lanes = [32 * lane for lane in range(32)]
    two = kernel(
        [strided(), strided()],
        memories=[array(), array()],
        samples=[sample(touch(0, lanes), touch(1, lanes, memory=1))],
    )
    assert symptoms(two) == [STRIDED]


def test_other_lines_with_the_same_pattern_are_named_along() -> None:
    lanes = [32 * lane for lane in range(32)]
    two = kernel(
        [strided(), strided(line=12)],
        memories=[array()],
        samples=[sample(touch(0, lanes), touch(1, lanes))],
    )
    found = only(two)
    assert "The same at line 12." in found.says and "with the other lines" in found.gain


def structs(*fields: int, stride: int = 32, kind: str = "load") -> Kernel:
    """Loads of 4-byte fields at these places of structs in one array."""
    accesses = [strided(stride, line=10 + index, kind=kind) for index in range(len(fields))]
    steps = [
        touch(index, [field + stride * lane for lane in range(32)])
        for index, field in enumerate(fields)
    ]
    return kernel(accesses, memories=[array()], samples=[sample(*steps)])


def test_fields_of_structs() -> None:
    found = only(structs(0, 8))
    assert found.symptom == STRUCTS and found.exercises == ["structLayouts"]
    assert "structs of 32 bytes" in found.says
    assert symptoms(structs(0)) == [STRIDED]
    assert symptoms(structs(0, 8, stride=256)) == [
        "uncoalesced loads, strided by 64 elements (256 bytes)"
    ]


def test_loads_that_use_whole_structs_are_a_hint_and_stores_are_not() -> None:
    every = range(0, 32, 4)
    assert symptoms(structs(*every)) == [f"perhaps {STRUCTS}"]
    assert symptoms(structs(*every[:6])) == [STRUCTS]
    assert symptoms(structs(*every, kind=STORE)) == [STRUCTS.replace("loads", "stores")]


def test_structs_that_are_loaded_and_stored_are_no_hint() -> None:
    both = structs(0, 4, stride=8)
    stores = structs(0, 4, stride=8, kind=STORE)
    steps = [
        Step(each.lanes, each.place, each.access + 2, 0, each.offsets)
        for each in stores.samples[0].steps
    ]
    of = kernel(
        [*both.accesses, *stores.accesses],
        memories=[array()],
        samples=[sample(*both.samples[0].steps, *steps)],
    )
    assert symptoms(of) == [STRUCTS.replace("loads", "loads and stores")]


def test_rows_of_a_narrow_block() -> None:
    """A warp of a block of 16 x 16 has two columns of 16 rows."""
    columns = [2048 * (lane % 16) + 4 * (lane // 16) for lane in range(32)]
    of = kernel(
        [scattered()], memories=[array()], samples=[sample(touch(0, columns))], block=(16, 16, 1)
    )
    assert symptoms(of) == ["uncoalesced loads, across rows of 2,048 bytes"]


def test_what_the_line_says_of_a_struct(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("sum += particles[i].mass;\nsum += numbers[8 * i];\n")
    assert symptoms(kernel([strided(place=place(1, source))])) == [STRUCTS]
    assert symptoms(kernel([strided(place=place(2, source))])) == [STRIDED]


def walking(stride: int, step: int, **fields: object) -> Kernel:
    steps = [touch(0, [k * step + stride * lane for lane in range(32)]) for k in range(3)]
    return kernel([strided(stride)], memories=[array()], samples=[sample(*steps)], **fields)


def test_rows() -> None:
    along = only(walking(64, 4))
    assert along.symptom == "uncoalesced loads, across rows of 64 bytes"
    assert "each thread walks along its own" in along.says
    assert symptoms(walking(512, 4, block=(32, 8, 1))) == [
        "uncoalesced loads, across rows of 512 bytes"
    ]
    assert symptoms(walking(512, 8, block=(32, 8, 1))) == [
        "uncoalesced loads, across rows of 512 bytes"
    ]
    assert symptoms(walking(512, 8)) == ["uncoalesced loads, strided by 128 elements (512 bytes)"]


def scattered(bytes: int = 128_000, **fields: object) -> Access:
    return access(stride=IRREGULAR, units=32_000, bytes=bytes, **fields)


def test_scattered_lanes() -> None:
    assert symptoms(kernel([scattered()])) == [SCATTERED]
    assert symptoms(kernel([access(stride=IRREGULAR)])) == []  # two rows of 16 threads


def test_lanes_that_share_elements_are_none() -> None:
    """Of 32 lanes, 16 want one element and 16 another: most of two sectors is lost."""
    assert symptoms(kernel([scattered(bytes=8 * 4000)])) == [SCATTERED]
    assert symptoms(kernel([scattered(bytes=7 * 4000)])) == []
    assert symptoms(kernel([access(stride=0, bytes=4000, units=4000)])) == []


def test_blocks_that_are_too_narrow() -> None:
    rows = [16 * 4 * row + 4 * lane for row in range(16) for lane in range(2)]
    of = kernel(
        [scattered()], memories=[array()], samples=[sample(touch(0, rows))], block=(2, 128, 1)
    )
    assert symptoms(of) == ["uncoalesced loads, rows of 2 threads"]


def misaligned(excess: int = 1000, **fields: object) -> Access:
    return access(units=4000 + excess, **fields)


def test_misaligned_accesses_are_a_hint() -> None:
    assert symptoms(kernel([misaligned()])) == ["perhaps misaligned accesses"]
    assert "begin between two sectors" in only(kernel([misaligned()])).says
    assert symptoms(kernel([misaligned(700)])) == []  # not at all times: a stencil
    assert symptoms(kernel([misaligned(20_000)])) == [SCATTERED]  # in some requests
    assert symptoms(kernel([misaligned(), access(11, requests=2000)])) == []  # 8 % of the sectors


def test_lanes_that_a_split_warp_lacks_are_no_stride() -> None:
    """Every second lane stores to its own element: 8 bytes apart, but from lane 0 to lane 2."""
    halves = access(lanes=16_000, stride=8, units=4000, least=2000)
    odd = touch(0, range(4, 128, 8), lanes=0xAAAAAAAA)
    assert symptoms(kernel([halves])) == ["uncoalesced loads, strided by 2 elements (8 bytes)"]
    assert symptoms(kernel([halves], memories=[array()], samples=[sample(odd)])) == []


def test_atomics_are_no_loads() -> None:
    assert symptoms(kernel([strided(kind=ATOMIC)])) == []
