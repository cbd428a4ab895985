"""Tests of programs that do not compile: what the compiler driver says of them, with file and line."""

import os
import re
import shutil

import cc
import pytest

COMPILER = os.environ.get("CXX") or shutil.which("g++")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


@pytest.fixture
def compiled(of_build, tmp_path, monkeypatch, capfd):
    """Compiles the text of a .cu file; returns the exit status and what was said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CXX", COMPILER)

    def compile_text(text, *options):
        (tmp_path / "in.cu").write_text(text)
        return cc.main([*of_build, "-c", "in.cu", "-w", *options]), capfd.readouterr().err

    return compile_text


def errors(said):
    return [line for line in said.splitlines() if "error:" in line]


@pytest.fixture
def refused(compiled):
    """Compiles what is wrong once; returns the error, and all that was said."""

    def compile_text(text, *options):
        status, said = compiled(text, *options)
        (error,) = errors(said)
        assert status == 1
        return error, said

    return compile_text


SHARED = "__global__ void k(float* o) {\n__shared__ float a[%s];\n%s __shared__ char b[%s];\n}\n"


@pytest.mark.parametrize(
    "sizes, line",
    [
        (("N + 1", "} __device__ void f() {", "1"), 2),
        (("N", "", "1"), 3),
        (("N / 2", "if (o) {} {", "24 * 1024 + 1]; } char c[1"), 3),
    ],
)
def test_shared_memory_beyond_what_a_block_has(refused, sizes, line):
    error, _ = refused("constexpr int N = 12 * 1024;" + SHARED % sizes)
    assert error.startswith(f"in.cu:{line}:")
    assert "uses too much shared data: a block has 48 KiB (0xc000 bytes)" in error


@pytest.mark.parametrize("sizes", [("N", "} __device__ void f() {", "4 * N"), ("N", "extern", "")])
def test_shared_memory_that_a_block_has(compiled, sizes):
    assert compiled("constexpr int N = 12 * 1024;" + SHARED % sizes) == (0, "")


def test_shared_memory_of_an_instance(refused):
    text = (
        "template <int N> __global__ void k() {\n__shared__ int a[N];\n__shared__ int b[N];\n}\n"
        "void f() {\nk<6144><<<1, 1>>>();\nk<6145><<<1, 1>>>();\n}\n"
    )
    error, said = refused(text)
    assert error.startswith("in.cu:3:") and "49160" in said


def test_shared_memory_of_branches(compiled):
    """What another branch of an #if declares does not count, and is not there."""
    text = (
        "__global__ void k() {\n#ifdef PADDED\n__shared__ int padded[64][65];\n#else\n"
        "__shared__ int plain[64][64];\n#endif\n__shared__ int more[64][64];\n}\n"
    )
    assert compiled(text) == (0, "")
    assert compiled(text, "-DPADDED") == (0, "")


# 65532 bytes that count, and 3 in each branch.
CONSTANTS = """\
#define CONSTANT __constant__
struct Later;
extern __constant__ Later later;
namespace n {{ __constant__ int of_n[16]; }}
template <class T> __constant__ T of_type[4];
struct S {{ static __constant__ int of_class[4]; }};
CONSTANT char list[] = {{1, 2}}, braces[]{{1, 2}};
__constant__ const float table[16 * 1024 - 2] = {{1}};
#ifdef OTHER
__constant__ char ofBranch[3];
#else
__constant__ char ofElse[3];
#endif
{declaration}
"""


@pytest.mark.parametrize(
    "declaration, name",
    [
        ("__constant__ char c[5];", "c"),
        ("static __constant__ const char a[] = {1}, *const b = nullptr;", "b"),
        ("namespace { CONSTANT struct { char x[5]; } one; }", "one"),
        ('extern "C" { __constant__ char c[5]; }', "c"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--instrument",)])
def test_constant_memory_beyond_what_there_is(refused, declaration, name, options):
    error, _ = refused(CONSTANTS.format(declaration=declaration), *options)
    assert error.startswith("in.cu:14:")
    assert f"with '{name}', this file uses too much global constant data: there are 64 KiB" in error


@pytest.mark.parametrize("options", [(), ("--instrument",), ("-DOTHER",)])
def test_constant_memory_that_is_there(compiled, options):
    text = CONSTANTS.format(declaration="__constant__ char c[4]; __global__ void k(int c[5]);")
    assert compiled(text, *options) == (0, "")


INITIALISED = [
    ("__shared__ int s = 0;", "s"),
    ("__shared__ float tile[N][N] = {};", "tile"),
    ("static __shared__ float tile[N]{};", "tile"),
    ("__shared__ int a, *b(p), c;", "b"),
    ("__shared__ int a, b{3};", "b"),
    ("volatile __shared__ int v = 0;", "v"),
    ("__shared__ Pair<int, int> s(1, 2);", "s"),
    ("__shared__ struct { int a; } s = {1};", "s"),
    ("extern __shared__ int s[] = {1};", "s"),
    ("ZEROED(int, s);", "n"),
]


@pytest.mark.parametrize(
    "head", ["__global__ void k{}(int* p)", "template <class T> __device__ T f{}(T p)"]
)
def test_shared_variables_have_no_initialiser(compiled, head):
    """Nor in templates that nobody uses, as nvcc has it."""
    text = (
        "#define N 4\n#define ZEROED(T, n) __shared__ T n = 0\n"
        "template <class A, class B> struct Pair { A a; B b; Pair(A, B); };\n"
    )
    for i, (declaration, _) in enumerate(INITIALISED):
        text += f"{head.format(i)} {{ {declaration} }}\n"
    status, said = compiled(text)
    assert status == 1
    for line, (_, name) in enumerate(INITIALISED, 4):
        (error, *_) = [e for e in errors(said) if e.startswith(f"in.cu:{line}:")]
        assert f"'{name}' has an initialiser, which CUDA does not allow" in error


def test_shared_variables_without_initialiser(compiled):
    text = """
        #define N 4
        #define ROW(n) n[N]
        #define UNUSED(T, n) __shared__ T n = 0
        template <class T> struct V { T a = N; };
        __shared__ int outside;
        template <int M> __global__ void k() {
            __shared__ union U { int a; float b; } b;
            __shared__ __align__(8) int e[N][M + 1], ROW(f);
            __shared__ int g __attribute__((aligned(16)));
            __shared__ int (*h)(int), (*i)[3];
            __shared__ decltype(e[0][0] + 1) j;
            __shared__ V<V<int>*>* l;
        #ifdef NOT_DEFINED
            __shared__ int p = 0;
        #endif
        }
        void f() { k<3><<<1, 1>>>(); }
    """
    assert compiled(text) == (0, "")


DYNAMIC_SHARED = """
#include <type_traits>
#define IS(type, ...) static_assert(std::is_same_v<decltype((__VA_ARGS__)), type>)
#define SHARED(T, n) extern __shared__ T n[]
template <class T, class> struct A { using type = T; };
namespace n { inline namespace m { extern __shared__ float *outside[], rows[][4]; } }
extern "C" { extern __shared__ int ofC[]; }
IS(float*(&)[], n::outside); IS(float(&)[][4], n::rows);
template <class T> __global__ void k() {
    __shared__ extern int a [ ] ; IS(int(&)[], a);
    extern __shared__ __align__(16) unsigned char b[]; IS(unsigned char(&)[], b);
    extern __align__(sizeof(T)) __shared__ T c[]; IS(T(&)[], c);
    extern __shared__ alignas(8) double d[]; IS(double(&)[], d);
    alignas(T) extern __shared__ int e[]; IS(int(&)[], e);
    extern __shared__ float f[][33]; IS(float(&)[][33], f);
    extern __shared__ typename A<T, int>::type g[]; IS(T(&)[], g);
    extern __shared__ A<int[2], T*> h[]; using H = A<int[2], T*>; IS(H(&)[], h);
    extern __shared__ int *i[], j[], l[][2]; IS(int*(&)[], i); IS(int(&)[], j); IS(int(&)[][2], l);
    extern __shared__ const float* const m[]; IS(const float* const(&)[], m);
    extern /* of all */ __shared__ // here
        float o[]; IS(float(&)[], o);
    SHARED(int, p); IS(int(&)[], p);
    static __shared__ alignas(16) char q[64], r; IS(char(&)[64], q);
    extern __shared__ float s[25], t; IS(float(&)[25], s);  // definitions, to nvcc as well
}
void f() { k<int><<<1, 1>>>(); }
"""


def test_shared_memory_has_the_type_that_it_was_declared_with(compiled):
    assert compiled(DYNAMIC_SHARED) == (0, "")


SIDES = """
int ofHost(int x) { return x; }
__device__ int ofDevice(int x) { return x; }
int variable;
__global__ void k(int* p) {
    p[0] = ofHost(1);
    p[0] += variable;
}
int main() {
    k(nullptr);
    ofHost<<<1, 1>>>(1);
    return ofDevice(1);
}
"""


@pytest.mark.parametrize("options", [(), ("--instrument",)])
def test_the_other_side(compiled, options):
    status, said = compiled(SIDES, *options)
    assert status == 1
    assert {error.split(":")[1] for error in errors(said)} == {"6", "7", "10", "11", "12"}
    dead = re.sub("^    .*;$", r"#ifdef NOT_DEFINED\n\g<0>\n#endif", SIDES, flags=re.MULTILINE)
    assert compiled(dead, *options) == (0, "")


@pytest.mark.parametrize(
    "kernel", ["__global__ int k(int* x)", "unsigned __global__ k()", "__global__ float* k(int)"]
)
def test_a_kernel_returns_void(refused, kernel):
    right = "template <class T> __global__ void K(T* x) {}\ntemplate <> __global__ void K<int>(int*) {}\n"
    error, said = refused(right + kernel + " { return 0; }\n")
    assert "in.cu:3:" in said
    assert "a kernel returns void: store the result through a pointer to device memory" in error


def test_references_of_cuda_launch_kernel_ex(refused):
    text = (
        "typedef int& R;\n__global__ void k(R x) {}\nvoid f(cudaLaunchConfig_t* c) { int i;\n"
        "cudaLaunchKernelEx(c, k, i); }\n"
    )
    error, said = refused(text)
    assert "cudaLaunchKernelEx() passes no references" in error and "in.cu:4:" in said


def test_rvalue_references(compiled):
    status, said = compiled("__global__ void k(int&& x) {}\nvoid f() {\nk<<<1, 1>>>(3); }\n")
    assert status == 1 and "in.cu:3:" in said
    assert any("a kernel's parameter is an rvalue reference" in error for error in errors(said))


def test_cuda_in_c(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.c").write_text("#include <stdio.h>\n#include <cuda_runtime.h>\ncudaError_t e;\n")
    assert cc.main(["-c", "c.c"]) == 1
    said = capfd.readouterr().err
    (error,) = errors(said)
    assert "the cpu back end's headers are C++; rename this C source to .cpp" in error
    assert "from c.c:2" in said


@pytest.mark.parametrize("header", ["cub/cub.cuh", "cuda_fp16.h"])
def test_missing_headers(refused, compiled, header):
    """Even if the compiler would find a real one, which does not fit ours."""
    error, _ = refused(f"\n#include <{header}>\nint x = cub::Sum(nothing);\n")
    assert error.startswith(f"in.cu:2:10: fatal error: {header}: the cpu back end has no ")
    assert compiled(f"#if 0\n#include <{header}>\n#endif\n") == (0, "")


ATOMICS = [
    ("fetch_add(ll, 1, R)", "of 8 bytes takes unsigned integers"),
    ("fetch_add(s, 1, R)", "takes integers of 4 or 8 bytes, float and double"),
    ("fetch_or(f, 1, R)", "takes integers of 4 or 8 bytes"),
    ("max(f, 1, R)", "takes integers of 4 or 8 bytes"),
    ("fetch_min(s, 1, R)", "takes integers of 4 or 8 bytes"),
    ("load_n(f, R)", "take integers alone"),
    ("store_n(&ll, nullptr, R)", "take integers alone"),
    ("exchange_n(s, 1, R)", "4, 8 or 16 bytes"),
    ("compare_exchange(c, c, c, false, R, R)", "2, 4, 8 or 16 bytes"),
    ("load(odd, odd, R)", "1, 2, 4, 8 or 16 bytes"),
]


def test_types_of_atomic_functions(compiled):
    """nvcc 13.0 refuses the same."""
    text = "#define R __ATOMIC_RELAXED\nstruct Odd { char a[3]; };\n"
    for i, (call, _) in enumerate(ATOMICS):
        text += f"__device__ void f{i}(char* c, short* s, float* f, long long* ll, Odd* odd) {{\n"
        text += f"__nv_atomic_{call}; }}\n"
    status, said = compiled(text.replace("__ATOMIC", "__NV_ATOMIC"))
    assert status == 1
    for i, (call, message) in enumerate(ATOMICS):
        assert any(message in error for error in errors(said)), call
        assert f"in.cu:{4 + 2 * i}:" in said, call


def test_only_ptx_that_is_compiled_is_an_error(compiled):
    text = (
        "#ifdef NO_EMULATION\n"
        '#define LANE(x) asm("mov.u32 %0, %%laneid;" : "=r"(x))\n'
        "#else\n#define LANE(x) x = 0\n#endif\n"
        '#define UNUSED asm("exit;")\n'
        "__device__ void f() { int i; LANE(i); (void)i; }\n"
    )
    assert compiled(text) == (0, "")
    status, said = compiled(text + '__device__ void g() {\n    asm volatile("exit;");\n}\n')
    assert status == 1 and "in.cu:9:" in said
    assert "inline PTX is not supported on the cpu back end" in errors(said)[0]
