"""Tests of the translation for the profiler: what is rewritten, what is left alone, and that the
result compiles and computes the same."""

import itertools
import random
import re
import shutil
import subprocess

import pytest
from translate import OWN_INCLUDE, main

COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]
INSTRUMENT = ["-O0", "-D__EMU_INSTRUMENTED__", "-fsanitize=thread", "-fsanitize-coverage=trace-pc"]
INCLUDE = ["-isystem", OWN_INCLUDE, "-include", "cuda_runtime.h"]


@pytest.fixture
def translated(translated):
    """Translates source text for the profiler; returns the output without its `#line`."""
    return lambda source: translated(source, "--instrument")


def short(text):
    """Calls of truth() as T(...), without the spaces beside operands; no steps of loops."""
    text = text.replace("::emu::loopStep(), ", "").replace("::emu::truth", "T").replace("!!(", "(")
    return re.sub(r" *\)", ")", re.sub(r"\( *", "(", text))


def both(a, b):
    return f"bool(T(({a})) ? T(({b})) : T(false))"


def choice(condition):
    return f"T(({condition})) ?"


REWRITTEN = """
    if (a and b) f(); x = a or b;
    x <<= a || b, y = c || d;
    a ? throw 1 : f();
    switch (a) { case 1:a?f():g(); default: b ? f() : g(); }
    if (a) f(); else a ? f() : g();
    do f(); while (a && b);
    for (int i = 0; a && b; ++i);
    if (int i = f(); a && b);
    if (int i = a && b);
    f(a && b, c[a || b]);
    S s{a && b, {c || d}};
    x = i < n >> 1 && b || a << 2 < b && c;
    x = a < b == c > d && e;
    x = is_same<A, B>::value && is_same_v<A, B> && b;
    x = std::f<A, B>(y) || f<A>(y) && V<V<int>>{1} || static_cast<V<A, B>>(y) && b;
    x = f<A&, B>(y) && b || (int)a && sizeof b > 2;
    if (a) { f(); } b ? f() : g();
    x = [&](int i) -> bool { return i && a; }(1) && b;
    auto&& r = (a || b);
    for (auto&& e : a ? b : c);
    bool ok = f(); ok && g();
    lane == 0 && g();
    a /* || */ || b ? c : d;
"""


def test_every_operator_is_rewritten(translated):
    """(test_computes_the_same has the order.)"""
    text = translated(f"__device__ void k() {{ {REWRITTEN} }}\n").replace("auto&&", "auto")
    text = re.sub("/[*].*[*]/", "", text)
    assert re.findall(r"&&|[|][|]|\b(?:and|or)\b|[^) ] *[?]", text) == []


def test_left_alone(translated):
    """Other uses of && and &. DECLARATIONS has more, which would not compile."""
    source = """__device__ void k() {
        V<T, 2> && r = f(); T && maybe(f);  // the latter a declaration or an expression
        x = (T&&)y; f<T&&, U>(y); f<A, B&&>(y);
        [](int x = 1 && 2) { f(x); }; []<class T>(T&& x) { f(x); }; [x = 1 && 2] { f(x); };
        struct alignas(16) S { int b = 1 && 2; int f : 2 ? 3 : 4; void g(S&& s); };
        using R = T&&; x = static_cast<T&&>(y); x = decltype(a && b)(1); enum { x = A && B };
        static_assert(A && B, ""); x = both<A && B>(c); alignas(A && B ? 8 : 4) char c[4];
        f(g < a, b > c && x); x = s.operator&&(b); assert(a && "why");
    }
"""
    assert translated(source) == source


@pytest.mark.parametrize(
    "source",
    [
        "void host() { x = a && b ? c : d; }\n",
        "template <bool A = 1 && 2> __device__ void f(int x = 1 && 2);\n",
        "template <class A> requires One<A> && Two<A> __device__ void f(A&& a) {}\n",
        "__device__ void f(A&& a) noexcept(1 && 2) {}\n",
        "#define BOTH(a, b) (a && b ? 1 : 2)\n__device__ void f() { BOTH(a, b); }\n",
        "#if A && B\n#endif\n__device__ void f() {}\n",
        "#define TEXT(x) #x\n__device__ void f() { TEXT(a && b); }\n",
        "#define NAME(x) f_##x\n__device__ void f() { NAME(a && b); }\n",
        "__device__ void f() { x = a &&\n#ifdef A\n b;\n#else\n c;\n#endif\n}\n",
    ],
)
def test_left_alone_in_a_file(translated, source):
    assert translated(source) == source


@pytest.mark.parametrize(
    "function",
    [
        "template <class T> __global__ void k(T x) {{ {} }}\n",
        "struct S {{ int x; __device__ int f() const {{ {} }} }};\n",
        "void host() {{ run([=] __device__(int i) {{ {} }}); }}\n",
        "#define DEVICE __device__\nDEVICE void f() {{ {} }}\n",
        "__host__ __device__ constexpr int f(int a) {{ {} }}\n",
    ],
)
def test_device_code(translated, function):
    source = function.format("x = a && b;")
    assert short(translated(source)) == source.replace("a && b", both("a", "b"))


def test_arguments_of_other_macros(translated):
    source = "#define MAX(a, b) (a > b)\n__device__ int f() { return MAX(x && y, 2); }\n"
    assert short(translated(source)) == source.replace("x && y", both("x", "y"))


def test_header_with_a_macro_for_device(tmp_path):
    (tmp_path / "device.h").write_text("#define DEVICE __device__\n")
    (tmp_path / "f.h").write_text("DEVICE int f(int a, int b) { return a < b ? a : b; }\n")
    (tmp_path / "in.cu").write_text('#include "device.h"\n#include "f.h"\n')
    assert main([str(tmp_path / "in.cu"), "-o", str(tmp_path / "o.cpp"), "--instrument"]) == 0
    (header,) = (tmp_path / "o.cpp.headers").iterdir()
    assert choice("a < b") in short(header.read_text())


def test_lines_keep_their_numbers(translated):
    source = (
        "__device__ int f() {\n  return a\n    && b // one\n    ||\n  /* two */ c\n? 1\n: 2;\n}\n"
    )
    text = translated(source)
    assert "::emu::truth" in text
    for before, after in zip(source.split("\n"), text.split("\n")):
        for word in re.findall(r"\b[abc12]\b|one|two", before):
            assert word in after


def test_not_without_the_option(translated_or_error):
    source = "__constant__ const int c = 1;\n__device__ int f() { return a && b ? c : d; }\n"
    text = translated_or_error(source)
    assert text.startswith("__constant__ const int c = 1;") and "return a && b ? c : d;" in text


def test_within_another_change(translated):
    """The kernel's name is copied; what surrounds the launch is still rewritten."""
    text = translated(
        "__device__ void f() { if (a && b) k<(c && d)><<<e || g, 1>>>(h ? 1 : 2); }\n"
    )
    assert '"k<(c && d)>"' in text and "k<(c && d)>(emuArgs...)" in text
    assert both("a", "b") in short(text) and ".emuConfig(e || g, 1)" in text
    assert choice("h") in short(text)


def test_overloaded_operators(translated):
    source = "struct V {{ V operator{}(V); }};\n__device__ void f(V a, V b) {{ a && b || a; }}\n"
    for operator in ("&&", " ||", "and "):
        assert "truth" not in translated(source.format(operator))
    assert "truth" in translated(source.format("&"))


# ---- Launches, constants -----------------------------------------------------------------------


@pytest.mark.parametrize("callee", ["k", "(*pointer)"])
def test_what_calls_the_kernel_is_not_recorded(translated, callee):
    text = translated(f"void f() {{ {callee}<<<1, 2>>>(); }}\n")
    assert "[=](auto... emuArgs) EMU_NOT_RECORDED { ::emu::KernelFrame emuFrame; " in text


@pytest.mark.parametrize(
    "before, dropped",
    [
        ("__constant__ const float c[2] = {1, 2};", True),
        ("static __constant__ constexpr float c = 1;", True),
        ("const __constant__ char* c = nullptr;", False),
        ("__constant__ float* const c = nullptr;", True),
        ("__constant__ V<const float> c;", False),
        ("__constant__ alignas(16) const float c = 1;", True),
        ("extern __constant__ const float c[];", True),
        ("const int n = 1; __constant__ int c;", False),
        ("__constant__ int c; const int n = 1;", False),
    ],
)
def test_constants_that_the_compiler_may_use(translated, before, dropped):
    assert ("__constant__" in translated(before).partition("static_assert")[0]) != dropped


def test_constant_through_a_macro(translated):
    text = translated("#define CONSTANT __constant__\nCONSTANT const int c = 1;\nCONSTANT int d;\n")
    assert "\n const int c = 1;" in text and "\nCONSTANT int d;" in text


# ---- The result compiles, and computes the same ------------------------------------------------

DECLARATIONS = """
#include <type_traits>
#include <utility>
template <class A, class B> constexpr bool same = std::is_same_v<A, B>;
template <int A, int B> __device__ bool between(int x) { return x > A && x < B; }
template <bool A, bool B = true> __device__ bool all(int x) { return A && B && x; }
template <class... T> __device__ bool any(T... t) { return (... || t); }
struct Flag {
    int value;
    __device__ explicit operator bool() const { return value > 1 && value < 9; }
    __device__ bool both(Flag&& other) const { return value && other.value ? true : false; }
};
__constant__ const float table[2] = {1, 2};
__constant__ float changing[2];
__global__ void k(int* p, int n, bool flag) {
    int i = threadIdx.x;
    if (i < n && p[i] > 3 && (i > 2 || flag)) p[i] = static_cast<int>(table[0]);
    while (i < n && n > (i + 1)) ++i;
    int low = i < n ? i : n, absolute = i < 0 ? -i : i, cut = i < 1 ? 1 : i > 9 ? 9 : i;
    bool a = std::is_same<int, float>::value && flag, b = same<int, bool> || i > 2;
    bool c = between<1, 2>(i) && all<true && false>(i) && any(a && b, a || b);
    int&& moved = i + 1;
    auto f = [=](auto&& x, int y = 3) -> bool { return x && y && !(x || y); };
    for (auto&& x : {1, 2}) i += x && flag ? 1 : 2;
    constexpr int size = sizeof(int) == 4 && true ? 3 : 4;
    const bool large = size > 2 && size < 9;
    int array[large ? 2 : 1] = {std::enable_if_t<large && size == 3, int>(1)};
    switch (i) { case 1 && 1: break; default: c ? i++ : i--; }
    if constexpr (size == 3 && true) i = 2;
    if (int q = i; q && n) i = 4; else if (i and not flag) i = 5;
    flag && atomicAdd(p, 1);
    Flag x{i}, y{n};
    if (x && y || x.both(Flag{2})) i = (x ? 1 : 2) + [&] { return i < n && n; }();
    struct Local { bool b = true && false; __device__ bool f(Local&& o) { return b && o.b; } };
    goto end;
end:
    i ? (void)0 : (void)(i = Local{}.f(Local{}));
    p[i ?: 3] = low + absolute + cut + moved + f(i) + array[i && n] + int(changing[0]);
}
int main() { k<<<1, 1>>>(nullptr, 2, true); }
"""


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("standard", ["-std=c++17", "-std=c++20"])
def test_output_compiles(translated, tmp_path, compiler, standard):
    translated(DECLARATIONS)
    command = [compiler, standard, *INSTRUMENT, *INCLUDE, "-fsyntax-only"]
    result = subprocess.run([*command, tmp_path / "out.cpp"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def random_expression(random, depth):
    """Of the integers a to d and true or false, in the grammar's own precedence."""
    if depth == 0:
        return random.choice(["a", "b", "c", "d", "a < b", "c > d", "a == d", "!b", "f(a, b)"])
    left, middle, right = (random_expression(random, depth - 1) for _ in range(3))
    kind = random.randrange(7)
    if kind < 3:
        return f"{left} {random.choice(['&&', '||', 'and', 'or'])} {right}"
    if kind == 3:
        return f"({left} ? {middle} : {right})"
    return [f"!({left})", f"f({left}, {right})", f"t[{left} ? 1 : 0] + ({right})"][kind - 4]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_computes_the_same(translated, tmp_path, compiler):
    numbers = random.Random(1)
    expressions = [random_expression(numbers, 1 + i % 4) for i in range(60)]
    values = list(itertools.product([0, 1, 5], repeat=4))
    body = "".join(
        f"    calls = 0; result = {e}; use(result, calls);\n"
        f"    calls = 0; result = {e} ? a : {e}; use(result, calls);\n"
        for e in expressions
    )
    function = (
        "{word} void {name}(int a, int b, int c, int d) {{\n"
        "    const int t[2] = {{a, b}}; int result;\n" + body.replace("{", "{{").replace("}", "}}")
    ) + "}}\n"
    source = (
        "#define __device__\n#include <cstdio>\nint calls; unsigned long long hash;\n"
        "bool f(int a, int b) { calls = 3 * calls + a + 2 * b + 1; return a < b; }\n"
        "void use(int result, int calls) { hash = hash * 31 + result * 7 + calls; }\n"
        + function.format(word="", name="plain")
        + function.format(word="__device__", name="rewritten")
        + "int main() {\n"
        + "".join(
            f"    hash = 1; plain({v}); auto h{i} = hash; hash = 1; rewritten({v});\n"
            f"    if (hash != h{i}) return 1;\n"
            for i, v in enumerate(", ".join(map(str, value)) for value in values)
        )
        + "    return 0;\n}\n"
    )
    text = translated(source)
    plain, rewritten = text.split("__device__ void rewritten")
    assert "emu::truth" not in plain and rewritten.count("emu::truth") > 4 * len(expressions)
    # (every operator: what is left is that of the calls of truth)
    body = rewritten.split("int main")[0]
    assert re.search(r"&&|\|\||\band\b|\bor\b", body) is None
    header = ["-I", OWN_INCLUDE, "-include", "emu/decisions.h"]
    command = [compiler, "-std=c++17", "-w", *header, tmp_path / "out.cpp", "-o", tmp_path / "out"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert subprocess.run([tmp_path / "out"]).returncode == 0
