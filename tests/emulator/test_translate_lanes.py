"""Tests of translator/lanes.py: where lanes are kept in step, and that nothing else changes.
(engine/lanes_in_step.cu runs ifs, loops, calls, macros and fences.)"""

import re

import pytest

HEAD = "__global__ void k(volatile int* v) {"


@pytest.fixture
def body(translated):
    """What becomes of statements in a kernel, behind `before`; with the calls for lanes made short."""

    def translate(statements, before=""):
        text = translated(f"{before}{HEAD} {statements} z; }}\n")
        return short(text.split("VolatilePointer<int> v(emu_v);")[1].rsplit("z;", 1)[0])

    return translate


def short(text):
    for name, letter in (("Join", "J"), ("LeavesLoop", "L"), ("Passes", "P")):
        text = re.sub(rf"::emu::lane{name}\((\d+)\);", rf"{letter}\1", text)
    text = text.replace("::emu::laneStep();", "S")
    return plain(re.sub(r" ::emu::laneAssigns\((\d+),", r" A(\1,", text))


def plain(text):
    """Without braces: what is tested is the order."""
    return " ".join(re.sub(r"[{}]", " ", text).split())


@pytest.mark.parametrize(
    "source, expected",
    [
        ("v[0] = 1;", "v[0] = 1;"),
        ("if constexpr (A) b; else c;", "if constexpr (A) b; else c;"),
        ("while (v[0] == 0) {}", "while (v[0] == 0) {} L3"),
        ("for (;;) { if (a) continue; if (b) break; }",
         "for (;;) { if (a) { J4 P1 continue; } J2 if (b) break; J3 J4 P1} L5"),
        ("again: if (a) goto again;", "again: if (a) goto again; J1"),
        ("n::p->x[2][i] = a ? b : c;", "n::p->x[2][i] = A(1, a ? b : c);"),
        ("p[a ? 1 : 0] = b;", "p[a ? 1 : 0] = A(1, b);"),
        ("int p[1] = {a ? b : c};", "int p[1] = {a ? b : c}; J1"),
        ("T<a> p = a ? b : c;", "T<a> p = a ? b : c; J1"),
        ("p[0] = a ? b : c, d = e;", "p[0] = a ? b : c, d = e; J1"),
        ("p[0] =\n#ifdef A\na ? b :\n#endif\nc;", "p[0] = #ifdef A a ? b : #endif c;"),
        ("auto f = [=] { if (a) return; };", "auto f = [=] { if (a) return; };"),
        ("if (a) b;\n#ifdef A\n__syncthreads();\n#endif\n",
         "if (a) b; J1 #ifdef A __syncthreads(); #endif"),
        ("\n#ifdef A\nif (a)\n#endif\nb;\nif (c) {\n#ifdef A\nd;\n#endif\n}\n",
         "#ifdef A if (a) #endif b; if (c) { #ifdef A d; #endif } J1"),
        ('_Pragma("unroll") for (;;) b;', '_Pragma("unroll") for (;;) { b; J2 P1 } L3'),
        # what waits at a barrier anyway
        ("if (a) b; __syncthreads(); c;", "if (a) b; P1 __syncthreads(); c;"),
        ("for (;;) { if (a) b; __syncthreads(); }",
         "for (;;) { if (a) b; P2 __syncthreads(); P1} P4"),
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


def test_a_cast_makes_lanes_go_in_step(translated):
    text = translated("__global__ void k(int* p) { *(volatile int*)p = 1; if (a) b; c; }")
    assert text.count("laneJoin") == 1


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void k(int* p) { volatile int x = 1; if (a) b; }",
        "void f(volatile int* v) { if (a) b; }",
        "__global__ void k(int* p) { if (a) b; for (;;) c; }",
        HEAD + " v[0] = 1; if (a) b; }",  # the end of a kernel is no place to meet
    ],
)
def test_nothing_else_changes(translated, source):
    assert "lane" not in translated(source)


@pytest.mark.parametrize("use", ["M(1) v[0] = 1;", "M(1) { v[0] = 1; }"])
def test_macros_that_are_the_beginning_of_a_loop(body, use):
    assert body(use, "#define M(k) for (int i = 0; i < k; ++i)\n") == plain(use)


LOCK = "__device__ void lock(int* p) { while (atomicCAS(p, 0, 1) != 0); }\n"


@pytest.mark.parametrize(
    "statement, steps",
    [
        ("__threadfence();", True),
        ("if (a) { __threadfence(); }", False),
        ("while (a) { __threadfence(); }", False),
        ("__threadfence(); atomicExch(p, 0);", False),
        ("lock(p); __threadfence();", False),
    ],
)
def test_fences_that_all_threads_reach(body, statement, steps):
    assert (" S" in body(statement, LOCK)) == steps
