"""What is shown of a build: nothing where there is nothing to do, else what somebody needs."""

from __future__ import annotations

import pytest
from lab_cli import process
from lab_cli.building import cmake
from lab_cli.errors import LabError

GLOBS = "[0/2] Re-checking globbed directories...\n"
NOTHING = GLOBS + "ninja: no work to do.\n"
WARNING = "x.cpp:1:2: \x1b[35mwarning:\x1b[0m unused\n    1 | int x;\n      |  ^\n"
BUILT = (
    GLOBS
    + "[1/3] Building CXX object a/CMakeFiles/b.dir/x.cpp.o\n"
    + WARNING
    + "[2/3] Translating y.cu\n[3/3] Linking CXX executable a/y\n"
)
FAILED = (
    GLOBS
    + "[1/2] Building CXX object a/x.cpp.o\nFAILED: a/x.cpp.o \n/usr/bin/c++ -DA -O3 -o a/x.cpp.o\n"
    + "x.cpp:1:2: error: what is that?\n\n    1 | int 3;\nninja: build stopped: subcommand failed.\n"
)


def printing(text: str, status: int = 0) -> list[str]:
    return ["sh", "-c", f'printf "%s" "$1"; exit {status}', "sh", text]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of these tests are long: they are shown as "COMMAND"."""
    monkeypatch.setattr(cmake, "shown", lambda command: "COMMAND")
    monkeypatch.setattr(process, "shown", lambda command: "COMMAND")


@pytest.mark.parametrize("text", [NOTHING, "", "ninja: Entering directory `out'\n" + NOTHING])
def test_nothing_to_build_is_nothing_to_say(shown, text: str, capfd) -> None:
    cmake.build(printing(text))
    assert capfd.readouterr() == ("", "")


def test_what_is_built_is_its_command_and_the_warnings(shown, capfd) -> None:
    cmake.build(printing(BUILT))
    assert capfd.readouterr() == ("", "+ COMMAND\n" + WARNING)


def test_what_fails_is_the_compilers_message_in_full(shown, capfd) -> None:
    with pytest.raises(LabError, match="^COMMAND: exit status 1; the reason is above$"):
        cmake.build(printing(FAILED, 1))
    assert capfd.readouterr().err == (
        "+ COMMAND\nFAILED: a/x.cpp.o \nx.cpp:1:2: error: what is that?\n    1 | int 3;\n"
        "ninja: build stopped: subcommand failed.\n"
    )


def test_a_build_that_fails_without_a_word_is_named(shown) -> None:
    with pytest.raises(LabError, match="COMMAND: killed by SIGKILL"):
        cmake.build(["sh", "-c", "kill -KILL $$"])


def test_cmake_run_anew_is_quiet_unless_it_fails(shown, capfd) -> None:
    anew = "[1/2] Re-running CMake...\n-- Back end: cpu\n"
    cmake.build(printing(GLOBS + anew + "-- Configuring done\n" + NOTHING))
    assert capfd.readouterr().err == "+ COMMAND\n"
    error = "CMake Error at x:1 (message):\n  No.\n"
    with pytest.raises(LabError):
        cmake.build(printing(GLOBS + anew + error, 1))
    assert capfd.readouterr().err == "+ COMMAND\n-- Back end: cpu\n" + error


WORDS = "Preset CMake variables:\n\n  A=1\n\n-- one\n"
DEPRECATED = "CMake Deprecation Warning at x:1:\n  Old.\n\n  Older.\n"


def test_configuring_shows_warnings_alone(shown, capfd) -> None:
    cmake.configure(printing(WORDS))
    assert capfd.readouterr() == ("", "+ COMMAND\n")
    cmake.configure(printing(WORDS + DEPRECATED + "-- two\nmore\n"))
    assert capfd.readouterr() == ("", "+ COMMAND\n" + DEPRECATED)
    coloured = DEPRECATED.replace("CMake", "\x1b[33mCMake", 1)
    cmake.configure(printing(WORDS + coloured))
    assert capfd.readouterr() == ("", "+ COMMAND\n" + coloured)


def test_configuring_that_fails_shows_all(shown, capfd) -> None:
    with pytest.raises(LabError, match="COMMAND: exit status 7"):
        cmake.configure(printing(WORDS + DEPRECATED, 7))
    assert capfd.readouterr() == ("", "+ COMMAND\n" + WORDS + DEPRECATED)


@pytest.mark.parametrize(
    ("terminal", "no_color", "forced"), [(True, "", "1"), (True, "1", ""), (False, "", "")]
)
def test_colours_are_kept_for_a_terminal(
    monkeypatch, terminal: bool, no_color: str, forced: str, capfd
) -> None:
    monkeypatch.setattr(cmake, "on_terminal", lambda: terminal)
    monkeypatch.delenv("CLICOLOR_FORCE", raising=False)
    monkeypatch.setenv("NO_COLOR", no_color)
    cmake.build(["sh", "-c", 'echo "<$CLICOLOR_FORCE>$NINJA_STATUS."'])
    assert capfd.readouterr().err.endswith(f"<{forced}>[%f/%t] .\n")


def test_both_run_in_the_root_of_the_checkout(capfd) -> None:
    cmake.build(["pwd"])
    assert capfd.readouterr().err == f"+ pwd\n{process.ROOT}\n"


@pytest.mark.parametrize(
    ("description", "item"),
    [
        ("Building CXX object a/CMakeFiles/b.dir/x.cu.cpp.o", "x.cu.cpp"),
        ("Linking CXX executable ch04_memory/transpose", "transpose"),
        ("Translating transpose.cu", "Translating transpose.cu"),
    ],
)
def test_item(description: str, item: str) -> None:
    assert cmake._item(description) == item
