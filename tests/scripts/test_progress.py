"""Progress on a terminal, which is a pseudo-terminal here, and in a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest
from lab_cli import progress
from lab_cli.paths import SCRIPTS
from lab_cli.progress import State, duration

PRELUDE = """
import sys, time
from pathlib import Path
from lab_cli import process, progress, signals
from lab_cli.progress import Progress
signals.pass_on()
progress.REFRESH = progress.PATIENCE = 0.01
def until_shown():  # a line is due: wait until something looks at it
    begun = p._shown, p._quiet_since
    while (p._shown, p._quiet_since) == begun:
        time.sleep(0.01)
"""


def start(code: str, stderr: int, term: str = "xterm") -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), "TERM": term}
    command = [sys.executable, "-c", PRELUDE + code]
    return subprocess.Popen(command, stdout=stderr, stderr=stderr, env=environment)


def read_all(descriptor: int) -> str:
    text = b""
    with suppress(OSError):  # of a terminal that nobody writes to any more
        while part := os.read(descriptor, 4096):
            text += part
    os.close(descriptor)
    return text.decode()


def printed(code: str, read: int, write: int, term: str = "xterm") -> str:
    """Runs the code with its output at `write`, and returns what comes out at `read`."""
    child = start(code, write, term)
    os.close(write)
    text = read_all(read)
    assert child.wait() == 0
    return text.replace("\r\n", "\n")


def on_terminal(code: str, columns: int = 80, term: str = "xterm") -> str:
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    return printed(code, main, other, term)


def in_pipe(code: str) -> str:
    return printed(code, *os.pipe())


def screen(text: str) -> list[str]:
    """The lines that a terminal has in the end; it must be wide enough."""
    return [line.rpartition("\r\x1b[K")[2] for line in text.split("\n")]


WORK = """
with Progress("building") as p:
    p.update("", 1, 9, "one.cu"); until_shown()
    process.say("a warning")
    p.update("", 2, 9, "two.cu"); until_shown()
    process.show("a result\\n")
    p.update("", 3, 9, "three.cu"); until_shown()
print("the end")
"""


def test_a_terminal_has_one_line_that_changes_and_is_gone_at_the_end() -> None:
    text = on_terminal(WORK)
    for line in ("building  [1/9]  one.cu", "building  [2/9]  two.cu", "building  [3/9]  three.cu"):
        assert "\r\x1b[K" + line in text
    assert screen(text) == ["a warning", "a result", "the end", ""]


@pytest.mark.parametrize("dumb_terminal", [False, True])
def test_a_pipe_and_a_dumb_terminal_have_lines(dumb_terminal: bool) -> None:
    lines = (on_terminal(WORK, term="dumb") if dumb_terminal else in_pipe(WORK)).splitlines()
    assert all("\r" not in line and "\x1b" not in line for line in lines)
    kept = [line for line in lines if not line.startswith("building")]
    assert kept == ["a warning", "a result", "the end"]
    assert any(line.startswith("building  [2/9]  two.cu") for line in lines)
    assert "a warning" not in "".join(line for line in lines if line.startswith("building"))


def test_it_never_wraps() -> None:
    item = "reduceInteger" * 20
    code = f'with Progress("building") as p: p.update("", 1, 9, "{item}"); until_shown()'
    for columns in (120, 80, 40, 20, 5):
        parts = on_terminal(code, columns).split("\r\x1b[K")
        assert max(len(part) for part in parts) <= columns - 1
    assert max(len(part) for part in on_terminal(code, 0).split("\r\x1b[K")) == 79  # nobody says


def test_the_inner_of_two_is_shown() -> None:
    text = on_terminal("""
with Progress("outer") as p:
    until_shown()
    with Progress("inner") as p: until_shown()
    outer = p._outer
    progress.REFRESH = 1000
    with Progress("again"): pass
    p = outer
    until_shown()
""")
    shown = [part.split()[0] for part in text.split("\r\x1b[K") if part]
    shown = [word for word, before in zip(shown, ["", *shown]) if word != before]
    assert shown == ["outer", "inner", "outer"]
    assert screen(text) == [""]


def test_what_is_short_is_not_shown() -> None:
    assert on_terminal("progress.REFRESH = 1000\nwith Progress('building'): print('x')") == "x\n"
    assert in_pipe("progress.PATIENCE = 1000\nwith Progress('x'): time.sleep(0.1)") == ""


def test_a_log_hears_nothing_while_something_else_is_said() -> None:
    text = in_pipe("""
progress.PATIENCE = 1000
with Progress("x") as p:
    p._quiet_since -= 2000
    process.say("said")
    time.sleep(0.1)
""")
    assert text in ("said\n", "x\nsaid\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_end_leaves_a_clean_line_and_no_child(number: int, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    main, other = pty.openpty()
    script = f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 1000"
    child = start(
        f"process.step(['sh', '-c', {script!r}], 'working', lambda line, progress: None)", other
    )
    os.close(other)
    while not pid.exists():
        assert child.poll() is None
        time.sleep(0.01)
    seen = b""
    while b"working" not in seen:
        seen += os.read(main, 4096)
    child.send_signal(number)
    text = (seen.decode() + read_all(main)).replace("\r\n", "\n")
    assert child.wait() == (-number if number == signal.SIGINT else 128 + number)
    lines = screen(text)
    assert lines[0].startswith("+ sh -c ")
    assert "working" not in "".join(lines)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()


@pytest.mark.parametrize(
    ("state", "passed", "began_with", "line"),
    [
        (State("x"), 1, 0, "x"),
        (State("x", 0, 0, "y.cu"), 12, 0, "x  y.cu  10 s so far"),
        (State("x", 34, 120, "y.cu"), 17, 0, "x  [34/120]  y.cu  about 45 s left"),
        # Nothing is said of the time before it can be known.
        (State("x", 2, 9), 9, 0, "x  [2/9]"),
        (State("x", 3, 9), 2.9, 0, "x  [3/9]"),
        (State("x", 3, 9), 3, 0, "x  [3/9]  about 6 s left"),
        (State("x", 9, 9), 9, 0, "x  [9/9]"),
        (State("x", 5, 9), 9, 3, "x  [5/9]"),
        (State("x", 6, 9), 9, 3, "x  [6/9]  about 9 s left"),
        (State("x", 99, 1000), 99, 0, "x  [99/1000]  2 min so far"),
        (State("x", 100, 1000), 99, 0, "x  [100/1000]  about 15 min left"),
    ],
)
def test_a_line(state: State, passed: float, began_with: int, line: str) -> None:
    assert state.line(passed, began_with=began_with) == line


def test_a_long_item_gives_way_to_the_time() -> None:
    state = State("building", 34, 120, "reduceInteger.cu")
    assert state.line(17, width=44) == "building  [34/120]  redu...  about 45 s left"
    assert state.line(17, width=60).endswith("reduceInteger.cu  about 45 s left")
    assert State("x", item="\u6e2c\u8a66\u6e2c\u8a66").line(0, width=9) == "x  \u6e2c..."
    assert State("x", item="a\tb\x1b[K").line(0, width=20) == "x  a?b?[K"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (12, "10 s"),
        (58, "1 min"),
        (3599, "1 h 0 min"),
        (4800, "1 h 20 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_another_piece_of_work_has_a_time_of_its_own(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    one = progress.Progress("downloading")
    for change, start, began_with in (
        ({"done": 0, "total": 9}, 1.0, 0),
        ({"done": 5, "total": 9}, 1.0, 0),
        ({"done": 5, "total": 20}, 3.0, 5),
        ({"done": 0, "total": 20}, 4.0, 0),
        ({"what": "unpacking", "done": 2, "total": 20}, 5.0, 2),
    ):
        now[0] += 1
        one.update(**change)
        assert (one._start, one._began_with) == (start, began_with)
