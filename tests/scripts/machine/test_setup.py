"""Set-up: what is missing, how it is installed, and what is said where it cannot be."""

from __future__ import annotations

import fcntl
import json
import re
import subprocess
from pathlib import Path

import pytest
from lab_cli import lock, paths
from lab_cli.errors import LabError
from lab_cli.machine import apt, needs, python_packages, setup, zig
from lab_cli.machine.needs import Need
from lab_cli.progress import Progress, State

LOGGING_APT = 'echo "apt-get $*" >> "{log}"'


@pytest.fixture(autouse=True)
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "OUT", tmp_path / "build")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def root(fake_tool, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who may install packages, with an apt-get that notes what it is told."""
    monkeypatch.setattr(apt.os, "geteuid", lambda: 0)
    fake_tool("env", 'shift; exec "$@"')
    fake_tool("apt-get", LOGGING_APT.format(log=log))


@pytest.fixture
def student(root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who may not install packages."""
    monkeypatch.setattr(apt.os, "geteuid", lambda: 1000)


@pytest.fixture
def needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only need is a file that apt-get makes; CMake is there."""
    file = tmp_path / "installed"
    monkeypatch.setattr(setup, "needs_of", lambda *_: [Need("a tool", "tool", file.exists)])
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    return file


def test_cmake_of_the_virtual_environment_counts_where_the_other_is_old(
    fake_tool, monkeypatch, tmp_path: Path
) -> None:
    own = tmp_path / "venv" / "cmake"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\necho cmake version 4.0\n")
    own.chmod(0o755)
    monkeypatch.setattr(needs, "venv_tool", lambda name: own.with_name(name))
    fake_tool("other", "")
    assert needs.find_cmake() == str(own)
    fake_tool("cmake", "echo cmake version 3.24.9")
    assert needs.find_cmake() == str(own)
    fake_tool("cmake", "exit 1")  # does not even run
    assert needs.find_cmake() == str(own)
    new = fake_tool("cmake", '[ "$*" = --version ] && echo cmake version 3.25')
    assert needs.find_cmake() == str(new)


def test_compiler_is_the_one_that_cmake_takes(fake_tool, monkeypatch) -> None:
    fake_tool("other", "")
    assert needs.find_compiler() is None
    for name in ("clang++", "g++", "c++"):  # the last of them first
        tool = str(fake_tool(name, ""))
        assert needs.find_compiler() == tool
    monkeypatch.setenv("CXX", "g++")
    assert needs.find_compiler() == str(fake_tool("g++", ""))
    monkeypatch.setenv("CXX", "icpx")
    assert needs.find_compiler() is None


def test_ninja_by_either_name(fake_tool) -> None:
    other = fake_tool("ninja-build", "")
    assert needs.find_ninja() == str(other)
    usual = fake_tool("ninja", "")
    assert needs.find_ninja() == str(usual)


def test_library_is_seen_by_linking(fake_tool, log: Path, capfd) -> None:
    def missing() -> list[str]:
        return [need.package for need in needs.TESTS[1:] if not need.present()]

    fake_tool("other", "")
    assert missing() == ["libgmock-dev", "libbenchmark-dev"]  # there is no compiler
    assert not needs.can_link("/no/such/compiler", "header.h", "library")
    fake_tool("c++", "exit 1")
    assert missing() == ["libgmock-dev", "libbenchmark-dev"]
    noise = "echo noise; echo noise >&2"
    fake_tool("c++", f'echo "$*" >> {log}; read line; echo "$line" >> {log}; {noise}')
    assert missing() == []
    assert capfd.readouterr() == ("", "")
    common = "-std=c++17 -x c++ - -o /dev/null -pthread"
    assert log.read_text().splitlines() == [
        f"{common} -lgmock",
        "#include <gmock/gmock.h>",
        f"{common} -lbenchmark",
        "#include <benchmark/benchmark.h>",
    ]


def test_what_only_tests_of_the_cpu_back_end_need_is_asked_for_by_them() -> None:
    """Who runs an exercise needs a compiler, CMake and Ninja, and is faster with ccache."""
    packages = [need.package for need in needs.needs_of("cpu", tests=True)]
    assert packages[:4] == ["g++", "cmake", "ninja-build", "ccache"]
    assert packages[4:] == ["make", "libgmock-dev", "libbenchmark-dev"]
    for others in (needs.needs_of("cpu"), needs.needs_of("gpu", tests=True)):
        assert [need.package for need in others] == packages[:4]


@pytest.mark.parametrize(("user", "prefix"), [(0, ""), (1000, "sudo -n ")])
def test_missing_package_is_installed_as_root_or_with_a_sudo_that_asks_nothing(
    root, fake_tool, log: Path, needed: Path, monkeypatch, capfd, user: int, prefix: str
) -> None:
    fake_tool("sudo", '[ "$*" = "-n id -u" ] && echo 0 && exit; shift; exec "$@"')
    fake_tool("apt-get", LOGGING_APT.format(log=log) + f'; : > "{needed}"')
    monkeypatch.setattr(apt.os, "geteuid", lambda: user)
    assert setup.ensure("cpu") == "/bin/sh"
    commands = ["apt-get update", "apt-get install -y --no-install-recommends tool"]
    assert log.read_text().splitlines() == commands
    shown = [f"+ {prefix}env DEBIAN_FRONTEND=noninteractive {command}" for command in commands]
    assert capfd.readouterr().err.splitlines() == ["set-up: missing a tool", *shown]


def test_what_is_still_missing_is_named(root, needed) -> None:
    with pytest.raises(LabError, match="installed, and yet not found: a tool"):
        setup.ensure("cpu")
    assert not (setup.OUT / "lab_setup_cpu.json").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"cmake": "/bin/sh"', '"cmake": "/no/cmake"'),
        ('"cmake": "/bin/sh"', '"none": 1'),
        ('"python": "/bin/sh"', '"python": "/no/python"'),
        ('"modules"', '"none"'),
        ('"needs"', '"none"'),
        ("{", "[{"),
        ("{", "{{"),
    ],
)
def test_record_that_is_out_of_date_or_broken(needed, log, monkeypatch, old: str, new: str) -> None:
    needed.touch()
    monkeypatch.setattr(python_packages, "python_with", lambda *modules: "/bin/sh")
    setup.ensure("cpu", ["pytest"])
    path = setup.OUT / "lab_setup_cpu.json"
    record = path.read_text()
    assert old in record
    broken = record.replace(old, new, 1)
    path.write_text(broken.rstrip() + "]\n" if new == "[{" else broken)
    assert setup.ensure("cpu", ["pytest"]) == "/bin/sh"
    assert path.read_text() == record


def test_python_that_is_gone_matters_only_where_modules_are_wanted(
    needed, log, monkeypatch
) -> None:
    needed.touch()
    setup.ensure("cpu")
    assert json.loads((setup.OUT / "lab_setup_cpu.json").read_text())["python"] == ""
    monkeypatch.setattr(setup, "_install_missing", lambda *_: pytest.fail("set up again"))
    assert setup.ensure("cpu") == "/bin/sh"


def test_without_root_the_command_is_printed(student, fake_tool, log: Path, needed, capfd) -> None:
    fake_tool("sudo", "exit 1")  # asks for a password
    with pytest.raises(LabError) as raised:
        setup.ensure("cpu")
    command = "sudo apt-get update && sudo apt-get install -y --no-install-recommends tool"
    assert str(raised.value).startswith("missing: a tool. ")
    assert f"\n\n    {command}\n\n" in str(raised.value)
    assert raised.value.status == 1
    assert not log.exists()
    assert capfd.readouterr().err == ""  # what is missing is said once


def test_without_root_tools_come_from_pypi(student, log, tmp_path, monkeypatch, capfd) -> None:
    installed = tmp_path / "installed"
    tool = Need("a tool", "tool", installed.exists, "wheel")
    compiler = Need("a compiler", "g++", installed.exists, zig.PACKAGE)
    monkeypatch.setattr(setup, "needs_of", lambda *_: [tool, compiler])
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: True)
    done: list[str] = []
    monkeypatch.setattr(python_packages, "install", done.extend)
    monkeypatch.setattr(zig, "complete", lambda: (done.append("complete"), installed.touch()))
    setup.ensure("cpu")
    assert done == ["wheel", "ziglang", "complete"]
    assert not log.exists()
    assert capfd.readouterr().err == (
        f"set-up: missing a tool, a compiler: from PyPI into {setup.shown(setup.VENV)}\n"
    )


def test_without_root_tests_are_left_out(student, log, tmp_path, monkeypatch, capfd) -> None:
    """And no longer where somebody has installed what they need."""
    installed = tmp_path / "installed"
    needs = [
        Need("a tool", "tool", lambda: True),
        Need("a library", "library", installed.exists, optional=True),
    ]
    monkeypatch.setattr(setup, "needs_of", lambda *_: needs)
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    note = "note: tests that need a library are left out; ./lab doctor says how to install it\n"
    for _ in range(2):
        setup.ensure("cpu", tests=True)
        assert capfd.readouterr().err == note
    installed.touch()
    monkeypatch.setattr(setup, "_configure_anew", lambda backend: print("anew"))
    for output in ("anew\n", ""):
        setup.ensure("cpu", tests=True)
        assert capfd.readouterr() == (output, "")
    assert not log.exists()


def test_ccache_alone_is_no_reason_to_install_anything(root, fake_tool, log, monkeypatch) -> None:
    """A machine that has the rest need not reach any packages. Nor does lab look again."""
    tool = Need("a tool", "tool", lambda: True)
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    monkeypatch.setattr(setup, "needs_of", lambda *_: [tool, needs.CCACHE])
    assert setup.ensure("cpu") == "/bin/sh"
    assert not log.exists()
    monkeypatch.setattr(setup, "_without_left_out", lambda _: pytest.fail("looked again"))
    assert setup.ensure("cpu") == "/bin/sh"


def test_without_root_nobody_hears_of_ccache(student, fake_tool, log, monkeypatch, capfd) -> None:
    """Where it is missing, nothing but time is lost."""
    tool = Need("a tool", "tool", lambda: True)
    monkeypatch.setattr(setup, "needs_of", lambda *_: [tool, needs.CCACHE])
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    setup.ensure("cpu")
    assert capfd.readouterr() == ("", "")
    assert not log.exists()


def test_commands_of_zig(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "a package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "zig").write_text('#!/bin/sh\necho "$ZIG_GLOBAL_CACHE_DIR" "$@"\n')
    (package / "zig").chmod(0o755)
    monkeypatch.setattr(zig, "FOLDER", tmp_path / "the folder")
    monkeypatch.setattr(zig, "output_of", lambda _: f"{package}/__init__.py\n")
    zig.complete()
    wraps = " -fno-sanitize=undefined"
    for tool, options in {"c++": wraps, "cc": wraps, "ar": "", "ranlib": ""}.items():
        said = subprocess.run([zig.FOLDER / tool, "a b"], stdout=subprocess.PIPE, text=True).stdout
        assert said == f"{zig.FOLDER}/cache {tool}{options} a b\n"
    monkeypatch.setenv("LAB_BUILD_DIR", "/of/the student")
    # As where it cannot be written to.
    script = (zig.FOLDER / "cc").read_text().replace("-w", "! -w")
    said = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True).stdout
    assert said == f"/of/the student/zig/cache cc{wraps}\n"
    (package / "zig").unlink()
    with pytest.raises(LabError, match="not to be found: zig"):
        zig.complete()


def test_zig_of_an_installation_for_many_is_known_as_well(monkeypatch) -> None:
    monkeypatch.setattr(zig, "venvs", lambda: [Path("/student/.venv"), Path("/shared/.venv")])
    for venv in zig.venvs():
        assert zig.is_compiler(f"{venv}/zig/c++")
    for other in ("/usr/bin/c++", "/other/.venv/zig/c++", "/shared/.venv/zig/cc", None):
        assert not zig.is_compiler(other)


def test_one_message_names_all_that_is_missing(student, fake_tool, log, monkeypatch, capfd) -> None:
    """Tools, libraries, an environment for Python, and what is to go into it."""
    needs = [Need("a tool", "tool", lambda: False), Need("CMake", "cmake", lambda: False, "cmake")]
    monkeypatch.setattr(setup, "needs_of", lambda *_: needs)
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: False)
    monkeypatch.setattr(python_packages, "python_with", lambda *_: "")
    fake_tool("apt-cache", 'echo "  Candidate: 3.22.1-1"')  # too old: CMake comes from PyPI
    with pytest.raises(LabError) as raised:
        setup.ensure("cpu")
    assert str(raised.value).startswith(
        "missing: a tool, Python's venv (for cmake). Run this command, then lab again:\n\n"
        "    sudo apt-get update && sudo apt-get install -y --no-install-recommends tool python3-venv"
    )
    with pytest.raises(LabError, match=r"missing: a tool, Python's venv \(for pytest, cmake\)"):
        setup.ensure("cpu", ["pytest"])
    assert not log.exists()
    assert capfd.readouterr().err == ""


def test_run_asks_for_less_than_was_there(log, monkeypatch) -> None:
    asked: list[bool] = []
    needs = {tests: [Need(f"{tests}", "x", lambda: True)] for tests in (False, True)}
    needs[True] += needs[False]
    monkeypatch.setattr(setup, "needs_of", lambda _, tests: needs[tests])
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    monkeypatch.setattr(setup, "_install_missing", lambda needs, _: asked.append(len(needs) == 2))
    for tests in (False, True, False, True):
        setup.ensure("cpu", tests=tests)
    assert asked == [False, True]


def test_of_two_that_set_up_one_waits_and_finds_the_others_record(
    needed: Path, monkeypatch, tmp_path: Path
) -> None:
    """The first of them, which is at work, is not disturbed in what it builds afterwards."""
    needed.touch()
    ninja = setup.OUT / "cpu" / "build.ninja"
    of_first = {"needs": ["a tool"], "cmake": "/bin/sh", "modules": [], "python": ""}

    def first_ends(_: str) -> None:
        (setup.OUT / "lab_setup_cpu.json").write_text(json.dumps(of_first))
        ninja.parent.mkdir()
        ninja.touch()
        fcntl.flock(held, fcntl.LOCK_UN)

    setup.OUT.mkdir()
    monkeypatch.setattr(lock, "say", first_ends)
    with open(setup.OUT / "lab.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert setup.ensure("cpu") == "/bin/sh"
    assert ninja.exists()


def test_a_build_that_runs_is_not_disturbed(needed: Path, monkeypatch) -> None:
    """Where a set-up has more to see to than the one before."""
    needed.touch()
    folder = setup.OUT / "cpu"
    folder.mkdir(parents=True)
    (folder / "build.ninja").touch()
    seen: list[bool] = []

    def build_ends(_: str) -> None:
        seen.append((folder / "build.ninja").exists())
        fcntl.flock(building, fcntl.LOCK_UN)

    monkeypatch.setattr(lock, "say", build_ends)
    with open(folder / "lab.lock", "w") as building:
        fcntl.flock(building, fcntl.LOCK_EX)
        setup.ensure("cpu")
    assert seen == [True]
    assert not (folder / "build.ninja").exists()


def test_without_apt_the_names_are_printed(fake_tool, log: Path, monkeypatch) -> None:
    needed = [Need("a tool", "tool-dev", lambda: False), Need("other", "libother", lambda: False)]
    monkeypatch.setattr(setup, "needs_of", lambda *_: needed)
    with pytest.raises(LabError) as raised:
        setup.ensure("cpu")
    assert str(raised.value).startswith("missing: a tool, other. ")
    assert "tool-dev libother" in str(raised.value)


def test_failing_apt_ends_with_its_status(root, fake_tool, needed) -> None:
    fake_tool("apt-get", "exit 100")
    with pytest.raises(LabError, match="exit status 100") as raised:
        setup.ensure("cpu")
    assert raised.value.status == 100


@pytest.mark.parametrize(
    ("offered", "from_pypi"),
    [
        ("Candidate: 3.24.9-1", True),
        ("Candidate: 3.25-1", False),
        ("Candidate: (none)", False),  # nobody says how old it is
        ("Installed: 3.1", False),
        ("an old one is there", True),
    ],
)
def test_old_cmake_comes_from_pypi(
    root, fake_tool, log: Path, monkeypatch, tmp_path: Path, offered: str, from_pypi: bool
) -> None:
    there = tmp_path / "cmake_is_there"
    need = Need("CMake", "cmake", there.exists, "cmake")
    monkeypatch.setattr(setup, "needs_of", lambda *_: [need])
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: False)
    installed: list[str] = []
    monkeypatch.setattr(
        python_packages, "install", lambda names: (installed.extend(names), there.touch())
    )
    fake_tool("apt-cache", f'[ "$*" = "policy cmake" ] && echo "cmake:" && echo "  {offered}"')
    fake_tool("apt-get", LOGGING_APT.format(log=log) + f'; [ "$4" != cmake ] || : > "{there}"')
    if offered == "an old one is there":
        fake_tool("cmake", "echo cmake version 3.1")
    setup.ensure("cpu")
    package = "python3-venv" if from_pypi else "cmake"
    assert log.read_text().splitlines()[-1].endswith(f"--no-install-recommends {package}")
    assert installed == (["cmake"] if from_pypi else [])


def test_environment_is_made_once(monkeypatch, tmp_path: Path, capfd) -> None:
    """A module venv that makes a pip which notes what it installs."""
    log, venv = tmp_path / "log", tmp_path / "new"
    pip = f'#!/bin/sh\necho "$*" >> {log}\n'
    (tmp_path / "venv.py").write_text(
        "import pathlib, sys\nfolder = pathlib.Path(sys.argv[1], 'bin')\nfolder.mkdir(parents=True)\n"
        f"pip = folder / 'pip'\npip.write_text({pip!r})\npip.chmod(0o755)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(python_packages, "VENV", venv)
    monkeypatch.setattr(python_packages.importlib.util, "find_spec", lambda name: None)
    assert not python_packages.venv_can_be_made()
    python_packages.install(["matplotlib", "tomli"])
    assert python_packages.venv_can_be_made()  # it is there
    python_packages.install(["pytest"])
    common = f"install --disable-pip-version-check --constraint {python_packages.REQUIREMENTS}"
    assert log.read_text().splitlines() == [f"{common} matplotlib tomli", f"{common} pytest"]
    assert capfd.readouterr().err.count(" -m venv ") == 1


@pytest.mark.parametrize("spec", [None, "a spec"])
def test_environment_takes_what_fills_it(monkeypatch, tmp_path: Path, spec: str | None) -> None:
    asked: list[str] = []
    monkeypatch.setattr(python_packages, "VENV", tmp_path)
    monkeypatch.setattr(
        python_packages.importlib.util, "find_spec", lambda name: asked.append(name) or spec
    )
    assert python_packages.venv_can_be_made() is (spec is not None)
    assert asked == ["ensurepip"]


@pytest.mark.parametrize("can_be_made", [True, False])
def test_environment_is_made_possible(root, log: Path, monkeypatch, can_be_made: bool) -> None:
    """For nvcc, and for missing modules, which take no other package."""
    installed: list[str] = []
    log.touch()
    monkeypatch.setattr(python_packages, "python_with", lambda *_: "p" if installed else "")
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: can_be_made)
    monkeypatch.setattr(python_packages, "install", lambda _: installed.append(log.read_text()))
    before = "apt-get update\napt-get install -y --no-install-recommends python3-venv\n"
    before = "" if can_be_made else before
    setup.environment("nvcc")
    assert log.read_text() == before
    assert setup.python_for(["matplotlib"]) == "p"
    assert installed == [before * 2]


def test_requirements_are_pinned() -> None:
    lines = python_packages.REQUIREMENTS.read_text().splitlines()
    pins = {line.split("#")[0].strip() for line in lines} - {""}
    names = {re.split("[=<>]", pin)[0] for pin in pins}
    assert names == {pin.split("==")[0] for pin in pins if "==" in pin}
    assert {*python_packages.OF_TESTS, "cmake", "matplotlib", "ninja", "ziglang"} <= names


def test_one_python_must_have_all_modules(fake_tool, monkeypatch, capfd) -> None:
    only = 'echo noise; echo noise >&2; [ "$1 $2" = "-c import {}" ]'
    venv = fake_tool("python", only.format("pytest"))
    own = fake_tool("own-python", only.format("matplotlib"))
    monkeypatch.setattr(python_packages, "venvs", lambda: [venv.parents[1]])
    monkeypatch.setattr(python_packages.sys, "executable", str(own))
    assert python_packages.python_with("pytest") == str(venv)
    assert python_packages.python_with("matplotlib") == str(own)
    assert python_packages.python_with("pytest", "matplotlib") == ""
    assert capfd.readouterr() == ("", "")


def test_missing_modules_are_installed_once(monkeypatch, capfd) -> None:
    installed: list[str] = []
    monkeypatch.setattr(apt, "may_install", lambda: False)
    monkeypatch.setattr(
        python_packages, "python_with", lambda *modules: "python" if installed else ""
    )
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: True)
    monkeypatch.setattr(python_packages, "install", installed.extend)
    assert setup.python_for(["matplotlib"]) == "python"
    assert setup.python_for(["matplotlib"]) == "python"
    assert installed == ["matplotlib"]
    said = f"set-up: missing matplotlib: from PyPI into {paths.shown(paths.VENV)}\n"
    assert capfd.readouterr().err == said


def test_modules_that_are_there_are_not_installed(
    fake_tool, needed, log, monkeypatch, capfd
) -> None:
    monkeypatch.setattr(python_packages, "python_with", lambda *modules: "/bin/sh")
    monkeypatch.setattr(python_packages, "install", lambda names: pytest.fail("installed"))
    with pytest.raises(LabError, match="missing: a tool. "):
        setup.ensure("cpu", ["pytest"])
    assert capfd.readouterr().err == ""
    needed.touch()
    setup.ensure("cpu", ["pytest"])
    assert capfd.readouterr().err == ""


def test_module_that_does_not_import_is_named(monkeypatch) -> None:
    monkeypatch.setattr(python_packages, "python_with", lambda *modules: "")
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: True)
    monkeypatch.setattr(python_packages, "install", lambda modules: None)
    with pytest.raises(LabError, match="not to be imported: matplotlib"):
        setup.python_for(["matplotlib"])


def test_modules_are_asked_for_again_when_another_is_wanted(needed, monkeypatch) -> None:
    needed.touch()
    asked: list[list[str]] = []
    monkeypatch.setattr(python_packages, "python_with", lambda *modules: "/bin/sh")
    monkeypatch.setattr(setup, "_install_missing", lambda _, modules: asked.append(modules))
    for modules in (["pytest"], ["pytest"], ["pytest", "matplotlib"]):
        setup.ensure("cpu", modules)
    assert asked == [["pytest"], ["pytest", "matplotlib"]]


SERVER = "http://deb.debian.org/debian bookworm/main"
APT_INSTALL = {
    "0 upgraded, 2 newly installed, 0 to remove and 3 not upgraded.": State("installing packages"),
    f"Get:1 {SERVER} amd64 g++ amd64 4:12.2.0-3": State("downloading packages", 0, 2, "g++"),
    f"Get:2 {SERVER} amd64 cmake amd64 3.25.1-1": State("downloading packages", 1, 2, "cmake"),
    "Selecting previously unselected package g++.": State("downloading packages", 1, 2, "cmake"),
    "Unpacking g++ (4:12.2.0-3) ...": State("unpacking packages", 0, 2, "g++"),
    "Setting up g++ (4:12.2.0-3) ...": State("setting up packages", 0, 2, "g++"),
}


def test_apt_says_how_far_it_is() -> None:
    progress = Progress("installing packages")
    reader = apt.InstallReader()
    for line, state in APT_INSTALL.items():
        reader(line, progress)
        assert progress.state == state


def test_package_lists_are_named_as_they_come() -> None:
    progress = Progress("reading package lists")
    for line in (f"Get:4 {SERVER} Packages [8 MB]", "Reading package lists..."):
        apt._read_update(line, progress)
        assert progress.state.item == f"{SERVER} Packages [8 MB]"
    python_packages._read_pip("Collecting pytest", progress)
    assert progress.state.item == "Collecting pytest"


def test_bubblewrap_is_installed_when_it_is_asked_for(student, fake_tool, log: Path) -> None:
    message = "missing: bubblewrap.*\n\n *sudo .*apt-get install .* bubblewrap"
    with pytest.raises(LabError, match=message):
        setup.sandbox()
    fake_tool("bwrap", "exit 1")
    setup.sandbox()
    assert not log.exists()
