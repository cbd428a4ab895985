"""Tests of the compiler driver: which commands it runs. A script that notes how it is called stands in
for the compilers."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import cc
import pytest

CHECKS = "-fsanitize=shift-exponent,float-cast-overflow"
OF_PROCESSOR = ""
if platform.machine() == "aarch64":
    CHECKS += " -fsanitize=integer-divide-by-zero,alignment"
    OF_PROCESSOR = "-ffp-contract=off "
OWN = f"-gdwarf-4 -O2 -fstack-clash-protection {OF_PROCESSOR}-Wall -Wno-unknown-pragmas"
OWN += " -Wno-unused-const-variable -Wno-sign-compare"
GCC_HOOKS = ["--param=tsan-distinguish-volatile=1", "-Wno-tsan", "--param=case-values-threshold=5"]


def after(arguments, option):
    """The arguments that follow each `option`."""
    return [arguments[i + 1] for i, argument in enumerate(arguments) if argument == option]


def in_folder(arguments):
    """Without the name of the folder for what is made on the way."""
    return [re.sub(r"^/\S+/lab-cc-\w+/", "FOLDER/", argument) for argument in arguments]


def test_commands_as_a_whole(lab_cc):
    """Of each language, with an option of each kind; the user's flags behind ours."""
    options = "-I. -DN=1 -isystem inc -include b.h -Xcompiler -pipe -Llib -lm -Xlinker -s -Wextra"
    status, calls, _ = lab_cc(*options.split(), "a.cu", "sub/b.cu", "b.cpp", "c.c", "d.o")
    assert status == 0
    cu, cu_of_folder, cpp, c, link = [in_folder(arguments) for arguments, _ in calls]
    std = "-std=c++17"
    includes = f"-I. -isystem {cc.OWN_INCLUDE} -isystem inc"
    flags = "-DN=1 -include b.h -pipe -Wextra"
    first = "-include cuda_runtime.h -iquote"
    checked = f"{flags} {CHECKS}"
    for command, expected in (
        (cu, f"c++ {std} {OWN} {includes} {first} . {checked} FOLDER/a.cu.cpp -c -o FOLDER/0.o"),
        (
            cu_of_folder,
            f"c++ {std} {OWN} {includes} {first} sub {checked} FOLDER/b.cu.cpp -c -o FOLDER/1.o",
        ),
        (cpp, f"c++ {std} {OWN} {includes} {checked} -x c++ b.cpp -c -o FOLDER/2.o"),
        (c, f"cc {OWN} {includes} {flags} -x c c.c -c -o FOLDER/3.o"),
        (
            link,
            f"c++ {OWN} {flags} FOLDER/0.o FOLDER/1.o FOLDER/2.o FOLDER/3.o d.o -Llib -lm -Xlinker"
            " -s libemu.a -ldl -pthread -o a.out",
        ),
    ):
        assert command == expected.split()


def precompiled(kind="optimised", library_folder=""):
    return os.path.join(library_folder, "precompiled", kind)  # beside the library


KINDS = [["optimised"], ["debug", "-G"], ["instrumented", "--instrument"]]


@pytest.mark.parametrize("kind", KINDS)
def test_precompiled_header(lab_cc, tmp_path, kind):
    name, *options = kind
    folder = precompiled(name)
    header = os.path.join(folder, "runtime.h")
    status, calls, _ = lab_cc("--precompile", folder, *options)
    assert status == 0
    text = '#include <cuda_runtime.h>\nstatic_assert\\(true, "[0-9a-f]{16}"\\);\n'
    assert re.fullmatch(text, (tmp_path / header).read_text())
    *_, (made, _) = calls
    assert made[-4:] == ["c++-header", header, "-o", f"{header}.gch"]
    assert (tmp_path / f"{header}.gch").is_file()

    # With the flags of a program that takes it.
    _, calls, _ = lab_cc("-c", *options, "a.cu")
    program, _ = calls[-1]
    of_program, of_header = (
        [a for a in arguments if re.match("-(std|O|g|f|D|W|-param|isystem)", a)]
        for arguments in (program, made)
    )
    assert of_header == of_program
    assert after(program, "-include") == [header]


def test_precompiled_header_is_that_beside_the_library(lab_cc, tmp_path):
    for _ in range(2):  # the second time it is there already
        assert lab_cc("--precompile", precompiled())[0] == 0
    (tmp_path / "sub" / "libemu.a").touch()
    of_others = ["--emulator", os.path.join("sub", "libemu.a"), "-c", "a.cu"]
    _, calls, _ = lab_cc(*of_others)
    assert after(calls[-1][0], "-include") == ["cuda_runtime.h"]
    lab_cc("--precompile", precompiled(library_folder="sub"))
    _, calls, _ = lab_cc(*of_others)
    header = os.path.join(precompiled(library_folder="sub"), "runtime.h")
    assert after(calls[-1][0], "-include") == [header]


def test_precompiled_header_that_cannot_be_made(lab_cc, tmp_path, monkeypatch):
    monkeypatch.setenv("REJECTS", "c++-header")
    status, _, _ = lab_cc("--precompile", precompiled())
    assert status == 1
    assert list(tmp_path.rglob("*.gch*")) == []


@pytest.mark.parametrize(
    "options, fits",
    [("", True), ("-g -O3 -Isub", True), ("-DX", False), ("-std=c++20", False), ("-mavx", False)],
)
def test_precompiled_header_of_clang(lab_cc, monkeypatch, options, fits):
    """clang takes what does not fit, or fails."""
    monkeypatch.setenv("REJECTS", "-Wno-tsan")
    monkeypatch.setenv("IS_CLANG", "yes")
    assert lab_cc("--precompile", precompiled())[0] == 0
    _, calls, _ = lab_cc("-c", *options.split(), "a.cu")
    header = os.path.join(precompiled(), "runtime.h")
    expected = header if fits else "cuda_runtime.h"
    assert after(calls[0][0], "-include") == [expected]


def test_archives(lab_cc):
    status, calls, _ = lab_cc("-lib", "a.cu", "d.o")
    compiled, archive = [arguments for arguments, _ in calls]
    assert (status, archive) == (0, ["ar", "rcs", "a.a", after(compiled, "-o")[0], "d.o"])


def test_a_dry_run(lab_cc, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    status, calls, said = lab_cc("-dryrun", "-MMD", "a.cu")
    assert (status, calls) == (0, [])
    assert [line.split()[0] for line in said.err.splitlines()] == ["+", "+"]
    assert sorted(set(tmp_path.rglob("*")) - {tmp_path / "calls"}) == before


def test_objects_take_no_library(lab_cc, tmp_path):
    lab_cc()
    assert cc.main(["-c", "a.cu"]) == 0
    assert '"-o", "a.o.' in (tmp_path / "calls").read_text()
    assert cc.main(["a.cu"]) == 2


def test_default_outputs(lab_cc):
    _, calls, _ = lab_cc("a.cu")
    assert after(calls[-1][0], "-o") == ["a.out"]
    _, calls, _ = lab_cc("-c", "a.cu", "sub/b.cu")
    assert [after(arguments, "-o") for arguments, _ in calls] == [["a.o"], ["b.o"]]
    _, calls, _ = lab_cc("-dc", "a.cu", "-o", "sub/x.o")
    assert [after(arguments, "-o") for arguments, _ in calls] == [["sub/x.o"]]
    _, calls, _ = lab_cc("-c", "a.cu", "c.c", "-odir", "sub")
    assert [after(arguments, "-o") for arguments, _ in calls] == [["sub/a.o"], ["sub/c.o"]]
    _, calls, _ = lab_cc("-odir", "sub", "-c", "a.cu", "-o", "x.o")
    assert [after(arguments, "-o") for arguments, _ in calls] == [["x.o"]]


@pytest.mark.parametrize(
    "output", ["a.cu", "./a.cu", "sub/../a.cu", "k.cuh", "link", "hard", "d.o", "to_header"]
)
@pytest.mark.parametrize("options", [[], ["-c"]])
def test_no_output_is_an_input(lab_cc, tmp_path, output, options):
    (tmp_path / "link").symlink_to("a.cu")
    (tmp_path / "hard").hardlink_to(tmp_path / "a.cu")
    (tmp_path / "to_header").symlink_to("k.cuh")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    status, _, said = lab_cc("a.cu", "d.o", *options, "-o", output)
    assert status == 2
    assert f"-o {output}: would overwrite '" in said.err
    after_it = {path: path.read_bytes() for path in before}
    assert {**after_it, tmp_path / "calls": b""} == {**before, tmp_path / "calls": b""}


@pytest.mark.parametrize("options", [["-c"], []])
def test_an_output_changes_only_when_all_went_well(tmp_path, monkeypatch, options):
    """With compilers that write half of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "half.py").write_text(
        "import os, sys\nname = sys.argv[sys.argv.index('-o') + 1]\nopen(name, 'w').write('new')\n"
        "sys.exit(os.environ['FAILS'] in name)\n"
    )
    monkeypatch.setenv("CXX", f"{sys.executable} half.py")
    for name in ("libemu.a", "a.cu"):
        (tmp_path / name).touch()
    (tmp_path / "out").write_text("old")
    (tmp_path / "link").symlink_to("out")
    files = sorted(os.listdir())
    for fails, status, text in (("out", 1, "old"), ("nothing", 0, "new")):
        monkeypatch.setenv("FAILS", fails)
        assert cc.main(["--emulator", "libemu.a", *options, "a.cu", "-o", "link"]) == status
        assert (tmp_path / "out").read_text() == text
        assert sorted(os.listdir()) == files


def test_an_output_that_is_no_file_is_written_in_place(lab_cc, tmp_path):
    os.mkfifo(tmp_path / "pipe")  # as one would use /dev/null
    assert lab_cc("a.cu", "-o", "pipe")[0] == 0
    assert '"-o", "pipe"' in (tmp_path / "calls").read_text()


def test_language_by_option(lab_cc):
    """That of the sources behind it; what is linked is linked all the same."""
    status, calls, _ = lab_cc("a.cu", "-x", "cu", "b.cpp", "d.o", "-x=c++", "c.c")
    assert status == 0
    (_, first), (_, second), (c, _), (link, _) = calls
    assert first.startswith('#line 1 "a.cu"') and second == '#line 1 "b.cpp"\n'
    assert c[0] == "c++" and after(c, "-x") == ["c++"] and "c.c" in c
    assert "d.o" in link


@pytest.mark.parametrize(
    "options, expected",
    [
        ("--std gnu++14", ["-std=gnu++17"]),
        ("-G", ["-O0"]),
        ("-O3 -G", ["-O3"]),
        ("-Wextra -fsanitize=address -pg", ["-Wextra", "-fsanitize=address", "-pg"]),
    ],
)
def test_options_of_the_compiler(lab_cc, options, expected):
    status, calls, output = lab_cc(*options.split(), "a.cu", "-o", "a")
    assert (status, output.err) == (0, "")
    for option in set(expected):
        assert calls[0][0].count(option) == expected.count(option)
    if any(option.startswith("-O") for option in expected):
        assert "-O2" not in calls[0][0]


def test_libraries_among_the_sources(lab_cc, tmp_path):
    libraries = ["libx.a", "libx.so", "libx.so.1", "libx.so.1.2.3"]
    for name in libraries:
        (tmp_path / name).touch()
    status, calls, _ = lab_cc("a.cu", *libraries)
    assert status == 0 and len(calls) == 2
    assert [argument for argument in calls[-1][0] if argument.startswith("libx")] == libraries
    status, calls, _ = lab_cc("-c", "libx.a", "a.cu", "-o", "x.o")  # of one source
    assert (status, len(calls)) == (0, 1)


def test_header_from_an_include_folder_is_translated(lab_cc, tmp_path):
    (tmp_path / "sub" / "l.cuh").write_text("inline void f() { k<<<1, 2>>>(); }\n")
    (tmp_path / "a.cu").write_text("#include <l.cuh>\n")
    for option in ("-Isub", "-isystem=sub"):
        _, calls, _ = lab_cc(option, "-c", "a.cu")
        assert ".headers/" in calls[0][1]


CLANG_HOOKS = [
    "-fsanitize-coverage=bb,no-prune,trace-pc",
    "-fsanitize=array-bounds",
    "-fno-discard-value-names",
]
OLD_GCC_HOOKS = ["-fsanitize-coverage=trace-pc", "-fsanitize=bounds"]


@pytest.mark.parametrize(
    "rejected, clang, of_compiler",
    [
        (CLANG_HOOKS[0], False, [*OLD_GCC_HOOKS, *GCC_HOOKS]),
        ("-Wno-tsan", True, CLANG_HOOKS),
        ("-Werror", True, CLANG_HOOKS),  # zig, which complains of what it adds itself
        ("-Werror", False, OLD_GCC_HOOKS),
    ],
)
def test_instrument(lab_cc, tmp_path, monkeypatch, rejected, clang, of_compiler):
    if clang:
        monkeypatch.setenv("IS_CLANG", "yes")
    (tmp_path / "libcuda_emulator_instrument.a").write_text("")
    monkeypatch.setenv("REJECTS", rejected)
    flags = ["-O0", "-g1", "-D__EMU_INSTRUMENTED__", "-fno-stack-protector", "-fsanitize=thread"]
    flags += [f"-fno-builtin-{name}" for name in ("memcpy", "memmove", "memset")]
    flags += of_compiler
    (tmp_path / "a.cu").write_text("__device__ int f(int a, int b) { return a && b; }\n")
    status, calls, output = lab_cc("--instrument", "-O3", "a.cu", "b.cpp", "c.c", "-o", "a")
    assert (status, output.err) == (0, "")
    (cu, text), (cpp, _), (c, _), (link, _) = [
        call for call in calls if not {"-fsyntax-only", "-Wno-override-module"} & set(call[0])
    ]
    assert "::emu::truth" in text
    for arguments in (cu, cpp):
        start = arguments.index("-O0")
        assert arguments[start : start + len(flags)] == flags
        assert arguments.index("-O3") < start
    for arguments in (c, link):  # the sanitizer's own library stays out
        assert not any("sanitize" in argument for argument in arguments)
    start = link.index("-Wl,--whole-archive")
    assert link[start + 1 : start + 4] == [
        "libcuda_emulator_instrument.a", "-Wl,--no-whole-archive", "libemu.a"
    ]  # fmt: skip


def test_headers_of_the_real_toolkit_stay_out(lab_cc, tmp_path):
    (tmp_path / "sub" / "cuda_runtime_api.h").write_text("")
    _, calls, _ = lab_cc("-Isub,.", f"-I{cc.OWN_INCLUDE}", "a.cu")
    folders = [argument for argument in calls[0][0] if argument.startswith("-I")]
    assert folders == ["-I.", f"-I{cc.OWN_INCLUDE}"]
    _, calls, _ = lab_cc("-isystem", "sub,.", "a.cu")
    assert after(calls[0][0], "-isystem") == [cc.OWN_INCLUDE, "."]


@pytest.mark.parametrize(
    "folders, kept", [("sub:.", "."), ("sub", None), (".:", ".:"), (None, None), ("", None)]
)
def test_headers_of_the_real_toolkit_stay_out_of_cpath(tmp_path, monkeypatch, folders, kept):
    monkeypatch.chdir(tmp_path)
    for name in ("sub/cuda_runtime_api.h", "a.cu"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "env.py").write_text(
        "import os, sys\nopen('seen', 'w').write(repr(os.environ.get('CPATH')))\n"
        "open(sys.argv[-1], 'w')"
    )
    monkeypatch.setenv("CXX", f"{sys.executable} env.py")
    monkeypatch.delenv("CPATH", raising=False)
    if folders is not None:
        monkeypatch.setenv("CPATH", folders)
    assert cc.main(["-c", "a.cu"]) == 0
    assert (tmp_path / "seen").read_text() == repr(kept)


def test_help(lab_cc):
    status, calls, output = lab_cc("--help")
    assert (status, calls) == (0, [])
    assert output.out.startswith("usage: lab cc FILE...")
    assert " -gencode " in output.out and " -shared " in output.out
    assert cc.main([]) == 2


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("", "no input files"),
        ("none.cu", "'none.cu' does not exist"),
        ("folder.cu", "'folder.cu' is a folder"),
        ("pipe.cu", "'pipe.cu' is no regular file"),
        ("a.cu -o none/x", "-o none/x: "),
        ("a.cu -c -odir none", "-o none/a.o: "),
        ("-c a.cu sub/a.cu", "-o a.o: "),
        ("-c b.cpp b.o", "-o b.o: "),
        ("a.cu -o sub", "-o sub: "),
        ("a.cu -o=", "-o '': "),
        ("-lib a.cu libemu.a", "'libemu.a': "),
        ("-c a.cu b.cpp -o x.o", "-o with -c "),
        ("a.cu -lcublasLt_static", "-lcublasLt_static: the cpu back end has no cuBLAS"),
        ("a.cu -shared -Xcompiler -fPIC", "-shared: "),
        ("--emulator none.a a.cu", "no emulator library at 'none.a'"),
        ("--instrument a.cu", "no 'libcuda_emulator_instrument.a'"),
    ],
)
def test_usage_errors(lab_cc, tmp_path, arguments, message):
    (tmp_path / "folder.cu").mkdir()
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "sub" / "a.cu").touch()
    (tmp_path / "b.o").touch()
    before = {*tmp_path.rglob("*"), tmp_path / "calls"}
    status, calls, output = lab_cc(*arguments.split())
    assert (status, calls) == (2, [])
    assert output.err.startswith(f"lab cc: error: {message}")
    assert output.err.count("\n") == 1
    assert set(tmp_path.rglob("*")) == before


def test_default_compilers(lab_cc, monkeypatch):
    ran = []
    monkeypatch.setattr(cc, "run", lambda command, _: ran.append(command[0]) or 1)
    monkeypatch.setattr(cc.shutil, "which", lambda name: None)  # no ccache
    for variable in ("CXX", "CC", "AR"):
        monkeypatch.setenv(variable, "")
    for arguments in (["a.cu"], ["c.c"], ["d.o"], ["-lib", "d.o"]):
        assert lab_cc(*arguments)[0] == 1
    assert ran == ["c++", "cc", "c++", "ar"]


def test_flags_for_cmake():
    """instrument_flags.py prints them, a line each; without a compiler it says so."""
    script = Path(cc.__file__).with_name("instrument_flags.py")

    def run(*compiler):
        command = [sys.executable, str(script), *compiler]
        return subprocess.run(command, capture_output=True, text=True)

    done = run("true")
    assert done.stdout.splitlines()[:2] == ["-O0", "-g1"]
    assert done.stdout.splitlines()[-len(GCC_HOOKS) :] == GCC_HOOKS
    done = run("sh", "-c", "echo noise; echo noise >&2; exit 1")  # knows none of them
    flags = "-O0 -g1 -D__EMU_INSTRUMENTED__ -fno-stack-protector -fsanitize=thread"
    flags += " -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset"
    flags += " -fsanitize-coverage=trace-pc -fsanitize=bounds"
    assert (done.stdout.split(), done.stderr) == (flags.split(), "")
    done = run("no-such-compiler", "-m64")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "instrument_flags.py: cannot run 'no-such-compiler -m64': No such file or directory\n"
    )
