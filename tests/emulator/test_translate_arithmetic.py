"""Tests of the shifts and casts that the translator rewrites in device code.
(device_functions/shifts.cpp and casts.cpp have the results, programs/arithmetic.cu runs some.)"""

import pytest


@pytest.fixture
def translated(translated):
    """Translates a file; returns its text with short names for what was put in."""

    def translate(source):
        return translated(source).replace("::emu::shift", "S").replace("::emu::cast", "C")

    return translate


@pytest.fixture
def body(translated):
    """Translates the body of a kernel."""
    return lambda code: translated("__global__ void k() {" + code + "}\n")[21:-2]


@pytest.mark.parametrize(
    "code, expected",
    [
        ("x = a<<n;", "x = a<< S <<n;"),
        ("x = a << 32;", "x = a << S << 32;"),  # more than an int has
        ("x = a << n >> m | b;", "x = a << S << n >> S >> m | b;"),
        ("for (int s = n >> k; s > 0; s >>= k) f();",
         "for (int s = n >> S >> k; s > 0; s >>= S = k) f();"),
        ('cout << "text", x = a << n;', 'cout << "text", x = a << S << n;'),
    ],
)  # fmt: skip
def test_shifts(body, code, expected):
    assert body(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "x = a << 31;",
        "x <<= 1; y >>= 5, z = 2;",
        "Grid<Grid<int>> v;",
        "x = f<g<int>>(y);",
        "f<g<a, b>>();",
        "struct { int a : 3, bits : 4; } s; s.bits >>= n; s.a <<= n;",  # no reference can be had
        'stream << "text" << n;',
        'x = b ? 1 : stream << n << "text";',
        "x = a < b, c > d;",
    ],
)
def test_what_is_no_shift_or_cannot_go_wrong(body, code):
    assert body(code) == code


@pytest.mark.parametrize(
    "code, expected",
    [
        ("x = ( unsigned  int ) f;", "x = C<unsigned int>( f);"),
        ("x = (int)(float)(f + g) - h;", "x = C<int>((float)(f + g)) - h;"),
        ("x = (int)a[i].b(c)->d++;", "x = C<int>(a[i].b(c)->d++);"),
        ("x = (int)(f)-h;", "x = C<int>((f))-h;"),
        ("x = (int)f<T>(y) + 1;", "x = C<int>(f<T>(y)) + 1;"),
        ("x = (int)*p + (int)~q;", "x = C<int>(*p) + C<int>(~q);"),
        ("g(a, (std::uint8_t)(f));", "g(a, C<std::uint8_t>((f)));"),
        ("x = b ?(int)f:(int)g;", "x = b ?C<int>(f): C<int>(g);"),
        ("g(std::size_t(f), int(2));", "g(C<std::size_t>(f), C<int>(2));"),
    ],
)
def test_casts(body, code, expected):
    assert body(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "x = (float)i;",
        "x = (int*)p;",
        "x = static_cast<int>(blockIdx.x);",
        "x = int(threadIdx.x) + int(warpSize);",
        "int (x), y(int(*)(int));",
        "auto f = [](int) -> int { return 1; };",
        "x = sizeof(int) * n;",
        "std::function<int(float)> f;",
        "x = (int){3};",
    ],
)
def test_what_is_no_cast_of_a_number_to_an_integer(body, code):
    assert body(code) == code


@pytest.mark.parametrize("head", ["void f", "__host__ void f"])
def test_host_code_stays(translated, head):
    source = head + "() { x = a << n; y = (int)f; }\n"
    assert translated(source) == source


def test_bit_fields(translated):
    head = "struct %s A {\n  int v; unsigned bits : 3,  // three\n    more : 1;\n "
    head += " __device__ void f(int n) { v <<= S = n; more <<= n; a.%s <<= n; } };\n"
    expected = head % ("", "bits")
    assert translated(expected.replace("S = ", "")) == expected
    expected = head % ("__attribute__((packed))", "v")
    assert translated(expected.replace("S = ", "")) == expected.replace("S = ", "")


def test_macros_and_conditionals_stay(translated):
    source = (
        "#define SHIFT(a, n) ((a) << (n))\n__device__ int f() {\n  return (int)\n#if A\n  x\n"
        "#else\n  y\n#endif\n  ;\n}\n"
    )
    assert translated(source) == source


@pytest.mark.parametrize(
    "macro, expected",
    [
        ("#define M a + b", "(int)M"),
        ("#define M(x) x * 2", "(int)M(1)"),
        ("#define M (a + b)", "C<int>(M)"),
        ("#define M(x) ((x) * 2)", "C<int>(M(1))"),
        ("#define M 3.5f", "C<int>(M)"),
    ],
)
def test_casts_of_macros(translated, macro, expected):
    used = expected.replace("C<int>(M(1))", "(int)M(1)").replace("C<int>(M)", "(int)M")
    source = f"{macro}\n__device__ int f() {{ return %s; }}\n"
    assert translated(source % used) == source % expected


def test_breaks_of_lines_stay(translated):
    source = "__device__ int f() {\n  return (unsigned\n int)x <<\n   n;\n}\n"
    expected = "__device__ int f() {\n  return C<unsigned int>(\nx) << S <<\n   n;\n}\n"
    assert translated(source) == expected
