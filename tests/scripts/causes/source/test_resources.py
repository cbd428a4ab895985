"""What ptxas says of kernels, and the occupancy that registers allow."""

import shutil
import subprocess
from pathlib import Path

import pytest
from lab_cli.causes.source import resources
from lab_cli.machine import backend
from lab_cli.paths import ROOT

PRINTED = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z2ttILi4EfEvPT0_' for 'sm_90'
ptxas info    : Function properties for _Z2ttILi4EfEvPT0_
    48 bytes stack frame, 12 bytes spill stores, 24 bytes spill loads
ptxas info    : Function properties for _Z6helperPf
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 48 bytes cumulative stack size, 128 bytes smem, 4 bytes cmem[2]
ptxas info    : Compile time = 6.196 ms
ptxas info    : Compiling entry function '_ZN34_GLOBAL__N__20ced570_4_v_cu__Z1sPf1uEPf' for 'sm_90'
ptxas info    : Function properties for _ZN34_GLOBAL__N__20ced570_4_v_cu__Z1sPf1uEPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""
PROGRAM = """
#include "occupancy_rules.h"
#include <cstdio>
int main() {
    const occupancy::Limits& sm = *occupancy::find("9.0");
    for (unsigned registers = 1; registers <= 255; ++registers) {
        for (unsigned threads = 32; threads <= 1024; threads += 32) {
            std::printf("%u ", occupancy::calculate(sm, {threads, registers, 0}).resources[2].blocks);
        }
    }
    std::printf("%u %u\\n", sm.warps, sm.registers);
}
"""
SPILLS = """
__global__ void __launch_bounds__(1024, 2) many(float* p) {
    float a[64];
    for (int k = 0; k < 64; ++k) a[k] = p[k * 1024 + threadIdx.x];
    for (int n = 0; n < 8; ++n)
        for (int k = 0; k < 64; ++k) a[k] = a[k] * a[(k + 7) % 64] + a[(k + 13) % 64];
    for (int k = 0; k < 64; ++k) p[k * 1024 + threadIdx.x] = a[k];
}
template <int N> __global__ void few(float* p) { p[threadIdx.x] = N; }
namespace { __global__ void hidden(float* p) { *p = 1; } }
static __global__ void own(float* p) { *p = 2; }
int main() { many<<<1, 1>>>(0); few<64><<<1, 1>>>(0); hidden<<<1, 1>>>(0); own<<<1, 1>>>(0); }
"""

needs_demangler = pytest.mark.skipif(
    not any(map(shutil.which, resources.DEMANGLERS)), reason="no c++filt"
)


@needs_demangler
def test_what_ptxas_prints():
    first, second = resources.read(PRINTED)
    assert first == resources.Resources("tt<4, float>", 40, 48, 12, 24)
    assert second == resources.Resources("u", 8, 0, 0, 0)


def test_nothing_is_known_of_what_does_not_compile():
    assert resources.read("nvcc fatal   : Unsupported gpu architecture\n") == []
    assert resources.read("") == []


@pytest.mark.parametrize(
    "name, plain",
    [
        ("void reduce<512>(float*)", "reduce<512>"),
        ("copy(float const*, float*)", "copy"),
        ("void n::k<float, (n::E)2>(float*, n::P<int, 3>)", "n::k<float, (n::E)2>"),
        ("void (anonymous namespace)::k<4u>(float*)", "k<4u>"),
        ("n::k", "n::k"),
        ("_Z1kPf", "_Z1kPf"),
    ],
)
def test_names_without_parameters(name, plain):
    assert resources.without_parameters(name) == plain


@pytest.mark.parametrize(
    "name, found",
    [
        ("reduce<512>", True),
        ("reduce<512u>", True),
        ("reduce<(unsigned int)512>", True),
        ("reduce<256>", False),
        ("twice", False),
    ],
)
def test_the_kernel_of_a_profile(name, found):
    known = [resources.Resources(one, 8, 0, 0, 0) for one in ("reduce<512u>", "twice", "twice")]
    assert (resources.of_kernel(known, name) is not None) == found


def test_occupancy():
    # 72 registers are 2,304 of a warp: 7 warps in each of four partitions
    full = resources.occupancy(count=32, threads=256, blocks_otherwise=8)
    assert (full.blocks, full.warps, full.share, full.is_limited_by_registers) == (
        8,
        64,
        1.0,
        False,
    )
    half = resources.occupancy(count=72, threads=256, blocks_otherwise=8)
    assert (half.blocks, half.warps, half.without) == (3, 24, 64)
    assert half.is_limited_by_registers
    shared = resources.occupancy(count=72, threads=256, blocks_otherwise=2)
    assert (shared.blocks, shared.is_limited_by_registers) == (2, False)
    assert resources.occupancy(count=65, threads=1024, blocks_otherwise=2).blocks == 0


def test_the_formula_is_that_of_the_exercises(tmp_path):
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    (tmp_path / "all.cpp").write_text(PROGRAM)
    command = [compiler, "-std=c++17", "-I", str(ROOT / "common"), "all.cpp", "-o", "all"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.check_output([tmp_path / "all"], text=True).split()
    *blocks, warps, registers = map(int, printed)
    sizes = [(count, threads) for count in range(1, 256) for threads in range(32, 1025, 32)]
    assert blocks == [resources.blocks_by_registers(*size) for size in sizes]
    assert (warps, registers) == (resources.WARPS, resources.REGISTERS)


@needs_demangler
def test_what_nvcc_says(tmp_path):
    if backend.find_nvcc() is None:
        pytest.skip("no nvcc")
    file = Path(tmp_path / "spills.cu")
    file.write_text(SPILLS)
    found = {one.kernel: one for one in resources.of_sources([str(file)])}
    assert set(found) == {"many", "few<64>", "hidden", "own"}
    assert found["many"].registers == 32
    assert found["many"].spill_stores > 0 and found["many"].spill_loads > 0
    assert found["many"].stack > 0
    assert found["few<64>"].spill_stores == found["few<64>"].stack == 0
