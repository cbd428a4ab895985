"""Ending lab ends what it started."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lab_cli.paths import ROOT, SCRIPTS
from lab_fixtures import shell_program

# Stays until it is ended, as does its own child.
CHILD = 'sleep 1000 & echo $! $$ > "{pids}.new"; mv "{pids}.new" "{pids}"; wait'
# Hears no SIGTERM, and goes on when its child has ended.
DEAF = "trap '' TERM HUP; " + CHILD + "; while :; do sleep 0.1; done"
RUNNERS = {
    "run": "process.run(command)",
    "step": "process.step(command, 'working', lambda line, progress: None)",
    "build": "cmake.build(command)",
    "run_lines": "process.run_lines(command, print)",
    "output_of": "process.output_of(command)",
    "check and profile": "instrumented.run(command, 'VARIABLE')",
    "bench": "measure._capture(command)",
}
LAB = """
import sys
from lab_cli import process, signals
from lab_cli.building import cmake, instrumented
from lab_cli.results import measure
signals.pass_on()
command = sys.argv[1:]
{runner}
"""


def wait_for(path: Path, lab: subprocess.Popen) -> list[int]:
    """The processes that the file names once it is there."""
    while not path.exists():
        assert lab.poll() is None
        time.sleep(0.01)
    return [int(word) for word in path.read_text().split()]


def living(processes: list[int]) -> list[int]:
    found = []
    for process in processes:
        stat = Path(f"/proc/{process}/stat")
        if not stat.exists():
            continue
        if stat.read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX":
            found.append(process)
    return found


def ignores(process: int, number: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    ignored = re.search(r"^SigIgn:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return bool(int(ignored[1], 16) >> (number - 1) & 1)


def end(lab: subprocess.Popen, number: int, pids: Path) -> int:
    """Ends lab, and returns its exit status: what it started has ended, too."""
    started = wait_for(pids, lab)
    lab.send_signal(number)
    try:
        status = lab.wait(timeout=60)
        assert living(started) == []
        return status
    finally:
        for process in living(started):
            os.kill(process, signal.SIGKILL)


def start(
    command: list[str], stderr: int = subprocess.DEVNULL, **variables: str
) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), **variables}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, env=environment)


def runs(script: str, runner: str = RUNNERS["run"]) -> list[str]:
    """The command of a lab that does nothing but run this script."""
    return [sys.executable, "-c", LAB.format(runner=runner), "sh", "-c", script]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("runner", RUNNERS)
def test_children_and_theirs_end_with_lab(runner: str, number: int, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    lab = start(runs(CHILD.format(pids=pids), RUNNERS[runner]), TMPDIR=str(tmp_path))
    assert end(lab, number, pids) == (-number if number == signal.SIGINT else 128 + number)
    assert [path.name for path in tmp_path.iterdir()] == ["pids"]


@pytest.mark.parametrize("script", [DEAF, "printf '\\377) Z 1' > /proc/$$/comm; " + CHILD])
def test_who_does_not_hear_is_killed_and_a_name_need_not_be_text(
    script: str, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    lab = start(runs(script.format(pids=pids)))
    assert end(lab, signal.SIGTERM, pids) == 128 + signal.SIGTERM


def test_lab_does_so(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    # Which ./lab doctor asks for its version.
    compiler = shell_program(tmp_path / "compiler", CHILD.format(pids=pids))
    lab = start([sys.executable, str(ROOT / "lab"), "doctor"], CXX=str(compiler))
    assert end(lab, signal.SIGTERM, pids) == 128 + signal.SIGTERM


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    wrapper = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]
    lab = start([*wrapper, *runs(CHILD.format(pids=pids))])
    started = wait_for(pids, lab)
    ignoring = [ignores(process, signal.SIGHUP) for process in (lab.pid, *started)]
    assert end(lab, signal.SIGTERM, pids) == 128 + signal.SIGTERM
    assert ignoring == [True, True, True]


def test_while_python_imports(tmp_path: Path) -> None:
    """A module of lab's is one during whose import Ctrl-C comes."""
    (tmp_path / "argparse.py").write_text("import os\nos.kill(os.getpid(), 2)\n")
    done = subprocess.run(
        [sys.executable, str(ROOT / "lab"), "list"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_second_one_does_not_disturb(number: int, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    runner = "sys.exit(signals.passing_on(lambda: process.run(command)))"
    lab = start(runs(DEAF.format(pids=pids), runner), stderr=subprocess.PIPE)
    started = wait_for(pids, lab)
    lab.send_signal(number)
    while len(living(started)) == 2:  # the first one has been heard when the child's child ends
        time.sleep(0.01)
    lab.send_signal(number)
    _, err = lab.communicate(timeout=60)
    assert living(started) == []
    assert lab.returncode == 128 + number
    assert err.startswith(b"+ sh -c ") and err.count(b"\n") == 1


# Several signals come at once after Ctrl-C, which a lab within lab hears from the terminal, and from that
# lab again.
PASSING_ON = """
import os, signal, sys
from lab_cli import signals

def hears(*numbers):
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    for number in numbers:
        os.kill(os.getpid(), number)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ())  # Python looks what has come

status = signals.passing_on(lambda: {work})
assert signal.getsignal(signal.SIGINT) in (signal.SIG_DFL, signal.SIG_IGN)
sys.exit(status)
"""


@pytest.mark.parametrize(
    ("work", "status"),
    [
        ("3", 3),
        ("hears(signal.SIGINT)", 130),
        ("hears(signal.SIGTERM)", 143),
        ("hears(signal.SIGHUP)", 129),
        ("hears(signal.SIGINT, signal.SIGTERM)", 130),  # the first counts
    ],
)
def test_status_of_work(work: str, status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PASSING_ON.format(work=work)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
    )
    assert (done.returncode, done.stderr) == (status, b"")
