"""Tests of the translator: exact output, places kept, errors, headers. (programs/ compile and run.)"""

import os
import re
from pathlib import Path

import pytest
from translate import main


@pytest.fixture
def run_translate(tmp_path, monkeypatch, capsys):
    """run_translate(ARGS): the status of `translate.py ARGS` in the test's folder, and what it said."""
    monkeypatch.chdir(tmp_path)

    def run(*args):
        try:
            status = main(list(args))
        except SystemExit as stop:  # of argparse
            status = stop.code
        return status, capsys.readouterr().err

    return run


@pytest.fixture
def error(translated_or_error, tmp_path):
    """The message for source text that cannot be translated."""

    def translate(source):
        (tmp_path / "out.cpp").write_text("of an earlier run")
        message = translated_or_error(source, "-MF", str(tmp_path / "out.d"))
        assert sorted(os.listdir(tmp_path)) == ["in.cu"]
        return message.rstrip("\n")

    return translate


def launcher(name, callee=None, address=True):
    """The launcher of a callee that is a name."""
    callee = callee or name
    address = f"::emu::emuId({callee})" if address else "nullptr"
    return (
        f'::emu::emuKernel("{name}", {address}, [=](auto... emuArgs) {{ {callee}(emuArgs...); }})'
    )


def evaluated(name):
    """The launcher of a callee that is an expression."""
    return (
        f'[&](auto emuKernel) {{ return ::emu::emuKernel("{name}", ::emu::emuId(emuKernel), '
        f"[=](auto... emuArgs) {{ emuKernel(emuArgs...); }}); }}({name})"
    )


# ---- Launches ----------------------------------------------------------------------------------


# programs/launchForms.cu and launchMacros.cu run the other forms.
@pytest.mark.parametrize(
    "source, expected",
    [
        ("k<< <g, b> > >(x);", f"{launcher('k')}.emuConfig(g, b)(x);"),
        ("k < < < g, b >> > (x);", f"{launcher('k')}.emuConfig( g, b ) (x);"),
        ("k<V<V<int>>><<<1, 2>>>();", f"{launcher('k<V<V<int>>>')}.emuConfig(1, 2)();"),
        ("k/*a*/<T/*b*/><<<1, 2>>>();", f"{launcher('k <T >')}.emuConfig(1, 2)();"),
        ("A<T>::template k<U><<<1,2>>>();", f"{launcher('A<T>::template k<U>')}.emuConfig(1,2)();"),
        ("(k<T>)<<<1, 2>>>();", f"{launcher('k<T>')}.emuConfig(1, 2)();"),
        ("f(1)(2)<<<1, 2>>>();", f"{evaluated('f(1)(2)')}.emuConfig(1, 2)();"),
        ("k<<<f<A<B<T>>>(1, 2), 3>>>(x);", f"{launcher('k')}.emuConfig(f<A<B<T>>>(1, 2), 3)(x);"),
        ("if constexpr (x) ::k<<<1,2>>>();",
         f"if constexpr (x) {launcher('::k')}.emuConfig(1,2)();"),
        ("k<<<a<b, 3>>>(x), f<A<B<C>>>(1);",
         f"{launcher('k')}.emuConfig(a<b, 3)(x), f<A<B<C>>>(1);"),
        ("k<<<1, f(\">>>(\", '>')>>>(x);", f"{launcher('k')}.emuConfig(1, f(\">>>(\", '>'))(x);"),
        ("k<<<1, 2>>>([=] __device__(int i) { g<<<3, 4>>>(i); });",
         f"{launcher('k')}.emuConfig(1, 2)([=] __device__(int i) {{ "
         f"{launcher('g')}.emuConfig(3, 4)(i); }});"),
        ("k<<<1, 2>>>(NULL, f(NULL), (T*)NULL, NULL);",
         f"{launcher('k')}.emuConfig(1, 2)(nullptr, f(NULL), (T*)NULL, nullptr);"),
    ],
)  # fmt: skip
def test_launch(translated, source, expected):
    source, expected = f"void f() {{ {source} }}\n", f"void f() {{ {expected} }}\n"
    assert translated(source) == expected


@pytest.mark.parametrize(
    "before, after",
    [
        ("#if A\n", "#endif\n"),
        ("#if 0 || A\n", "#endif\n"),
        ("#ifdef A\n#else\n", "#endif\n"),
        ("#if 0\nk<<<1\n#else\n", "#endif\n"),
        ("#if 0\nk<<<1\n#elif A\n", "#endif\n"),
        ("#if 0\nk<<<1\n#endif\n", ""),
    ],
)
def test_launch_in_a_conditional(translated, before, after):
    out = translated(f"{before}void f() {{ k<<<1, 2>>>(); }}\n{after}")
    assert out == f"{before}void f() {{ {launcher('k')}.emuConfig(1, 2)(); }}\n{after}"


def test_callee_string_is_escaped(translated):
    out = translated('void f() { t["a\\n"]<<<1, 2>>>(); }')
    assert '::emu::emuKernel("t[\\"a\\\\n\\"]", ::emu::emuId(emuKernel)' in out
    assert '}(t["a\\n"]).emuConfig(1, 2)();' in out


# ---- Launches in macros ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source, expected",
    [
        ("#define L k /* a\n b */ <<<1, 2>>>(x) // c\nint d;\n",
         f"#define L {launcher('k')}\\\n.emuConfig(1, 2)(x) // c\nint d;\n"),
        ("#define OPEN <<<\n#define CLOSE >>>\nvoid f() { k<T> OPEN g, b CLOSE(x); }\n",
         f"#define OPEN .emuConfig(\n#define CLOSE )\n"
         f"void f() {{ {launcher('k<T>')} OPEN g, b CLOSE(x); }}\n"),
        ("#define DO(x) x;\nvoid f() { DO(y) ::k<<<1, 2>>>(); }\n",
         f"#define DO(x) x;\nvoid f() {{ DO(y) {launcher('::k')}.emuConfig(1, 2)(); }}\n"),
        ("#define NS(x) x\nvoid f() { NS(y)::k<<<1, 2>>>(); }\n",
         f"#define NS(x) x\nvoid f() {{ {launcher('NS(y)::k')}.emuConfig(1, 2)(); }}\n"),
        ("#define K k\nvoid f() { K<<<1, 2>>>(); }\n",
         f"#define K k\nvoid f() {{ {launcher('K', address=False)}.emuConfig(1, 2)(); }}\n"),
    ],
)  # fmt: skip
def test_macros(translated, source, expected):
    assert translated(source) == expected


# ---- Whether the kernel's address is taken -----------------------------------------------------


@pytest.mark.parametrize(
    "declarations, callee, taken",
    [
        ("", "k", True),
        ("__global__ void k(int* a); __global__ void k(int b[]) {}", "k", True),
        ("__global__ void k(unsigned int n = 3); __global__ void k(unsigned int) {}", "k", True),
        ("__global__ void k(T* __restrict__ a); __global__ void k(T *b) {}", "k", True),
        ("__global__ void k(int*); __global__ void k(const int*) {}", "k", False),
        ("__global__ void __launch_bounds__(256) k(int); __global__ void k(A);", "k", False),
        ("__global__ void BOUNDS(3) k(int) {} __global__ void BOUNDS(3) k(A) {}", "k", False),
        ("template <template <class> class C, class T> __global__ void k(C<T>);", "k<V>", False),
        ("template <class T, int N = (4 > 2)> __global__ void k(T);", "k<int>", True),
        ("template <class T, class U = V<int>> __global__ void k(T);", "k<W<int, int>>", True),
        ("template <class T, int N = 4, class F> __global__ void k(T*, F);", "k<int, 3>", False),
        ("template <class T, int N = 4> __global__ void k(T*); "
         "template <class T, int N> __global__ void k(T* x) {}", "k<int>", True),
        ("template <class... T> __global__ void k(T...);", "k<int>", False),
        ("template <class T> __global__ void k(T);", "k<P...>", False),
        ("__global__ void k(auto);", "k<int>", False),
        ("template <class T> __global__ void k(T); template <> __global__ void k<A>(A);",
         "k<int>", True),
        ("#define KERNEL(n) __global__ void n(int)\nKERNEL(k);", "k", False),
        # functions of the name (namesOfStd.cu has others)
        ("namespace n { void k(int); } struct S { void k(int); }; __global__ void k(int);", "k", False),
        ("void f() { return k(1); } void g() { k(1); } __global__ void k(int*);", "k", True),
        ("#define KERNEL __global__\ntemplate <class T> KERNEL void k(T);", "k", False),
    ],
)  # fmt: skip
def test_address(translated, declarations, callee, taken):
    out = translated(declarations + f"\nvoid f() {{ {callee}<<<1, 2>>>(x); }}")
    assert launcher(callee, address=taken) in out


def test_address_of_a_kernel_whose_name_std_has_too(translated):
    """namesOfStd.cu runs kernels outside of namespaces, which the launches name as `::copy`."""
    out = translated("namespace n { __global__ void copy(int); void f() { copy<<<1, 2>>>(x); } }")
    assert "::emu::emuId(copy)" in out


# ---- Declarations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source, names",
    [
        ("__shared__ T s[2 * N][A<B, C>::n], *p, t{};", "s p t"),
        ("static __shared__ __align__(8) Pair<int, float> p;", "p"),
        ("__shared__ struct { int a; float b; } s;", "s"),
        ("__shared__ typename Scan::Storage storage;", "storage"),
        ("volatile __shared__ int *p;", "p"),
        ("extern __shared__ float s[12];", "s"),
        ("extern __shared__ float s[];", ""),
        ("__shared__ int (*f)(int);", ""),
    ],
)
def test_shared_declaration_is_reached(translated, source, names):
    for before, after in [
        ("template <class T> __device__ T f() { if (a) { ", " } }"),
        ("auto f = [=] __device__(int i) { ", " };"),
        ("#define BODY ", ""),
    ]:
        out = translated(before + source + after)
        reached = re.findall(r"::emu::sharedReached\(.*?__builtin_addressof\((\w+)\)", out)
        assert reached == names.split(), out


def test_shared_variables_of_a_kernel_count_together(translated):
    out = translated("__global__ void k() { __shared__ int a[9]; f(); __shared__ T b, c; }")
    assert re.findall(r"static_assert\((.*?) <=", out) == [
        "sizeof(a)",
        "sizeof(a) + sizeof(b) + sizeof(c)",
    ]


@pytest.mark.parametrize(
    "source, of, behind",
    [
        ("alignas(T) extern __shared__ int s[];", "int", ""),
        ("extern __shared__ __align__(16) unsigned char s[];", "unsigned char", ""),
        ("extern __shared__ float s[][33];", "float", "[33]"),
    ],
)
def test_dynamic_shared_memory(translated, source, of, behind):
    out = translated(f"__global__ void k() {{ {source} }}")
    array = f"{of} (*)[]{behind}"
    assert f"{of} (&s)[]{behind} = *reinterpret_cast<{array}>(::emu::dynamicShared());" in out


@pytest.mark.parametrize("variables", ["s[256]", "s", "s[2], t[3]"])
def test_shared_with_a_size_is_a_definition(translated, variables):
    assert "extern" not in translated(f"__global__ void k() {{ extern __shared__ T {variables}; }}")


@pytest.mark.parametrize(
    "declared, type_",
    [
        ("__shared__ float s[256];", "float"),
        ("static __shared__ volatile unsigned long long s[N][N + 1], t;", "unsigned long long"),
        ("__shared__ const typename A::B s[2];", "typename A :: B"),
        ("struct S { static __shared__ T tile[32][33]; };", "T"),
        ("#define SHARED(T, n) __shared__ T n[32]\nint a;", "T"),
        ("__shared__ float s, t[3];", None),
        ("__shared__ float *s[3];", None),
        ("__shared__ Pair<int, float> s[3];", None),
        ("__shared__ __align__(32) float s[3];", None),
    ],
)
def test_arrays_can_hold_float4(translated, declared, type_):
    """Where their type may be a number, whatever else lies before them."""
    found = re.search(r"aligned\(::emu::kSharedAlignment<(.*?)>\)", translated(declared))
    assert (found and found[1]) == type_


def test_volatile_variable_in_shared_memory(translated):
    out = translated("__global__ void k() { volatile __shared__ int done; }")
    assert "int emu_done; auto& done = ::emu::volatileVariable(emu_done);" in out


@pytest.mark.parametrize(
    "source, pointee",
    [
        ("unsigned volatile* __restrict__ v(s);", "unsigned"),
        ("const volatile int* v = s;", "const int"),
        ("volatile n::A<int, 2>* v;", "n :: A < int , 2 >"),
    ],
)
def test_volatile_pointers(translated, source, pointee):
    out = translated(f"__device__ void f() {{{source}}}")
    assert f"::emu::VolatilePointer<{pointee}> v" in out


PTX = '_Pragma("GCC error \\"inline PTX is not supported on the cpu back end\\"")\n'


@pytest.mark.parametrize("keyword", ["asm", "asm volatile", "__asm__ __volatile__"])
def test_inline_ptx(translated, keyword):
    asm = f'{keyword}("mov.u32 %0, %%laneid;" : "=r"(i)\n :: "memory")'
    for before, after in [
        ("__global__ void f() { for (int i = 0; i < 3; ++i) { ", "; } }"),
        ("#define DEVICE __device__\nstruct A { DEVICE int f(int i = g({1})) { if (i) ", "; } };"),
        ("void f() { auto g = [] __device__ (int i) { ", "; }; }"),
    ]:
        assert translated(before + asm + after) == before + PTX + after


# ---- What must stay as it is -------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        'auto s = u8"k<<<1, 2>>>(x)", t = L"extern __shared__ int x[];";',
        'auto s = u8R"x(")" \n k<<<1, 2>>>(x))x";',
        "int a = 1'000 << 2, b = 0xf'f >> 1, c = 1.5e+3'0;",
        "std::cout << a << b << c >> d; a <<= 2; b >>= 3;",
        "A<B<C<D>>> a; A<B<(1 >> 2)>> b; f<A<B<C>>>(x);",
        "std::ostream& operator<<(std::ostream& o, A a);",
        "template std::ostream& operator<<<int>(std::ostream&, const A<int>&);",
        "#if 0\ndon't k<<<1, 2>>>(x)\n#if 1\n#endif\n k<<<1\n#endif\nint a;",
        "#if 0 // off\n k<<<1\n#elif A\n int a;\n#endif",
        "#ifdef A\ndon't touch\n#endif\n",
        "#error it's not here\n",
        "cudaOccupancyMaxPotentialBlockSize(&grid, &block, k<T>, 0, 0);",
        "__shared__ float s; struct S { static __shared__ T tile; };",
        "#define SHARED(T, n) __shared__ T n\n#define S __shared__\nint a;",
        "extern __constant__ float c[]; extern __device__ int d[]; extern int e[];",
        "void f(volatile int* p) { volatile int* q = p; }",
        "__device__ volatile int flag; __device__ volatile int* flags;",
        "__device__ void f(volatile int* p);",
        "__device__ void f() { volatile int i = 0; constexpr volatile int* p = 0; }",
        "__device__ void f() { volatile int *p = a, *q = b; p = *(T* volatile*)q; }",
        "struct S { volatile int* p; };",
        # neither a reference
        "__global__ void k(void (*f)(int&), A<int&> a); __device__ void f(int& x);",
        "__global__ void k(int n = a & b); __global__ void k(S s, int (*p)[4], T... x);",
        'void f() { asm volatile("rdtsc" : "=a"(lo), "=d"(hi)); }',
        'int f() asm("label"); register int r asm("rax");',
        "a->*b; x = y ? A::b : ::c; f(int(*)[3]); int x{a < b};",
        '#include <vector>\n#include "missing.h"\n#include HEADER\n#define STR(x) #x\n',
        "#include <cuda_pipeline.h>\n#include <thrusting.h>\n#include <my/cub/x.h>\n",
    ],
)
def test_untouched(translated, source):
    assert translated(source) == source


def test_lines_keep_their_numbers(translated):
    lines = []
    for i in range(40):
        lines += [
            f"int a{i}; /* two\nlines */ #define",
            f"#define L{i} k \\",
            f"  <<<{i}, 2 \\",
            "  >>>(x)",
            f"void f{i}() {{ k<A<B<int>>,",
            "    3>",
            "   <<<1, // one",
            "      2>>>",
            "     (NULL,",
            "#ifdef B",
            "      x,",
            "#endif",
            "      y); }",
            "__global__ void g() { extern",
            " __shared__ int",
            f"   x[]; int b{i}; }}",
        ]
    source = "\n".join(lines)
    out = translated(source)
    assert out.count("\n") == source.count("\n")
    before, after = source.split("\n"), out.split("\n")
    for i in range(40):
        for name in (f"int a{i};", f"void f{i}()", f"int b{i};", f"#define L{i} "):
            (at,) = [n for n, line in enumerate(before) if name in line]
            assert name in after[at]


# ---- Errors ------------------------------------------------------------------------------------


NO_NAME = "no kernel's name before this launch"
REFERENCE = "a parameter of the kernel 'k' is a reference"
SOME_REFERENCES = "some parameters of this launch's kernel are references"


@pytest.mark.parametrize(
    "source, line, message",
    [
        ("\nvoid f() { k<<<1, 2; }", 2, "this launch never ends: expected '>>>'"),
        ("\nvoid f() { k<<<1,\n 2>>>; }", 2, "this launch never ends: expected '>>>'"),
        ("void f() { k<<<1, (2>>>(x); }", 1, "this '(' is never closed"),
        ("void f() {\n\n k<<<1, 2>>>(x; }", 3, "the arguments of this launch never end"),
        ("void f() { k<<<>>>(x); }", 1, "this launch has no grid: <<<grid, block>>>"),
        ("void f() { if (x) <<<1, 2>>>(x); }", 1, NO_NAME),
        ("<<<1, 2>>>(x);", 1, NO_NAME),
        ("void f() {\n k<a < b><<<1, 2>>>(x); }", 2, f"{NO_NAME}: put comparisons in template"),
        ("int a;\n#define L return <<<1, 2>>>(x)\n", 2, NO_NAME),
        ("int a;\n/* b\n", 2, "this comment never ends"),
        ('int a;\nauto s = R"x(\n)";', 2, "this raw string never ends"),
        ('\n\nauto s = "k<<<1, 2>>>(x);\n', 3, "this string literal never ends"),
        ("\nchar c = 'k;\n", 2, "this character literal never ends"),
        ("__global__ void k() {\n extern __shared__ int a[]\n}", 2, "this declaration never ends"),
        ("__global__ void k() {\n extern __shared__ int a[], b[3]; }", 2, "declare shared arrays"),
        ("template <class T> __global__ void k(A<T, int>& x = a);", 1, REFERENCE),
        ("__global__ void k(int n,\n  const S &s = {}) {}", 2, REFERENCE),
        ("template <class T> __global__ void k(T& x);\ntemplate <class T> __global__ void k(T x, int n);\n"
         "void f() { k<<<1, 1>>>(x, 1); }", 3, SOME_REFERENCES),
        ("template <class... T> __global__ void k(int n, T&... x);\n\nvoid f() { k<<<1, 1>>>(1, x); }",
         3, SOME_REFERENCES),
        # The arguments are elsewhere.
        ("template <class T> __global__ void k(T& x);\n#define C <<<1, 1>>>\nvoid f() { k C(x); }",
         3, SOME_REFERENCES),
        ("template <class T> __global__ void k(T& x);\n\n#define L k<<<1, 1>>>\nvoid f() { L(x); }",
         3, SOME_REFERENCES),
    ],
)  # fmt: skip
def test_errors(error, source, line, message):
    assert error(source).startswith(f"in.cu:{line}: error: {message}")


@pytest.mark.parametrize(
    "declaration, refused",
    [
        ("struct S { int a; __global__ void k(); };", True),
        ("template <class T> class S { public: template <class U> static __global__ void k(U) {} };",
         True),
        ("struct S { friend __global__ void k(int*); }; __global__ void k(int*) {}", False),
        ("namespace n { struct S { int a; } s; __global__ void k() {} }", False),
        ("struct S { void f() { int a; } }; template <class T> __global__ void k(T) {}", False),
    ],
)  # fmt: skip
def test_kernels_are_no_members(translated, declaration, refused):
    assert ("a kernel cannot be a member of a class" in translated(declaration)) == refused


@pytest.mark.parametrize(
    "source, output, status, said",
    [
        ("none.cu", "out.cpp", 1, "none.cu: error: No such file or directory"),
        ("in.cu", "./in.cu", 2, "'in.cu'"),
        ("in.cu", "folder", 1, "error: Is a directory"),
    ],
)
def test_files_that_cannot_be_read_or_written(
    run_translate, tmp_path, source, output, status, said
):
    (tmp_path / "in.cu").write_text("int a;")
    (tmp_path / "folder").mkdir()
    done, message = run_translate(source, "-o", output)
    assert done == status and said in message
    assert (tmp_path / "in.cu").read_text() == "int a;"
    assert sorted(os.listdir(tmp_path)) == ["folder", "in.cu"]


# ---- Headers -----------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path, run_translate):
    """Writes files, given as {path: text}, and translates src/in.cu to build/out.cpp. Returns the
    output and, by name, the translated headers."""

    def translate(files, *args):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        assert run_translate("src/in.cu", "-o", "build/out.cpp", *args) == (0, "")
        folder = tmp_path / "build" / "out.cpp.headers"
        headers = {path.name.split("_", 1)[1]: path for path in folder.glob("*")}
        return (tmp_path / "build" / "out.cpp").read_text(), headers

    return translate


LAUNCH_HEADER = "#pragma once\ninline void g() { k<<<1, 2>>>(); }\n"


def test_headers_in_include_folders(tree):
    files = {
        "src/in.cu": '#include <k.cuh>\n# include "sub/l.cuh" // l\n#include <plain.h>\n',
        "inc/k.cuh": LAUNCH_HEADER + '#include "back.h"\n',
        "inc/back.h": '#pragma once\n#include "k.cuh"\n',
        "more/k.cuh": "wrong folder k<<<1",
        "more/sub/l.cuh": '#include "../m.h"\n' + LAUNCH_HEADER,
        "more/m.h": "int m;\n",
        "more/plain.h": "int plain;\n",
    }
    out, headers = tree(files, "-I", "inc", "-Imore")
    assert out.splitlines()[1:] == [
        f'#include "{headers["k.cuh"]}"',
        f'# include "{headers["l.cuh"]}" // l',
        "#include <plain.h>",
    ]
    # A header that needs no translation is named where it is: the copy is in another folder.
    plain = headers["l.cuh"].read_text().splitlines()[1].split('"')[1]
    assert os.path.isabs(plain) and Path(plain).read_text() == "int m;\n"
    assert sorted(headers) == ["back.h", "k.cuh", "l.cuh"]
    assert f'"{headers["back.h"]}"' in headers["k.cuh"].read_text()
    assert f'"{headers["k.cuh"]}"' in headers["back.h"].read_text()


def test_angled_header_beside_the_source_is_not_found(tree):
    out, headers = tree({"src/in.cu": "#include <k.cuh>\n", "src/k.cuh": LAUNCH_HEADER})
    assert out.splitlines()[1] == "#include <k.cuh>"
    assert headers == {}


def test_kernels_of_headers_count(tree):
    files = {
        "src/in.cu": '#include "k.h"\nvoid f() { k<<<1, 2>>>(x); }\n',
        "src/k.h": "template <class T> __global__ void k(T);\n",
    }
    out, headers = tree(files)
    assert launcher("k", address=False) in out
    assert headers == {}


def test_error_in_a_header(run_translate, tmp_path):
    (tmp_path / "in.cu").write_text('#include "k.cuh"\n')
    (tmp_path / "k.cuh").write_text("\nvoid f() { k<<<1, 2; }\n")
    status, said = run_translate("in.cu", "-o", "out.cpp")
    assert status == 1 and said.startswith("k.cuh:2: error: ")
    assert sorted(os.listdir(tmp_path)) == ["in.cu", "k.cuh"]


def test_header_is_only_written_when_it_changes(tree, tmp_path):
    files = {"src/in.cu": '#include "k.cuh"\n', "src/k.cuh": LAUNCH_HEADER}
    _, headers = tree(files)
    os.utime(headers["k.cuh"], (1, 1))
    tree(files)
    assert headers["k.cuh"].stat().st_mtime == 1
    files["src/k.cuh"] += "int more;\n"
    tree(files)
    assert headers["k.cuh"].read_text().endswith("int more;\n")
