"""Jobs on a real Slurm, of one node with two processors.

Nothing here goes by the time that something takes: what is to be amid its work waits for a file.
"""

from __future__ import annotations

import csv
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from exercise_sample import FACTS
from grading_sample import ASSIGNMENT, SOURCE
from real_slurm import LONGEST, CannotStart, Cluster, until

MANY = 20
ODD = """it's "50%" a $HOME"""  # nothing that a shell or Slurm reads in a name


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        place = Cluster(Path(name))
        try:
            place.start()
            yield place
        except CannotStart as problem:
            pytest.skip(str(problem))
        finally:
            place.end()


class Lab:
    """A checkout with an exercise, and what is run there."""

    def __init__(self, home: Path, cluster: Cluster) -> None:
        self.home = home
        self.cluster = cluster
        self.variables = {
            **cluster.variables(),
            "STUB_HOME": str(home),
            "LAB_BUILD_DIR": str(home / "out"),
        }
        stub = Path(__file__).with_name("stub_lab.py")
        self.program("lab", f'exec {shlex.join([sys.executable, str(stub)])} "$@"')
        self.held = f"while [ -e {shlex.quote(str(home))}/hold-1 ]; do sleep 0.1; done;"

    def program(self, name: str, script: str) -> None:
        path = self.home / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def start(self, *words: object) -> subprocess.Popen[str]:
        """In a session of its own: like a terminal, a signal finds it alone."""
        return subprocess.Popen(
            [str(self.home / "lab"), *map(str, words)],
            env=self.variables,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=open(self.home / "stdout", "w"),
            stderr=open(self.home / "stderr", "w"),
            text=True,
            start_new_session=True,
        )

    def ended(self, process: subprocess.Popen[str]) -> tuple[int, str, str]:
        status = process.wait(LONGEST)
        return status, self.said("stdout"), self.said("stderr")

    def run(self, *words: object) -> tuple[int, str, str]:
        return self.ended(self.start(*words))

    def meanwhile(
        self, process: subprocess.Popen[str], holds: Callable[[], bool], what: str
    ) -> None:
        """Waits for it, while the process runs."""
        until(lambda: holds() or process.poll() is not None, what)
        assert holds(), f"lab has ended, and not: {what}; {self.said('stderr')}"

    def said(self, stream: str) -> str:
        return (self.home / stream).read_text()

    def hold(self, *numbers: int) -> None:
        for number in numbers:
            (self.home / f"hold-{number}").touch()

    def let_go(self, *numbers: int) -> None:
        for number in numbers:
            (self.home / f"hold-{number}").unlink()

    def counts(self, word: str) -> Counter[int]:
        """How often each submission was begun, or graded."""
        try:
            lines = self.said("graded").split("\n")
        except OSError:
            return Counter()
        return Counter(int(line.split()[1]) for line in lines if line.startswith(word))

    def job(self) -> str:
        """The number of the only job that there is."""
        return self.cluster.order("squeue", "--noheader", "--format=%A").split()[0]

    def in_queue(self) -> list[str]:
        return self.cluster.order("squeue", "--noheader", "--array", "--format=%i %T").splitlines()


@pytest.fixture
def lab(cluster: Cluster, tmp_path: Path) -> Iterator[Lab]:
    pytest.importorskip("jinja2")
    home = tmp_path / ODD
    (home / "chapter" / "order").mkdir(parents=True)
    (home / "chapter" / "CMakeLists.txt").touch()
    (home / "chapter" / "order" / "order.cu").write_text(SOURCE)
    (home / "chapter" / "order" / "exercise.toml").write_text(FACTS + ASSIGNMENT)
    yield Lab(home, cluster)
    cluster.order("scancel", "--me")
    until(lambda: not Lab.in_queue(Lab(home, cluster)), "the queue is empty")


@pytest.fixture
def handed_in(lab: Lab) -> Path:
    folder = lab.home / "handed in"
    for number in range(MANY):
        (folder / f"s{number:02}").mkdir(parents=True)
        text = SOURCE.replace(
            "in[threadIdx.x];\n}\n\nlab", f"in[threadIdx.x] + 0 * {number};\n}}\n\nlab"
        )
        assert text != SOURCE
        (folder / f"s{number:02}" / "order.cu").write_text(text)
    return folder


@pytest.fixture
def command(handed_in: Path) -> list[object]:
    return ["grade", "putInOrder", handed_in, "-o", "grades", "--slurm"]


def table(lab: Lab) -> dict[str, str]:
    with open(lab.home / "grades" / "grades.csv", newline="") as file:
        return {row["submission"]: row["points"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("status", [0, 3])
def test_a_job_ends_as_what_it_runs_and_shows_what_that_prints(lab: Lab, status: int) -> None:
    """The output appears while the job runs."""
    lab.hold(1)
    lab.program(
        "program", f'echo "out: $*"; echo errors >&2; {lab.held} echo "$PWD"; exit {status}'
    )
    process = lab.start("run", "order", "--slurm", "--", "--size=1 2")
    out = "out: run order -- --size=1 2\n"
    lab.meanwhile(process, lambda: lab.said("stdout") == out, "what it has printed is shown")
    assert process.poll() is None
    lab.let_go(1)
    assert lab.ended(process)[:2] == (status, f"{out}{lab.home}\n")
    errors = lab.said("stderr").splitlines()
    assert errors[0].startswith("+ sbatch --parsable ") and errors[1:] == ["errors"]


def test_many_submissions_one_is_late_and_the_node_fails(lab: Lab, command, cluster) -> None:
    """19 are graded, each once; what is named is graded by the same command, and nothing else."""
    lab.hold(5, 9)
    process = lab.start(*command)
    lab.meanwhile(process, lambda: {5, 9} <= set(lab.counts("begun")), "two are being graded")
    job = lab.job()
    # Slurm counts time limits in minutes: here the end comes at once.
    cluster.order("scontrol", "update", f"JobId={job}_5", "EndTime=now+1")
    lab.meanwhile(process, lambda: f"{job}_5 RUNNING" not in lab.in_queue(), "one has been ended")
    lab.meanwhile(process, lambda: len(lab.counts("graded")) == MANY - 2, "the others are graded")
    lab.hold(*range(MANY))  # nothing more is to be begun that ends
    cluster.node_fails()
    cluster.start_node()
    lab.meanwhile(process, lambda: lab.counts("begun")[9] == 2, "one is begun anew")
    assert process.poll() is None
    lab.let_go(*range(MANY))
    status, out, errors = lab.ended(process)
    assert status == 1
    assert "lab: s05: TIMEOUT: its time was up (--time gives it more)\n" in errors
    assert "1 of 20 without a grade: the same command grades these alone\n" in errors
    names = {f"s{number:02}" for number in range(MANY)}
    assert table(lab) == dict.fromkeys(names - {"s05"}, "9")
    assert {line.split()[0] for line in out.splitlines()[1:]} == names - {"s05"}

    status, out, errors = lab.run(*command)
    assert status == 0
    assert "19 of them as graded before" in errors
    assert table(lab) == dict.fromkeys(names, "9")
    assert lab.counts("graded") == Counter(range(MANY))
    assert {path.parent.name for path in lab.home.glob("grades/*/report.html")} == names


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_ends_lab_ends_the_job(lab: Lab, command, number: signal.Signals) -> None:
    lab.hold(3, 4)
    process = lab.start(*command)
    lab.meanwhile(process, lambda: {3, 4} <= set(lab.counts("begun")), "two are being graded")
    lab.meanwhile(process, lambda: len(lab.counts("graded")) == 3, "three are graded")
    process.send_signal(number)
    status, _, errors = lab.ended(process)
    assert status == 128 + number
    assert " is cancelled\n" in errors
    until(lambda: not lab.in_queue(), "the queue is empty")
    assert lab.counts("graded") == Counter(range(3))

    lab.let_go(3, 4)
    assert lab.run(*command)[0] == 0
    assert lab.counts("graded") == Counter(range(MANY))
    assert len(table(lab)) == MANY


@pytest.mark.parametrize(
    ("end", "why"),
    [("cancel", "CANCELLED: it was cancelled"), ("fail", "NODE_FAIL: its node has failed")],
)
def test_a_job_that_something_ends_is_not_begun_anew(lab: Lab, cluster, end: str, why: str) -> None:
    lab.program("program", "echo begun; exec sleep 1000")
    process = lab.start("run", "order", "--slurm")
    lab.meanwhile(process, lambda: lab.said("stdout") == "begun\n", "it runs")
    job = lab.job()
    if end == "cancel":
        cluster.order("scancel", job)
    else:
        cluster.node_fails()
        cluster.start_node()
    status, out, errors = lab.ended(process)
    assert (status, out) == (1, "begun\n")
    assert errors.endswith(f"lab: job {job}: {why}\n")


def test_a_job_goes_on_where_lab_is_killed(lab: Lab) -> None:
    lab.hold(1)
    lab.program("program", f"echo begun; {lab.held} echo done")
    process = lab.start("run", "order", "--slurm")
    lab.meanwhile(process, lambda: lab.said("stdout") == "begun\n", "it runs")
    process.kill()
    process.wait()
    lab.let_go(1)
    folder = lab.home / "out" / "slurm" / "1"
    until((folder / "status").exists, "it has ended")
    assert (folder / "status").read_text() == "0\n"
    assert (folder / "output").read_text() == "begun\ndone\n"
