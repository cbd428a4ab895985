"""What ./lab cannot say is not passed over: stdout and stderr that are closed, or full."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from lab_cli.paths import ROOT

LAB = [sys.executable, str(ROOT / "lab")]
FULL = "No space left on device"
CLOSED = "Bad file descriptor"
GUARD = """
import os, sys
sys.path.insert(0, "scripts")
from lab_cli import process, streams
streams.guard()
"""
# What a child of lab finds at the number of a stream that lab's caller has closed.
CHILD = """
with open("lab") as file:
    assert file.fileno() > 2
    sys.stdout.flush()
    os.execvp(sys.executable, [sys.executable, "-u", "-c", "import os; os.write({number}, b'x')"])
"""


def shell(redirected: str, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`command` with redirections of the shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", *command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **variables},
    )


def guarded(code: str, redirected: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Python code with the streams that lab makes of its own."""
    return shell(redirected, sys.executable, "-c", GUARD + code, **variables)


@pytest.mark.parametrize("arguments", [[], ["list"], ["doctor"], ["run", "--help"]])
@pytest.mark.parametrize(("redirected", "reason"), [(">/dev/full", FULL), (">&-", CLOSED)])
def test_a_lost_output_is_said(arguments: list[str], redirected: str, reason: str) -> None:
    done = shell(redirected, *LAB, *arguments, CXX="none")  # with which doctor compiles nothing
    assert done.returncode == 1
    assert (done.stdout, done.stderr) == ("", f"lab: cannot write to stdout: {reason}\n")


@pytest.mark.parametrize("of_stdout", [">/dev/full", ">&-"])
@pytest.mark.parametrize("of_stderr", ["2>/dev/full", "2>&-"])
def test_both_are_lost(of_stdout: str, of_stderr: str) -> None:
    done = shell(f"{of_stdout} {of_stderr}", *LAB, "list")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-"])
def test_stderr_is_lost(redirected: str) -> None:
    done = shell(redirected, *LAB, "nosuch")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    done = shell(redirected, *LAB, "list")  # which has nothing to say there
    assert done.returncode == 0 and "transpose" in done.stdout


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-"])
def test_work_goes_on_without_stderr_but_does_not_end_well(redirected: str) -> None:
    code = "status = process.run(['echo', 'done']); sys.exit(streams.status(status))"
    done = guarded(code, redirected)
    assert (done.returncode, done.stdout, done.stderr) == (1, "done\n", "")


@pytest.mark.parametrize("number", [1, 2])
def test_a_closed_stream_leaves_no_gap(number: int) -> None:
    done = guarded(CHILD.format(number=number), f"{number}>&-")
    assert done.returncode == 1
    assert done.stdout == "" and (CLOSED in done.stderr or number == 2)


def test_a_stdin_that_is_closed_is_empty() -> None:
    done = guarded(CHILD.replace("os.write({number}, b'x')", "print(os.read(0, 1))"), "<&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "b''\n", "")


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_what_an_encoding_cannot_say_is_escaped(variables: dict[str, str]) -> None:
    code = "print('\\xe4\\udcff'); print('\\xe4\\udcff', file=sys.stderr)"
    done = guarded(code, **variables)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\\xe4\\udcff\n", "\\xe4\\udcff\n")
    done = shell("", *LAB, "run", "größe", **variables)
    assert done.returncode == 2
    assert done.stderr.startswith("lab: no exercise is named gr\\x")


def test_errors_come_as_they_are_said() -> None:
    done = guarded("print('one', file=sys.stderr); os._exit(0)")
    assert done.stderr == "one\n"
