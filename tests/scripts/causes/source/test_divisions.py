"""Which divisions of integers in loops a GPU has to compute."""

import pytest
from kernel_text import kernel
from lab_cli.causes.source import divisions, source

LOOP = "for (int k = 0; k < n; ++k) { %s }"


def found(body, above=""):
    return [one.expression for one in divisions.find(source.of(kernel(body, above)))]


@pytest.mark.parametrize(
    "statement, expected",
    [
        ("out[k] = in[k % n];", ["k % n"]),
        ("out[k] = in[k / n];", ["k / n"]),
        ("out[k] = in[(k + 1) / blockDim.x];", ["(k + 1) / blockDim.x"]),
        ("out[k] = in[k % (2 * n)];", ["k % (2 * n)"]),
        ("int j = k; j %= n;", ["j %= n"]),
        ("int j = k; j /= index[k];", ["j /= index[k]"]),
        ("out[k / n] = in[k % n];", ["k / n", "k % n"]),
        ("size_t j = k; out[j % n] = 0;", ["j % n"]),
        ("unsigned w = n; out[k % w] = 0;", ["k % w"]),
        ("if (k % n == 0) out[k] = x;", ["k % n"]),
        ("out[k] = float(k / n);", ["k / n"]),
    ],
)
def test_divisions(statement, expected):
    assert sorted(found(LOOP % statement)) == sorted(expected)


@pytest.mark.parametrize(
    "statement",
    [
        "out[k] = in[k % 8];",
        "out[k] = in[k / (4 * 8)];",
        "out[k] = x / y;",
        "out[k] = k / x;",
        "out[k] = (float)k / n;",
        "const int w = 16; out[k] = in[k % w];",
        "constexpr int w = 4; out[k] = in[k / w];",
        "out[k] = in[k & n];",
        "out[k] = fmodf(x, n);",
        "out[k] = in[k / sizeof(float)];",
        "out[k] = in[k % warpSize];",
        "// k % n",
    ],
)
def test_no_divisions(statement):
    assert found(LOOP % statement) == []


def test_outside_of_a_loop_it_is_done_once():
    assert found("out[i % n] = in[i / n];") == []


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = i; k < n; k += gridDim.x) out[k % n] = 0;",
        "int k = 0; while (k < n) { out[k % n] = 0; ++k; }",
        "int k = 0; do { out[k % n] = 0; } while (++k < n);",
        "for (int j = 0; j < n; ++j) for (int k = 0; k < j; ++k) out[k % n] = 0;",
        "for (int k = 0; k < n; ++k) if (x > 0) { if (y > 0) out[k % n] = 0; }",
        "auto f = [&] { for (int k = 0; k < n; ++k) out[k % n] = 0; }; f();",
    ],
)
def test_kinds_of_loops(loop):
    assert found(loop) == ["k % n"]


def test_a_function_that_a_loop_calls():
    above = (
        "__device__ int inner(int a, int b) { return a % b; }\n"
        "__device__ int wrap(int a, int b) { return inner(a, b); }\n"
        "__device__ int once(int a, int b) { return a / b; }\n"
    )
    body = "out[once(i, n)] = 0; " + LOOP % "out[wrap(k, n)] = 0;"
    (division,) = divisions.find(source.of(kernel(body, above)))
    assert (division.expression, division.function, division.loop) == ("a % b", "inner", 0)


def test_constants_of_the_file():
    above = "#define W 12\nconstexpr int kWidth = compute();\ntemplate <int N> __device__ int m(int k) { return k % N; }"
    body = LOOP % "out[k % W] = in[k / kWidth] + m<3>(k);"
    assert found(body, above) == []


@pytest.mark.parametrize(
    "statement, again",
    [
        ("out[k] = in[i / n];", True),
        ("out[k] = in[k / n];", False),
        ("out[k] = in[index[k] / n];", False),
        ("int j = k + 1; out[k] = in[j / n];", False),
    ],
)
def test_what_is_the_same_each_time(statement, again):
    (division,) = divisions.find(source.of(kernel(LOOP % statement)))
    assert division.again is again


def test_where_and_what():
    text = """__global__ void k(long long* a, int w) {
    for (int i = 0; i < w; ++i) {
        a[i] =
            a[i] % w;
    }
}
"""
    (division,) = divisions.find(source.of(text))
    assert (division.line, division.column, division.loop) == (4, 13, 2)
    assert divisions.find(source.of(text), 1, 3) == []
