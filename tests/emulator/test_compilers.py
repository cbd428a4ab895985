"""The emulator's headers with g++ and with clang++, where the two compilers differ."""

import shutil
import subprocess
from pathlib import Path

import pytest
from instrument_flags import instrument_flags

INCLUDE = Path(__file__).resolve().parents[2] / "emulator" / "include"
NOT_UNROLLED = """\
#include <cuda_runtime.h>
void sums(const float* in, float* out, unsigned first) {
#pragma unroll
    for (unsigned i = first; i < 1024; i += 128) {
        float sum = 0;
        for (unsigned tap = 0; tap < 9; ++tap) sum += in[tap] * in[i + tap];
        if (sum > 0) out[i] = sum;
    }
}
"""
# The translator writes a launch like this. The pointer is the host's, so the kernel does not load it.
CALLS_BY_POINTER = """\
#include <emu/kernel_frame.h>
extern void (*kernel)(int);
template <class Call> void run(Call call) { call(1); }
void launch() {
    run([=](auto... arguments) EMU_NOT_RECORDED { kernel(arguments...); });
}
"""


@pytest.fixture(params=["g++", "clang++"])
def compiler(request):
    if not shutil.which(request.param):
        pytest.skip(f"no {request.param} here")
    return request.param


def compiled(compiler, folder, source, *flags):
    """The machine code. Warnings are errors."""
    (folder / "a.cpp").write_text(source)
    command = [compiler, "-std=c++17", "-Wall", "-Wno-unknown-pragmas", "-Werror", *flags]
    command += [f"-I{INCLUDE}", "-S", "a.cpp", "-o", "a.s"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "a.s").read_text()


def test_a_loop_that_is_not_unrolled_is_no_warning(compiler, tmp_path):
    compiled(compiler, tmp_path, NOT_UNROLLED, "-O2")


def test_a_pointer_to_a_kernel_is_not_seen(compiler, tmp_path):
    flags = instrument_flags([compiler])
    assert "__tsan_read" not in compiled(compiler, tmp_path, CALLS_BY_POINTER, *flags)
    seen = CALLS_BY_POINTER.replace(" EMU_NOT_RECORDED", "")
    assert "__tsan_read" in compiled(compiler, tmp_path, seen, *flags)
