"""Tests of the rules for make that the compiler driver writes, with the compiler that is there."""

import os
import shutil
import subprocess

import cc
import pytest

SOURCE = '#include <stdio.h>\n#include "k.cuh"\n#include "p.h"\nvoid f() { k<<<1, 1>>>(); }\n'


@pytest.fixture
def make(of_build, tmp_path, monkeypatch, capfd):
    """make(arguments): what the driver prints to stdout; what it wrote is in the folder."""
    monkeypatch.chdir(tmp_path)
    for folder in ("inc", "D"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a.cu").write_text(SOURCE)
    (tmp_path / "b.cpp").write_text('#include "p.h"\n')
    (tmp_path / "c.c").write_text('#include "p.h"\n')
    (tmp_path / "p.h").touch()  # needs no translation
    (tmp_path / "inc" / "k.cuh").write_text("#pragma once\n__global__ void k() {}\n#ifdef NEVER\n")
    with open(tmp_path / "inc" / "k.cuh", "a") as file:
        file.write('#include "never.cuh"\n#endif\n')
    (tmp_path / "inc" / "never.cuh").write_text("__global__ void never();\n")

    def run(arguments):
        assert cc.main([*of_build, "-w", *arguments.split()]) == 0
        output = capfd.readouterr()
        assert output.err == ""
        return output.out

    return run


def names(text):
    """Of a rule: (its target, what the target is made from)."""
    target, _, inputs = text.partition("\n\n")[0].replace("\\\n", " ").partition(":")
    return target, inputs.split()


def test_only_the_users_files_and_those_that_are_read(make):
    assert make("-MM a.cu -Iinc") == "a.o: a.cu \\\n  inc/k.cuh \\\n  p.h\n"
    assert make("-MM b.cpp c.c") == "b.o: b.cpp \\\n  p.h\nc.o: c.c \\\n  p.h\n"
    assert sorted(os.listdir()) == ["D", "a.cu", "b.cpp", "c.c", "inc", "p.h"]


def test_headers_of_the_system(make):
    target, inputs = names(make("-M a.cu -Iinc"))
    assert (target, inputs[0]) == ("a.o", "a.cu")
    assert any(name.endswith("/stdio.h") for name in inputs) and "inc/k.cuh" in inputs
    assert not [name for name in inputs if "lab-cc-" in name or name.startswith(cc.OWN_INCLUDE)]


@pytest.mark.parametrize(
    "arguments, file, target",
    [
        # As nvcc does it:
        ("-c -MMD", "a.d", "a.o"),
        ("-c -MMD -odir D", "D/a.d", "D/a.o"),
        ("-c -MMD -o D/q.o", "D/q.d", "D/q.o"),
        ("-c -MMD -MF z.d -MT t1 -MT $(t2)", "z.d", "$(t2)"),
        ("-c -MMD -MF z.d -MQ $(t2)", "z.d", "$$(t2)"),
        ("-MM -odir D -MF z.d", "z.d", "D/a.o"),
        ("-MM -o z.d", "z.d", "a.o"),
        ("-lib -MMD -o liba.a", "liba.d", "liba.a"),
        ("--compile --generate-nonsystem-dependencies-with-compile", "a.d", "a.o"),
        ("-c -MMD --dependency-output=z.d --dependency-target-name t", "z.d", "t"),
        # As Makefiles have it for older versions:
        ("-c -Xcompiler -MMD,-MF,z.d", "z.d", "a.o"),
        ("-c -Xcompiler -MMD -Xcompiler -MFz.d -Xcompiler -MT -Xcompiler t", "z.d", "t"),
    ],
)
def test_names(make, tmp_path, arguments, file, target):
    before = set(tmp_path.rglob("*"))
    assert make(f"a.cu -Iinc {arguments}") == ""
    assert (tmp_path / file).read_text() == f"{target}: a.cu \\\n  inc/k.cuh \\\n  p.h\n"
    made = set(tmp_path.rglob("*")) - before - {tmp_path / file}
    assert len(made) == ("-MM" not in arguments.split())


def test_rules_of_headers(make, tmp_path):
    assert make("-MM -MP a.cu -Iinc").endswith("p.h\ninc/k.cuh:\np.h:\n")
    make("-c -MMD -MP b.cpp")
    assert (tmp_path / "b.d").read_text() == "b.o: b.cpp \\\n  p.h\np.h:\n"


def test_several_sources(make, tmp_path):
    make("-c -MMD a.cu b.cpp -Iinc")
    assert names((tmp_path / "b.d").read_text()) == ("b.o", ["b.cpp", "p.h"])
    assert names((tmp_path / "a.d").read_text()) == ("a.o", ["a.cu", "inc/k.cuh", "p.h"])
    make("-c -MMD -MF all.d b.cpp c.c")
    assert (tmp_path / "all.d").read_text() == "b.o: b.cpp \\\n  p.h\nc.o: c.c \\\n  p.h\n"


@pytest.mark.skipif(not shutil.which("make"), reason="no make here")
@pytest.mark.parametrize("name", ["a b.cu", "a#b.cu", "a$b.cu", "\udcff.cu"])
def test_make_reads_them(make, tmp_path, name):
    source = os.fsencode(name)
    with open(source, "w") as file:
        file.write('#include "p.h"\n')
    assert cc.main(["-c", "-MMD", "-MP", name]) == 0
    rules = os.fsencode(name[:-3]) + b".d"
    with open("Makefile", "wb") as file:
        file.write(b"include rules.d\n%.o:\n\ttrue\n")
    os.rename(rules, "rules.d")
    target = os.fsencode(name[:-3]) + b".o"

    def needs_making():
        return subprocess.run([b"make", b"-q", target], capture_output=True).returncode

    for path in (source, target, tmp_path / "p.h"):
        os.utime(path, (10, 10))
    assert needs_making() == 0
    os.utime("p.h", (20, 20))
    assert needs_making() == 1
    os.utime("p.h", (10, 10))
    os.utime(source, (20, 20))
    assert needs_making() == 1


def test_a_line_break_cannot_be_in_a_rule(make, capfd):
    with open("a\nb.cu", "w"):
        pass
    assert cc.main(["-c", "-MMD", "a\nb.cu"]) == 2
    assert capfd.readouterr().err == (
        r"lab cc: error: 'a\nb.cu': make has no way to name a file with a line break in its name"
        "\n"
    )
    assert "a\nb.o" not in os.listdir() and "a\nb.d" not in os.listdir()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("-MM a.cu -MF a.cu", "-MF a.cu: "),
        ("-c a.cu -MMD -MF inc/k.cuh -Iinc", "-MF inc/k.cuh: "),
        ("-c a.cu -MMD -o a.d", "-MF a.d: "),
        ("-c a.cu -MMD -MF none/a.d", "-MF none/a.d: "),
        ("-c a.cu -MMD -MF D", "-MF D: "),
        ("-c a.cu -MF a.d", "-MF a.d needs "),
        ("-c a.cu -Xcompiler -MF", "-Xcompiler -MF needs a value"),
    ],
)
def test_usage_errors(make, capfd, arguments, message):
    before = sorted(os.listdir())
    assert cc.main(arguments.split()) == 2
    assert capfd.readouterr().err.startswith(f"lab cc: error: {message}")
    assert sorted(os.listdir()) == before


def test_a_rule_that_cannot_be_written_leaves_no_object(make, capfd):
    """An object without it would never be made again."""
    assert cc.main("-c a.cu -Iinc -MMD -MF /dev/full -o a.o".split()) == 1
    assert capfd.readouterr().err == "/dev/full: error: No space left on device\n"
    assert "a.o" not in os.listdir()
    with open("a.cu", "a") as file:
        file.write("wrong")
    assert cc.main("-c a.cu -Iinc -MMD".split()) == 1
    assert not {"a.o", "a.d"} & set(os.listdir())
