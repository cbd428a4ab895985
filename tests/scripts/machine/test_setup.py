"""Set-up: what is missing, how it is installed, and what is said where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli import toml_file
from lab_cli.errors import LabError
from lab_cli.machine import apt, needs, python_packages, setup
from lab_cli.machine.needs import Need

LOGGING_APT = 'echo "apt-get $*" >> "{log}"'


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(setup, "OUT", tmp_path / "build")
    return tmp_path / "log"


@pytest.fixture
def needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only need is a file that apt-get makes; CMake is there."""
    file = tmp_path / "installed"
    monkeypatch.setattr(setup, "needs_of", lambda backend: [Need("a tool", "tool", file.exists)])
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    return file


def test_version_in() -> None:
    assert needs.version_in("cmake version 3.25.1\n\nCMake suite") == (3, 25, 1)
    assert needs.version_in("  Candidate: 3.22.1-1ubuntu1") == (3, 22, 1)
    assert needs.version_in("  Candidate: (none)") is None


def test_cmake_must_be_new_enough(fake_tool, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(needs, "venv_tool", lambda name: tmp_path / "venv" / name)
    fake_tool("cmake", "echo cmake version 3.22.1")
    assert needs.find_cmake() is None
    new = fake_tool("cmake", "echo cmake version 3.25.0")
    assert needs.find_cmake() == str(new)


def test_tools_are_seen_one_by_one(fake_tool, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(needs, "venv_tool", lambda name: tmp_path / "venv" / name)

    def missing() -> list[str]:
        return [need.package for need in needs.TOOLS if not need.present()]

    fake_tool("other", "exit 0")
    assert missing() == ["g++", "make", "cmake", "ninja-build"]
    fake_tool("g++", "exit 0")
    fake_tool("ninja", "exit 0")
    assert missing() == ["make", "cmake"]
    fake_tool("make", "exit 0")
    fake_tool("cmake", "echo cmake version 3.31.2")
    assert missing() == []


def test_library_is_seen_by_linking(fake_tool) -> None:
    compiler = str(fake_tool("c++", "exit 0"))
    assert needs.can_link(compiler, "header.h", "library")
    compiler = str(fake_tool("c++", "exit 1"))
    assert not needs.can_link(compiler, "header.h", "library")
    assert not needs.can_link(None, "header.h", "library")


def test_gpu_needs_no_libraries() -> None:
    packages = [need.package for need in needs.needs_of("gpu")]
    assert "cmake" in packages
    assert not [package for package in packages if package.startswith("lib")]


def test_missing_package_is_installed_as_root(
    fake_tool, log: Path, needed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tool("env", 'shift; exec "$@"')
    fake_tool("apt-get", LOGGING_APT.format(log=log) + f'; : > "{needed}"')
    monkeypatch.setattr(apt.os, "geteuid", lambda: 0)
    assert setup.ensure("cpu") == "/bin/sh"
    assert log.read_text().splitlines() == [
        "apt-get update",
        "apt-get install -y --no-install-recommends tool",
    ]


def test_second_run_sets_up_nothing(needed: Path, log: Path, monkeypatch) -> None:
    needed.touch()
    setup.ensure("cpu")
    monkeypatch.setattr(setup, "_install_missing", lambda *_: pytest.fail("set up again"))
    assert setup.ensure("cpu") == "/bin/sh"


def test_new_need_is_noticed(needed: Path, log: Path, monkeypatch) -> None:
    needed.touch()
    setup.ensure("cpu")
    monkeypatch.setattr(setup, "needs_of", lambda backend: [Need("new", "new", lambda: True)])
    calls = []
    monkeypatch.setattr(setup, "_install_missing", lambda *_: calls.append("again"))
    setup.ensure("cpu")
    assert calls == ["again"]


def test_without_root_the_command_is_printed(fake_tool, log: Path, needed, monkeypatch) -> None:
    fake_tool("apt-get", LOGGING_APT.format(log=log))
    fake_tool("sudo", "exit 1")  # asks for a password
    monkeypatch.setattr(apt.os, "geteuid", lambda: 1000)
    with pytest.raises(LabError) as raised:
        setup.ensure("cpu")
    expected = "sudo apt-get update && sudo apt-get install -y --no-install-recommends tool"
    assert expected in str(raised.value)
    assert "a tool" in str(raised.value)
    assert raised.value.status != 0
    assert not log.exists()


def test_passwordless_sudo_is_used(fake_tool, log: Path, needed, monkeypatch) -> None:
    fake_tool("env", 'shift; exec "$@"')
    fake_tool("sudo", 'shift; [ "$1" = id ] && echo 0 && exit; exec "$@"')
    fake_tool("apt-get", LOGGING_APT.format(log=log) + f'; : > "{needed}"')
    monkeypatch.setattr(apt.os, "geteuid", lambda: 1000)
    setup.ensure("cpu")
    assert "apt-get install" in log.read_text()


def test_without_apt_the_names_are_printed(fake_tool, log: Path, needed) -> None:
    with pytest.raises(LabError, match=r"missing: a tool.*package manager.*tool"):
        setup.ensure("cpu")


def test_failing_apt_ends_with_its_status(fake_tool, log: Path, needed, monkeypatch) -> None:
    fake_tool("env", 'shift; exec "$@"')
    fake_tool("apt-get", "exit 100")
    monkeypatch.setattr(apt.os, "geteuid", lambda: 0)
    with pytest.raises(LabError, match="exit status 100") as raised:
        setup.ensure("cpu")
    assert raised.value.status == 100


@pytest.mark.parametrize(("offered", "from_pypi"), [("3.22.1-1", True), ("3.28.3-1", False)])
def test_old_cmake_comes_from_pypi(
    fake_tool, log: Path, monkeypatch, tmp_path: Path, offered: str, from_pypi: bool
) -> None:
    there = tmp_path / "cmake_is_there"
    need = Need("CMake", "cmake", there.exists)
    monkeypatch.setattr(setup, "needs_of", lambda backend: [need])
    monkeypatch.setattr(setup, "find_cmake", lambda: "/bin/sh")
    monkeypatch.setattr(apt.os, "geteuid", lambda: 0)
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: False)
    installed: list[str] = []
    monkeypatch.setattr(
        python_packages, "install", lambda names: (installed.extend(names), there.touch())
    )
    fake_tool("env", 'shift; exec "$@"')
    fake_tool("apt-cache", f'echo "cmake:"; echo "  Candidate: {offered}"')
    fake_tool("apt-get", LOGGING_APT.format(log=log) + f'; [ "$4" != cmake ] || : > "{there}"')
    setup.ensure("cpu")
    package = "python3-venv" if from_pypi else "cmake"
    assert log.read_text().splitlines()[-1].endswith(f"--no-install-recommends {package}")
    assert installed == (["cmake"] if from_pypi else [])


def test_requirements_are_pinned() -> None:
    lines = python_packages.REQUIREMENTS.read_text().splitlines()
    pins = [line.split("#")[0].strip() for line in lines]
    assert {pin.split("==")[0] for pin in pins if "==" in pin} == {
        "cmake",
        "matplotlib",
        "pytest",
        "tomli",
    }


def test_one_python_must_have_all_modules(fake_tool, monkeypatch) -> None:
    only = 'for module in {}; do [ "$2" = "import $module" ] && exit 0; done; exit 1'
    venv = fake_tool("venv-python", only.format("pytest"))
    own = fake_tool("own-python", only.format("matplotlib"))
    monkeypatch.setattr(python_packages, "venv_tool", lambda name: venv)
    monkeypatch.setattr(python_packages.sys, "executable", str(own))
    assert python_packages.python_with("pytest") == str(venv)
    assert python_packages.python_with("matplotlib") == str(own)
    assert python_packages.python_with("pytest", "matplotlib") == ""


def test_missing_modules_are_installed_once(monkeypatch, capfd) -> None:
    installed: list[str] = []
    monkeypatch.setattr(
        python_packages, "python_with", lambda *modules: "python" if installed else ""
    )
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: True)
    monkeypatch.setattr(python_packages, "install", installed.extend)
    assert setup.python_for(["matplotlib"]) == "python"
    assert setup.python_for(["matplotlib"]) == "python"
    assert installed == ["matplotlib"]
    assert capfd.readouterr().err == "set-up: missing matplotlib\n"


def test_a_reader_of_toml_is_installed_where_there_is_none(monkeypatch) -> None:
    installed: list[str] = []
    monkeypatch.setattr(python_packages, "python_with", lambda *modules: "")
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: True)
    monkeypatch.setattr(python_packages, "install", installed.extend)
    monkeypatch.setattr(toml_file, "reader", lambda: toml_file)
    setup.toml_reader()
    assert installed == []
    monkeypatch.setattr(toml_file, "reader", lambda: None)
    setup.toml_reader()
    assert installed == ["tomli"]


def test_module_that_does_not_import_is_named(monkeypatch) -> None:
    monkeypatch.setattr(python_packages, "python_with", lambda *modules: "")
    monkeypatch.setattr(python_packages, "venv_can_be_made", lambda: True)
    monkeypatch.setattr(python_packages, "install", lambda modules: None)
    with pytest.raises(LabError, match="not to be imported: matplotlib"):
        setup.python_for(["matplotlib"])


def test_modules_are_asked_for_again_when_another_is_wanted(needed, log, monkeypatch) -> None:
    needed.touch()
    monkeypatch.setattr(python_packages, "python_with", lambda *modules: "/bin/sh")
    setup.ensure("cpu", ["pytest"])
    calls = []
    monkeypatch.setattr(setup, "_install_missing", lambda *_: calls.append("again"))
    setup.ensure("cpu", ["pytest"])
    assert calls == []
    setup.ensure("cpu", ["pytest", "matplotlib"])
    assert calls == ["again"]
