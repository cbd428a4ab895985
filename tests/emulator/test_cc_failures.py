"""Tests of the compiler driver where something is wrong with files, names, compilers or the terminal: one
message, the right status, nothing left behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import cc
import pytest

DRIVER = [sys.executable, cc.__file__]
FULL = Path("/dev/full")


@pytest.mark.parametrize(
    "name", ["a b.cu", "a'b.cu", 'a"b.cu', "a\\b.cu", "a\nb.cu", "./-b.cu", "\udcff.cu", "a,b.cu"]
)
def test_odd_names(of_build, tmp_path, monkeypatch, capfd, with_zig, name):
    """With the compiler that is there: also in messages, and as names of outputs."""
    if with_zig and re.search(r"[\\\n]", name):
        pytest.skip("zig cannot read the names of dependencies that clang writes for it")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CXX", raising=False)
    source = os.fsencode(name)
    with open(source, "w") as file:
        file.write('__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }\n#warning "here"\n')
    output = name[:-3] + ".out"
    assert cc.main([*of_build, "-c", name, "-o", output]) == 0
    assert os.path.isfile(os.fsencode(output))
    assert re.search(r':3:2: warning: (#warning )?"here"', capfd.readouterr().err)
    (tmp_path / os.fsdecode(source)).unlink()
    assert cc.main(["-c", name]) == 2
    assert capfd.readouterr().err.count("\n") == 1
    assert os.listdir() == [os.path.basename(output)]


def test_an_output_that_begins_with_a_dash(of_build, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").touch()
    for arguments in (["-c", "a.cu", "-o", "-x.o"], ["-lib", "a.cu", "-o", "-x.a"]):
        assert cc.main([*of_build, *arguments]) == 0
    assert sorted(os.listdir()) == ["-x.a", "-x.o", "a.cu"]


@pytest.mark.parametrize(
    "content, status",
    [
        (b"", 0),
        (b"__global__ void k() {}\r\n#define L k<<<1, \\\r\n 1>>>()\r\nvoid f() { L; }\r\n", 0),
        (b"\xef\xbb\xbf__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }\n", 0),
        (b"// \xe9\xff\n__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }\n", 0),
        (b"\x7fELF\x02\x01\x00\x00\xff\xfe'\x00", 1),
        ("int i;\n".encode("utf-16"), 1),
    ],
)
def test_bytes_of_a_source(of_build, tmp_path, monkeypatch, capfd, content, status):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_bytes(content)
    assert cc.main([*of_build, "-c", "a.cu"]) == status
    assert ("a.cu:1" in capfd.readouterr().err) == bool(status)
    assert sorted(os.listdir()) == ["a.cu", *([] if status else ["a.o"])]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_source_that_may_not_be_read(lab_cc, tmp_path):
    (tmp_path / "a.cu").chmod(0)
    status, _, said = lab_cc("a.cu")
    assert (status, said.err) == (1, "a.cu: error: Permission denied\n")


@pytest.mark.parametrize(
    "variable, value, status",
    [
        ("CXX", "c++ 'x", 2),
        ("CC", "cc \\", 2),
        ("AR", "no-such-ar", 2),
        ("CXX", "no-such", 2),
        ("CXX", "true", 1),  # makes nothing
        ("CXX", "./sub", 1),  # a folder
        ("CXX", "false", 1),
    ],
)
def test_compilers(lab_cc, tmp_path, monkeypatch, variable, value, status):
    monkeypatch.setenv(variable, value)
    before = sorted(tmp_path.rglob("*"))
    arguments = ["-lib", "d.o", "-o", "x.a"] if variable == "AR" else ["-c", "a.cu"]
    done, calls, said = lab_cc(*arguments)
    assert (done, calls) == (status, [])
    if value != "false":
        assert value in said.err and said.err.count("\n") == 1
    assert sorted(set(tmp_path.rglob("*")) - {tmp_path / "calls"}) == before


def test_a_folder_for_temporary_files_that_is_not_there(of_build, tmp_path):
    (tmp_path / "a.cu").touch()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "none")}
    done = subprocess.run([*DRIVER, *of_build, "-c", "a.cu"], cwd=tmp_path, env=environment)
    assert (done.returncode, sorted(os.listdir(tmp_path))) == (0, ["a.cu", "a.o"])


def test_nothing_stays_in_the_folder_for_temporary_files(of_build, tmp_path):
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    for text, status in (("__global__ void k() {}", 0), ("wrong", 1), ("void f() { k<<<1; }", 1)):
        (tmp_path / "a.cu").write_text(text)
        command = [*DRIVER, *of_build, "-c", "-MMD", "a.cu"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
        assert done.returncode == status
        assert os.listdir(tmp_path / "tmp") == []


# The shell's `command >&-` and the like.
@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    "arguments, redirection, status, said",
    [
        ("--help", ">/dev/full", 1, "stdout: error: No space left on device\n"),
        ("-MM a.cu", ">/dev/full", 1, "stdout: error: No space left on device\n"),
        ("none.cu", "2>/dev/full", 2, ""),
        ("-c bad.cu", "2>/dev/full", 1, ""),
        ("-c bad.cu", "2>&-", 1, ""),
        ("-c a.cu", "<&- >&- 2>&-", 0, ""),
        ("-c -v a.cu", "2>/dev/full", 0, ""),
    ],
)
def test_nobody_can_be_told(of_build, tmp_path, arguments, redirection, status, said):
    (tmp_path / "a.cu").touch()
    (tmp_path / "bad.cu").write_text("void f() { k<<<1; }")
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *DRIVER, *of_build, *arguments.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", said)
    made = ["a.o"] if arguments.endswith("a.cu") and not status else []
    assert sorted(os.listdir(tmp_path)) == sorted(["a.cu", "bad.cu", *made])


def test_two_at_once(of_build, tmp_path):
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    command = [*DRIVER, *of_build, "-c", "-MMD", "a.cu"]
    both = [subprocess.Popen(command, cwd=tmp_path) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert sorted(os.listdir(tmp_path)) == ["a.cu", "a.d", "a.o"]
    assert (tmp_path / "a.d").read_text() == "a.o: a.cu\n"


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_a_full_disk(of_build, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").touch()
    assert cc.main([*of_build, "-c", "a.cu", "-o", str(FULL)]) == 1
    assert "No space left on device" in capfd.readouterr().err
    assert FULL.is_char_device()
