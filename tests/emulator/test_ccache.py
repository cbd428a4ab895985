"""Tests of what is compiled through ccache, and of when it is not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import cc
import pytest

SCRIPT = Path(cc.__file__).with_name("ccache.sh")
CCACHE = """#!/bin/sh
if [ "$*" = "-k cache_dir" ]; then
    echo "$FOLDER"
else
    echo "through ccache below $CCACHE_BASEDIR:" "$@"
fi
"""


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """compiled(folder): what the script prints, where this is ccache's folder and echo the compiler."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ccache").write_text(CCACHE)
    (programs / "ccache").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CCACHE_BASEDIR", raising=False)

    def run(folder):
        monkeypatch.setenv("FOLDER", str(folder))
        command = ["sh", str(SCRIPT), "/a checkout", "echo", "-c", "a b.cpp"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return run


def test_compiles_through_ccache(compiled, tmp_path):
    expected = "through ccache below /a checkout: echo -c a b.cpp\n"
    assert compiled(tmp_path / "a new/folder") == expected


def test_folder_that_cannot_be_written_to(compiled, tmp_path):
    """As in a sandbox, or a home that is read-only."""
    (tmp_path / "file").touch()
    assert compiled(tmp_path / "file" / "folder") == "-c a b.cpp\n"


def test_home_that_is_not_there(compiled, tmp_path, monkeypatch):
    """As that of a program whose environment has been emptied. Root could make it."""
    monkeypatch.delenv("CCACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert compiled(tmp_path / "home" / ".cache") == "-c a b.cpp\n"
    assert not (tmp_path / "home").exists()


def test_ccache_that_is_gone(compiled, tmp_path):
    (tmp_path / "programs" / "ccache").write_text("#!/bin/sh\nexit 1\n")
    assert compiled(tmp_path) == "-c a b.cpp\n"


@pytest.mark.parametrize("compiler, through", [("g++", True), ("other-launcher g++", False)])
def test_driver_takes_it_for_a_compiler_alone(lab_cc, monkeypatch, compiler, through):
    ran = []
    monkeypatch.setattr(cc, "run", lambda command, _: ran.append(command) or 1)
    monkeypatch.setattr(cc.shutil, "which", lambda name: f"/programs/{name}")
    monkeypatch.setenv("CXX", compiler)
    lab_cc("-c", "a.cu")
    first = [*cc.THROUGH_CCACHE, "g++"] if through else compiler.split()
    assert ran[0][: len(first)] == first


@pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not installed")
def test_driver_compiles_a_source_once(tmp_path, monkeypatch):
    """And the precompiled header that it takes. What has changed is compiled anew."""
    log = tmp_path / "log"
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CCACHE_STATSLOG", str(log))
    monkeypatch.setenv(
        "TMPDIR", str(tmp_path)
    )  # where no other driver has a folder of the same name
    # ccache does not trust a file that is as new as the compilation.
    monkeypatch.setenv("CCACHE_SLOPPINESS", "include_file_mtime,include_file_ctime")
    monkeypatch.chdir(tmp_path)
    for variable in ("CXX", "CCACHE_DISABLE"):
        monkeypatch.delenv(variable, raising=False)
    source = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n"
    folder = tmp_path / "precompiled" / "optimised"
    folder.mkdir(parents=True)
    objects = []
    for text, hits in ((source, 0), (source, 2), (f"{source}int n;\n", 1)):
        log.write_text("")
        Path("a.cu").write_text(text)
        command = [sys.executable, cc.__file__, "--emulator", "libemu.a"]
        subprocess.run([*command, "--precompile", str(folder)], check=True)
        subprocess.run([*command, "-c", "a.cu", "-o", "a.o"], check=True)
        objects.append(Path("a.o").read_bytes())
        assert log.read_text().count("cache_hit") == hits
    assert objects[0] == objects[1] != objects[2]
