"""What is shown of a build: nothing where there is nothing to do, else what somebody needs."""

from __future__ import annotations

from contextlib import nullcontext

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
MESSAGE = (
    "FAILED: a/x.cpp.o \nx.cpp:1:2: error: what is that?\n    1 | int 3;\n"
    "ninja: build stopped: subcommand failed.\n"
)


def printing(text: str, status: int = 0) -> list[str]:
    return ["sh", "-c", f'printf "%s" "$1"; exit {status}', "sh", text]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of these tests are long: they are shown as "COMMAND"."""
    monkeypatch.setattr(cmake, "shown", lambda command: "COMMAND")
    monkeypatch.setattr(process, "shown", lambda command: "COMMAND")


def test_a_build_that_fails_without_a_word_is_named(shown) -> None:
    with pytest.raises(LabError, match="COMMAND: killed by SIGKILL"):
        cmake.build(["sh", "-c", "kill -KILL $$"])


ANEW = GLOBS + "[1/2] Re-running CMake...\n-- Back end: cpu\n"
ERROR = "CMake Error at x:1 (message):\n  No.\n"
WORDS = "Preset CMake variables:\n\n  A=1\n\n-- one\n"
DEPRECATED = "CMake Deprecation Warning at x:1:\n  Old.\n\n  Older.\n"
COLOURED = DEPRECATED.replace("CMake", "\x1b[33mCMake", 1)


@pytest.mark.parametrize(
    ("step", "printed", "status", "said"),
    [
        (cmake.build, NOTHING, 0, ""),
        (cmake.build, "ninja: Entering directory `out'\n" + NOTHING, 0, ""),
        (cmake.build, BUILT, 0, "+ COMMAND\n" + WARNING),
        (cmake.build, FAILED, 1, "+ COMMAND\n" + MESSAGE),
        (cmake.build, ANEW + "-- Configuring done\n" + NOTHING, 0, "+ COMMAND\n"),
        (cmake.build, ANEW + ERROR, 1, "+ COMMAND\n-- Back end: cpu\n" + ERROR),
        (cmake.configure, WORDS, 0, "+ COMMAND\n"),
        (cmake.configure, WORDS + DEPRECATED + "-- two\nmore\n", 0, "+ COMMAND\n" + DEPRECATED),
        (cmake.configure, WORDS + COLOURED, 0, "+ COMMAND\n" + COLOURED),
        (cmake.configure, WORDS + DEPRECATED, 7, "+ COMMAND\n" + WORDS + DEPRECATED),
    ],
)
def test_warnings_are_shown_and_all_that_explains_a_failure(
    shown, step, printed: str, status: int, said: str, capfd
) -> None:
    failure = pytest.raises(LabError, match=f"^COMMAND: exit status {status}; ")
    with failure if status else nullcontext():
        step(printing(printed, status))
    assert capfd.readouterr() == ("", said)


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
