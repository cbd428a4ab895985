"""What several tests of the cpu back end do: translate a file, run the compiler driver, compile and run
instrumented programs."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import cc
import pytest
import translate

ROOT = Path(__file__).resolve().parents[2]

FAKE_COMPILER = """
import json, os, sys
arguments = sys.argv[1:]
if "-dM" in arguments:
    sys.exit(print("#define __clang__ 1" if "IS_CLANG" in os.environ else ""))
sources = [a for a in arguments if a.endswith(".cpp")]
text = open(sources[0]).read() if sources else ""
with open("calls", "a") as calls:
    calls.write(json.dumps([arguments, text]) + "\\n")
if "fails" in text or os.environ.get("REJECTS", "none") in arguments:
    sys.exit(1)
if arguments[0] != "ar" and "-o" not in arguments:
    sys.exit()
output = arguments[2 if arguments[0] == "ar" else arguments.index("-o") + 1]
if not os.path.exists(output):
    open(output, "w").close()
"""


@pytest.fixture
def with_zig():
    """Whether the compiler is the one that ./lab takes from PyPI where there is no other."""
    return Path(shutil.which("c++") or "").parent.name == "zig"


@pytest.fixture(scope="session")
def build():
    """The folder of the build, which ctest names in CPU_BUILD; without ctest that of ./lab."""
    folder = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu"))
    if not (folder / "tests" / "hazards").exists():
        pytest.skip(f"{folder} has no instrumented programs: ./lab test builds them")
    return folder


@pytest.fixture(scope="session")
def of_build(build):
    """Options with which the driver takes the library of the build, and the headers that are precompiled
    beside it: it compiles in half the time."""
    return ["--emulator", str(build / "emulator" / "libcuda_emulator.a")]


@pytest.fixture
def gcc(build):
    """The version of the g++ that compiled it, such as 12.2.0; None if another compiler did. What clang++
    does otherwise is in emulator/profiler.md."""
    known = r'CMAKE_CXX_COMPILER_ID "GNU"\).*CMAKE_CXX_COMPILER_VERSION "([^"]*)"'
    for path in build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"):
        found = re.search(known, path.read_text("utf-8"), re.DOTALL)
        if found:
            return found[1]
    return None


@pytest.fixture
def lab_cc(tmp_path, monkeypatch, capfd):
    """Runs the driver in a folder with a few sources. Returns its exit status, the calls of the
    compilers as (arguments, text of the C++ source), and what it printed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fake.py").write_text(FAKE_COMPILER)
    monkeypatch.setenv("CXX", f"{sys.executable} fake.py c++")
    monkeypatch.setenv("AR", f"{sys.executable} fake.py ar")
    monkeypatch.setenv("CC", f"{sys.executable} fake.py cc")
    (tmp_path / "a.cu").write_text('#include "k.cuh"\nint main() { k<<<1, 2>>>(); }\n')
    (tmp_path / "k.cuh").write_text("__global__ void k();\n")
    for name in ("b.cpp", "c.c", "d.o", "libemu.a", "sub/b.cu"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")

    def run(*arguments):
        (tmp_path / "calls").write_text("")
        status = cc.main(["--emulator", "libemu.a", *arguments])
        text = (tmp_path / "calls").read_text().replace(f".{os.getpid()}.tmp", "")
        calls = [json.loads(line) for line in text.splitlines()]
        output = capfd.readouterr()
        shown = output.err.replace(f".{os.getpid()}.tmp", "")
        return status, calls, output._replace(err=shown)

    return run


@pytest.fixture
def instrumented(of_build, tmp_path):
    """instrumented(source, *options): compiles a .cu file for the profiler and the hazard check, and
    returns the program."""

    def compile_program(source, *options):
        program = tmp_path / Path(source).stem
        arguments = ["--instrument", "-w", str(source), *options, "-o", str(program)]
        assert cc.main([*arguments, *of_build]) == 0
        return program

    return compile_program


@pytest.fixture
def translated_or_error(tmp_path, capsys):
    """translated_or_error(source, *options): the text that a .cu file becomes, without its `#line`; or
    the error message, without the file's folder."""

    def translate_text(source, *options):
        (tmp_path / "in.cu").write_text(source)
        output = tmp_path / "out.cpp"
        if translate.main([str(tmp_path / "in.cu"), "-o", str(output), *options]) == 0:
            return output.read_text().split("\n", 1)[1]
        output.unlink(missing_ok=True)
        return capsys.readouterr().err.replace(f"{tmp_path}/", "")

    return translate_text


@pytest.fixture
def translated(translated_or_error, tmp_path):
    """The same where there must be no error."""

    def translate_text(source, *options):
        text = translated_or_error(source, *options)
        assert (tmp_path / "out.cpp").exists(), text
        return text

    return translate_text
