"""Divisions in loops, double precision by accident, local arrays, registers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cause_sample import access, kernel, line, only, place, symptoms
from lab_cli.causes.source.resources import Resources
from lab_cli.lines.model import Kernel

THREADS = 264 * 256
DIVISIONS, DOUBLES = "integer divisions in a loop", "double precision in float code"
LOCAL, SPILLS = "a local array with a dynamic index", "register spills"
FEW = "few warps fit, because of registers"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "k.cu"


def computing(file: Path, number: int, executions: int = 2112, **per_thread: float) -> Kernel:
    """So many operations of each thread in a line, beside one coalesced load."""
    operations = {name: int(count * THREADS) for name, count in per_thread.items()}
    counted = line(number, executions, file, operations=operations)
    return kernel([access(requests=2112)], [counted])


# ---- divisions


LOOP = """__global__ void f(int* a, int n, int width) {
    for (int k = 0; k < n; ++k) {
        a[k] = k % width;
        a[k] = n / width;
        a[k] = k / 16;
    }
}
"""


@pytest.mark.parametrize(("count", "expected"), [(4, [DIVISIONS]), (3, [])])
def test_divisions(source: Path, count: int, expected: list[str]) -> None:
    source.write_text(LOOP)
    assert symptoms(computing(source, 3, division=count)) == expected


def test_divisions_in_numbers(source: Path) -> None:
    source.write_text(LOOP)
    found = only(computing(source, 3, division=100))
    assert "does 100 divisions" in found.says and "99 of 100 divisions" in found.gain
    assert found.place == place(3, source) and found.exercises == ["instructionRates"]


def test_divisions_that_the_compiler_avoids(source: Path) -> None:
    source.write_text(LOOP)
    assert symptoms(computing(source, 4, division=100)) == []  # the same each time
    assert symptoms(computing(source, 5, division=100)) == []  # by a constant


@pytest.mark.parametrize(("executions", "expected"), [(1_000_000, [DIVISIONS]), (1_100_000, [])])
def test_divisions_beside_other_work(source: Path, executions: int, expected: list[str]) -> None:
    """8 of 2,112 warps take 135,168 cycles, a fifth of 676,000."""
    source.write_text(LOOP)
    assert symptoms(computing(source, 3, executions, division=8)) == expected


# ---- double precision


FLOATS = """__global__ void f(float* a, int n) {
    int i = threadIdx.x;
    a[i] = 0.1 * a[i] + 0.3;
    double sum = 0.0;
    sum += a[i];
    a[i] = 0.1f * a[i];
}
"""


def test_doubles(source: Path) -> None:
    source.write_text(FLOATS)
    found = only(computing(source, 3, to_double=1, fp64=2))
    assert found.symptom == DOUBLES and found.place == place(3, source)
    assert "0.1, 0.3 are of type double" in found.says
    assert "1 conversion and 2 operations in double" in found.says
    assert "Writing 0.1f, 0.3f removes 3 " in found.gain


def test_double_precision_that_is_meant(source: Path) -> None:
    source.write_text(FLOATS)
    assert symptoms(computing(source, 5, to_double=100, fp64=100)) == []
    assert symptoms(computing(source, 6, fp32=100)) == []
    assert symptoms(computing(source, 3, fp32=100)) == []  # the compiler made floats of it


@pytest.mark.parametrize(("executions", "expected"), [(1_700_000, [DOUBLES]), (1_900_000, [])])
def test_doubles_beside_other_work(source: Path, executions: int, expected: list[str]) -> None:
    source.write_text(FLOATS)
    assert symptoms(computing(source, 3, executions, to_double=1, fp64=2)) == expected


# ---- local arrays


ARRAYS = """__global__ void f(const int* in, int* out) {
    int kept[16];
    int few[8];
    for (int k = 0; k < 16; ++k) kept[in[k] & 15] += k;

    for (int k = 0; k < 8; ++k) few[k] = in[k];
    out[2] = few[in[0]];
}
"""


def executing(file: Path, number: int, executions: int, beside: int = 2112) -> Kernel:
    lines = [line(number, executions, file), line(1, 1, file)]
    return kernel([access(requests=beside)], lines)


def test_local_arrays(source: Path) -> None:
    source.write_text(ARRAYS)
    found = only(executing(source, 4, 2112 * 16))
    assert found.symptom == LOCAL and found.place == place(4, source)
    assert "kept[in[k] & 15]" in found.says and "16 elements" in found.says
    assert not found.hint and "33,792 times" in found.says and found.exercises == ["memorySpaces"]
    assert symptoms(executing(source, 7, 2112 * 16)) == [f"perhaps {LOCAL}"]
    assert symptoms(executing(source, 6, 2112 * 16)) == []


@pytest.mark.parametrize(("beside", "expected"), [(8.5, [LOCAL]), (9.5, [])])
def test_local_arrays_beside_other_work(source: Path, beside: float, expected: list[str]) -> None:
    source.write_text(ARRAYS)
    assert symptoms(executing(source, 4, 2112, int(2112 * beside))) == expected


def test_two_arrays_in_one_line_are_one_finding(source: Path) -> None:
    source.write_text(ARRAYS.replace("+= k;", "+= k, few[in[k] & 7] += k;"))
    assert symptoms(executing(source, 4, 2112 * 16)) == [LOCAL]


def test_ptxas_tells_whether_there_are_local_arrays(source: Path) -> None:
    source.write_text(ARRAYS)
    without, with_stack = resources(), Resources("sample", 32, 64, 0, 0)
    assert symptoms(executing(source, 7, 2112 * 16), known=[with_stack]) == [LOCAL]
    assert symptoms(executing(source, 4, 2112 * 16), known=[without]) == []


# ---- registers


def resources(registers: int = 32, spill_loads: int = 0) -> Resources:
    return Resources("sample", registers, spill_loads, spill_loads, spill_loads)


def test_spills() -> None:
    of = kernel([access()], definition=place(3))
    found = only(of, known=[resources(spill_loads=32)])
    assert found.symptom == SPILLS and found.place == place(3) and "load 32 " in found.says
    assert symptoms(of, known=[resources(spill_loads=31)]) == []
    assert symptoms(of) == []  # no nvcc to ask


@pytest.mark.parametrize(
    ("registers", "expected"),
    [(32, []), (40, []), (64, [f"perhaps {FEW}"]), (128, [FEW]), (255, [FEW])],
)
def test_warps_that_registers_allow(registers: int, expected: list[str]) -> None:
    """Of a kernel that does nothing but move data."""
    assert symptoms(kernel([access()]), known=[resources(registers)]) == expected


def test_few_warps_are_right_where_a_kernel_computes() -> None:
    computes = kernel([access()], [line(5, 10_000)])
    assert symptoms(computes, known=[resources(128)]) == [f"perhaps {FEW}"]
    assert "16 of 64 warps" in only(computes, known=[resources(128)]).says


def test_registers_of_another_kernel_say_nothing() -> None:
    other = Resources("other", 255, 0, 0, 0)
    assert symptoms(kernel([access()]), known=[other]) == []
