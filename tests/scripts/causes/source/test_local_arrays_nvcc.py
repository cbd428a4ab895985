"""Whether ptxas gives a stack frame to the kernels whose array is in local memory for sure, and none to those
in which local_arrays.py finds nothing."""

import os
import subprocess

import pytest
from kernel_text import kernel
from lab_cli.causes.source import local_arrays, resources, source
from lab_cli.machine import backend

FILL = "for (int k = 0; k < 8; ++k) a[k] = in[k * 32 + i]; "
BODIES = [
    "float a[8], s = 0; for (int k = 0; k < n; ++k) a[k] = in[k]; "
    "for (int k = 0; k < n; ++k) s += a[n - 1 - k] * in[k]; out[i] = s;",
    "int a[8] = {}; for (int k = 0; k < n; ++k) a[index[k] & 7]++; out[i] = a[0] * a[1] + a[7];",
    "float a[128]; for (int k = 0; k < 128; ++k) a[k] = in[k]; out[i] = a[index[i] & 127];",
    "int a[32], top = 0, sum = 0; a[top++] = i % 7; while (top > 0) "
    "{ int k = a[--top]; sum += k; if (k > 0) a[top++] = index[k]; } out[i] = sum;",
    f"float a[8]; {FILL} for (int k = 0; k < n; ++k) {{ out[k] = a[k % 8]; a[k % 8] = in[k + n]; }}",
    f"float a[8]; {FILL} for (int k = 1; k < 8; ++k) {{ float v = a[k]; int j = k - 1; "
    "while (j >= 0 && a[j] > v) { a[j + 1] = a[j]; --j; } a[j + 1] = v; } out[i] = a[3];",
    "float a[8], s = 0;\n#pragma unroll 1\nfor (int k = 0; k < 8; ++k) a[k] = in[k];\n"
    "#pragma unroll 1\nfor (int k = 0; k < 8; ++k) s += a[7 - k] * in[k]; out[i] = s;",
    "float a[512]; for (int k = 0; k < 512; ++k) a[k] = in[k]; out[i] = a[index[i] & 511];",
    f"float a[8]; {FILL} out[i] = a[0] + a[7];",
    f"float a[8]; {FILL} for (int k = 1; k < 8; k *= 2) out[k] = a[k];",
    f"float a[8]; {FILL} for (int k = 0; k < 8; ++k) for (int j = k + 1; j < 8; ++j) "
    "if (a[j] < a[k]) { float t = a[j]; a[j] = a[k]; a[k] = t; } out[i] = a[3];",
    f"float a[8]; {FILL} int c = 0; for (int k = 0; k < 8; ++k) out[k] = a[c++];",
    "float a[8]; int k = 0; while (k < 8) { a[k] = in[k]; ++k; } out[i] = a[0] * a[7];",
    "static const float a[8] = {1, 2, 3, 4, 5, 6, 7, 9}; out[i] = a[index[i] & 7];",
    "int a[4] = {}; for (int k = 0; k < n; ++k) a[index[k] & 3]++; out[i] = a[0] * a[1] + a[3];",
    "const float a[8] = {1, 2, 3, 4, 5, 6, 7, 9}; out[i] = a[index[i] & 7];",
    "float a[8]; for (int k = 0; k < n; ++k) a[k] = in[k]; out[i] = a[0] + a[n - 1];",
    "float a[512];\n#pragma unroll\nfor (int k = 0; k < 512; ++k) a[k] = in[k * 32 + i]; "
    "float s = 0;\n#pragma unroll\nfor (int k = 0; k < 512; ++k) s = s * in[k] + a[511 - k]; out[i] = s;",
    f"float a[8]; {FILL} out[i] = a[index[i] & 7];",
]


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """The bytes of each kernel's stack frame, of programs that are linked in parts and of others."""
    nvcc = backend.find_nvcc()
    if nvcc is None:
        pytest.skip("no nvcc")
    file = tmp_path_factory.mktemp("nvcc") / "all.cu"
    kernels = [
        kernel(body).replace("void k(", f"void k{number}(") for number, body in enumerate(BODIES)
    ]
    file.write_text("".join(kernels).replace("__global__", 'extern "C" __global__'))
    command = [nvcc, "-std=c++17", "-arch=sm_90", "-cubin", "-Xptxas", "-v", "-o", os.devnull]
    whole = subprocess.run([*command, file], stderr=subprocess.PIPE, text=True, check=True).stderr
    both = [resources.of_sources([str(file)]), resources.read(whole)]
    return [{one.kernel: one.stack for one in kernels} for kernels in both]


@pytest.mark.parametrize("number, body", list(enumerate(BODIES)))
def test_ptxas_says_the_same(frames, number, body):
    arrays = local_arrays.find(source.of(kernel(body)))
    if not arrays or arrays[0].certain:
        assert [of_kernels[f"k{number}"] > 0 for of_kernels in frames] == [bool(arrays)] * 2


def test_some_are_certain_and_some_are_none(frames):
    found = [local_arrays.find(source.of(kernel(body))) for body in BODIES]
    certain = [arrays[0].certain for arrays in found if arrays]
    assert certain.count(True) >= 6 and certain.count(False) >= 1 and found.count([]) >= 6
    assert [len(of_kernels) for of_kernels in frames] == [len(BODIES)] * 2
