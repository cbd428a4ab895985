"""Whether nvcc computes in double what double_literals.py finds, and in float what it passes over: nvcc's
PTX says."""

import re
import subprocess

import pytest
from kernel_text import kernel
from lab_cli.causes.source import double_literals, source
from lab_cli.machine import backend

BODIES = [
    "float r = x * 2.0; out[i] = r;",
    "out[i] = x * 0.1;",
    "out[i] = 0.5 * x;",
    "out[i] = x + 1.0;",
    "out[i] = x + 0.1;",
    "out[i] = 1.0 / x;",
    "out[i] = 0.1 / x;",
    "out[i] = x / 3.0;",
    "out[i] = x / 0.1;",
    "out[i] = 1.0 / 3.0 * x;",
    "out[i] = x * 1.0 / 3.0;",
    "out[i] = x * 2.0 + 1.0;",
    "out[i] = x * y + 1.0;",
    "out[i] = (1.0 - y) * x;",
    "out[i] = (x + 1.0) * 0.5;",
    "out[i] = 0.25 * (x + y + in[0] + in[1]);",
    "out[i] = 0.5 * x * y;",
    "out[i] = x * y * 0.5;",
    "out[i] += 1.0;",
    "out[i] += 0.5 * x;",
    "out[i] = x > 0.5 ? y : x;",
    "out[i] = x > 0.1 ? y : x;",
    "out[i] = x > y ? x : 0.1;",
    "out[i] = (x > y ? 1.0 : 0.0) * y;",
    "out[i] = i * 0.5;",
    "out[i] = i > 0.5 ? x : y;",
    "int k = x + 0.5; out[i] = k;",
    "out[i] = (float)0.1 * x;",
    "out[i] = rsqrtf(x + 1.0);",
    "out[i] = sqrt(x + 1.0);",
    "out[i] = sqrt(x) * 0.5;",
    "out[i] = pow(x, 2.0);",
    "out[i] = max(x, 0.0);",
    "out[i] = fmaxf(x, 0.1);",
    "out[i] = floorf(x + 0.5);",
    "out[i] = floor(x + 0.5);",
    "out[i] = fabs(x - 0.5);",
    "out[i] = __fdividef(x, 0.1);",
    "auto k = x * 0.5; out[i] = k * y;",
    "auto k = 0.5; out[i] = k * x;",
    "constexpr double pi = 3.14159; out[i] = x * pi;",
    "constexpr float pi = 3.14159; out[i] = x * pi;",
    "float w[2] = {0.1, 0.2}; out[i] = w[0] * x + w[1] * y;",
    "float s = 0.0; for (int k = 0; k < n; ++k) s += 0.5 * in[k]; out[i] = s;",
    "float s = 0.0; for (int k = 0; k < n; ++k) s += in[k]; out[i] = s;",
    "auto f = [](float a) { return a * 0.1; }; out[i] = f(x);",
]


@pytest.fixture(scope="module")
def ptx(tmp_path_factory):
    """What nvcc makes of each of the bodies."""
    nvcc = backend.find_nvcc()
    if nvcc is None:
        pytest.skip("no nvcc")
    file = tmp_path_factory.mktemp("nvcc") / "all.cu"
    kernels = [
        kernel(body).replace("void k(", f"void k{number}(") for number, body in enumerate(BODIES)
    ]
    file.write_text("".join(kernels).replace("__global__", 'extern "C" __global__'))
    command = [nvcc, "-std=c++17", "-w", "-arch=sm_90", "-ptx", "-o", "all.ptx", file.name]
    subprocess.run(command, cwd=file.parent, check=True)
    text = (file.parent / "all.ptx").read_text()
    parts = re.split(r"\.entry k(\d+)\(", text)
    return dict(zip(map(int, parts[1::2]), parts[2::2]))


def test_all_were_compiled(ptx):
    assert set(ptx) == set(range(len(BODIES)))


@pytest.mark.parametrize("number, body", list(enumerate(BODIES)))
def test_nvcc_says_the_same(ptx, number, body):
    literals = double_literals.find(source.of(kernel(body)))
    assert bool(literals) == (".f64" in ptx[number])
    assert all(literal.certain for literal in literals)
