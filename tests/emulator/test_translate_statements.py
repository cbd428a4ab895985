"""Tests of what else the translation for the profiler marks: steps of loops, divisions, and stores
of structs."""

import shutil
import subprocess

import pytest
from translate import OWN_INCLUDE, main


@pytest.fixture
def translated(translated):
    """Translates the body of a kernel for the profiler; returns the new body, with short names for
    what was put in."""

    def translate(body, head="__global__ void k"):
        text = translated(head + "() {" + body + "}\n", "--instrument")
        text = text.split("() {", 1)[1].rstrip()[:-1]
        return text.replace("::emu::loopStep(), ", "STEP ").replace("::emu::stored", "S")

    return translate


@pytest.mark.parametrize(
    "body, expected",
    [
        ("for (;; i += 2, --j) f();", "for (;; STEP i += 2, --j) f();"),
        ("for (auto f = [] { g(); }; ; i++);", "for (auto f = [] { g(); }; ; STEP i++);"),
        ("for (;;) for (;;g(a, b)) {}", "for (;;) for (;;STEP g(a, b)) {}"),
        ("for (i = 0; i < n;) ++i;", "for (i = 0; i < n;) ++i;"),
    ],
)
def test_steps_of_loops(translated, body, expected):
    assert translated(body) == expected


@pytest.mark.parametrize(
    "body, expected",
    [
        ("if (a) return; else return;",
         "if (a) { EMU_RETURNS return; } else { EMU_RETURNS return; }"),
        ("switch (a) { case 1: return; }", "switch (a) { case 1: { EMU_RETURNS return; } }"),
        ("auto f = [] { return 1; };", "auto f = [] { return 1; };"),
    ],
)  # fmt: skip
def test_returns(translated, body, expected):
    assert translated(body) == expected


@pytest.mark.parametrize(
    "body, expected",
    [
        ("*(p + 1) = a + b;", "*(p + 1) = S(a + b);"),
        ("if (c) a[i] = b[i] * 2.0f;", "if (c) a[i] = S(b[i] * 2.0f);"),
        ("a[i] = b[j] = f();", "a[i] = b[j] = S(f());"),
        ("for (a[0] = f(); ;) {}", "for (a[0] = S(f()); ;) {}"),
        ("__device__ T s; s = f(); s.m = f();", "__device__ T s; s = S(f()); s.m = S(f());"),
        ("__device__ int s; s = f(); t.s = f();", "__device__ int s; s = f(); t.s = f();"),
    ],
)
def test_stores(translated, body, expected):
    assert translated(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "a[i] = 0;", "a[i] = b[i];", "a[i] = {1, 2};", "a[i] = T{f()};", "a[i] += f();",
        "a[i] == f();", "a[i] <= f();", "a[i] = f<int, 3>(x);", "a[i] = sizeof(x);", "x = f();",
        "int *p = f();", "a.x = f();", "int a[2] = {f(), g()};",
    ],
)  # fmt: skip
def test_left_alone(translated, body):
    assert translated(body) == body


@pytest.mark.parametrize(
    "body, expected",
    [
        ("x = a * b % -c + d;", "x = a * b % SIGN % -c + d;"),
        ("x /= b ? 2 : c;", "x /= SIGN = b ? 2 : c;"),
        ("x %= y /= 2;", "x %= SIGN = y /= SIGN = 2;"),
        ("x = a / *p; /* a / b */ // c % d\n", "x = a / SIGN / *p; /* a / b */ // c % d\n"),
        ("bool operator/(T, T);", "bool operator/(T, T);"),
    ],
)
def test_divisions(translated, body, expected):
    # (the condition of a ?: is for another test)
    text = translated(body).replace("::emu::sign", "SIGN")
    assert text.replace("::emu::truth(!!(b))", "b") == expected


def test_host_code_is_left_alone(translated):
    body = "for (;; ++i) { a[i] = f() / 3; if (a) return; }"
    assert translated(body, "void host") == body


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
def test_output_compiles_and_computes_the_same(tmp_path):
    (tmp_path / "in.cu").write_text("""
        struct Pair { double x, y; };
        __device__ Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }
        __device__ Pair operator/(Pair a, double d) { return {a.x / d, a.y / d}; }
        __device__ Pair& operator/=(Pair& a, double d) { return a = a / d; }
        __device__ Pair pair(double x) { return {x, 2 * x}; }
        __device__ const char* name() { return "n"; }
        __device__ constexpr int six() { return 6; }
        __device__ int bytes_of(size_t n) { return static_cast<int>(n % 100); }
        __device__ double sum() {
            Pair p[4], *q = p;
            const char* names[2];
            unsigned char bytes[2];
            struct { unsigned low : 3; } bits = {5};
            for (int i = 0; i < 4; i++) p[i] = pair(i);
            *q = p[1] + p[2];
            p[3] /= 2.0;
            p[3] = p[3] / 0.5;
            constexpr int five = 11 / 2;
            short halves[six() / 3] = {-7 / 2, 7 % 4};
            int x = bytes_of(sizeof(p) / sizeof(p[0])) - 9;  // -5
            x /= 2;
            x %= five;
            volatile int v = 9;
            float third = 1.0f / 3;
            if (x != -2 || halves[0] != -3 || v / 2 != 4 || third * 3 != 1.0f) return 0;
            if ((1ull << 40) / 3 != 366503875925u || -9l % 4 != -1) return 0;
            names[0] = name();
            bytes[1] = bits.low + 1;
            return p[0].y + p[3].x + (names[0][0] == 'n') + bytes[1];
        }
        int main() { auto* call = sum; return static_cast<int>(call()); }
        """)
    output = tmp_path / "out.cpp"
    assert main([str(tmp_path / "in.cu"), "-o", str(output), "--instrument"]) == 0
    assert output.read_text().count("::emu::stored(") == 5
    hooks = tmp_path / "hooks.cpp"
    hooks.write_text(
        "namespace emu { void loopStep() noexcept {} void divisionBranch(bool) noexcept {}\n"
        "void readsObject(const void*, unsigned long, unsigned long, const void*) noexcept {} }\n"
    )
    program = tmp_path / "program"
    options = "-std=c++17 -Wall -Wextra -Werror -D__EMU_INSTRUMENTED__".split()
    command = ["g++", *options, "-isystem", OWN_INCLUDE, "-include", "cuda_runtime.h"]
    subprocess.run([*command, str(output), str(hooks), "-o", str(program)], check=True)
    assert subprocess.run([str(program)]).returncode == 6 + 3 + 1 + 6
