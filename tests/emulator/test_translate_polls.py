"""Tests of translator/polls.py: which loops let others run, and that nothing else changes."""

import pytest

HINT = "::emu::pollHint()"
FLAG = "__device__ volatile int flag;"
MEMBER = "struct S { int data; volatile bool ready; };"
HELPER = FLAG + " __device__ bool isSet() { return flag != 0; }"


@pytest.fixture
def body(translated):
    """What becomes of a statement in a kernel, behind declarations."""

    def translate(declarations, statement):
        text = translated(f"{declarations}\n__global__ void k(S* s, int n) {{ {statement} z; }}\n")
        return text.split("__global__ void k(S* s, int n) {")[1].rsplit("z;", 1)[0].strip()

    return translate


@pytest.mark.parametrize(
    "declarations, source, expected",
    [
        (FLAG, "while (true) { if (flag) break; }", f"while ({HINT}, true) {{ if (flag) break; }}"),
        (FLAG, "do { n = flag; } while (n);", f"do {{ n = flag; }} while ({HINT}, n);"),
        (FLAG, "for (;;) if (flag) break;", f"for (;;{HINT} ) if (flag) break;"),
        ("__device__ volatile int* p;", "while (!*p);", f"while ({HINT}, !*p);"),
        (HELPER, "while (!isSet());", f"while ({HINT}, !isSet());"),
    ],
)
def test_loop_that_polls(body, declarations, source, expected):
    assert body(declarations, source) == expected


@pytest.mark.parametrize(
    "declarations, source",
    [
        (FLAG, "while (n > 0) --n; flag = n;"),
        (FLAG, "for (int i = 0; i < n; ++i) n -= i; flag = 1;"),
        (MEMBER, "while (s->data > 0) { --s->data; } s->ready = 1;"),
        (FLAG, "while (int now = flag) n = now;"),  # a declaration: no place for it
        ("int host() { return (volatile Foo&)foo; }", "while (n > 0) { Foo(n); --n; }"),
        ("__device__ int flag;", "while (flag == 0);"),
        ("__device__ void f(volatile int* v, int n);", "while (n > 0) { f(0, n); --n; }"),
        ("__device__ void f(int s, volatile int* n) { *n = s; }", "while (n > 0) { --n; }"),
    ],
)
def test_other_loops_stay(body, declarations, source):
    assert body(declarations, source) == source


def test_host_code_stays(translated):
    source = "volatile int flag;\nint main() { while (!flag); }\n__global__ void k() {}\n"
    assert HINT not in translated(source)
