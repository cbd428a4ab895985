"""./lab grade: one's own kernels, and those of submissions. (What they are worth: tests/lab_course/grading,
with what they are built and run with: test_hostile.py there.)"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from exercise_sample import FACTS
from grading_sample import (
    ASSIGNMENT,
    GOOD_ROWS,
    SOURCE,
    FakeWorkshop,
    counted,
    exercise_at,
    row,
)
from lab_cli import main, metrics
from lab_cli.assignments import Speed
from lab_cli.machine import setup
from lab_cli.paths import ROOT
from lab_cli.results import marks
from lab_course.cluster import settings
from lab_course.cluster.script import Work
from lab_course.commands import grade
from lab_course.grading import sandbox
from lab_course.grading.programs import PROFILE, Refused, Run
from lab_course.handouts import choice
from lab_course.loop.copy import Copy

NO_KERNEL = "order.cu: better is not there: it must be there once"


@pytest.fixture
def workshop(exercises, monkeypatch) -> FakeWorkshop:
    """main() with an assignment, and nothing that is built."""
    place = exercises("chapter/order", FACTS + ASSIGNMENT)
    fake = FakeWorkshop(exercise_at(place))
    monkeypatch.setattr(grade, "workshop", lambda *_, **__: fake)
    monkeypatch.setattr(grade, "_identity", lambda *_: "identity")
    monkeypatch.setattr(grade.machine, "of", lambda backend: {"CPU": "a CPU"})
    monkeypatch.setattr(setup, "python_for", lambda modules: sys.executable)
    monkeypatch.setattr(setup, "sandbox", lambda: None)
    monkeypatch.setattr(sandbox, "problem", lambda: "")
    return fake


@pytest.fixture
def started(workshop, tmp_path, monkeypatch) -> Path:
    """The student's copy, solved."""
    monkeypatch.setattr(choice, "ROOT", tmp_path)
    workshop.exercise.source.write_text(SOURCE)
    copy = Copy(workshop.exercise)
    copy.start()
    copy.file.write_text(SOURCE)
    return copy.file


@pytest.fixture
def handed_in(tmp_path) -> Path:
    pytest.importorskip("jinja2")
    folder = tmp_path / "handed in"
    for name, text in {
        "anna": SOURCE,
        "bert": SOURCE.replace("in[threadIdx.x];\n}\n\nlab", "in[0]; // <b>&amp;\n}\n\nlab"),
        "carl": "",
    }.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "order.cu").write_text(text)
    return folder


def lab_grade(*arguments: object) -> int:
    return main.main(["grade", *map(str, arguments)])


def graded(folder: Path) -> list[str]:
    """The rows of grades.csv."""
    return (folder / "grades.csv").read_text().splitlines()[1:]


def names_of(folder: Path) -> list[str]:
    return [line.split(",")[0] for line in graded(folder)]


def test_all_points(started, capsys) -> None:
    assert lab_grade("putInOrder") == 0
    assert capsys.readouterr().out == (
        "putInOrder: Write in order.\n\n"
        "   yes  right with --size=10\n"
        "   yes  right with --size=33\n"
        "   yes  no hazards\n"
        "   yes  gst_efficiency >= 95 %\n\n"
        "10 of 10 points\n"
    )
    assert marks.of("putInOrder").points == 10


def test_what_is_missing_and_what_to_look_at(workshop, started, capsys) -> None:
    wrong = Run([row("before"), row("better", "WRONG")], ["    WRONG: better: element 3 is 4"])
    workshop.runs["--size=33", ""] = wrong
    assert lab_grade("putInOrder") == 1
    out = capsys.readouterr().out
    assert "    no  right with --size=33\n        WRONG: better: element 3" in out
    assert "0 of 10 points\n\nLook at it next: ./lab run order -- --size=33\n" in out
    assert re.search(r"chapter/order/README.md\n$", out)
    assert marks.of("putInOrder").points == 0


def test_why_nothing_is_judged(workshop, started, capsys) -> None:
    workshop.does_not_compile = "does not compile: order.cu:12:1: error: x\norder.cu:12:1: error: x"
    assert lab_grade("putInOrder") == 1
    out = capsys.readouterr().out
    assert "0 of 10 points\n\ndoes not compile: order.cu:12:1: error: x\n" in out


def test_the_exercise_as_it_came_counts_for_nobody(workshop, capsys) -> None:
    assert lab_grade("putInOrder") == 2
    assert "--shipped" in capsys.readouterr().err and workshop.asked == []
    assert lab_grade("putInOrder", "--shipped") == 0
    assert marks.of("putInOrder").points is None


def test_all_assignments(workshop, capsys) -> None:
    marks.record_points("putInOrder", 4)
    assert lab_grade() == 0
    assert capsys.readouterr().out.split() == ["putInOrder", "★", "4", "of", "10", "order"]


def test_submissions(workshop, handed_in, tmp_path, capsys) -> None:
    out = tmp_path / "grades"
    assert lab_grade("putInOrder", handed_in, "-o", out) == 0
    first = capsys.readouterr().out
    assert [line.split()[:2] for line in first.splitlines()[1:]] == [
        ["anna", "10"],
        ["bert", "10"],
        ["carl", "0"],
    ]
    assert first.endswith(f"{NO_KERNEL}\n")
    assert graded(out) == [
        "anna,10,10,yes,yes,yes,yes,",
        "bert,10,10,yes,yes,yes,yes,",
        f"carl,0,10,no,no,no,no,{NO_KERNEL}",
    ]
    assert json.loads((out / "bert" / "results.json").read_text())["score"] == 10
    page = (out / "bert" / "report.html").read_text()
    assert "10 of 10 points" in page and "&lt;b&gt;&amp;amp;" in page and "<b>" not in page
    assert NO_KERNEL in (out / "carl" / "report.html").read_text()

    pages = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    workshop.asked.clear()
    assert lab_grade("putInOrder", handed_in, "-o", out) == 0
    again = capsys.readouterr()
    assert (workshop.asked, again.out) == ([], first)
    assert "3 of them as graded before" in again.err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == pages


def test_reports_are_html(workshop, handed_in, tmp_path) -> None:
    """To the letter of its standard, whatever was handed in."""
    html5lib = pytest.importorskip("html5lib")
    wrong = Run([row("before"), row("better", "WRONG")], ["    WRONG: better: <b>\x1b[1m & </pre>"])
    workshop.runs["--size=33", ""] = wrong
    strange = SOURCE.replace(
        "in[threadIdx.x];\n}\n\nlab", "in[0]; // \x1b]0;x\x07 \x01 \udcff\n}\n\nlab"
    )
    (handed_in / "bert" / "order.cu").write_text(strange, errors="surrogateescape")
    lab_grade("putInOrder", handed_in, "-o", tmp_path / "out")
    for page in (tmp_path / "out").glob("*/report.html"):
        text = page.read_text(encoding="utf-8")
        html5lib.HTMLParser(strict=True).parse(text)
        assert "&lt;b&gt;" in text or page.parent.name == "carl"


def test_a_report_says_what_a_missed_count_means(workshop, handed_in, tmp_path) -> None:
    (metric,) = metrics.load().find(["gst_efficiency"])
    meaning = f"{metric.name}: {metric.meaning}"
    for efficiency, missed in ((100.0, False), (12.5, True)):
        workshop.runs["--size=64", PROFILE] = Run(GOOD_ROWS, counts=counted(efficiency))
        out = tmp_path / str(efficiency)
        lab_grade("putInOrder", handed_in, "-o", out)
        text = (out / "anna" / "report.html").read_text()
        assert (meaning in text, "12.5 %" in text) == (missed, missed)


def test_submissions_behind_options(workshop, handed_in, tmp_path) -> None:
    out = tmp_path / "out"
    assert lab_grade("putInOrder", "--only=bert", handed_in, "-o", out) == 0
    assert lab_grade("-o", out, "putInOrder", "--timeout", 5, handed_in / "anna", handed_in) == 2
    assert lab_grade("putInOrder", handed_in / "anna", "-o", out, handed_in / "carl") == 0
    assert sorted(path.name for path in out.iterdir()) == ["anna", "bert", "carl", "grades.csv"]


def test_a_mistake_in_further_options_is_seen_first(workshop, handed_in, tmp_path, capsys) -> None:
    workshop.runs["--sizes=7", ""] = Refused("ended with exit status 2\norder: --sizes: no such")
    words = ["putInOrder", handed_in, "-o", tmp_path / "out", "--also=--sizes=7"]
    for slurm in ([], ["--slurm"]):
        assert lab_grade(*words, *slurm) == 2
        assert capsys.readouterr().err.endswith("lab: --also=--sizes=7: order: --sizes: no such\n")
        assert workshop.asked == [("--sizes=7", "")]
        workshop.asked.clear()


def test_without_a_sandbox_nothing_is_run(
    workshop, handed_in, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(sandbox, "problem", lambda: "no sandbox can be made: x")
    words = ["putInOrder", handed_in, "-o", tmp_path / "out"]
    assert lab_grade(*words) == 1
    err = capsys.readouterr().err
    assert err.startswith("lab: no sandbox can be made: x. ") and "--no-sandbox" in err
    assert workshop.asked == []
    assert lab_grade(*words, "--no-sandbox") == 0
    assert "may do whatever you may" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["putInOrdre"], "no assignment is named putInOrdre; did you mean putInOrder?"),
        (["xyzzy"], "no assignment is named xyzzy; ./lab grade lists them all"),
        (["putInOrder", "-o", "x"], "-o: no submission is named"),
        (["putInOrder", "--only=anna"], "--only: no submission is named"),
        (["putInOrder", "--no-sandbox"], "--no-sandbox: no submission is named"),
        (["putInOrder", "nowhere"], "there is no file or folder nowhere"),
        (["putInOrder", "--also", "'"], "'"),
        ([""], "expected a name"),
    ],
)
def test_bad_usage(workshop, capsys, arguments: list[str], problem: str) -> None:
    assert lab_grade(*arguments) == 2
    assert problem in capsys.readouterr().err
    assert workshop.asked == []


def test_two_assignments_of_one_name(workshop, exercises, capsys) -> None:
    exercises("chapter/other", FACTS.replace("10", "20") + ASSIGNMENT)
    assert lab_grade("putInOrder") == 1
    assert "the assignment putInOrder has the name of one of order" in capsys.readouterr().err


def test_where_the_grades_cannot_be_kept(workshop, handed_in, tmp_path, capsys) -> None:
    (tmp_path / "file").touch()
    assert lab_grade("putInOrder", handed_in, "-o", tmp_path / "file") != 0
    assert "file" in capsys.readouterr().err
    assert workshop.asked == []


def test_one_of_many(workshop, handed_in, tmp_path, capsys) -> None:
    out = tmp_path / "grades"
    assert lab_grade("putInOrder", handed_in, "-o", out, "--only", "bert") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]] == ["bert"]
    assert sorted(path.name for path in out.rglob("*")) == ["bert", "report.html", "results.json"]
    assert lab_grade("putInOrder", handed_in, "-o", out, "--only", "brt") == 2
    assert "no submission is named brt; did you mean bert?" in capsys.readouterr().err


def test_the_command_line_once_more(workshop, handed_in, tmp_path, monkeypatch) -> None:
    """In another Python: nothing of it is lost."""
    ran: list[list[str]] = []
    monkeypatch.setattr(setup, "python_for", lambda modules: "/another/python")
    monkeypatch.setattr(grade, "run_shown", lambda command: ran.append(command) or 0)
    words = ["putInOrder", str(handed_in), "--also=--size=3 --x", "--timeout=5", "-o", "out"]
    assert lab_grade(*words) == 0
    assert ran == [["/another/python", "-B", str(ROOT / "lab"), "grade", *words]]


@pytest.fixture
def slurm(workshop, monkeypatch) -> Slurm:
    found = Slurm()
    monkeypatch.setattr(grade.job, "run_each", found.run_each)
    monkeypatch.setattr(settings, "files", lambda: [])
    return found


class Slurm:
    """Runs each element at once; of the names in `fails`, nothing but to say why."""

    def __init__(self) -> None:
        self.fails: dict[str, str] = {}
        self.work: list[Work] = []

    def run_each(self, work: Work, what: str) -> dict[str, str]:
        self.work.append(work)
        for name in work.names:
            if name not in self.fails:
                assert main.main([*work.words, f"--only={name}"]) == 0
        return {name: self.fails.get(name, "") for name in work.names}


def test_each_submission_is_an_element(workshop, handed_in, tmp_path, slurm, capsys) -> None:
    out = tmp_path / "grades"
    words = ["putInOrder", handed_in, "-o", out, "--also=--size=77", "--no-sandbox"]
    slurm.fails = {"bert": "TIMEOUT: x", "carl": "TIMEOUT: x"}
    assert lab_grade(*words, "--slurm", "--time=5") == 1
    (work,) = slurm.work
    assert work.words == ["grade", *map(str, words)]
    assert work.settings.time == "5"
    assert work.names == ["anna", "bert", "carl"]
    assert capsys.readouterr().err.endswith(
        "lab: bert, carl: TIMEOUT: x\n2 of 3 without a grade: the same command grades these alone\n"
    )
    assert names_of(out) == ["anna"]

    slurm.fails = {}
    assert lab_grade(*words, "--slurm") == 0
    assert slurm.work[1].names == ["bert", "carl"]
    there = capsys.readouterr()
    assert "1 of them as graded before" in there.err
    table = (out / "grades.csv").read_bytes()
    assert lab_grade(*words) == 0  # the same here
    assert there.out.endswith(capsys.readouterr().out)
    assert (out / "grades.csv").read_bytes() == table
    assert lab_grade(*words, "--slurm") == 0
    assert len(slurm.work) == 2  # nothing is left to do


def test_an_element_that_is_ended_before_its_report(workshop, handed_in, tmp_path, slurm) -> None:
    out = tmp_path / "out"
    words = ["putInOrder", handed_in, "-o", out, "--slurm"]
    assert lab_grade(*words) == 0
    kept = {path: path.read_bytes() for path in out.glob("*/results.json")}
    (out / "anna" / "report.html").unlink()
    os.utime(out / "bert" / "report.html", (0, 0))  # of an earlier grade
    workshop.asked.clear()
    assert lab_grade(*words) == 0
    assert slurm.work[1].names == ["anna", "bert"]
    assert len([*out.glob("*/report.html")]) == 3 == len(kept)
    assert workshop.asked == []  # graded once
    assert {path: path.read_bytes() for path in kept} == kept


@pytest.mark.parametrize("graded_before", [False, True])
def test_what_changes_while_it_is_graded_is_said(
    workshop, handed_in, tmp_path, slurm, monkeypatch, capsys, graded_before: bool
) -> None:
    """Also where it is another's grade that is waited for."""
    monkeypatch.setattr(grade.waiting, "GRACE", 0)
    out, really = tmp_path / "out", slurm.run_each
    if graded_before:
        lab_grade("putInOrder", handed_in / "anna", "-o", out)

    def changing(work: Work, what: str) -> dict[str, str]:
        ends = really(work, what)
        (handed_in / "anna" / "order.cu").write_text(SOURCE + "// another")
        return ends

    monkeypatch.setattr(grade.job, "run_each", changing)
    assert lab_grade("putInOrder", handed_in, "-o", out, "--slurm") == 1
    assert ("anna" in slurm.work[0].names) != graded_before
    assert "lab: anna: graded, but not as it is now: " in capsys.readouterr().err


def test_grades_that_a_network_file_system_shows_late(
    workshop, handed_in, tmp_path, slurm, monkeypatch
) -> None:
    out = tmp_path / "out"
    late, really = out / "anna" / "late", slurm.run_each

    def hides(work: Work, what: str) -> dict[str, str]:
        ends = really(work, what)
        (out / "anna" / "results.json").rename(late)
        return ends

    def shows(seconds: float) -> None:
        late.rename(out / "anna" / "results.json")

    monkeypatch.setattr(grade.job, "run_each", hides)
    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=shows)
    monkeypatch.setattr(grade, "time", clock)
    assert lab_grade("putInOrder", handed_in, "-o", out, "--slurm") == 0
    assert names_of(out) == ["anna", "bert", "carl"]


def test_the_script_alone(workshop, handed_in, tmp_path, slurm, capsys) -> None:
    out = tmp_path / "grades"
    assert lab_grade("putInOrder", handed_in, "-o", out, "--slurm", "--dry-run") == 0
    text = capsys.readouterr().out
    assert "\nnames=(\n    anna\n    bert\n    carl\n)\n" in text
    assert "#SBATCH --array=0-2\n" in text
    assert not out.exists()
    assert slurm.work == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ["--backend=cpu"]),
        (["--gres=gpu:1"], ["--backend=gpu"]),
        (["--backend=gpu"], []),
        (["--gres=gpu:1", "--backend=cpu"], []),
    ],
)
def test_all_are_graded_on_one_back_end(
    workshop, handed_in, tmp_path, slurm, monkeypatch, options: list[str], words: list[str]
) -> None:
    exercise, found = grade.assignment_catalogue.one("putInOrder")
    fast = dataclasses.replace(found, speed=Speed("before", 0.9, "--size=64"))
    monkeypatch.setattr(grade.assignment_catalogue, "one", lambda name: (exercise, fast))
    given: list[bool] = []
    monkeypatch.setattr(
        grade, "_identity", lambda grader, also, on_gpu: given.append(on_gpu) or "x"
    )
    slurm.run_each = lambda work, what: slurm.work.append(work) or dict.fromkeys(work.names, "lost")
    monkeypatch.setattr(grade.job, "run_each", slurm.run_each)
    assert lab_grade("putInOrder", handed_in, "-o", tmp_path / "out", "--slurm", *options) == 1
    left = [option for option in options if not option.startswith("--gres")]
    assert slurm.work[0].words[5:] == [*left, *words]
    assert given == ["gpu" in (words or left)[0]]


def test_ones_own_kernels_as_a_job(workshop, slurm, capsys) -> None:
    assert lab_grade("putInOrder", "--slurm", "--dry-run") == 0
    assert "/lab grade putInOrder\nend $?\n" in capsys.readouterr().out
