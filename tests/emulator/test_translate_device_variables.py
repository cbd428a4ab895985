"""What the translator tells the hazard check of the variables of the device."""

import re

import pytest


@pytest.fixture
def told(translated):
    """The variables that the instrumented program tells of, and the names of others."""

    def tell(source):
        text = translated(source, "--instrument")
        variables = re.findall(r"DeviceVariable emuDevice_\w+\((\w+)\);", text)
        names = re.findall(r'DeviceNames emuDeviceNames\("(.*)"\);', text)
        return variables, " ".join(names)

    return tell


@pytest.mark.parametrize(
    "source, variables",
    [
        ("__device__ int a;", "a"),
        ("static __device__ float a[4] = {1, 2}, *b, c = 3;", "a b c"),
        ("namespace n { namespace { __device__ int a; } }", "a"),
        ("int host; __device__ volatile int a; float other[3];", "a"),
        ("#define DEVICE __device__\nDEVICE int a;", "a"),
        ("__device__ const float* a;", "a"),
        ("struct V { int x; }; __device__ V a{1}; __device__ int b{};", "a b"),
        ("__device__ struct { int x; } a;", "a"),
        ("__device__ __constant__ float a[4];", "a"),
    ],
)
def test_variables_at_namespace_scope(told, source, variables):
    assert told(source + "\n") == (variables.split(), "")


@pytest.mark.parametrize(
    "source, names",
    [
        ("template <class T> __device__ T a = 0;", "a"),
        ("struct S { int x; }; __device__ int S::a = 2;", "a"),
        ("__device__ float (*a)(float);", "a"),
        ("extern __device__ int a[];", "a"),
        ("__device__ int f() { static int a, b = 1; return a++ + b; }", "a b"),
        ("#define VARIABLE __device__ int a;\nVARIABLE", "a"),
        ("#define VARIABLE(name) __device__ int name;\nVARIABLE(a)", "*"),
    ],
)
def test_names_of_other_variables(told, source, names):
    variables, others = told(source + "\n")
    assert variables == []
    assert set(names.split()) <= set(others.split())


@pytest.mark.parametrize(
    "source",
    [
        "int a; static float b[4]; void f() { static int c; }",
        "__device__ const int a = 3; __device__ constexpr float b[2] = {1, 2};",
        "__device__ int f(int x); __device__ float2 g() { return {}; } __global__ void k(int* a);",
        "struct S { __device__ int f() const { return x; } int x; };",
        "struct S { __host__ __device__ S operator+(S o) const; __device__ operator int(); };",
        "template <class T> __device__ T twice(T x) { return 2 * x; }",
        "__global__ void k() { static __shared__ int s[4]; const int a = 1; }",
        "#define DEVICE __device__ __forceinline__\nDEVICE void f() {}",
        "#define MAKE(name) __device__ int name(int x) { return x; }\nMAKE(twice)",
    ],
)
def test_what_is_no_variable_of_the_device(told, source):
    assert told(source + "\n") == ([], "")


def test_only_instrumented_programs_tell(translated):
    assert "DeviceVariable" not in translated("__device__ int a;\n")
