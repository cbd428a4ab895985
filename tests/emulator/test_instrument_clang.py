"""Tests of what instrument_clang.py changes in clang's intermediate code."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import instrument_clang
import pytest
from instrument_clang import with_hooks
from instrument_flags import instrument_flags

FUNCTION = """\
define void @f(i8* %0, i32 noundef %1) #0 {{
{body}
}}
attributes #0 = {{ noinline sanitize_thread }}
attributes #1 = {{ noinline }}"""


def changed(*body):
    """What becomes of the instructions of a function."""
    text = with_hooks(FUNCTION.format(body="\n".join(body)))
    return text.split(" {\n")[1].split("\n}")[0].split("\n")


@pytest.mark.parametrize(
    "operands, expected",
    [
        (
            "memcpy.p0i8.p0i8.i64(i8* align 16 %3, i8* align 16 %4, i64 16, i1 false)",
            ["write16(i8* %3)", "read16(i8* %4)"],
        ),
        (
            "memcpy.p0.p0.i64(ptr align 8 %3, ptr align 8 %4, i64 8, i1 false)",
            ["write8(ptr %3)", "read8(ptr %4)"],
        ),
        (
            "memcpy.p0i8.p0i8.i64(i8* align 4 %3, i8* align 4 %4, i64 16, i1 false)",
            ["write_range(i8* %3, i64 16)", "read_range(i8* %4, i64 16)"],
        ),
        (
            "memmove.p0i8.p0i8.i64(i8* noundef nonnull align 4 dereferenceable(12) "
            "bitcast (%struct.A* getelementptr ([3 x %struct.A], [3 x %struct.A]* @a, i64 0, i64 1)"
            " to i8*), i8* %4, i64 %5, i1 false)",
            [
                "write_range(i8* bitcast (%struct.A* getelementptr ([3 x %struct.A], "
                "[3 x %struct.A]* @a, i64 0, i64 1) to i8*), i64 %5)",
                "read_range(i8* %4, i64 %5)",
            ],
        ),
        ("memset.p0i8.i64(i8* align 4 %3, i8 0, i64 4, i1 false)", ["write4(i8* %3)"]),
    ],
)
def test_copies_and_fills(operands, expected):
    copy = f"  call void @llvm.{operands}, !dbg !12, !tbaa.struct !13"
    hooks = [f"  call void @__tsan_{hook}, !dbg !12" for hook in expected]
    assert changed(copy) == [*hooks, copy]


def test_hooks_are_declared_once():
    copy = "  call void @llvm.memset.p0i8.i64(i8* align 4 %3, i8 0, i64 4, i1 false)"
    text = with_hooks(FUNCTION.format(body=f"{copy}\n{copy}"))
    assert text.endswith("\ndeclare void @__tsan_write4(i8*)")
    assert text.count("declare") == 1
    assert with_hooks(text).count("declare") == 1


def test_functions_without_hooks():
    body = "  call void @llvm.memset.p0i8.i64(i8* align 4 %3, i8 0, i64 4, i1 false)"
    text = FUNCTION.format(body=body).replace("#0 {", "#1 {", 1)
    assert with_hooks(text) == text


def test_choices():
    before = ["  %3 = select i1 %2, i32 5, i32 %1, !dbg !7", "  br label %9, !dbg !8"]
    between = ["", "9:                 ; preds = %2"]
    behind = "  {} = phi i32 [ %3, %{} ], [ 1, %7 ]"
    assert changed(*before, *between, behind.format("%4", "2")) == [
        "  br i1 %2, label %choice.0.true, label %choice.0.false, !dbg !7",
        "choice.0.true:",
        "  br label %choice.0.end, !dbg !7",
        "choice.0.false:",
        "  br label %choice.0.end, !dbg !7",
        "choice.0.end:",
        "  %3 = phi i32 [ 5, %choice.0.true ], [ %1, %choice.0.false ], !dbg !7",
        before[1],
        *between,
        behind.format("%4", "choice.0.end"),
    ]


def test_choices_between_vectors_stay():
    choice = "  %3 = select <2 x i1> %2, <2 x i32> %0, <2 x i32> %1"
    assert changed(choice) == [choice]


SOURCE = """\
struct Complex { float real, imaginary; };
struct alignas(8) Aligned { float real, imaginary; };
struct alignas(16) Four { float f[4]; };
struct Bytes { char c[12]; };
Four four;
void copies(Four* a, const Four* b, Complex* c, Bytes* d, Aligned* e, int i) {
    a[i] = b[i + 1];
    const Four local = a[2];
    four = local;
    c[i] = c[1];
    d[i] = d[1];
    e[i] = e[1];
}
void sums(int* a, int i) {
    a[i] += 1;
    a[i] += a[i + 1];
}
void choices(int* a, int i) {
    a[i] = i < 3 ? 1 : 2;
    a[i + 1] = i < 5 ? 3 : i < 7 ? 4 : a[i];
}
"""


@pytest.mark.skipif(not shutil.which("clang++"), reason="no clang++ here")
@pytest.mark.skipif(not shutil.which("g++"), reason="no g++ here")
def test_the_same_hooks_as_those_of_gcc(tmp_path):
    (tmp_path / "a.cpp").write_text(SOURCE)
    seen = []
    for compiler, launcher in (
        ("g++", []),
        ("clang++", [sys.executable, str(Path(instrument_clang.__file__))]),
    ):
        flags = instrument_flags([compiler])
        command = [*launcher, compiler, "-std=c++17", "-Wall", "-Werror", *flags]
        subprocess.run([*command, "-c", "a.cpp", "-o", "a.o"], cwd=tmp_path, check=True)
        command = ["objdump", "-dr", "--no-show-raw-insn", "a.o"]
        listing = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        seen.append(hooks_by_function(listing.stdout))
    assert seen[0] == seen[1]


def hooks_by_function(listing):
    """Of each function how often which hook is called, but for those at its beginning and end."""
    result = {}
    for part in re.split(r"\n(?=\S+ <)", listing):
        name = re.match(r"\S+ <(_Z\d+\w+)>:", part)
        if name:
            hooks = re.findall(r"R_\w+\s+(__tsan_(?:read|write)\w*|__sanitizer_cov\w*)", part)
            result[name[1]] = {hook: hooks.count(hook) for hook in sorted(set(hooks))}
    return result


def test_a_compiler_that_fails(tmp_path):
    script = Path(instrument_clang.__file__)
    command = [
        sys.executable,
        str(script),
        "false",
        "-c",
        "-fsanitize=thread",
        "a.cpp",
        "-o",
        "a.o",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    command[2] = "no-such-compiler"
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "instrument_clang.py: no-such-compiler: No such file or directory\n"
    assert list(tmp_path.iterdir()) == []
