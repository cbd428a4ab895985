"""Tests of what the translator makes of __CUDA_ARCH__. (programs/architecture.cu runs some.)"""

import pytest


@pytest.mark.parametrize(
    "directive, expected",
    [
        ("#if __CUDA_ARCH__ >= 700", "#if 900 >= 700"),
        ("#  if defined(__CUDA_ARCH__) && X  // why", "#if 1 && X  // why"),
        ("#if ! defined __CUDA_ARCH__ || defined(X)", "#if ! 1 || defined(X)"),
        ("#ifndef __CUDA_ARCH__ /* host */", "#if 0 /* host */"),
        ("#if __CUDA_ARCH_LIST__ >= 700", "#if __CUDA_ARCH_LIST__ >= 700"),
        ("#if 1\n#elif __CUDA_ARCH__ > 1", "#if 1\n#elif 900 > 1"),
    ],
)
def test_device_code_is_the_gpus(translated_or_error, directive, expected):
    for head in (
        "__global__ void k",
        "template <class T> __device__ T f",
        "struct S { __device__ S",
    ):
        body = head + "() {\n%s\n  a();\n#else\n  b();\n#endif\n}\n"
        assert translated_or_error(body % directive) == body % expected.replace("    ", "")


@pytest.mark.parametrize(
    "source",
    [
        "int main() {\n#ifdef __CUDA_ARCH__\n  a();\n#endif\n}\n",
        "#ifndef __CUDA_ARCH__\n#include <vector>\nint f() { return 1; }\n#endif\n",
        '#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300\n#error "too old"\n#endif\n',
        "__host__ __device__ int f() {\n#if __CUDA_ARCH__ >= 1000\n  int x;\n#endif\n}\n",
        "#if 0\n__device__ int f() {\n#if __CUDA_ARCH__\n#endif\n}\n#endif\n",
        "#ifdef __CUDA_ARCH__\n#define F 1\n#else\n#define F 0\n#endif\nint main() { F; }\n",
    ],
)
def test_host_code_is_the_hosts(translated_or_error, source):
    assert translated_or_error(source) == source


@pytest.mark.parametrize(
    "source, expected",
    [
        ("#ifdef __CUDA_ARCH__\nconst int n = __CUDA_ARCH__;\n#else\nconst int n = 1;\n#endif\n"
         "__device__ int k() { return n; }\n",
         "#if 1\nconst int n = 900;\n#else\nconst int n = 1;\n#endif\n"
         "__device__ int k() { return n; }\n"),
        ("#ifdef __CUDA_ARCH__\n#define HD __host__ __device__ __forceinline__  // both\n#else\n"
         "#define HD inline\n#endif\nHD int f();\n__global__ void k() { f(); }\n",
         "#if 1\n#define HD __host__ __device__ __forceinline__  // both\n#else\n"
         "#define HD inline\n#endif\nHD int f();\n__global__ void k() { f(); }\n"),
        ("#ifndef __CUDA_ARCH__\n#define __device__\n#endif\n__device__ int f();\nint g();\n",
         "#if 0\n#define __device__\n#endif\n__device__ int f();\nint g();\n"),
    ],
)  # fmt: skip
def test_declarations_are_those_of_their_users(translated_or_error, source, expected):
    assert translated_or_error(source) == expected


BOTH = "__host__ __device__ int f() {\n%s\n}\n"


@pytest.mark.parametrize(
    "condition, gpu, host",
    [
        ("300 <= __CUDA_ARCH__ < 1000", True, True),  # (300 <= 900) < 1000
        ("!__CUDA_ARCH__ == 0", True, False),
        ("300 < __CUDA_ARCH__ && __CUDA_ARCH__ < 1000", True, False),
        ("! defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 700", False, True),
    ],
)
def test_conditions_mean_what_they_mean_in_c(translated_or_error, condition, gpu, host):
    text = translated_or_error(BOTH % f"#if {condition}\n  a();\n#endif")
    if gpu == host:
        assert text == BOTH % f"#if {condition}\n  a();\n#endif"
    else:
        assert f"if ({'' if gpu else '!'}::emu::onDevice()) {{" in text


WHOLE = "have whole statements between these directives, and declare variables before them"
DECLARED = "host and GPU see different declarations here"


@pytest.mark.parametrize(
    "source, line, message",
    [
        (BOTH % "#ifdef __CUDA_ARCH__\n  int x = 1;\n#else\n  int x;\n#endif", 2, WHOLE),
        (BOTH % "#ifdef __CUDA_ARCH__\n  std::pair<T> p;\n#endif", 2, WHOLE),
        (BOTH % "#ifdef __CUDA_ARCH__\n  T* p = q;\n#endif", 2, WHOLE),
        (BOTH % "return\n#ifdef __CUDA_ARCH__\n 1;\n#else\n 2;\n#endif", 3, WHOLE),
        (BOTH % "#ifdef __CUDA_ARCH__\nif (x) {\n#endif\n  a();\n}", 2, WHOLE),
        (BOTH % "#if __CUDA_ARCH__ - 1000 < 0u\n  a();\n#endif", 2, "asks for more than"),
        (BOTH % "#if defined(__CUDA_ARCH__) && X\n  a();\n#endif", 2, "asks for more than"),
        ("#define A __CUDA_ARCH__\n__device__ void f() {\n#if A > 700\n#endif\n}\n", 3,
         "'A' stands for __CUDA_ARCH__"),
        ("#ifdef __CUDA_ARCH__\n__host__ __device__ void f() {}\n#endif\n", 1, DECLARED),
        ("\n#ifndef __CUDA_ARCH__\n__device__ void f() {}\nvoid g() {}\n#endif\n", 2, DECLARED),
        ('#ifdef __CUDA_ARCH__\n#include "a"\n#else\n#include "b"\n#endif\n', 1, DECLARED),
        ("#ifdef __CUDA_ARCH__\ntypedef float T;\n#else\ntypedef int T;\n#endif\n"
         "__device__ T d() { T x; }\nT f() { T x; }\n", 1, DECLARED),
        ("#ifdef __CUDA_ARCH__\n#define HD __host__ __device__\n#else\n#define HD const\n#endif\n"
         "HD int f();\n", 1, DECLARED),
        ("#ifdef __CUDA_ARCH__\n#define HD __host__ __device__\n#endif\nHD int f();\n", 1,
         DECLARED),
        ("#ifdef __CUDA_ARCH__\n#define F 1\n#endif\n#ifdef F\n#endif\n__device__ int x = F;\n", 1,
         DECLARED),
    ],
)  # fmt: skip
def test_what_cannot_be_chosen_is_refused(translated_or_error, source, line, message):
    said = translated_or_error(source)
    assert said.startswith(f"in.cu:{line}: error: ") and message in said
