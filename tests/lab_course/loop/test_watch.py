"""A student at a terminal, who solves three exercises with the real ./lab start and ./lab watch."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from lab_cli import catalogue, work
from lab_cli.errors import LabError
from lab_cli.paths import OUT, ROOT
from lab_cli.results import marks
from lab_course.grading.kernel_source import KernelSource
from lab_course.loop import current

LAB = [sys.executable, "-B", str(ROOT / "lab")]
PATIENCE = 300  # seconds: a build may come first, on a busy machine
ROWS, COLUMNS = 24, 80
BUSY = "looking at your file"
CLEAR = "\x1b[H\x1b[2J\x1b[3J"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

pytestmark = pytest.mark.skipif(
    not (OUT / "cpu" / "emulator" / "libcuda_emulator_instrument.a").exists(),
    reason="the emulator is not built for the profiler",
)


class Terminal:
    """./lab watch at a terminal of 80 x 24."""

    def __init__(self, *names: str) -> None:
        self._own, other = pty.openpty()
        self.resize(ROWS, COLUMNS)
        variables = {**os.environ, "TERM": "xterm"}
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            variables.pop(name, None)
        self.process = subprocess.Popen(
            [*LAB, "watch", *names],
            stdin=other,
            stdout=other,
            stderr=other,
            cwd=ROOT,
            env=variables,
            preexec_fn=os.setsid,
        )
        os.close(other)
        self._text = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def screen(self) -> str:
        return COLOUR.sub("", self._text.rpartition(CLEAR)[2].replace("\r", ""))

    def read(self) -> None:
        if select.select([self._own], [], [], 0.1)[0]:
            with suppress(OSError):  # it has ended
                self._text += os.read(self._own, 1 << 16).decode(errors="replace")

    def wait_for(self, *words: str) -> str:
        """The screen, once it has all these words and no verdict is being made."""
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            self.read()
            screen = self.screen()
            if BUSY not in screen and all(word in screen for word in words):
                return screen
            assert self.process.poll() is None, self._text
        raise AssertionError(f"no {words} in\n{self.screen()}")

    def press(self, key: str) -> None:
        os.write(self._own, key.encode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        os.close(self._own)


@pytest.fixture
def terminals(own_work: Path) -> Iterator[list[Terminal]]:
    found: list[Terminal] = []
    yield found
    for each in found:
        each.close()


def write(exercise: catalogue.Exercise, change: tuple[str, str] | None = None) -> None:
    """Puts the shipped bodies into the copy, with a change, as an editor does that renames."""
    copy = work.copy_of(exercise.name)
    (assignment,) = exercise.facts.assignments
    shipped = KernelSource(exercise.source.read_text(encoding="utf-8"), exercise.source.name)
    bodies = {name: shipped.body(name) for name in assignment.kernels}
    if change:
        assert any(change[0] in body for body in bodies.values())
        bodies = {name: body.replace(*change) for name, body in bodies.items()}
    text = KernelSource(copy.read_text(encoding="utf-8"), copy.name).with_bodies(bodies)
    beside = copy.with_suffix(".tmp")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, copy)


def start(name: str) -> catalogue.Exercise:
    assert f"{name}.cu:" in start_any(name)
    return catalogue.one(name)


def start_any(name: str) -> str:
    """Also one without an assignment."""
    done = subprocess.run([*LAB, "start", name], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout


def fits(screen: str) -> bool:
    lines = screen.split("\n")
    return len(lines) <= ROWS and max(map(len, lines)) <= COLUMNS


def wanted(name: str) -> catalogue.Exercise:
    """Skips the test where somebody has removed the exercise."""
    try:
        return catalogue.one(name)
    except LabError:
        pytest.skip(f"the exercise {name} has been removed")


def test_a_student_solves_three_exercises(terminals: list[Terminal]) -> None:
    wanted("sumMatrix"), wanted("sharedReduction")
    exercise = wanted("transpose")
    for other in catalogue.exercises():  # so that these come next
        for each in other.facts.assignments:
            if other.name not in ("transpose", "sharedReduction", "sumMatrix"):
                marks.record_points(each.name, 10)
    start("transpose")
    terminal = Terminal()
    terminals.append(terminal)
    screen = terminal.wait_for("0 of 10 points")
    assert "transpose.cu:" in screen and "transpose/README.md" in screen and fits(screen)

    write(exercise, ("out[", "if (threadIdx.x > 0) out["))
    assert fits(terminal.wait_for("0 of 10 points", "never written"))
    write(exercise, ("in[(row + j) * cols + col]", "in[row * cols + col]"))
    assert fits(terminal.wait_for("0 of 10 points", "expected", "(8,0,0)", "wrote it"))
    write(exercise, ("__syncthreads();", ""))  # a race
    assert fits(terminal.wait_for("0 of 10 points", "race"))
    terminal.press("n")  # once is not enough to leave what is not solved
    assert fits(terminal.wait_for("transpose: ", "Press n again"))
    write(exercise, ("kTile + 1", "kTile"))
    assert fits(terminal.wait_for("3 of 10 points", "shared_ld_bank_conflict", "none found"))

    hints = exercise.facts.assignments[0].hints
    terminal.press("h")
    terminal.wait_for("hint 1 of", " ".join(hints[0].split()[:3]))
    terminal.resize(16, COLUMNS)
    terminal.press("h")
    assert len(terminal.wait_for("hint 2 of").split("\n")) <= 16
    terminal.resize(ROWS, COLUMNS)

    write(exercise, ("float tile", "float tle"))
    assert fits(terminal.wait_for("transpose.cu:", "error"))
    write(exercise)
    terminal.wait_for("10 of 10 points", "Press n")
    assert marks.of("padTheTile").by_own_work and marks.of("padTheTile").hints == 2

    for name in ("sharedReduction", "sumMatrix"):
        terminal.press("n")
        terminal.wait_for(f"{name}: ", "0 of 10 points")
        write(catalogue.one(name))
        terminal.wait_for("10 of 10 points")
    assert current.next_after() is None
    terminal.press("q")
    assert terminal.process.wait(PATIENCE) == 0


def test_reset_at_the_keyboard_asks_first(terminals: list[Terminal]) -> None:
    exercise = wanted("transpose")
    start("transpose")
    write(exercise)
    terminal = Terminal("transpose")
    terminals.append(terminal)
    terminal.wait_for("10 of 10 points")
    terminal.press("r")
    terminal.wait_for("Press r again")
    assert "TODO" not in work.copy_of("transpose").read_text()
    terminal.press("r")
    terminal.wait_for("0 of 10 points", "transpose/README.md")
    assert "TODO" in work.copy_of("transpose").read_text()


def test_an_endless_kernel_does_not_stop_the_loop(terminals: list[Terminal]) -> None:
    exercise = wanted("transpose")
    start("transpose")
    write(exercise, ("__syncthreads();", "while (in) {\n    }\n"))
    terminal = Terminal()
    terminals.append(terminal)
    assert fits(terminal.wait_for("0 of 10 points", "transpose.cu:", "--timeout"))
    write(exercise)
    terminal.wait_for("10 of 10 points")


@pytest.mark.parametrize("right", [True, False])
def test_where_nobody_sits_there_is_one_verdict(own_work: Path, right: bool) -> None:
    exercise = wanted("transpose")
    start("transpose")
    write(exercise, None if right else ("kTile + 1", "kTile"))
    done = subprocess.run(
        [*LAB, "watch"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == (0 if right else 1)
    assert f"{10 if right else 3} of 10 points" in done.stdout and "\x1b" not in done.stdout
    if right:
        assert "worst line" not in done.stdout
    else:
        lines = work.copy_of("transpose").read_text().splitlines()
        worst = int(re.search(r"worst line +transpose.cu:(\d+) .*31 of 32", done.stdout)[1])
        assert "= tile[threadIdx.x][threadIdx.y + j]" in lines[worst - 1]


@pytest.mark.parametrize("name", ["streamOrder", "copyOverlap"])
def test_a_copy_without_an_assignment_has_a_verdict(own_work: Path, name: str) -> None:
    """It is right as it came; hazards on purpose are no reason to say otherwise."""
    assert not wanted(name).facts.assignments
    start_any(name)
    done = subprocess.run(
        [*LAB, "watch", name], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert "compiles    yes" in done.stdout
    assert done.returncode == 0
