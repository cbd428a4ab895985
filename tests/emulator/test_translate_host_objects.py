"""What nvcc refuses of the host in device code: objects and functions of namespace std, members of
classes, and `extern __shared__` arrays of one name with two types. And what it takes."""

import re
import shutil
import subprocess

import cc
import pytest
from command_line import parse

COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]


@pytest.fixture
def refused(translated):
    """The messages for what a source refuses."""

    def messages(source):
        text = translated("#include <iostream>\n" + source + "\n")
        return [m.replace('\\\\\\"', '"') for m in re.findall(r'GCC error \\"(.*?)\\"', text)]

    return messages


S = "struct S { int x; int f() const { return x; } int g(); S() : x(1) {} };\n"


@pytest.mark.parametrize(
    "source, name, remedy",
    [
        ('__global__ void k() { std::cout << "a" << std::endl; }', "std::cout", "printf()"),
        ("__device__ void f() { if (threadIdx.x) std::cerr << 1; }", "std::cerr", "printf()"),
        ("__global__ void k(int* p) { std::cin >> *p; }", "std::cin", "printf()"),
        ("__global__ void k() { std::vector<int> v(3); }", "std::vector", "array"),
        ('__device__ void f() { const std::string s = "a"; }', "std::string", "array"),
        ("__global__ void k(int* p) { std::sort(p, p + 3); }", "std::sort", "host"),
        ("__global__ void k(int* p) { *p = std::max(p[1], 2); }", "std::max", "max() without"),
        ("__global__ void k(int* p) { *p = std::min<int>(p[1], 2); }", "std::min", "min() without"),
        ("__global__ void k(int* p) { *p = std::rand(); }", "std::rand", "host"),
        (
            "template <class T> __global__ void k(T* p) { std::swap(p[0], p[1]); }\n"
            "int main() { k<int><<<1, 1>>>(nullptr); }",
            "std::swap",
            "host",
        ),
        (S + "__global__ void k(S s, int* p) { *p = s.f(); }", "S::f", "__device__"),
        (S + "__global__ void k(const S* s, int* p) { *p = s->f(); }", "S::f", "__device__"),
        (S + "__global__ void k(const S* s, int* p) { *p = s[1].f(); }", "S::f", "__device__"),
        (S + "__device__ int f(S& s) { return s.g(); }", "S::g", "__device__"),
        (S + "__global__ void k(int* p) { S s; *p = s.x; }", "S::S()", "__device__"),
        (S + "__global__ void k(S** p) { *p = new S; }", "S::S()", "__device__"),
        (S + "__global__ void k(S** p) { *p = new S(); }", "S::S()", "__device__"),
    ],
)
def test_of_the_host(refused, source, name, remedy):
    (message,) = refused(source)
    assert f"'{name}' is " in message
    assert remedy in message


@pytest.mark.parametrize(
    "source",
    [
        # other sides, or nobody's
        'void f() { std::cout << "a"; std::vector<int> v; std::sort(v.begin(), v.end()); }',
        'int main() { std::string s; std::cout << std::max(1, 2) << "a"; }',
        '__host__ __device__ void f() { std::cout << "a"; std::string s; }',
        "template <class T> __global__ void k() { std::cout << T(); }",
        "__global__ void k() { auto f = [] { std::cout << 1; }; }",
        "__global__ void k(int* p) { *p = sizeof(std::cout); }",
        # what nvcc takes
        "__global__ void k(float* p) { *p = std::sqrt(p[0]) + std::pow(p[1], 2.f) + std::abs(*p); }",
        "__global__ void k(int* p) { int a = std::move(p[0]); std::memcpy(p, p + 3, 4); }",
        'using namespace std;\n__global__ void k(int* p) { *p = max(p[0], 1); printf("%d", *p); }',
        "__global__ void k(std::vector<int>* v, const std::string& s) {}",
        "#define std mine\n__global__ void k() { std::cout << 1; }",
        # of other classes, of both sides, with a definition for the device, or not sure
        "struct S { __device__ int f() { return 1; } };\n__global__ void k(S s) { s.f(); }",
        "struct S { __host__ __device__ S() {} };\n__global__ void k() { S s; }",
        "struct S { S() = default; int x; };\n__global__ void k() { S s; S* t = new S; }",
        "struct S { int x; };\n__global__ void k() { S s; S* t = new S(); delete t; }",
        "struct S { int f(); };\n__device__ int S::f() { return 1; }\n"
        "__global__ void k(S s) { s.f(); }",
        "#define HD __host__ __device__\nstruct S { HD S() {} HD int f() { return 1; } };\n"
        "__global__ void k() { S s; s.f(); }",
        "struct S { int f() { return 1; } __device__ int f(int x) { return x; } };\n"
        "__global__ void k(S s) { s.f(1); }",
        "struct S { constexpr int f() const { return 1; } };\n__global__ void k(S s) { s.f(); }",
        "struct B { __device__ int f() { return 1; } };\n"
        "struct S : B { int g() { return 1; } };\n__global__ void k(S s) { s.f(); }",
        S + "struct D { __device__ int f() { return 1; } };\n__global__ void k(D d) { d.f(); }",
        S + "__global__ void k(S s) { S t = s; __shared__ S all[3]; all[0] = t; }",
        S + "int main() { S s; S* t = new S; return s.f() + t->g(); }",
    ],
)
def test_silent(refused, source):
    assert refused(source) == []


def test_constexpr_functions_are_allowed_with_the_option(tmp_path):
    assert parse(["--expt-relaxed-constexpr", "a.cu"]).relaxed and not parse(["a.cu"]).relaxed
    source = tmp_path / "in.cu"
    source.write_text("__global__ void k(int* p) { *p = std::max(p[1], 2); }\n")
    for relaxed, expected in ((False, 1), (True, 0)):
        cc.translate(str(source), str(tmp_path / "out.cpp"), [], False, relaxed)
        assert (tmp_path / "out.cpp").read_text().count("GCC error") == expected


ONE_TYPE = """
typedef int Integer;
template <class T> __global__ void t(T* p) { extern __shared__ T s[]; s[0] = *p; }
__global__ void a(int* p) { extern __shared__ int u[]; u[0] = *p; }
__global__ void b(int* p) { extern __shared__ __align__(16) Integer u[]; u[0] = *p; }
namespace other { __global__ void c(float* p) { extern __shared__ float u[]; u[0] = *p; } }
__global__ void d(float* p) { extern __shared__ volatile float v[]; v[0] = *p; }
__global__ void e(float* p) { extern __shared__ float w[][4]; w[1][2] = *p; }
int main() { t<int><<<1, 1, 4>>>(nullptr); }
"""


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "more, name",
    [
        ("", ""),
        ("void more() { t<double><<<1, 1, 8>>>(nullptr); }", "s"),
        ("__global__ void f(float* p) { extern __shared__ float u[]; u[0] = *p; }", "u"),
        ("__global__ void f(float* p) { extern __shared__ float v[]; v[0] = *p; }", "v"),
        ("__global__ void f(float* p) { extern __shared__ float w[]; w[0] = *p; }", "w"),
    ],
)
def test_extern_arrays_of_one_name(translated, tmp_path, compiler, more, name):
    text = translated(ONE_TYPE + more + "\n")
    (tmp_path / "in.cpp").write_text(text)
    command = [
        compiler,
        "-std=c++17",
        "-Wall",
        "-Werror",
        "-fsyntax-only",
        "-isystem",
        cc.OWN_INCLUDE,
    ]
    done = subprocess.run(
        [*command, "-include", "cuda_runtime.h", tmp_path / "in.cpp"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) == (name == ""), done.stderr
    assert name == "" or f"{name}_is_extern_shared_with_two_types" in done.stderr
