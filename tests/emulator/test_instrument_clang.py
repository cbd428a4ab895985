"""Tests of what instrument_clang.py changes in clang's intermediate code."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import instrument_clang
import pytest
from instrument_clang import with_checks, with_hooks
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
        ("memcpy.p0i8.p0i8.i64(i8* align 16 %3, i8* align 16 %4, i64 16, i1 false)",
         ["emu_write16(i8* %3)", "emu_read16(i8* %4)"]),
        ("memcpy.p0.p0.i64(ptr align 8 %3, ptr align 8 %4, i64 8, i1 false)",
         ["tsan_write8(ptr %3)", "tsan_read8(ptr %4)"]),
        ("memmove.p0i8.p0i8.i64(i8* noundef nonnull align 4 dereferenceable(12) "
         "bitcast (%struct.A* getelementptr ([3 x %struct.A], [3 x %struct.A]* @a, i64 0, i64 1)"
         " to i8*), i8* %4, i64 %5, i1 false)", [
         "tsan_write_range(i8* bitcast (%struct.A* getelementptr ([3 x %struct.A], "
         "[3 x %struct.A]* @a, i64 0, i64 1) to i8*), i64 %5)", "tsan_read_range(i8* %4, i64 %5)", ]),
        ("memset.p0i8.i64(i8* align 4 %3, i8 0, i64 4, i1 false)", ["tsan_write4(i8* %3)"]),
    ],
)  # fmt: skip
def test_copies_and_fills(operands, expected):
    copy = f"  call void @llvm.{operands}, !dbg !12, !tbaa.struct !13"
    hooks = [f"  call void @__{hook}, !dbg !12" for hook in expected]
    assert changed(copy) == [*hooks, copy]


def test_members_of_structs():
    copy = "  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 4 %3, i8* align 4 %4, i64 8, i1 false)"
    members = "\n!13 = !{i64 0, i64 4, !14, i64 4, i64 4, !14}"
    text = with_hooks(FUNCTION.format(body=f"{copy}, !dbg !12, !tbaa.struct !13") + members)
    hook = "  call void (i8*, i32, ...) @__emu_{}_members(i8* %{}, i32 2, i64 0, i64 4, i64 4, i64 4), !dbg !12"
    assert hook.format("write", 3) + "\n" + hook.format("read", 4) + "\n" + copy in text
    assert text.endswith("declare void @__emu_read_members(i8*, i32, ...)")


def test_checks_of_indices():
    """What clang makes three blocks of stays one, also to those that come behind."""
    handler = "handler.out_of_bounds2"
    data = "i8* bitcast ({ [2 x i8]* }* @1 to i8*)"
    assert changed(
        "entry:",
        "  %9 = icmp ult i64 %8, 32, !dbg !14, !nosanitize !12",
        f"  br i1 %9, label %cont3, label %{handler}, !dbg !14, !prof !15, !nosanitize !12",
        "",
        f"{handler}:                      ; preds = %entry",
        "  %10 = zext i32 %7 to i64, !dbg !14, !nosanitize !12",
        f"  call void @__ubsan_handle_out_of_bounds({data}, i64 %10) #3, !dbg !14, !nosanitize !12",
        "  br label %cont3, !dbg !14, !nosanitize !12",
        "",
        f"cont3:                           ; preds = %{handler}, %entry",
        "  br label %end, !dbg !14",
        "",
        "end:",
        "  %11 = phi i32 [ 1, %cont3 ], [ 2, %other ]",
    ) == [
        "entry:",
        "  %9 = icmp ult i64 %8, 32, !dbg !14, !nosanitize !12",
        "  %10 = zext i32 %7 to i64, !dbg !14, !nosanitize !12",
        f"  call void @__emu_check_index({data}, i64 %10, i1 zeroext %9), !dbg !14",
        "  br label %end, !dbg !14",
        "",
        "end:",
        "  %11 = phi i32 [ 1, %entry ], [ 2, %other ]",
    ]


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
struct alignas(8) Aligned { float real, imaginary; };
struct alignas(16) Four { float f[4]; };
struct Bytes { char c[12]; };
Four four;
float shared[64] __attribute__((aligned(16)));
void copies(Four* a, const Four* b, float* c, Bytes* d, Aligned* e, int i) {
    a[i] = b[i + 1];
    const Four local = a[2];
    four = local;
    *(Four*)&shared[i] = local;
    *(Four*)&shared[i] = *(const Four*)&c[i];
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
    """But for the one that promises a multiple of 16."""
    clangs = [sys.executable, str(Path(instrument_clang.__file__)), "clang++"]
    found = {
        function: {re.sub(r"__emu_(\w+16)", r"__tsan_\1", hook): n for hook, n in hooks.items()}
        for function, hooks in hooks_of(tmp_path, SOURCE, clangs).items()
    }
    assert found == hooks_of(tmp_path, SOURCE, ["g++"])


STRUCTS = """\
struct Span { unsigned long long begin, end; unsigned processor; };
struct Complex { float real, imaginary; };
struct Mixed { char a; short b; int c; };
struct Large { int a[3]; };
Complex shared[64];
unsigned long long now();
void ofLoad(Span* s) { *s = {now(), now(), 3u}; }
void ofNumbers(Complex* c, int i) { c[i] = c[1]; }
void inArray(Complex* c, int i) { shared[i] = c[i]; }
void mixed(Mixed* m) { m[1] = m[0]; }
void large(Large* l) { l[1] = l[0]; }
"""


@pytest.mark.skipif(not shutil.which("clang++"), reason="no clang++ here")
def test_members_of_structs_that_are_copied(tmp_path):
    """g++ tells of the struct; of this one it would be said that it is copied in words of four bytes."""
    command = [sys.executable, str(Path(instrument_clang.__file__)), "clang++"]
    words = {
        name: " ".join(
            f"{count} {re.sub('__(tsan|emu)_', '', hook)}"
            for hook, count in hooks.items()
            if "sanitizer" not in hook
        )
        for name, hooks in hooks_of(tmp_path, STRUCTS, command).items()
    }
    assert words == {
        "_Z6ofLoadP4Span": "1 read_members 1 write_members",
        "_Z9ofNumbersP7Complexi": "1 read_members 1 write_members",
        "_Z7inArrayP7Complexi": "1 read_members 1 write_members",
        "_Z5mixedP5Mixed": "1 read_members 1 write_members",
        "_Z5largeP5Large": "1 read_range 1 write_range",
    }


def hooks_of(folder, source, compiler):
    """Of each function how often which hook is called, but for those at its beginning and end."""
    (folder / "a.cpp").write_text(source)
    command = [*compiler, "-std=c++17", "-Wall", "-Werror", *instrument_flags(compiler[-1:])]
    subprocess.run([*command, "-c", "a.cpp", "-o", "a.o"], cwd=folder, check=True)
    command = ["objdump", "-dr", "--no-show-raw-insn", "a.o"]
    listing = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    result = {}
    for part in re.split(r"\n(?=\S+ <)", listing.stdout):
        name = re.match(r"\S+ <(_Z\d+\w+)>:", part)
        if name:
            hooks = re.findall(
                r"R_\w+\s+(__(?:tsan|emu)_(?:read|write)\w*|__sanitizer_cov\w*)", part
            )
            result[name[1]] = {hook: hooks.count(hook) for hook in sorted(set(hooks))}
    return result


def test_checks_of_alignment():
    copy = "  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %3, ptr align 16 @a, i64 8, i1 false), !dbg !2"
    fill = "  tail call void @llvm.memset.p0.i64(ptr align 4 %3, i8 0, i64 4, i1 false)"
    bytes_ = "  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %3, ptr %4, i64 8, i1 false), !dbg !3"
    text = with_checks("\n".join([copy, fill, bytes_]))
    assert text.removesuffix(instrument_clang.CHECK).split("\n") == [
        "  call void @emu_check_copy(ptr %3, i64 8), !dbg !2",
        "  call void @emu_check_copy(ptr @a, i64 16), !dbg !2",
        copy,
        "  call void @emu_check_copy(ptr %3, i64 4)",
        fill,
        bytes_,
    ]


COPIES = """\
struct alignas(16) Four { float f[4]; };
alignas(32) char bytes[128];
int main(int count, char**) {
    *(Four*)(bytes + 64 + 8 * (2 - count)) = *(const Four*)(bytes + 4 * (count - 1));
}
"""
REPORT = """\
#include <cstdio>
#include <cstdlib>
extern "C" void emu_misaligned_copy(const void* address, unsigned long long multiple) {
    std::printf("%llu of %llu\\n", (unsigned long long)address % 32, multiple);
    std::exit(0);
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_copies_that_are_not_aligned(tmp_path, level):
    clang = new_clang()
    (tmp_path / "copies.cpp").write_text(COPIES)
    (tmp_path / "report.cpp").write_text(REPORT)
    command = [sys.executable, str(Path(instrument_clang.__file__)), clang, level, "-Werror"]
    command += ["-fsanitize=shift-exponent,alignment", "-fsanitize-trap=all"]
    subprocess.run([*command, "-c", "copies.cpp", "-o", "a.o"], cwd=tmp_path, check=True)
    subprocess.run([clang, "report.cpp", "a.o", "-o", "a"], cwd=tmp_path, check=True)

    def said(*arguments):
        return subprocess.run([tmp_path / "a", *arguments], capture_output=True, text=True).stdout

    assert said() == "8 of 16\n"
    assert said("other") == "4 of 16\n"


def new_clang():
    """One whose pointers have no types."""
    for clang in filter(
        shutil.which, ["clang++", *(f"clang++-{number}" for number in range(15, 30))]
    ):
        version = subprocess.run(
            [clang, "-dumpversion"], check=True, capture_output=True, text=True
        )
        if int(version.stdout.split(".")[0]) >= 15:
            return clang
    pytest.skip("no clang++ from 15 on here")


def test_a_compiler_that_fails(tmp_path):
    script = str(Path(instrument_clang.__file__))
    command = [sys.executable, script, *"false -c -fsanitize=thread a.cpp -o a.o".split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    command[2] = "no-such-compiler"
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "instrument_clang.py: no-such-compiler: No such file or directory\n"
    assert list(tmp_path.iterdir()) == []
