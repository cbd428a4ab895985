"""What of a kernel is taken. That what gets a prefix does not compile, test_grade_command.py sees."""

from __future__ import annotations

import pytest
from lab_cli import catalogue
from lab_cli.errors import LabError
from lab_course.grading import gate
from lab_course.grading.kernel_source import KernelSource

KNOWN = {"kTile", "helper"}


def taken(body: str) -> str:
    return gate.taken(body, KNOWN)


def test_what_device_code_has_stays() -> None:
    body = (
        "__shared__ float tile[kTile][kTile + 1];\n"
        "const std::size_t x = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;\n"
        "float4 v = make_float4(0, 0, 0, 0);\n"
        "v.x = __shfl_down_sync(0xffffffff, fmaf(v.y, 1'0.5e-3f, v.z), 1);\n"
        "atomicAdd(&tile[0][0], helper(min(1, 2)));\n"
        "__syncthreads();"
    )
    new = taken(body).replace("yours_tile", "tile").replace("yours_v", "v")
    assert new == body


@pytest.mark.parametrize(
    "name",
    "exit _exit fork vfork system popen open read write printf_ getenv dlsym syscall ptrace main emu lab_x "
    "__builtin_trap __builtin_return_address __attribute__ __asm_ __libc_start_main environ stdout errno "
    "cudaMemcpy reference std__ abort kill raise longjmp mmap socket __FILE__ CUDA_CHECK".split(),
)
def test_names_of_the_host_get_a_prefix(name: str) -> None:
    assert taken(f"{name}(0);") == f"yours_{name}(0);"
    assert taken(f"::{name}(0);") == f"::yours_{name}(0);"
    assert taken(f"std::{name}(0);") == f"std::yours_{name}(0);"


@pytest.mark.parametrize(
    ("body", "new"),
    [
        ("int sum = 0; sum += sum;", "int yours_sum = 0; yours_sum += yours_sum;"),
        # What groups and the system both have.
        ("block.sync();", "yours_block.sync();"),
        ("cg::sync(g);", "cg::sync(yours_g);"),
        ("sync();", "yours_sync();"),
        ("a; ::sync();", "yours_a; ::yours_sync();"),
        ("std::sync();", "std::yours_sync();"),
        ("wait(nullptr);", "yours_wait(nullptr);"),
        # Comments go, and lines stay; no line is continued, so that a compiler sees what was looked at.
        ("a(); // one\n/* two\nthree */ b();\n", "yours_a();  \n\n yours_b();\n"),
        ("a(); // one \\\nexit(0);\nb(); \\\n c();", "yours_a(); \n\nyours_b();\nyours_c();"),
        ("#pragma unroll 4  // four\nfor (;;) c();\n", "#pragma unroll 4\nfor (;;) yours_c();\n"),
        ("#pragma unroll kTile\n", "#pragma unroll kTile\n"),
        ("#pragma unroll (mine)\n", "#pragma unroll yours_mine\n"),
        ("try { } catch (...) { }", "yours_try { } yours_catch (...) { }"),
    ],
)
def test_what_it_becomes(body: str, new: str) -> None:
    assert taken(body) == new


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('\nasm("exit");', "line 2: inline PTX is not taken"),
        ("goto there;", "line 1: goto is not taken"),
        ('printf("ok");', "line 1: printf: a kernel that is graded prints nothing"),
        ('const char* s = "ok";', "line 1: a text in quotes is not taken"),
        ('auto s = R"x(\n)x";', "line 1: a text in quotes is not taken"),
        ("int a;\n#define kTile 3\n", "line 2: #define: of directives"),
        ("\n\n  # include </etc/passwd>\n", "line 3: #: of directives"),
        ("#pragma GCC poison x\n", "line 1: #pragma: of directives"),
        ("#pragma unroll \\\n exit(0)\n", "line 1: #pragma: of directives"),
        ("\n%:include <unistd.h>\n", "line 2: %: is not taken"),
        ("a; %> int main() <% b;", "%> is not taken"),
        ("a<::b>", "<: is not taken"),
        ("} int main() {", "} has no { before it"),
        ("( } int main() { )", r"} has no { before it|} has no"),
        ("if (a) {", "{ has no end"),
        ("int \u00e4 = 0;", "letters beyond ASCII"),
        ("int a = '", "has no end"),
        ("a # b", "# is not taken"),
        ("a \\ b", r"\\ is not taken"),
    ],
)
def test_what_is_never_taken(body: str, problem: str) -> None:
    with pytest.raises(LabError, match=problem):
        taken(body)


def test_an_error_says_where() -> None:
    with pytest.raises(LabError, match="^a.cu: k, line 12: goto"):
        gate.taken("\n\ngoto x;", set(), line=10, where="a.cu: k")


def test_messages_have_the_names_as_they_were_written() -> None:
    assert gate.as_written("'yours_sum' was not declared") == "'sum' was not declared"


def test_names_that_the_c_library_has_are_not_learnt() -> None:
    source = KernelSource("__device__ int f(int read) { return read + kMine; }", "a.cu")
    names = gate.names_of_device_code([source])
    assert {"f", "kMine"} <= names
    assert "read" not in names


def test_constants_that_no_function_has_are_known() -> None:
    text = "constexpr unsigned kTile = 32;\n__device__ int counter[4];\nstruct Place {\n};\n"
    text += "template <class T>\nusing Vector = T;\n"
    names = gate.names_of_device_code([KernelSource(text, "a.cu")])
    assert names == {"kTile", "counter", "Place", "Vector"}


def test_kernels_of_the_exercises_need_no_other_names() -> None:
    """But for a few that print, are of hardware of their own, or use names of the C library."""
    changed = {
        kernel
        for source in catalogue.sources().values()
        for kernel in _with_a_prefix(KernelSource(source.read_text(encoding="utf-8"), source.name))
    }
    of_the_library = {"cpAsync2", "convTileWide"}  # their variables are pipe and y0
    others = {"selectedIndex", "launchChildren", "chain", "nestedGrids", "workQueue"}
    assert changed <= of_the_library | others


def _with_a_prefix(source: KernelSource) -> list[str]:
    known = gate.names_of_device_code([source])
    found = []
    for function in source.functions:
        if "__global__" not in function.signature:
            continue
        try:
            text = gate.taken(source.text[function.body : function.end], known)
        except LabError:
            continue
        if gate.PREFIX in text:
            found.append(function.name)
    return found
