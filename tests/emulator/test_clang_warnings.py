"""What clang++ warns of where nvcc does not."""

import shutil
import subprocess
from pathlib import Path

import pytest

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


@pytest.mark.skipif(not shutil.which("clang++"), reason="no clang++ here")
def test_a_loop_that_it_does_not_unroll(tmp_path):
    (tmp_path / "a.cpp").write_text(NOT_UNROLLED)
    command = ["clang++", "-std=c++17", "-O2", "-Wall", "-Werror", f"-I{INCLUDE}", "-c", "a.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)
