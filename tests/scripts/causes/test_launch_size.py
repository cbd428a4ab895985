"""Grids and blocks that leave parts of a GPU without work."""

from __future__ import annotations

import pytest
from cause_sample import access, kernel, line, only, symptoms
from lab_cli.causes import launch_size
from lab_cli.causes.source.resources import Resources
from lab_cli.lines.model import Kernel

ONE, FEW, WARPS = "one block for the whole GPU", "too few blocks for the GPU", "too few warps"
SMALL = "blocks smaller than a warp"
LANES, TAIL, FIT = "lanes without a thread", "tail effect", "perhaps few warps fit"


def looping(blocks: int, steps: int, threads: int = 256, **fields: object) -> Kernel:
    warps = blocks * -(-threads // 32)
    return kernel(
        [access(requests=warps * steps)], grid=(blocks, 1, 1), block=(threads, 1, 1), **fields
    )


@pytest.mark.parametrize(
    ("blocks", "steps", "expected"),
    [
        (1, 16, [ONE]),
        (1, 15, []),  # the last block of a sum
        (2, 64, [FEW]),
        (2, 63, []),  # the data may be few
        (66, 64, [FEW]),
        (67, 64, []),  # half of the SMs
        (264, 1000, []),
    ],
)
def test_blocks(blocks: int, steps: int, expected: list[str]) -> None:
    assert symptoms(looping(blocks, steps)) == expected


def test_what_more_blocks_would_gain() -> None:
    found = only(looping(1, 1024))
    assert "131 of 132 SMs" in found.says and "1,024 steps" in found.says
    assert "132 SMs busy in place of 1" in found.gain
    assert only(looping(1, 20)).gain.count("20 SMs busy") == 1  # no more than there are steps


def counting(blocks: int) -> Kernel:
    """A loop without an access to global memory."""
    return kernel([], [line(5, executions=8 * 100 * blocks)], grid=(blocks, 1, 1))


def test_steps_are_those_of_any_line_where_hardly_a_block_is_there() -> None:
    assert symptoms(counting(1)) == [ONE]
    assert symptoms(counting(16)) == [FEW]
    assert symptoms(counting(17)) == []  # each result may take a loop
    assert symptoms(counting(1), small=True) == []  # to measure


@pytest.mark.parametrize(("blocks", "expected"), [(16, [FEW]), (17, [])])
def test_blocks_whose_threads_load_the_same(blocks: int, expected: list[str]) -> None:
    """The loop of a product of matrices is over what each result needs."""
    requests = blocks * 8 * 64
    shared = access(
        requests=requests, stride=0, units=requests, least=requests, sampled_elements=64
    )
    other = line(9, executions=10 * requests)
    assert symptoms(kernel([shared], [other], grid=(blocks, 1, 1))) == expected


def test_small_data_say_nothing_of_grids() -> None:
    assert symptoms(looping(2, 64), small=True) == []
    assert symptoms(looping(1, 64), small=True) == [ONE]
    assert symptoms(looping(133, 1, threads=1024, blocks_per_sm=1), small=True) == [FIT]


@pytest.mark.parametrize(
    ("threads", "blocks_per_sm", "blocks", "steps", "expected"),
    [
        (64, 1, 264, 1, [WARPS]),  # shared memory lets no more in
        (96, 1, 264, 1, [WARPS]),
        (128, 1, 264, 1, [FIT]),
        (32, 32, 132, 16, [WARPS]),  # one warp on each SM, with a loop
        (32, 32, 132, 15, []),
        (32, 32, 132 * 4, 16, []),
        (32, 32, 132 * 32, 16, [FIT]),
    ],
)
def test_warps(
    threads: int, blocks_per_sm: int, blocks: int, steps: int, expected: list[str]
) -> None:
    found = symptoms(looping(blocks, steps, threads, blocks_per_sm=blocks_per_sm))
    assert found == expected


@pytest.mark.parametrize(
    ("threads", "expected"),
    [(32, []), (1, [SMALL]), (80, [LANES]), (1000, []), (28, []), (27, [SMALL]), (256, [])],
)
def test_lanes(threads: int, expected: list[str]) -> None:
    """28 of 32 lose an eighth, 27 more than 15 %."""
    found = symptoms(looping(1320, 1, threads, blocks_per_sm=64))
    assert found == expected


def test_lanes_in_numbers() -> None:
    found = only(looping(1320, 1, 80, blocks_per_sm=64))
    assert "16 of 96 lanes" in found.says and "17 % fewer warps" in found.gain


@pytest.mark.parametrize(
    ("blocks", "blocks_per_sm", "expected"),
    [
        (133, 1, [TAIL]),
        (132, 1, []),
        (264, 1, []),
        (265, 2, [TAIL]),
        (806, 2, [TAIL]),  # blockScheduling
        (132 * 11 - 20, 1, []),  # 11 waves, of which the last is nearly full
        (132 * 10 + 20, 1, []),  # 11 waves, of which the last loses little
        (1200, 8, []),  # a last wave of 144 blocks, but each SM has one or two more than nine
        (100, 2, []),
    ],
)
def test_last_wave(blocks: int, blocks_per_sm: int, expected: list[str]) -> None:
    found = symptoms(looping(blocks, 1, 1024, blocks_per_sm=blocks_per_sm))
    assert [symptom for symptom in found if symptom != FIT] == expected


def test_last_wave_in_numbers_and_with_registers() -> None:
    tail = looping(265, 1, 1024, blocks_per_sm=2)
    found = only(tail)
    assert "1.00 waves of 264 blocks" in found.says and "1 block in the last wave" in found.says
    assert "50 % of the places in 2 waves" in found.gain
    assert "registers_per_thread" in found.says
    known = Resources("sample", registers=64, stack=0, spill_stores=0, spill_loads=0)
    (of_registers,) = [
        found for found in launch_size.find(tail, False, known) if found.symptom == TAIL
    ]
    assert "waves of 132 blocks" in of_registers.says  # one block fits on an SM
    assert "registers_per_thread" not in of_registers.says
