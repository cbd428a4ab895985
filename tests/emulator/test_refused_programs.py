"""Tests of programs that do not compile: what the compiler driver says of them, with file and line."""

import os
import shutil

import cc
import pytest

COMPILER = os.environ.get("CXX") or shutil.which("g++")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


@pytest.fixture
def compiled(tmp_path, monkeypatch, capfd):
    """Compiles the text of a .cu file; returns the exit status and what was said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CXX", COMPILER)

    def compile_text(text, *options):
        (tmp_path / "in.cu").write_text(text)
        return cc.main(["-c", "in.cu", "-w", *options]), capfd.readouterr().err

    return compile_text


def errors(said):
    return [line for line in said.splitlines() if "error:" in line]


SHARED = "__global__ void k(float* o) {\n__shared__ float a[%s];\n%s __shared__ char b[%s];\n}\n"


@pytest.mark.parametrize(
    "sizes, line",
    [
        (("N + 1", "} __device__ void f() {", "1"), 2),
        (("N", "", "1"), 3),
        (("N / 2", "if (o) {} {", "24 * 1024 + 1]; } char c[1"), 3),
        (("N", "} __device__ void f() {", "48 * 1024"), None),
        (("N", "extern", ""), None),
    ],
)
def test_shared_memory_beyond_what_a_block_has(compiled, sizes, line):
    status, said = compiled("constexpr int N = 12 * 1024;" + SHARED % sizes)
    if line is None:
        assert (status, said) == (0, "")
        return
    (error,) = errors(said)
    assert status == 1
    assert error.startswith(f"in.cu:{line}:")
    assert "uses too much shared data: a block has 48 KiB (0xc000 bytes)" in error


def test_shared_memory_of_an_instance(compiled):
    text = (
        "template <int N> __global__ void k() {\n__shared__ int a[N];\n__shared__ int b[N];\n}\n"
        "void f() {\nk<6144><<<1, 1>>>();\nk<6145><<<1, 1>>>();\n}\n"
    )
    status, said = compiled(text)
    (error,) = errors(said)
    assert status == 1 and error.startswith("in.cu:3:") and "49160" in said


def test_a_reference_behind_a_name(compiled):
    text = "typedef int& R;\n__global__ void k(R x) {}\nvoid f() { int i;\nk<<<1, 1>>>(i); }\n"
    status, said = compiled(text)
    assert status == 1
    (error,) = errors(said)
    assert "a kernel's parameter is a reference" in error and "in.cu:4:" in said


def test_cuda_in_c(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.c").write_text("#include <stdio.h>\n#include <cuda_runtime.h>\ncudaError_t e;\n")
    assert cc.main(["-c", "c.c"]) == 1
    said = capfd.readouterr().err
    (error,) = errors(said)
    assert "the cpu back end's headers are C++; rename this C source to .cpp" in error
    assert "from c.c:2" in said


@pytest.mark.parametrize("header", ["thrust/sort.h", "cub/cub.cuh", "cuda_fp16.h", "mma.h"])
def test_missing_headers(compiled, header):
    """Even if the compiler would find a real one, which does not fit ours."""
    status, said = compiled(f"\n#include <{header}>\nint x = cub::Sum(nothing);\n")
    (error,) = errors(said)
    assert status == 1
    assert error.startswith(f"in.cu:2:10: fatal error: {header}: the cpu back end has no ")
    assert compiled(f"#if 0\n#include <{header}>\n#endif\n") == (0, "")
