"""What Nsight Compute counted for each instruction, as costs of the source's lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.lines.model import Place
from ncu_pages import CHECKOUT, data, kernel_of, launch, profile, recorded, section, summary

FLOAT = CHECKOUT / "ch03_execution_model" / "reduceFloat" / "reduceFloat.cu"
SUMS = CHECKOUT / "ch03_execution_model" / "floatSums.cuh"
WARP_SUM = CHECKOUT / "common" / "warp_sum.cuh"


def test_accesses_with_the_calls_that_lead_there() -> None:
    kernel = kernel_of(recorded("reduceFloat", with_code=True), "reduceAtomic")
    assert [summary(access) for access in kernel.accesses] == [
        ("floatSums.cuh:28", ["reduceFloat.cu:83"], "global load of 16",
         "256 requests, 8192 lanes, 4096 of 4096"),
        ("warp_sum.cuh:27", ["reduceFloat.cu:83"], "shared store of 4",
         "64 requests, 64 lanes, 64 of 64"),
        ("warp_sum.cuh:29", ["reduceFloat.cu:83"], "shared load of 4",
         "4 requests, 64 lanes, 4 of 4"),
        ("reduceFloat.cu:84", [], "global atomic of 4", "4 requests, 4 lanes, 4 of 4"),
    ]  # fmt: skip
    assert [access.at_most for access in kernel.accesses] == [False, True, True, False]


def test_a_line_has_what_it_does_and_what_is_done_in_its_calls() -> None:
    kernel = kernel_of(recorded("reduceFloat", with_code=True), "reduceAtomic")
    load, store, shared_load, atomic = kernel.accesses
    lines = kernel.lines
    assert lines[Place(SUMS, 28)].accesses == [load] and lines[Place(SUMS, 28)].called == []
    assert lines[Place(FLOAT, 83)].accesses == []
    assert lines[Place(FLOAT, 83)].called == [load, store, shared_load]
    assert lines[Place(FLOAT, 84)].accesses == [atomic]
    assert list(lines) == sorted(lines)


def test_executions_are_those_of_machine_instructions() -> None:
    kernel = kernel_of(recorded("reduceFloat", with_code=True), "reduceAtomic")
    barrier = kernel.lines[Place(WARP_SUM, 28)]
    assert (barrier.executions, barrier.lanes, barrier.barriers) == (64, 2048, 64)
    last = kernel.lines[Place(FLOAT, 84)]  # by one thread of each block but for its condition
    assert (last.executions, last.lanes, last.branches) == (136, 4104, 0)
    loop = kernel.lines[Place(SUMS, 25)]
    assert (loop.executions, loop.branches, loop.divergent) == (1408, 128, 0)


def test_without_the_code_ncus_lines_do() -> None:
    """Most calls are lost then; an atomic, for which ncu has a line of CUDA's headers alone, is not."""
    kernel = kernel_of(recorded("reduceFloat"), "reduceAtomic")
    assert [summary(access)[:3] for access in kernel.accesses] == [
        ("floatSums.cuh:28", [], "global load of 16"),
        ("warp_sum.cuh:27", [], "shared store of 4"),
        ("warp_sum.cuh:29", [], "shared load of 4"),
        ("reduceFloat.cu:84", [], "global atomic of 4"),
    ]


def test_about_the_launches() -> None:
    profile = recorded("oneStep")
    assert not profile.exact and profile.source == "an H200"
    twice, once = profile.kernels
    assert (twice.name, twice.grid, twice.block) == ("oneStep<Neighbored>", (1, 1, 1), (256, 1, 1))
    assert (twice.launches, once.launches) == (2, 1)
    assert (once.name, once.shared, once.blocks_per_sm) == ("oneStep<Consecutive>", 4096, 8)
    assert summary(twice.accesses[0])[3] == "16 requests, 512 lanes, 64 of 64"  # of both launches
    assert summary(once.accesses[0])[3] == "8 requests, 256 lanes, 32 of 32"


def test_warps_without_a_lane_are_no_requests() -> None:
    """Of the 64 warps that come to the barrier, one in each of four blocks then loads the sums of all."""
    kernel = kernel_of(recorded("reduceFloat", with_code=True), "reduceAtomic")
    assert kernel.lines[Place(WARP_SUM, 28)].barriers == 64
    (load,) = kernel.lines[Place(WARP_SUM, 29)].accesses
    assert load.at_most and summary(load)[3] == "4 requests, 64 lanes, 4 of 4"


def test_asynchronous_copies_have_sectors_and_wavefronts() -> None:
    narrow, wide = (kernel.accesses[0] for kernel in recorded("copies").kernels)
    assert summary(narrow)[2:] == ("global copy of 4", "4 requests, 128 lanes, 16 of 16")
    assert (narrow.wavefronts, narrow.conflicts) == (4, 0)
    assert summary(wide)[2:] == ("global copy of 16", "4 requests, 128 lanes, 64 of 64")
    assert (wide.wavefronts, wide.conflicts) == (16, 0)
    assert narrow.place == Place(CHECKOUT / "tests/emulator/profiler/async_copies.cu", 15)


def test_sections_of_called_functions_belong_to_the_launch() -> None:
    neighbored, consecutive = recorded("debug").kernels
    assert (neighbored.name, consecutive.name) == ("neighbored", "consecutive")
    of_body, of_tile = 58, 87  # in the kernel's own functions, of which each has a section
    found = {(each.place.line, each.kind, each.space): each for each in neighbored.accesses}
    assert summary(found[of_body, "load", "shared"])[3] == (
        "12032 requests, 65280 lanes, 12032 of 12032"
    )
    assert (
        summary(found[of_tile, "load", "global"])[3] == "1024 requests, 32768 lanes, 4096 of 4096"
    )
    conflicts = {each.place.line: each.conflicts for each in consecutive.accesses if each.conflicts}
    assert conflicts == {66: 4480}


CODE = """__device__ int inner(const int* p) {
    return p[1];
}
__device__ int outer(const int* p) {
    return inner(p) + 1;
}
__global__ void k(int* p) {
    int a = outer(p);
    int b = inner(p);
    *p = a + b;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "own.cu"
    path.write_text(CODE)
    return path


def test_the_source_tells_who_calls_whom(source: Path) -> None:
    page = section(
        source,
        "k(int *)",
        {
            2: {0x20: "LDG.E R1, [R2]", 0x30: "LDG.E R3, [R2]"},
            5: {0x20: "LDG.E R1, [R2]"},
            7: {0x00: "LDC R1"},
            8: {0x10: "MOV R1", 0x20: "LDG.E R1, [R2]"},
            9: {0x30: "LDG.E R3, [R2]"},
            10: {0x40: "STG.E [R2], R3"},
        },
    )
    (kernel,) = profile(page, launch("k")).kernels
    assert kernel.definition == Place(source, 7)
    assert [summary(access)[:2] for access in kernel.accesses] == [
        ("own.cu:2", ["own.cu:5", "own.cu:8"]),
        ("own.cu:2", ["own.cu:9"]),
        ("own.cu:10", []),
    ]


def test_what_ncu_does_not_know_is_of_the_instruction_before(source: Path) -> None:
    header = "/usr/local/cuda/include/device_atomic_functions.hpp"
    page = section(header, "k(int *)", {107: {0x20: "LDG.E R1, [R2]"}}) + section(
        source,
        "k(int *)",
        {2: {0x30: "LDG.E R3, [R2]"}, 8: {0x10: "MOV R1"}, 10: {0x40: "STG.E [R2], R3"}},
    )
    (kernel,) = profile(page, launch("k")).kernels
    assert [summary(access)[:2] for access in kernel.accesses] == [
        ("own.cu:8", []),
        ("own.cu:2", ["own.cu:8"]),
        ("own.cu:10", []),
    ]


def test_kernels_without_source_are_left_out(source: Path) -> None:
    own = section(source, "k(int *)", {10: {0x40: "STG.E [R2], R3"}})
    library = section("/usr/include/cub/scan.cuh", "scan(int *)", {7: {0x80: "LDG.E R3, [R2]"}})
    both = profile(own + library, launch("k"), launch("scan"))
    assert [kernel.name for kernel in both.kernels] == ["k"]
    # Of this one, ncu has nothing to print.
    between = profile(own + own, launch("k"), launch("gemm"), launch("k", block="64"))
    assert [(each.name, each.block) for each in between.kernels] == [
        ("k", (32, 1, 1)),
        ("k", (64, 1, 1)),
    ]
    assert [each.launches for each in between.kernels] == [1, 1]


def test_the_same_code_again_is_another_launch(source: Path) -> None:
    header = source.with_name("own.cuh")
    page = section(source, "k(int *)", {10: {0x40: "STG.E [R2], R3"}})
    page += section(header, "k(int *)", {1: {0x50: "LDG.E R2, [R2]"}})
    same = profile(page * 3, *[launch("k")] * 3)
    (kernel,) = same.kernels
    assert kernel.launches == 3
    assert [summary(access)[3] for access in kernel.accesses] == [
        "3 requests, 96 lanes, 12 of 12",
        "3 requests, 96 lanes, 24 of 12",
    ]


@pytest.mark.parametrize(
    "column", ["Access Size", "L2 Theoretical Sectors Global", "Divergent Branches"]
)
def test_a_column_may_be_missing_or_of_another_name(source: Path, column: str) -> None:
    page = section(source, "k(int *)", {10: {0x40: "STG.E [R2], R3"}})
    (kernel,) = profile(page.replace(f'"{column}"', '"something"'), launch("k")).kernels
    assert kernel.lines[Place(source, 10)].executions == 1
    assert summary(kernel.accesses[0])[3].startswith("1 requests, 32 lanes")


def test_quotes_of_the_source_do_not_swallow_rows(source: Path) -> None:
    page = section(source, "k(int *)", {10: {0x40: "STG.E [R2], R3"}})
    odd = page.replace('"line 10"', '"asm("x", "y);"')
    assert odd != page
    (kernel,) = profile(odd, launch("k")).kernels
    assert [summary(access)[0] for access in kernel.accesses] == ["own.cu:10"]


def test_where_a_program_was_compiled_with_relative_names(tmp_path: Path, source: Path) -> None:
    from lab_cli.lines import ncu_source

    page = section("own.cu", "k(int *)", {10: {0x40: "STG.E [R2], R3"}})
    (kernel,) = ncu_source.parse(page, [launch("k")], (), "", tmp_path).kernels
    assert kernel.accesses[0].place == Place(source, 10)


@pytest.mark.parametrize("page", ["", "==WARNING== nothing\n", data("oneStep.source.csv")[:900]])
def test_a_page_without_instructions_has_no_kernels(page: str) -> None:
    assert profile(page, launch("oneStep<Neighbored>")).kernels == []
