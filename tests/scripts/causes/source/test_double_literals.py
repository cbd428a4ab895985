"""Which literals of type double cost double precision in float code. What nvcc does with them is in
test_double_literals_nvcc.py."""

import pytest
from kernel_text import kernel
from lab_cli.causes.source import double_literals, source


def found(body, above=""):
    return [
        (one.literal, one.certain) for one in double_literals.find(source.of(kernel(body, above)))
    ]


def literals(body, above=""):
    return [literal for literal, _ in found(body, above)]


@pytest.mark.parametrize(
    "body, expected",
    [
        ("float r = x * 0.1;", ["0.1"]),
        ("float r = 0.5 * x + 1.0 / 3.0 * sin(x);", ["0.5", "1.0", "3.0"]),
        ("float r = x + 1e-3;", ["1e-3"]),
        ("float r = x * 3.14;", ["3.14"]),
        ("float r = x * .1;", [".1"]),
        ("float r = x * 1e300;", ["1e300"]),
        ("float r = x * 1'000.1;", ["1'000.1"]),
        ("float r = x * 0x1.999999999999ap-4;", ["0x1.999999999999ap-4"]),
        ("float r = x * 0.1L;", ["0.1L"]),
        ("x *= 0.1;", ["0.1"]),
        ("x += 0.5 * y;", ["0.5"]),
        ("float r = 2.0 * x + 1.0;", ["2.0", "1.0"]),
        ("float r = (1.0 - y) * x;", ["1.0"]),
        ("out[i] = 0.1 * in[i];", ["0.1"]),
        ("if (x > 0.1) out[i] = x;", ["0.1"]),
        ("while (x * 0.5 > y) x = y;", ["0.5"]),
        ("float r = x > y ? x * 0.1 : y;", ["0.1"]),
        ("float r = (x > y ? 1.0 : 0.0) * y;", ["1.0", "0.0"]),
        ("float r = pow(x, 2.0);", ["2.0"]),
        ("float r = fmax(x, 0.0);", ["0.0"]),
        ("float r = std::max(x, 0.1f) * 0.1;", ["0.1"]),
        ("float r = sqrt(x + 1.0);", ["1.0"]),
        ("float r = expf(-0.5 * x * x);", ["0.5"]),
        ("float r = sinf(x * 0.1);", ["0.1"]),
        ("float r = i * 0.5;", ["0.5"]),
        ("int k = x + 0.5;", ["0.5"]),
        ("int k = (int)(x * 255.0);", ["255.0"]),
        ("float r = in[(int)(x * 0.1)];", ["0.1"]),
        ("float r = x / 0.1;", ["0.1"]),
        ("auto k = x * 0.5; float r = k * y;", ["0.5"]),
        ("const float a = x * 0.1, b = 0.5;", ["0.1"]),
        ("float4 v = make_float4(x * 0.1, 0, 0, 0);", ["0.1"]),
        ("float2 v; v.x = 0.1 * v.y;", ["0.1"]),
        ("float w[2] = {x * 0.1, 0.5};", ["0.1"]),
        ("for (float t = 0; t < 1.0; t += 0.1) out[i] += t;", ["0.1"]),
        ("auto f = [&](float a) { return a * 0.1 + 1.0; }; out[i] = f(x);", ["0.1", "1.0"]),
        ("float r = x * M_PI;", ["M_PI"]),
        ("atomicAdd(&out[i], x * 0.1);", ["0.1"]),
        ("float r = __shfl_down_sync(0xffffffffu, x, 1) * 0.1;", ["0.1"]),
        ("float r = threadIdx.x * 0.1;", ["0.1"]),
        ("float r = __ldg(in + i) * 0.1;", ["0.1"]),
        ("float r = -(x * 0.1);", ["0.1"]),
        ("float r = static_cast<float>(x * 0.1);", ["0.1"]),
        ("switch (i) { case 1: x *= 0.1; break; default: x += 0.2; }", ["0.1", "0.2"]),
        ("do x -= 0.1; while (x > 0);", ["0.1"]),
    ],
)
def test_costs(body, expected):
    assert found(body) == [(literal, True) for literal in expected]


@pytest.mark.parametrize(
    "body",
    [
        # The compiler makes float operations of these.
        "float r = x * 2.0;",
        "float r = 0.5 * x;",
        "float r = x + 1.0;",
        "float r = 1.0 / x;",
        "float r = x / 3.0;",
        "float r = x * 1.0 / 3.0;",
        "float r = x * y * 0.5;",
        "float r = 0.25 * (x + y + in[0]);",
        "x += 1.0;",
        "x *= -0.5;",
        "if (x < 0.5) out[i] = x;",
        "if (i > 0.5) out[i] = x;",
        "float r = x > 0.0 ? x : 0.1;",
        "float r = floorf(x + 0.5);",
        "float r = (float)(x * 0.5);",
        "out[i] = x * 0.5;",
        "float2 v = make_float2(0.1, x);",
        # The literals are converted when the program is compiled.
        "float r = 0.1;",
        "float r = 0.1; r = 1e-3;",
        "const float pi = 3.14159; float r = x * pi;",
        "constexpr float pi = 3.14159; float r = x * pi;",
        "float r = (float)0.1 * x;",
        "float r = float(0.1) * x;",
        "float r = static_cast<float>(1.0 / 3.0) * x;",
        "float w[3] = {0.1, 0.2, 0.3};",
        "int n = 1e6; out[i] = n;",
        "float r = fmaf(x, 0.1, 1.3);",
        "float r = __fdividef(x, 0.1);",
        "float r = powf(x, 0.1);",
        "float r = sqrtf(2.0) * x;",
        # They are float, or integers.
        "float r = x * 0.1f + 1.f - 1e3f * .5F;",
        "float r = x * 0x1p-3f;",
        "float r = x * 3 + 0x1e + 10;",
        "float r = x * 1'000.5f;",
        # The code is double.
        "double d = x; d = d * 0.1;",
        "double d = x * 0.1;",
        "double d = 0.1; d += x; out[i] = d * 0.2;",
        "float r = (double)x * 0.1;",
        "float r = double(x) * 0.1;",
        "double2 v; v.x = v.y * 0.1; out[i] = v.x * 0.2;",
        "double s = 0; for (int k = 0; k < i; ++k) s += in[k] * 0.1;",
        "float r = __dmul_rn(x, 0.1);",
        # They are no code, or none of the device.
        "// x * 0.1",
        "/* x *= 0.1; */",
        'printf("x * 0.1");',
        'printf("%f", x * 0.1);',
        "\n#if 0\nx *= 0.1;\n#endif\n",
        "\n#ifdef __CUDA_ARCH__\n#else\nint unused = 0;\n#endif\n",
        "using T = float; T r = x * 0.5;",
        "__half h = x; h = h * 0.1;",
    ],
)
def test_costs_nothing(body):
    assert found(body) == []


@pytest.mark.parametrize(
    "above, body, expected",
    [
        ("#define PI 3.14159", "float r = x * PI;", [("3.14159", "PI")]),
        ("#define PI 3.14159f", "float r = x * PI;", []),
        ("#define HALF(a) (0.3 * (a))", "float r = HALF(x);", [("0.3", "HALF")]),
        (
            "#define TWICE(a) HALF(a)\n#define HALF(a) (0.3 * (a))",
            "float r = TWICE(x);",
            [("0.3", "TWICE")],
        ),
        ("#define SCALE 2.0 / 3.0", "float r = x * SCALE;", [("2.0", "SCALE"), ("3.0", "SCALE")]),
        ("#define REAL float", "REAL r = x * 0.3;", [("0.3", "")]),
        ("#define REAL double", "REAL r = x * 0.3;", []),
        ("typedef float Real;", "Real r = x * 0.3;", [("0.3", "")]),
        ("using Real = double;", "Real r = x * 0.3;", []),
        ("constexpr double kPi = 3.14159;", "float r = x * kPi;", [("3.14159", "kPi")]),
        ("const double kHalf = 0.5;", "float r = x * kHalf;", []),
        ("constexpr float kPi = 3.14159;", "float r = x * kPi;", []),
        ("__constant__ double scale;", "float r = x * scale * 0.3;", []),
        ("__device__ float total;", "total = x * 0.3;", [("0.3", "")]),
        ("struct P { float a, b; };", "P p; p.a = p.b * 0.3;", [("0.3", "")]),
        ("struct P { double a, b; };", "P p; p.a = p.b * 0.3;", []),
        ("struct P { float m[4]; };", "P p[2]; p[1].m[i] *= 0.3;", [("0.3", "")]),
        (
            "__device__ float f(float a, float b = 0.1) { return a + b; }",
            "float r = f(x, 0.3);",
            [],
        ),
        ("__device__ float f(float a) { return a * 0.3; }", "float r = f(x);", [("0.3", "")]),
        ("__device__ float f(float a) { return a * 0.5; }", "float r = f(x * 0.5);", []),
        ("__device__ double f(double a) { return a * 0.3; }", "float r = f(x * 0.3);", []),
        ("__device__ double f(double a) { return a; }", "float r = f(x) * 0.3;", []),
        ("float f(float a) { return a * 0.3; }", "", []),
        ("__host__ __device__ float f(float a) { return a * 0.3; }", "", [("0.3", "")]),
        ("struct S { __device__ float g(float a) const { return a * 0.3; } };", "", [("0.3", "")]),
        ("namespace n { __device__ float g(float a) { return a * 0.3; } }", "", [("0.3", "")]),
        ("#if 0\n#define PI 3.1\n#endif\n#define PI 3.1f", "float r = x * PI;", []),
    ],
)
def test_through_names(above, body, expected):
    literals = double_literals.find(source.of(kernel(body, above)))
    assert [(one.literal, one.through) for one in literals] == expected
    assert all(one.certain for one in literals)


TEMPLATE = """template <typename T, int N> __global__ void scale(T* a) { a[threadIdx.x] *= 0.3; }
int main() { %s }
"""


@pytest.mark.parametrize(
    "launches, expected",
    [
        ("scale<float, 4><<<1, 32>>>(0);", [True]),
        ("scale<double, 4><<<1, 32>>>(0);", []),
        ("scale<float, 4><<<1, 32>>>(0); scale<double, 4><<<1, 32>>>(0);", [False]),
        ("", [False]),
    ],
)
def test_a_template_is_what_it_is_used_for(launches, expected):
    found = double_literals.find(source.of(TEMPLATE % launches))
    assert [one.certain for one in found] == expected


def test_what_is_not_known_may_cost():
    assert found("Vector v = load(in); out[i] = v.length * 0.3;") == [("0.3", False)]
    assert found("Matrix m; use(m, x * 0.3);") == [("0.3", False)]


def test_host_code_is_not_looked_at():
    text = "__global__ void k() {}\nint main() { float x = 1; x = x * 0.1 + 2.0; k<<<1, 1>>>(); }\n"
    assert double_literals.find(source.of(text)) == []


def test_a_lambda_of_the_device_is_looked_at():
    text = "void f(float* p) { forEach(p, [=] __device__ (float x) { return x * 0.1; }); }\n"
    assert [one.literal for one in double_literals.find(source.of(text))] == ["0.1"]


def test_place_and_remedy():
    text = "__global__ void k(float* a) {\n    a[0] = 0.5 * a[1]\n        + 0.1;\n}\n"
    first, second = double_literals.find(source.of(text))
    assert (first.line, first.column, first.literal, first.instead) == (2, 12, "0.5", "0.5f")
    assert (second.line, second.column, second.literal, second.instead) == (3, 11, "0.1", "0.1f")
    assert first.expression == "0.5 * a[1] + 0.1"
    assert first.function == "k"


def test_a_macro_counts_where_it_is_used():
    text = "#define PI 3.14\n__global__ void k(float* a) {\n    a[0] *= PI;\n}\n"
    (literal,) = double_literals.find(source.of(text))
    assert (literal.line, literal.column) == (3, 13)


def test_lines_that_are_asked_for():
    text = (
        "__global__ void k(float* a) {\n    a[0] *= 0.1;\n    a[1] *= 0.2;\n    a[2] *= 0.3;\n}\n"
    )
    literals = double_literals.find(source.of(text), 3, 3)
    assert [one.literal for one in literals] == ["0.2"]


def test_what_is_not_understood_is_passed_over():
    assert literals('asm volatile("mov.u32 %0, 0.1;" : : ); ) ( x *= 0.1;') == []
    assert literals("#pragma unroll\n x *= 0.2;") == ["0.2"]


def test_headers_beside_the_file_tell_types(tmp_path):
    (tmp_path / "real.cuh").write_text(
        "#define REAL float\n#define PI 3.14159\nstruct P { REAL a; };\n"
    )
    file = tmp_path / "a.cu"
    file.write_text('#include "real.cuh"\n__global__ void k(P* p) { p->a *= PI; }\n')
    (literal,) = double_literals.find(source.read(file))
    assert (literal.literal, literal.certain) == ("3.14159", True)


def test_a_file_that_is_not_there(tmp_path):
    assert source.read(tmp_path / "none.cu") is None
