"""Tests of translator/lanes.py: where lanes are kept in step, and that nothing else changes."""

import re

import pytest

HEAD = "__global__ void k(volatile int* v) {"


@pytest.fixture
def body(translated):
    """What becomes of statements in a kernel, with the calls for lanes made short."""

    def translate(statements):
        text = translated(f"{HEAD} {statements} z; }}\n")
        return short(text.split("VolatilePointer<int> v(emu_v);")[1].rsplit("z;", 1)[0])

    return translate


def short(text):
    for name, letter in (
        ("Join", "J"),
        ("LeavesLoop", "L"),
        ("Passes", "P"),
        ("Enters", "E"),
        ("Leaves", "R"),
    ):
        text = re.sub(rf"::emu::lane{name}\((\d+)\);", rf"{letter}\1", text)
    text = re.sub(r" ::emu::laneAssigns\((\d+),", r" A(\1,", text)
    return plain(text)


def plain(text):
    """Without braces: what is tested is the order."""
    return " ".join(re.sub(r"[{}]", " ", text).split())


@pytest.mark.parametrize(
    "source, expected",
    [
        ("v[0] = 1;", "v[0] = 1;"),
        ("if (a) b;", "if (a) b; J1"),
        ("if (a) b; else c;", "if (a) b; else { J1 c; } J2"),
        ("if (a) b; else if (c) d;", "if (a) b; else { J1 {if (c) d; J2 } } J3"),
        ("if (a) if (b) c; else d;", "if (a) {if (b) c; else { J1 d; } J2 } J3"),
        ("if constexpr (A) b; else c;", "if constexpr (A) b; else c;"),
        ("if (a)\nb;\nc;", "if (a) b; J1 c;"),
        ("for (int i = 0; i < n; ++i) { b; }", "for (int i = 0; i < n; ++i) { b; J2 P1} L3"),
        ("while (a) b;", "while (a) { b; J2 P1 } L3"),
        ("while (v[0] == 0) {}", "while (v[0] == 0) {} L3"),
        ("for (;;) { if (a) continue; if (b) break; }",
         "for (;;) { if (a) { J4 P1 continue; } J2 if (b) break; J3 J4 P1} L5"),
        ("switch (a) { case 1: if (b) c; break; }",
         "switch (a) { case 1: if (b) c; J1 break; } J2"),
        ("again: if (a) goto again;", "again: if (a) goto again; J1"),
        ("p[i] += f(a && b, c);", "p[i] += A(1, f(a && b, c));"),
        ("n::p->x[2][i] = a ? b : c;", "n::p->x[2][i] = A(1, a ? b : c);"),
        ("if (a) p[0] = b ? c : d; else e;", "if (a) p[0] = A(1, b ? c : d); else { J2 e; } J3"),
        ("p[a ? 1 : 0] = b;", "p[a ? 1 : 0] = A(1, b);"),
        ("int p[1] = {a ? b : c};", "int p[1] = {a ? b : c}; J1"),
        ("T<a> p = a ? b : c;", "T<a> p = a ? b : c; J1"),
        ("p[0] = a ? b : c, d = e;", "p[0] = a ? b : c, d = e; J1"),
        ("p[0] =\n#ifdef A\na ? b :\n#endif\nc;", "p[0] = #ifdef A a ? b : #endif c;"),
        ("auto f = [=] { if (a) return; };", "auto f = [=] { if (a) return; };"),
        ("if (a) b; __syncthreads(); c;", "if (a) b; P1 __syncthreads(); c;"),
        ("for (;;) { if (a) b; __syncthreads(); }",
         "for (;;) { if (a) b; P2 __syncthreads(); P1} P4"),
        ("if (a) b;\n#ifdef A\n__syncthreads();\n#endif\n",
         "if (a) b; J1 #ifdef A __syncthreads(); #endif"),
        ('_Pragma("unroll") for (;;) b;', '_Pragma("unroll") for (;;) { b; J2 P1 } L3'),
    ],
)  # fmt: skip
def test_statements(body, source, expected):
    assert body(source) == plain(expected)


def test_braces(translated):
    source = "if (a)\n#pragma unroll\nfor (;;) b; while (c) { if (d) e; } f;"
    text = translated(f"{HEAD} {source} }}")
    text = re.sub(r" ::emu::lane\w+\(\d+\);", "", text)
    expected = "if (a) { {\n#pragma unroll\nfor (;;) { b; } } } while (c) { if (d) { e; } } f; }"
    assert text.split("v(emu_v);")[1].strip() == expected


def test_lines_stay(translated):
    source = f"{HEAD}\n  if (a)\n    b;\n  else\n    c;\n\n  while (d)\n  {{\n    e;\n  }}\n}}\n"
    before, after = source.split("\n")[1:], translated(source).split("\n")[1:]
    assert len(before) == len(after)
    assert all(word in line for word, line in zip(map(str.strip, before), after))


def test_a_statement_that_an_if_directive_cuts_stays(body):
    assert (
        body("\n#ifdef A\nif (a)\n#endif\nb;\nif (c) {\n#ifdef A\nd;\n#endif\n}\n").count("J") == 1
    )


@pytest.mark.parametrize(
    "function, expected",
    [
        ("void f(volatile int* v) { v[0] = 1; }", "{ E1 v[0] = 1; R2}"),
        ("int f(volatile int* v) { return v[0]; }", "{ E1 { R2 return v[0]; } }"),
        ("int f(volatile int* v) { if (a) return 1; return v[0]; }",
         "{ E1 if (a) { R2 return 1; } J3 { R4 return v[0]; } }"),
        ("void f(volatile int* v) { [] { return 1; }(); }", "{ E1 [] { return 1; }(); R2}"),
    ],
)  # fmt: skip
def test_functions(translated, function, expected):
    text = short(translated(f"__device__ {function}\n"))
    assert text.split(") ", 1)[1].replace("::emu::VolatilePointer<int> v(emu_v); ", "") == plain(
        expected
    )


def test_callers_go_in_step_too(translated):
    text = translated(
        "__device__ void f(volatile int* v) { v[0] = 1; }\n"
        "template <int N> __device__ void g(int* v) { f(v); }\n"
        "__global__ void h(int* v) { if (a) g<3>(v); b; }\n"
        "__global__ void other(int* v) { if (a) k<<<1, 1>>>(v); }\n"
        "void host(int* v) { if (a) h<<<1, 1>>>(v); }\n"
    )
    assert ["lane" in line for line in text.split("\n")] == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    "declaration",
    [
        "volatile int* v = p;",
        "__shared__ volatile int v[9];",
        "extern __shared__ volatile int v[];",
        "*(volatile int*)p = 1;",
    ],
)
def test_what_makes_lanes_go_in_step(translated, declaration):
    text = translated(f"__global__ void k(int* p) {{ {declaration} if (a) b; c; }}")
    assert text.count("laneJoin") == 1


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void k(int* p) { volatile int x = 1; if (a) b; }",
        "void f(volatile int* v) { if (a) b; }",
        "__global__ void k(int* p) { if (a) b; for (;;) c; }",
    ],
)
def test_nothing_else_changes(translated, source):
    assert "lane" not in translated(source)


def test_the_end_of_a_kernel_is_no_place_to_meet(translated):
    assert "lane" not in translated(f"{HEAD} v[0] = 1; if (a) b; }}")


@pytest.mark.parametrize(
    "macro, use, expected",
    [
        ("if (t < k) v[t] = 1;", "M(1) M(2)", "M(1) J1 M(2) J2"),
        ("if (t < k) v[t] = 1", "M(1); M(2);", "M(1); J1 M(2); J2"),
        ("do { if (k) v[t] = 1; } while (0)", "M(1);", "M(1); J1"),
        ("for (int i = 0; i < k; ++i)", "M(1) v[0] = 1;", "M(1) v[0] = 1;"),
        ("for (int i = 0; i < k; ++i)", "M(1) { v[0] = 1; }", "M(1) { v[0] = 1; }"),
        ("v[t] = k", "M(1);", "M(1);"),
    ],
)
def test_macros(translated, macro, use, expected):
    text = translated(f"#define M(k) {macro}\n{HEAD} {use} }}\n").split("\n")[1]
    assert short(text.split("v(emu_v);")[1].rstrip("}")) == plain(expected)


@pytest.mark.parametrize(
    "statements, expected",
    [
        ("a; __threadfence(); b;", "a; __threadfence(); S b;"),
        ("__threadfence_block();", "__threadfence_block(); S"),
        ("{ __threadfence_system(); }", "{ __threadfence_system(); S }"),
        ("for (;;) { a; __threadfence(); }", "for (;;) { a; __threadfence(); S }"),
        ("if (a) __threadfence();", "if (a) __threadfence();"),
        ("if (a) { __threadfence(); }", "if (a) { __threadfence(); }"),
        ("while (a) { __threadfence(); }", "while (a) { __threadfence(); }"),
        ("__threadfence(); atomicExch(p, 0);", "__threadfence(); atomicExch(p, 0);"),
        ("lock(p); __threadfence();", "lock(p); __threadfence();"),
    ],
)
def test_fences(translated, statements, expected):
    lock = "__device__ void lock(int* p) { while (atomicCAS(p, 0, 1) != 0); }\n"
    text = translated(f"{lock}__global__ void k(int* p) {{ {statements} }}").split("\n")[1]
    assert text.replace("::emu::laneStep();", "S") == f"__global__ void k(int* p) {{ {expected} }}"
