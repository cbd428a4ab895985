"""The drawing of what the lanes of a warp touch."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import cost_sample as sample
import pytest
from lab_cli.errors import LabError
from lab_cli.lines import access_map
from lab_cli.lines.access_map import Wanted
from lab_cli.lines.model import (
    ATOMIC,
    CONSTANT,
    GLOBAL,
    LOAD,
    SHARED,
    STORE,
    Kernel,
    Memory,
    Sample,
    Step,
)

STORE_OF_SPREAD, READ_OF_TURN, FILL_OF_TURN = 27, 21, 12


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return sample.written(tmp_path)


def text(*kernels: Kernel, line: int, width: int = 80, **wanted) -> str:
    return access_map.text(sample.profile(*kernels), Wanted(line, **wanted), width)


def made(
    file: Path,
    space: str,
    size: int,
    offsets: list[int],
    kind: str = LOAD,
    lanes: int | None = None,
    shift: int = 0,
) -> Kernel:
    """One access at line 21."""
    found = sample.Made(file, "turn", "void turn")
    found.line("tile[lane][row]", 1)
    found.access("tile[lane][row]", kind, space, 1, 1, 1, size=size)
    found.kernel.memories.append(Memory("data", space, 4096, shift=shift))
    active = (1 << len(offsets)) - 1 if lanes is None else lanes
    step = Step(active, found.place("tile[lane][row]"), 0, 0, tuple(offsets))
    found.kernel.samples.append(Sample((0, 0, 0), 0, [step]))
    return found.kernel


SECTOR = "[0-9a-v.* ]{8}"
ROW = re.compile(rf" +(?:wavefront )?[\d,]+  ({SECTOR}(?:\|{SECTOR}){{3}}|[0-9a-v.*]{{32}})  ")


def rows(shown: str) -> list[str]:
    """Those of the drawing, without what stands beside them."""
    return [row[1] for row in map(ROW.match, shown.splitlines()) if row]


def test_each_lane_in_a_sector_of_its_own(file: Path) -> None:
    shown = text(sample.spread(file), line=STORE_OF_SPREAD)
    load, store = shown.split("store of 4 bytes")
    assert rows(load) == ["01234567|89abcdef|ghijklmn|opqrstuv"]
    assert len(rows(store)) == 32
    assert rows(store)[10] == "a.......|        |        |        "
    assert "32 sectors in 32 cache lines, 4 would do: 128 of 1,024 bytes" in store
    assert "4 sectors in 1 cache line, 4 would do: 128 of 128 bytes" in load


def test_arrays_have_the_names_of_parameters(file: Path) -> None:
    shown = text(sample.spread(file), line=STORE_OF_SPREAD)
    assert "lanes, in (global memory)" in shown and "lanes, out (global memory)" in shown
    shown = text(sample.turn(file), line=READ_OF_TURN)
    assert "tile (shared memory)" in shown


def test_all_lanes_in_one_bank(file: Path) -> None:
    shown = text(sample.turn(file), line=READ_OF_TURN, step=3)
    load = shown.split("store of 4 bytes")[0]
    assert len(rows(load)) == 32
    assert rows(load)[5] == "..5............................."
    assert "32 wavefronts, 1 would do" in load and "bank 2 has to deliver 32" in load


def test_steps_of_a_loop(file: Path) -> None:
    first, third = (text(sample.turn(file), line=FILL_OF_TURN, step=step) for step in (1, 3))
    assert re.search(r"^ +0  0123", first, re.MULTILINE)
    assert re.search(r"^ +256  0123", third, re.MULTILINE)


def test_lanes_that_share_a_word(file: Path) -> None:
    kernel = made(file, SHARED, 4, [0, 0, 4, 8])
    shown = text(kernel, line=READ_OF_TURN)
    assert rows(shown) == ["*23............................."]
    assert "1 wavefront, 1 would do" in shown


def test_a_shared_array_may_begin_in_another_bank(file: Path) -> None:
    shown = text(made(file, SHARED, 4, [0, 4], shift=12), line=READ_OF_TURN)
    assert rows(shown) == ["...01..........................."]


def test_wide_loads_take_several_wavefronts(file: Path) -> None:
    shown = text(made(file, SHARED, 8, [8 * lane for lane in range(32)]), line=READ_OF_TURN)
    assert rows(shown) == ["00112233445566778899aabbccddeeff", "gghhiijjkkllmmnnooppqqrrssttuuvv"]
    assert "2 wavefronts, 2 would do" in shown


def test_idle_lanes_are_not_drawn(file: Path) -> None:
    offsets = [4 * lane for lane in range(0, 32, 2)]
    shown = text(made(file, GLOBAL, 4, offsets, lanes=0x55555555), line=READ_OF_TURN)
    assert rows(shown) == ["0.2.4.6.|8.a.c.e.|g.i.k.m.|o.q.s.u."]
    assert "by 16 lanes" in shown and "4 sectors in 1 cache line, 2 would do" in shown


def test_elements_across_sectors(file: Path) -> None:
    shown = text(made(file, GLOBAL, 4, [124, 128]), line=READ_OF_TURN)
    assert rows(shown) == [
        "        |        |        |.......0",
        "1.......|        |        |        ",
    ]


def test_atomics_that_meet(file: Path) -> None:
    shown = text(made(file, GLOBAL, 4, [0, 0, 0, 4], kind=ATOMIC), line=READ_OF_TURN)
    assert rows(shown) == ["*3......|        |        |        "]
    assert "3 lanes want the same address" in shown


def test_constants(file: Path) -> None:
    shown = text(made(file, CONSTANT, 4, [0, 4, 0, 8]), line=READ_OF_TURN)
    assert "3 passes, 1 would do" in shown and re.search(r"^ +0  0 2$", shown, re.MULTILINE)


def test_many_rows_are_cut(file: Path) -> None:
    offsets = [252 + 4096 * lane for lane in range(32)]
    shown = text(made(file, GLOBAL, 16, offsets, kind=STORE), line=READ_OF_TURN)
    assert len(rows(shown)) < access_map.MOST_ROWS
    assert re.search(r"and 26 more rows", shown)


def test_other_blocks_and_warps(file: Path) -> None:
    kernel = sample.spread(file)
    (first,) = kernel.samples
    others = [replace(first, block=(7, 0, 0), warp=3), replace(first, warp=1)]
    kernel.samples += others
    shown = text(kernel, line=STORE_OF_SPREAD)
    assert "block 0,0,0, warp 0" in shown
    assert re.search(r"--block +0,0,0 +7,0,0$", shown, re.MULTILINE)
    assert re.search(r"--warp +0 +1$", shown, re.MULTILINE)
    assert "block 7,0,0, warp 3" in text(kernel, line=STORE_OF_SPREAD, block=(7, 0, 0))
    assert "block 0,0,0, warp 1" in text(kernel, line=STORE_OF_SPREAD, warp=1)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"line": 14}, ["line 14", "12, 21"]),
        ({"line": 21, "file": "other.cu"}, ["other.cu:21", "mine.cu: 12, 21"]),
        ({"line": 21, "block": (5, 0, 0)}, ["5,0,0", "0,0,0"]),
        ({"line": 21, "warp": 9}, ["--warp 9", "block 0,0,0", ": 0"]),
        ({"line": 21, "step": 9}, ["--step 9", "1 to 8"]),
        ({"line": 21, "step": 0}, ["--step 0", "1 to 8"]),
    ],
)
def test_what_was_not_looked_at(file: Path, wanted: dict, says: list[str]) -> None:
    with pytest.raises(LabError) as caught:
        text(sample.turn(file), **wanted)
    assert caught.value.status == 2
    for words in says:
        assert words in str(caught.value)


def test_a_line_that_no_sampled_warp_came_to(file: Path) -> None:
    kernel = sample.turn(file)
    kernel.samples.clear()
    with pytest.raises(LabError, match="no warp that was looked at"):
        text(kernel, line=READ_OF_TURN)


def test_another_file_by_its_name(file: Path) -> None:
    assert "tile" in text(sample.turn(file), line=READ_OF_TURN, file="some/where/mine.cu")


def test_kernels_that_share_the_line_are_named(file: Path) -> None:
    other = sample.turn(file)
    other.name = "turn<2>"
    assert "turn<2>" in text(sample.turn(file), other, line=READ_OF_TURN)


def test_fits_the_width(file: Path) -> None:
    for line in text(sample.turn(file), line=READ_OF_TURN).splitlines():
        assert len(line) <= 80
