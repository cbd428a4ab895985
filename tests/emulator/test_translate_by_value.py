"""Tests of what the translation for the profiler marks: arguments that are structs, by value, out of
memory."""

import pytest

HEAD = """\
struct S { int a, b; };
__device__ int f(S s, int i) { return s.a; }
__device__ int g(const S& s) { return s.a; }
__device__ int g(S s, int i, int j) { return s.a; }
__device__ int h(float x) { return x; }
__device__ S operator*(S s, S t) { return s; }
__device__ S operator-(S s) { return s; }
__device__ S& operator+=(S& s, S t) { return s; }
__global__ void k(S* p, S** q, int i) {
"""


@pytest.fixture
def body(translated):
    """Translates statements in a kernel; returns them, with a short name for what was put in."""

    def translate(statements):
        text = translated(f"{HEAD}{statements}\n}}\n", "--instrument")
        return text.split("int i) {\n", 1)[1].split("\n}")[0].replace("emu_passed(", "P(")

    return translate


@pytest.mark.parametrize(
    "statement, expected",
    [
        ("f(p[i], i);", "f(P(p[i]), i);"),
        ("f(*p, p[i].a);", "f(P(*p), p[i].a);"),
        ("f(q[i]->b, 1);", "f(P(q[i]->b), 1);"),
        ("i = f(p[f(p[0], 1)], 2);", "i = f(P(p[f(P(p[0]), 1)]), 2);"),
        ("S s = p[i] * p[1];", "S s = P(p[i]) * P(p[1]);"),
        ("p[i] += p[0];", "p[i] += P(p[0]);"),
        ("S s = q[0][i] * *p;", "S s = P(q[0][i]) * *p;"),
    ],
)
def test_marked(body, statement, expected):
    assert body(statement) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "g(p[i]);",  # by reference
        "h(p[i].a);",  # no struct
        "S s; f(s, i);",  # a local variable, as far as is known
        "f(*p + 1, i);",
        "f((S)p[i], i);",
        "f({1, 2}, i);",
        "p[i] - 1;",
        "S f(p[1]);",  # declares
    ],
)
def test_left_alone(body, statement):
    assert body(statement) == statement


def test_host_code_is_left_alone(translated):
    text = HEAD.split("__global__")[0] + "int host(S* p) { return f(p[1], 2); }\n"
    assert "emu_passed" not in translated(text, "--instrument")
    assert "emu_passed" not in translated(text.replace("int host", "__device__ int host"))
