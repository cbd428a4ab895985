"""Tests of the translator: `new` and `delete` in device code, which have a heap of their own."""

import pytest

HEAP = "(::emu::kernelHeap)"


@pytest.mark.parametrize(
    "source, expected",
    [
        ("p = *new n::T<int>{1};", f"p = *new {HEAP} n::T<int>{{1}};"),
        ("p = ::new T;", f"p = :: new {HEAP} T;"),
        ("p = new (std::nothrow) T[2];", f"p = new {HEAP} T[2];"),
        ("p = new (nothrow) T[2];", f"p = new {HEAP} T[2];"),
        ("p = ::operator new(4);", "p = ::operator new(4);"),
    ],
)
@pytest.mark.parametrize("words", ["__global__", "__host__ __device__"])
def test_new_in_device_code(translated, words, source, expected):
    assert (
        translated(f"{words} void k() {{ {source} }}\n") == f"{words} void k() {{ {expected} }}\n"
    )


def test_new_in_host_code_and_in_a_macro(translated):
    host = "void f() { p = new T; q = new int[3]; }\n"
    text = translated(f"#define MAKE(T) new T()\n{host}__global__ void k() {{ p = MAKE(int); }}\n")
    assert f"#define MAKE(T) new {HEAP} T()\n{host}" in text


def test_classes_with_an_operator_new_keep_it(translated):
    text = translated(
        "struct S { void* operator new(size_t); };\n"
        "__global__ void k() { p = new S; q = new int[3]; }\n"
    )
    assert "p = new S;" in text
    assert f"q = new {HEAP} int[3];" in text


def test_program_that_replaces_operator_new_keeps_it(translated):
    text = (
        "void* operator new(size_t n) { return malloc(n); }\n"
        "void operator delete(void* p) noexcept { free(p); }\n"
        "__global__ void k() { p = new int; delete p; }\n"
    )
    assert translated(text) == text
