"""The source of kernels with what each line costs, as it is printed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import cost_sample as sample
import pytest
from lab_cli.lines import listing
from lab_cli.lines.model import Kernel


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return sample.written(tmp_path)


def text(*kernels: Kernel, width: int = 120, **options) -> str:
    return listing.text(sample.profile(*kernels), width, **options)


def row(shown: str, code: str) -> str:
    """The last line with this code; it has room for it at 120 columns."""
    return next(line for line in reversed(shown.splitlines()) if code in line)


def cells(line: str, code: str) -> list[str]:
    return line[: line.index(code)].split()


def test_the_worst_line_is_named_first_and_marked(file: Path) -> None:
    shown = text(sample.turn(file))
    first = shown.splitlines()[0]
    assert first.startswith("mine.cu:21 ") and "31 of 32 wavefronts" in first
    marked = [line for line in shown.splitlines() if line.startswith(">")]
    assert len(marked) == 1 and "tile[lane][row]" in marked[0]


def test_counts_of_a_line(file: Path) -> None:
    shown = text(sample.turn(file))
    assert cells(row(shown, "tile[row][lane] ="), "tile[") == ["12", "32", "4/4", "1/1"]
    assert cells(row(shown, "tile[lane][row]"), "out[") == [">", "21", "32", "4/4", "32/1", "992"]
    assert cells(row(shown, "__syncthreads"), "__sync") == ["14", "1", "1"]


def test_averages_that_are_no_whole_numbers(file: Path) -> None:
    kernel = sample.odd(file)
    for line in kernel.lines.values():
        if line.executions == 1000:
            line.lanes = 16_300
            line.accesses.clear()
    assert "16.3" in row(text(kernel), "+= k").split()


def test_columns_without_a_value_are_not_there(file: Path) -> None:
    def heading(shown: str) -> list[str]:
        return next(line for line in shown.splitlines() if line.endswith("source")).split()

    of_spread = heading(text(sample.spread(file)))
    assert of_spread == ["line", "warps", "requests", "load", "store", "source"]
    assert "shared" not in text(sample.spread(file))
    assert {"lanes", "splits"} < set(heading(text(sample.odd(file))))
    assert {"atomic", "load"} < set(heading(text(sample.count(file))))
    assert "conflicts" in heading(text(sample.turn(file)))


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_fits_the_width(file: Path, width: int) -> None:
    kernels = [make(file) for make in sample.ALL_KERNELS]
    for each in [*([kernel] for kernel in kernels), kernels]:
        for line in text(*each, width=width, chosen=each).splitlines():
            assert len(line) <= width


def test_what_is_left_out_where_there_is_little_room(file: Path) -> None:
    narrow, wide = text(sample.turn(file), width=80), text(sample.turn(file), width=120)
    assert "conflicts" in wide and "conflicts" not in narrow
    for sort in ("4/4", "32/1", "1/1"):
        assert sort in narrow
    assert "..." in row(narrow, "int lane") or "int lane" in narrow


def test_long_gaps_are_folded(file: Path) -> None:
    shown = text(sample.turn(file))
    assert "Columns of the tile" not in shown
    assert [line for line in shown.splitlines() if line.strip() == "..."]
    assert re.search(r"^ +13 +\}$", shown, re.MULTILINE)  # a short one is not


def test_only_lines_of_the_kernel(file: Path) -> None:
    shown = text(sample.turn(file))
    assert "spread" not in shown and "#include" not in shown


def test_functions_that_are_called(file: Path) -> None:
    """They have a part of their own, and the line that calls has the sum of what they cost for it."""
    shown = text(sample.halve(file))
    assert cells(row(shown, "out[i] = half"), "out[i]") == ["45", "5", "5", "4/4"]
    in_calls = next(line for line in shown.splitlines() if line.endswith("(in calls)"))
    assert in_calls.split()[:-2] == ["5", "4/4"]
    own, called = shown.split("half(), called")
    assert "0.5f * in[i]" in called and "0.5f * in[i]" not in own


def test_small_functions_of_other_files_are_named_alone(file: Path, tmp_path: Path) -> None:
    kernel = sample.halve(file)
    other = tmp_path / "helper.cuh"
    other.write_text("__device__ int helper() {\n    return 1;\n}\n")
    made = sample.Made(other, "halve", "helper")
    line = made.line("return 1", 5)
    kernel.lines[line.place] = line
    shown = text(kernel)
    assert "helper()" in shown and "helper.cuh" in shown and "return 1" not in shown
    made.access("return 1", sample.LOAD, sample.GLOBAL, 5, 32, 4)
    assert "return 1" in text(kernel)


def test_many_kernels_have_a_line_each(file: Path) -> None:
    kernels = [make(file) for make in sample.ALL_KERNELS]
    shown = text(*kernels)
    for kernel in kernels:
        assert re.search(rf"^[> ] {kernel.name} ", shown, re.MULTILINE)
    assert "atomicAdd(sum" in shown  # of the worst one
    assert "tile[lane][row]" not in shown
    assert shown.startswith("count: mine.cu:40 ")


def test_chosen_kernels(file: Path) -> None:
    kernels = [make(file) for make in sample.ALL_KERNELS]
    shown = text(*kernels, chosen=[kernels[1]])
    assert shown.startswith("mine.cu:27 ") and "out[32 * i] = in[i];" in shown
    assert "atomicAdd(sum" not in shown


def test_few_kernels_are_all_listed(file: Path) -> None:
    shown = text(sample.turn(file), sample.spread(file))
    assert "tile[lane][row]" in shown and "out[32 * i]" in shown
    assert shown.startswith("turn: mine.cu:21 ")


def test_kernels_of_one_name_differ_in_grid_and_block(file: Path) -> None:
    kernels = [sample.spread(file) for _ in range(5)]
    kernels[1].block = (64, 2, 1)
    assert re.search(r"^  spread, 1, 64x2 ", text(*kernels), re.MULTILINE)


def test_nothing_in_vain(file: Path) -> None:
    shown = text(sample.halve(file))
    assert shown.startswith("No line of halve ")
    assert not [line for line in shown.splitlines() if line.startswith(">")]


def test_large_counts_are_short(file: Path) -> None:
    kernel = sample.spread(file)
    for line in kernel.lines.values():
        line.executions, line.lanes = 1_234_567_890, 32 * 1_234_567_890
    assert "1.23G" in row(text(kernel), "out[32 * i]").split()


def test_counts_of_a_gpu_are_those_of_instructions(file: Path) -> None:
    """And it does not say which lanes want the same address."""
    kernel = sample.count(file)
    kernel.accesses[1] = replace(kernel.accesses[1], alike=0)
    kernel.lines[kernel.accesses[1].place].accesses[1] = kernel.accesses[1]
    shown = listing.text(replace(sample.profile(kernel), exact=False), 120)
    assert " instr " in shown and "warps  " not in shown and "0/1" not in shown


def test_colours_only_where_they_are_asked_for(file: Path) -> None:
    assert "\x1b" not in text(sample.turn(file))
    shown = text(sample.turn(file), paint=listing.coloured)
    assert f"\x1b[{listing.WASTED}m32/1\x1b[0m" in shown
    assert f"\x1b[{listing.WASTED}m 4/4" not in shown


def test_a_source_that_is_gone(file: Path) -> None:
    kernel = sample.turn(file)
    file.unlink()
    shown = text(kernel)
    assert "32/1" in shown and "  21" in shown


def test_what_a_terminal_takes_as_a_command_is_not_shown(file: Path) -> None:
    kernel = sample.spread(file)
    file.write_text(file.read_text().replace("out[32 * i]", "/* \x1b[31m */ out[32 * i]"))
    shown = text(kernel)
    assert "\x1b" not in shown and "/* ?[31m */ out[32 * i]" in shown


def test_lambdas_and_operators_have_a_name(file: Path) -> None:
    kernel = sample.halve(file)
    file.write_text(
        sample.SOURCE.replace(
            "__device__ float half", "struct S { __device__ float operator()"
        ).replace("0.5f * in[i];", "0.5f * in[i]; }")
    )
    assert "lines 3 to 4:" in text(kernel)
    file.write_text(
        sample.SOURCE.replace(
            "__device__ float half(const float* in, int i) {",
            "const auto half = [] __device__(const float* in, int i) {",
        )
    )
    assert "a lambda, called:" in text(kernel)
