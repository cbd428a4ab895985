"""Which local arrays are indexed with what the compiler does not know."""

import pytest
from kernel_text import kernel
from lab_cli.causes.source import local_arrays, source

FILL = "for (int k = 0; k < 8; ++k) a[k] = in[k * 32 + i];"


def found(body, above=""):
    return [(one.index, one.certain) for one in local_arrays.find(source.of(kernel(body, above)))]


@pytest.mark.parametrize(
    "body, index, certain",
    [
        (f"float a[8]; {FILL} out[i] = a[index[i] & 7];", "index[i] & 7", False),
        (f"float a[8]; {FILL} out[i] = a[threadIdx.x % 8];", "threadIdx.x % 8", False),
        (f"float a[8]; {FILL} out[i] = a[n];", "n", False),
        (f"float a[8]; {FILL} int last = n - 1; out[i] = a[last];", "last", False),
        (f"float a[8]; {FILL} for (int k = 0; k < n; ++k) out[k] = a[k % 8];", "k % 8", False),
        ("float a[8]; for (int k = 0; k < n; ++k) a[k] = in[k]; out[i] = a[0];", "k", False),
        ("int a[16] = {}; for (int k = 0; k < n; ++k) a[index[k] & 15]++;", "index[k] & 15", True),
        ("int a[16] = {}; for (int k = 0; k < n; ++k) ++a[index[k] & 15];", "index[k] & 15", True),
        ("int a[16] = {}; a[index[i]] += 1;", "index[i]", False),
        ("float a[128]; out[i] = a[index[i]];", "index[i]", True),
        ("float a[3]; a[index[i] % 3] = x;", "index[i] % 3", False),
        ("const float a[3] = {1, 2, 3}; out[i] = a[index[i]];", "index[i]", False),
        ("float a[8][16]; out[i] = a[3][index[i]];", "index[i]", True),
        ("float a[8][16]; out[i] = a[index[i]][3];", "index[i]", True),
        ("float4 a[8]; a[index[i]].x = 1;", "index[i]", False),
        ("float a[8]; int top = 0; while (in[top] > 0) a[top++] = x;", "top++", False),
        ("float a[8]; int k = i % 8; a[k] = x;", "k", False),
        (
            "int a[32], top = 0; a[top++] = i; while (top > 0) "
            "{ int k = a[--top]; if (k > 0) a[top++] = index[k]; }",
            "top++",
            True,
        ),
        (f"#pragma unroll 1\n float a[8];\n#pragma unroll 1\n {FILL}", "k", False),
        ("float a[512]; for (int k = 0; k < 512; ++k) a[k] = in[k]; out[i] = a[3];", "k", True),
        ("float a[32];\n#pragma unroll 4\nfor (int k = 0; k < 32; ++k) a[k] = in[k];", "k", False),
    ],
)
def test_indexed_dynamically(body, index, certain):
    assert found(body) == [(index, certain)]


@pytest.mark.parametrize(
    "body",
    [
        f"float a[8]; {FILL} out[i] = a[0] + a[7];",
        f"float a[8]; {FILL} for (int k = 0; k < 8; ++k) out[k] = a[7 - k];",
        f"float a[8]; {FILL} for (int k = 1; k < 8; k *= 2) out[k] = a[k];",
        f"float a[8]; {FILL} for (int k = 0; k < 8; ++k) for (int j = k + 1; j < 8; ++j) "
        "if (a[j] < a[k]) { float t = a[j]; a[j] = a[k]; a[k] = t; }",
        f"const int last = 7; float a[8]; {FILL} out[i] = a[last];",
        f"constexpr int last = 7; float a[8]; {FILL} out[i] = a[last - 1];",
        f"float a[8]; {FILL} int c = 0; for (int k = 0; k < 8; ++k) out[k] = a[c++];",
        f"float a[8]; {FILL} for (int k = 0; k < n; ++k) for (int j = 0; j < 8; ++j) a[j] += in[j];",
        "float a[8]; int k = 0; while (k < 8) { a[k] = in[k]; ++k; } out[i] = a[0];",
        "static const float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}; out[i] = a[index[i]];",
        "__shared__ float a[64]; a[index[i]] = x;",
        "static __shared__ float a[64]; a[threadIdx.x] = x;",
        "extern __shared__ float a[]; a[threadIdx.x] = x;",
        "const float* a = in; out[i] = a[index[i]];",
        "// float a[8]; a[index[i]] = x;",
        "auto f = [&](int set) { float a[8]; a[set] = x; }; f(1);",  # inlined: set is 1
        "\n#pragma unroll\nfor (int k = 0; k < 512; ++k) out[k] = in[k];",
        "float a[512];\n#pragma unroll\nfor (int k = 0; k < 512; ++k) a[k] = in[k];",
    ],
)
def test_indexed_by_what_is_known(body):
    assert found(body) == []


@pytest.mark.parametrize(
    "above, body, expected",
    [
        ("#define SIZE 16", "int a[SIZE] = {}; a[index[i]] = 1;", [("index[i]", False)]),
        (
            "constexpr int kSize = 4 * 4;",
            "int a[kSize] = {}; a[index[i]] = 1;",
            [("index[i]", False)],
        ),
        ("enum { kSize = 16 };", "int a[kSize] = {}; a[index[i]] = 1;", [("index[i]", False)]),
        ("__device__ void f(float* p, int k) { float a[8]; a[k] = p[0]; }", "", []),
        (
            "__device__ void f(float* p) { float a[8]; a[threadIdx.x] = p[0]; }",
            "",
            [("threadIdx.x", False)],
        ),
    ],
)
def test_with_names_of_the_file(above, body, expected):
    assert found(body, above) == expected


def test_template_parameters_are_known():
    text = """template <int N, int K> __global__ void k(float* p) {
        float a[N];
        for (int i = 0; i < N; ++i) a[i] = p[i];
        p[0] = a[K];
    }"""
    assert local_arrays.find(source.of(text)) == []


def test_where_and_what():
    text = "__global__ void k(float* p, int n) {\n    float a[4][8];\n    a[n][1] = 0;\n    p[0] = a[n][2];\n}\n"
    (array,) = local_arrays.find(source.of(text))
    assert (array.line, array.column, array.declared, array.name) == (3, 5, 2, "a")
    assert (array.elements, array.stored, array.function) == (32, True, "k")
    assert array.lines == (3, 4)
    assert local_arrays.find(source.of(text), 1, 2) == []
    (array,) = local_arrays.find(source.of(text), 4, 4)
    assert (array.line, array.stored) == (4, False)


def test_host_code_is_not_looked_at():
    text = "int main(int n, char**) { int a[99]; a[n] = 1; }\n"
    assert local_arrays.find(source.of(text)) == []
