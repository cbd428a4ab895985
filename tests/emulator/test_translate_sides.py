"""Tests of what is refused since a program has two sides, host and GPU: where it is sure, and where
it is not."""

import re

import pytest
from translate import main

ERROR = re.compile(r'_Pragma\("GCC error \\"(.*?)\\""\)')
FUNCTIONS = """
int ofHost(int x) { return x; }
template <class T> static inline T ofHostToo(T x) { return x; }
__device__ int ofDevice(int x) { return x; }
template <class T> __device__ __forceinline__ T ofDeviceToo(T x) { return x; }
__host__ __device__ int ofBoth(int x) { return x; }
constexpr int constant(int x) { return x; }
__global__ void kernel(int* p) {}
template <class T> __global__ void kernelToo(T* p) {}
int variable = 1, *pointer, table[3] = {1, 2, 3};
static float second;
const int fixed = 3;
constexpr int fixedToo = 3;
__device__ int onDevice;
__constant__ float inConstant[3];
__managed__ int managed;
"""
FIRST = FUNCTIONS.count("\n") + 1


@pytest.fixture
def refused(tmp_path):
    """Translates a source with what headers it has; returns (line, message) of each error in it."""

    def translate(source, **headers):
        (tmp_path / "in.cu").write_text(source)
        for name, text in headers.items():
            (tmp_path / f"{name}.h").write_text(text)
        assert main([str(tmp_path / "in.cu"), "-o", str(tmp_path / "out.cpp")]) == 0
        text = (tmp_path / "out.cpp").read_text().split("\n", 1)[1]
        assert ERROR.sub("", text).replace(" ", "").count("\n") == source.count("\n")
        return [(text.count("\n", 0, m.start()) + 1, m[1]) for m in ERROR.finditer(text)]

    return translate


@pytest.mark.parametrize(
    "head", ["__global__ void f(int* p)", "template <class T> __device__ T f(T p)"]
)
@pytest.mark.parametrize(
    "body, message",
    [
        ("p[0] = ofHost(3);", "'ofHost' is a function of the host"),
        ("p[0] = 2 * ofHost(ofBoth(3));", "'ofHost' is a function of the host"),
        ("p[0] = ofHostToo<int>(2);", "'ofHostToo' is a function of the host"),
        ("p[0] = variable;", "'variable' is a variable of the host"),
        ("if (p[0] < variable) { p[0] += 1; }", "'variable' is a variable of the host"),
        ("p[2 * variable] = 3;", "'variable' is a variable of the host"),
        ("int i = 3, j = table[i]; p[i] = j;", "'table' is a variable of the host"),
        ("variable = *p;", "'variable' is a variable of the host"),
        ("p[0] = *pointer + (int)second;", "'pointer' is a variable of the host"),
    ],
)  # fmt: skip
def test_the_host_in_device_code(refused, head, body, message):
    (line, said), *_ = refused(f"{FUNCTIONS}{head} {{\n{body} }}\n")
    assert line == FIRST + 1
    by = "the kernel 'f'" if "global" in head else "the __device__ function 'f'"
    assert said.startswith(message) and f"which {by} cannot" in said


@pytest.mark.parametrize("body", ["ofDevice(3);", "return 1 + ofDeviceToo(ofHost(2));"])
@pytest.mark.parametrize("head", ["int main()", "template <class T> static int main(T x)"])
def test_device_functions_in_host_code(refused, head, body):
    ((line, said),) = refused(f"{FUNCTIONS}{head} {{\n{body} }}\n")
    assert line == FIRST + 1
    assert "is a __device__ function, which the host function 'main' cannot call" in said


@pytest.mark.parametrize(
    "head", ["int main()", "__global__ void f()", "__host__ __device__ void f()"]
)
@pytest.mark.parametrize(
    "body, name",
    [
        ("int* d; kernel(d);", "kernel"),
        ("kernelToo<int>(0);", "kernelToo"),
        ("auto l = [=] { kernel(0); };", "kernel"),
    ],
)  # fmt: skip
def test_kernels_that_are_called(refused, head, body, name):
    ((line, said),) = refused(f"{FUNCTIONS}{head} {{\n{body} }}\n")
    assert line == FIRST + 1
    assert said.startswith(f"the kernel '{name}' is called like a function")


@pytest.mark.parametrize(
    "head", ["int main()", "__global__ void f()", "__host__ __device__ void f()"]
)
@pytest.mark.parametrize(
    "body, name, side",
    [
        ("int* d; ofHost<<<1, 1>>>(3);", "ofHost", "host function"),
        ("if (n > 3) ofHost << < 1, 1 >> > (3);", "ofHost", "host function"),
        ("ofHostToo<V<V<int>>><<<1, 1>>>(3);", "ofHostToo", "host function"),
        ("ofDeviceToo<int><<<dim3(1), dim3(1)>>>(3);", "ofDeviceToo", "__device__ function"),
        ("ofBoth<<<1, 1>>>(3);", "ofBoth", "__host__ __device__ function"),
        ("auto l = [=] { ofHost<<<1, 1>>>(3); };", "ofHost", "host function"),
        ("transform<<<1, 1>>>(3);", "transform", "host function"),
    ],
)  # fmt: skip
def test_functions_that_are_launched(refused, head, body, name, side):
    """Even by a name that libraries have, too: theirs are no kernels."""
    named = "void transform(int x) {}\n"
    ((line, said),) = refused(f"{named}{FUNCTIONS}{head} {{\n{body} }}\n")
    assert line == FIRST + 2
    assert said.startswith(f"'{name}' is a {side}, which cannot be launched")


def test_each_name_once_in_a_function(refused):
    body = "int main() { kernel(0); kernel(0); }\nvoid f() { kernel(0); ofDevice(ofDevice(3)); }\n"
    assert [line for line, _ in refused(FUNCTIONS + body)] == [FIRST, FIRST + 1, FIRST + 1]


def test_whose_calls_are_looked_at(refused):
    said = refused(
        "int h(int x) { return x; }\nstruct S { __device__ int f() const { return h(1); } };\n"
        "struct T : S { __device__ int f() { return h(1); } };\n"
        "struct U {\n__device__ U() : a(1) { h(2); } int a;\n"
        "__device__ int operator()(int x) const noexcept { return h(x); }\n};\n"
        "int f() noexcept { return h(1); }\n__device__ int g() noexcept { return h(1); }\n"
    )
    assert [line for line, _ in said] == [2, 6, 9]
    for name, (_, message) in zip(("f", "operator()", "g"), said):
        assert f"'h' is a function of the host, which the __device__ function '{name}'" in message


def test_headers_count(refused):
    use = '#include "a.h"\n#include "b.h"\n__global__ void k(int* p) { p[0] = f(g); }\n'
    host = "#pragma once\nint f(int x);\nextern int g;\n"
    assert len(refused(use, a=host, b="")) == 2
    assert refused(use, a=host, b="inline __device__ int f(float x);\n__device__ int g;") == []
    assert refused(use, a=host, b="struct f { char g; };\n") == []


def test_a_source_without_words_of_cuda(refused):
    use = '#include "a.h"\nint main() { k(0); }\n'
    assert len(refused(use, a="__global__ void k(int* p);\n")) == 1


def test_headers_that_are_not_code(refused):
    """They were not read before, and need not be."""
    use = '#include "a.h"\nint f(int);\n__global__ void k(int* p) { p[0] = f(1); }\n'
    assert refused(use, a="f's\n") == []


@pytest.mark.parametrize(
    "code",
    [
        # what both may use
        "__global__ void f(int* p) { p[0] = ofDevice(ofBoth(constant(3))) + fixed + fixedToo; }",
        "int main() { return ofBoth(constant(ofHost(3))) + variable + managed; }",
        "__global__ void f(int* p) { p[0] = sizeof(table) / sizeof(table[0]) + sizeof(ofHost(3)); }",
        "__device__ decltype(ofHost(3)) f() { decltype(variable) x = 3; return x; }",
        "void f() { kernel<<<1, 1>>>(0); kernelToo<int><<<1, 1>>>(0); auto k = kernelToo<int>; }",
        "void f() { kernelToo<<<1, 1>>>(0); n::ofHost<<<1, 1>>>(0); a.ofHost<<<1, 1>>>(0); }",
        # what is launched is a pointer to a kernel, or another function of the name
        "void f() { void (*ofHost)(int*) = kernel; ofHost<<<1, 1>>>(0); }",
        "void f() { g([](auto ofHost) { ofHost<<<1, 1>>>(0); }, kernel); }",
        "template <void (*ofHost)(int*)> void f() { ofHost<<<1, 1>>>(0); }",
        "void f() { using n::ofHost; ofHost<<<1, 1>>>(0); }",
        "namespace n { __global__ void ofHost(int* p) {} void f() { ofHost<<<1, 1>>>(0); } }",
        "#define WRAP(name) __global__ void name(float* p) {}\nWRAP(ofHost)\n"
        "void f() { ofHost<<<1, 1>>>(0); }",
        "constexpr bool b = false; void f() { if constexpr (b) ofHost<<<1, 1>>>(0); }",
        # the name is that of something else there
        "__global__ void f(int* p) { for (int variable = 0; variable < 3; ++variable) p[0] = 1; }",
        "__global__ void f(int* p) { V<int> variable = p; p[0] = *variable; }",
        "__global__ void f(int* p) { auto [a, variable] = pair; p[0] = variable; }",
        "__global__ void f(int* p) { enum { a, variable }; p[0] = variable; }",
        "__global__ void f(int* p) { goto variable; variable: p[0] = 1; }",
        "__global__ void f(int* p) { struct S { int variable; } s; *p = s.variable + p->variable; }",
        "__global__ void f(int* p) { S s{.variable = 3}; p[0] = n::variable; }",
        "template <class F> __global__ void f(int* p, F ofHost) { p[0] = ofHost(3); }",
        "__global__ void f(int* p) { auto ofHost = [](int x) { return x; }; p[0] = ofHost(3); }",
        "__global__ void f(int* p) { p[0] = n::ofHost(3) + p->ofHost(3) + S().ofHost(4); }",
        "void f() { Buffer kernel(3); kernel(4); }",
        "struct S { void kernel(int*); void f() { kernel(0); } };",
        "struct S { int variable; __device__ int f() { return variable; } };",
        "enum E { variable }; __global__ void f(int* p) { p[0] = variable; }",
        "void kernel(Vector& v) { kernel<<<1, 1>>>(v.d); } void f(Vector& v) { kernel(v); }",
        "template <> int ofHost<int>(int x) { return x; } __device__ int f() { return ofHost(1); }",
        "struct ofHost { __device__ ofHost(int); }; __device__ void f() { ofHost(1); }",
        # it may be
        "#define ofHost other\n__device__ int f() { return ofHost(3); }",
        "#define DECLARE int ofHost(int)\n__device__ int f() { return ofHost(3); }",
        "#define WRAP(name) void name(Vector& v) {}\nWRAP(kernel);\nvoid f(Vector& v) { kernel(v); }",
        "#define EACH(i) for (int i = 0; i < 3; ++i)\n"
        "__global__ void f(int* p) { EACH(variable) p[variable] = 0; }",
        "__global__ void f(int* p) { SOME_LOOP(variable, 3) p[variable] = 0; }",
        "#define TRACE(x)\n__global__ void f(int* p) { TRACE(ofHost(3)); assert(ofHost(3)); }",
        "template <bool H> __device__ int f() { if constexpr (H) return ofHost(1); else return 2; }",
        "void f() { run([=] __device__(int i) { return ofDevice(i); }, [] { return ofHost(1); }); }",
    ],
)  # fmt: skip
def test_what_is_not_refused(refused, code):
    assert refused(FUNCTIONS + code + "\n") == []


@pytest.mark.parametrize(
    "words, sure",
    [
        ("static inline", True),
        ("INLINE", True),
        ("__host__ __device__", False),
        ("BOTH", False),
        ("ANY", False),
        ("FROM_THE_COMMAND_LINE", False),
        ("FROM_THE_COMMAND_LINE()", False),
        ("constexpr", False),
        ("__attribute__((device))", False),
    ],
)
def test_words_of_a_function(refused, words, sure):
    source = (
        "#define HD __host__ __device__\n#define HOST __host__\n#define BOTH HOST __device__\n"
        "#define INLINE static inline\n"
        "#if A\n#define ANY __device__\n#else\n#define ANY\n#endif\n"
        f"{words} float f(float x) {{ return x; }}\n__global__ void k(float* p) {{ *p = f(1); }}\n"
    )
    assert bool(refused(source)) == sure
    source = source.replace(f"{words} float", f"__device__ {words} float")
    assert bool(refused(source.replace("__global__", ""))) == sure


@pytest.mark.parametrize("words", ["const", "CONST", "auto", "int&", "__constant__"])
def test_words_of_a_variable(refused, words):
    source = f"#define CONST const\n{words} int v = 3;\n__device__ int f() {{ return v; }}\n"
    assert refused(source.replace("int& int", "int&").replace("auto int", "auto")) == []


@pytest.mark.parametrize(
    "name",
    [
        "swap", "max", "sinf", "rsqrtf", "transform", "printf", "exp10", "sinpif", "make_int2",
        "__ldg",
    ],
)  # fmt: skip
def test_names_of_libraries(refused, name):
    """An overload of the library may be meant."""
    assert refused(f"float {name}(float, int);\n__device__ void f() {{ {name}(1, 2); }}\n") == []
    assert refused(f"__device__ float {name}(float, int);\nvoid f() {{ {name}(1, 2); }}\n") == []


@pytest.mark.parametrize(
    "code",
    [
        "#if A\n__device__ float f(float x) {\n#else\nfloat f(float x) {\n#endif\n return x; }\n",
        "#if A\n__device__\n#endif\nfloat f(float x) { return x; }\n",
        "#if A\n__device__ float f(float x) { return x; }\n#else\nfloat f(float);\n#endif\n",
        "void g() {\n#if A\n}\n#else\n}\n#endif\nfloat f(float x);\n",
    ],
)
def test_declarations_that_an_if_cuts_through(refused, code):
    assert refused(code + "__global__ void k(float* p) { p[0] = f(1); }\n") == []
    assert refused(code + "void k(float* p) { p[0] = f(1); }\n") == []


NOT_TAKEN = [
    "#ifndef __CUDACC__\n{}\n#endif",
    "#if !defined __NVCC__ && USE_GPU  // of another compiler\n{}\n#endif",
    "#ifdef __CUDACC__\n#define GPU\n#else\n{}\n#endif",
    "#if defined(__HIPCC__)\n#elif defined(__CUDACC__) || \\\n    defined(GPU)\n#else\n{}\n#endif",
    "#ifdef __CUDACC__\n#elif 1\n#if 1\n{}\n#endif\n#else\n{}\n#endif",
    "#ifndef __CUDACC__\n#ifdef GPU\n#else\n{}\n#endif\n#endif",
    "#if 0\n{}\n#endif",
]
KEYWORDS = "#define __global__\n#define __device__\n#define __host__\n#define __shared__"
LAUNCHED = """
int ofHost(int x) { return x; }
__device__ int ofDevice(int x) { return x; }
__global__ void kernel(int* p) { __shared__ int s[1]; s[0] = ofDevice(3); *p = s[0]; }
int main() { kernel<<<1, 1>>>(nullptr); }
"""
WRONG = "__global__ void wrong(int* p) { *p = ofHost(1); }\n"


@pytest.mark.parametrize("branch", NOT_TAKEN)
def test_keywords_that_are_macros_for_other_compilers(refused, branch):
    source = branch.replace("{}", KEYWORDS) + LAUNCHED
    assert refused(source) == []
    ((_, said),) = refused(source + WRONG)
    assert "'ofHost' is a function of the host" in said


@pytest.mark.parametrize("branch", NOT_TAKEN[1:3])
def test_keywords_that_a_header_for_other_compilers_defines(refused, branch):
    for header in (
        branch.replace("{}", KEYWORDS),
        "#pragma once\n" + branch.replace("{}", KEYWORDS),
    ):
        assert refused('#include "other.h"' + LAUNCHED, other=header) == []
    header = branch.replace("{}", '#include "keywords.h"')
    assert refused('#include "other.h"' + LAUNCHED, other=header, keywords=KEYWORDS) == []
    ((_, said),) = refused('#include "other.h"' + LAUNCHED + WRONG, other=header, keywords=KEYWORDS)
    assert "'ofHost' is a function of the host" in said


@pytest.mark.parametrize(
    "definitions",
    [
        "#ifndef USE_GPU\n" + KEYWORDS + "\n#endif",
        "#if defined(__CUDACC__) && !defined(USE_GPU)\n" + KEYWORDS + "\n#endif",
        "#define __global__\n#undef __global__\n#define __global__ __attribute__((x))",
        "#undef __CUDACC__\n#ifndef __CUDACC__\n" + KEYWORDS + "\n#endif",
    ],
)
def test_keywords_that_may_be_macros(refused, definitions):
    assert refused(definitions + LAUNCHED) == []


@pytest.mark.parametrize(
    "definitions, is_kernel",
    [
        ("#ifdef __CUDACC__\n#define KERNEL __global__\n#else\n#define KERNEL\n#endif", True),
        ("#ifdef __CUDACC__\n#define KERNEL\n#else\n#define KERNEL __global__\n#endif", False),
        ("#ifndef KERNEL\n#define KERNEL\n#endif", None),  # perhaps -DKERNEL=__global__
        ("#ifdef USE_GPU\n#define KERNEL __global__\n#else\n#define KERNEL\n#endif", None),
        ("#define KERNEL\n#undef KERNEL\n#define KERNEL __global__", None),
        ("#define KERNEL", False),
    ],
)
def test_macros_for_keywords(refused, definitions, is_kernel):
    for guard in ("", "#ifndef GUARD_H\n#define GUARD_H\n"):
        header = guard + definitions + ("\n#endif" if guard else "")
        kernel = "KERNEL void k(int x) {}\n__global__ void k2() { k(1); }\n"
        launch = "int main() { k<<<1, 1>>>(1); }"
        said = [text for _, text in refused('#include "h.h"\n' + kernel + launch, h=header)]
        if is_kernel is None:
            assert said == []
        elif is_kernel:
            assert len(said) == 1 and "'k' is called like a function" in said[0]
        else:
            assert any("'k' is a host function, which cannot be launched" in text for text in said)
