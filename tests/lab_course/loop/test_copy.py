"""The student's copy of an exercise, and what becomes of it when the original changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from exercise_sample import FACTS
from grading_sample import ASSIGNMENT, ASSIGNMENT_ON_GPU, SOURCE
from lab_cli import catalogue, main, work
from lab_cli.assignments import POINTS
from lab_cli.commands import list as list_command
from lab_cli.commands import run, trace
from lab_cli.machine import backend
from lab_cli.machine.gpu import Driver
from lab_cli.results import marks
from lab_course.commands import grade
from lab_course.grading import programs
from lab_course.handouts import choice
from lab_course.handouts.host_code import Lexer, Span, names_of_rows
from lab_course.loop import current
from lab_course.loop.copy import Copy
from lab_course.reporting import changes
from lab_course.reporting.text import Cleaner

OWN_BODY = "\n    out[threadIdx.x] = 2 * in[threadIdx.x];\n"


@pytest.fixture
def original(exercises, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The NAME.cu of an exercise with an assignment."""
    monkeypatch.setattr(choice, "ROOT", tmp_path)
    source = exercises("ch03/order", FACTS + ASSIGNMENT)
    source.write_text(SOURCE)
    return source


@pytest.fixture
def copy(original: Path) -> Copy:
    found = Copy(catalogue.one("order"))
    found.start()
    return found


def write_kernel(copy: Copy, body: str = OWN_BODY) -> None:
    text = copy.file.read_text()
    start = text.index("{", text.index("void better")) + 1
    copy.file.write_text(text[:start] + body + text[text.index("}", start) :])


def test_only_the_assignment_is_blank(copy: Copy) -> None:
    text = copy.file.read_text()
    assert "out[threadIdx.x] = in[threadIdx.x];" not in text
    assert "TODO: Write in order." in text
    assert text[: text.index("// Right")] == SOURCE[: SOURCE.index("// Right")]
    assert "TODO" in text.splitlines()[copy.line_of(["better"]) - 1]


def hide_a_kernel(source: Path) -> None:
    """Adds the kernel best to an exercise, and lets its assignment hide it."""
    best = "__global__ void best(float* out) {\n}\n\n// Right order."
    source.write_text(source.read_text().replace("// Right order.", best))
    facts = source.with_name("exercise.toml")
    before = 'before = "before"'
    facts.write_text(facts.read_text().replace(before, f'{before}\nhides = ["best"]'))


def test_start_says_which_kernels_are_left_out(copy: Copy, capsys) -> None:
    assert copy.left_out() == []
    hide_a_kernel(copy.exercise.source)
    assert main.main(["start", "order"]) == 0
    assert "best" in capsys.readouterr().out


def test_what_an_assignment_hides_comes_back_when_it_is_solved(original: Path, capsys) -> None:
    hide_a_kernel(original)
    copy = Copy(catalogue.one("order"))
    copy.start()
    write_kernel(copy)
    copy.refresh()
    assert "best" not in copy.file.read_text()
    marks.record_points("putInOrder", POINTS - 1)
    copy.refresh()
    assert "best" not in copy.file.read_text()

    marks.record_points("putInOrder", POINTS)
    copy.refresh()
    text = copy.file.read_text()
    assert "void best(" in text and OWN_BODY in text
    assert copy.left_out() == []
    assert "left out" in capsys.readouterr().err
    copy.refresh()
    assert copy.file.read_text() == text


def test_texts_are_no_rows_unless_a_rung_has_them() -> None:
    text = 'ladder.rung("one", grid, check("array")); ladder.rung({"two", "memory"}, grid);'
    stream = Lexer("order.cu", text).streams[0]
    assert names_of_rows(stream, Span(0, len(stream.tokens))) == {"one", "two"}


def test_name_means_the_copy_while_it_is_there(copy: Copy, original: Path) -> None:
    exercise = copy.exercise
    assert work.source_of(exercise) == copy.file
    assert exercise.target == "order"
    work.mean_shipped()
    assert work.source_of(exercise) == original
    assert exercise.target == "order_shipped"
    copy.file.unlink()
    assert exercise.target == "order"


def test_a_report_has_what_the_student_wrote(copy: Copy) -> None:
    assert changes.of(copy.exercise, Cleaner()).files == []
    write_kernel(copy)
    (change,) = changes.of(copy.exercise, Cleaner()).files
    assert "+    out[threadIdx.x] = 2 * in[threadIdx.x];" in change.diff.text


def test_what_needs_a_gpu_is_not_judged_without_one(
    copy: Copy, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = copy.exercise.source.with_name("exercise.toml")
    facts.write_text("gpu_only = true\n" + FACTS + ASSIGNMENT_ON_GPU)
    monkeypatch.setattr(programs, "ask_driver", lambda: Driver(problem="no NVIDIA driver"))
    assert main.main(["start", "order"]) == 0
    assert "on a machine with a GPU" in capsys.readouterr().out
    for words in (["watch", "order"], ["grade", "putInOrder"]):
        assert main.main(words) == 1
        assert "no NVIDIA driver" in capsys.readouterr().err
    assert main.main(["grade", "putInOrder", "--backend", "cpu"]) == 2
    assert "graded on a GPU alone" in capsys.readouterr().err


def test_what_needs_a_gpu_comes_last_where_there_is_none(
    copy: Copy, exercises, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = copy.exercise.source.with_name("exercise.toml")
    facts.write_text("gpu_only = true\n" + FACTS + ASSIGNMENT_ON_GPU)
    other = ASSIGNMENT.replace("putInOrder", "another")
    exercises("ch04/other", FACTS + other).write_text(SOURCE)
    for has_gpu, name in ((True, "order"), (False, "other")):
        monkeypatch.setattr(backend, "has_gpu", lambda there=has_gpu: there)
        found = current.next_after()
        assert found and found.name == name
    marks.record_points("another", POINTS)
    found = current.next_after()
    assert found and found.name == "order"


def test_start_does_not_touch_what_is_started(copy: Copy, capsys) -> None:
    write_kernel(copy)
    assert main.main(["start", "order"]) == 0
    assert OWN_BODY in copy.file.read_text()
    assert "started already" in capsys.readouterr().out


def test_what_changes_elsewhere_in_the_original_comes_into_the_copy(
    copy: Copy, original: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_kernel(copy)
    newer = SOURCE.replace("kBlock = 64", "kBlock = 128")
    original.write_text(newer)
    ran = []
    monkeypatch.setattr(run, "run", lambda _: ran.append(copy.file.read_text()) or 0)
    assert main.main(["run", "order", "--shipped"]) == 0
    monkeypatch.setattr(work, "_shipped", False)
    assert main.main(["run", "order"]) == 0
    assert ["kBlock = 128" in text for text in ran] == [False, True] and OWN_BODY in ran[1]


@pytest.mark.parametrize(
    ("command", "is_about_it"),
    [
        ("run", True),
        ("run order", True),
        ("run ch03", True),
        ("run ch04", False),
        ("trace order", True),
        ("trace other", False),
        ("grade putInOrder", True),
        ("grade putInOrder handed-in", False),
        ("grade", False),
        ("list", False),
    ],
)
def test_a_command_says_whether_it_takes_the_copy(
    copy: Copy, capsys, monkeypatch: pytest.MonkeyPatch, command: str, is_about_it: bool
) -> None:
    for module in (run, trace, grade, list_command):
        monkeypatch.setattr(module, "run", lambda _: 0)
    assert main.main(command.split()) == 0
    assert (str(copy.file) in capsys.readouterr().err) == is_about_it


def test_a_change_where_the_student_writes_is_told_and_nothing_is_lost(
    copy: Copy, original: Path, capsys
) -> None:
    write_kernel(copy)
    before = copy.file.read_text()
    original.write_text(SOURCE)
    facts = original.with_name("exercise.toml")
    facts.write_text(facts.read_text().replace("Write in order.", "Write in rows."))
    Copy(catalogue.one("order")).refresh()
    assert copy.file.read_text() == before
    assert "has changed where you have written" in capsys.readouterr().err
    assert OWN_BODY in (copy.own / "merged.cu").read_text()
    Copy(catalogue.one("order")).refresh()
    assert capsys.readouterr().err == ""  # once is enough


def test_reset_keeps_what_was_there(copy: Copy) -> None:
    blank = copy.file.read_text()
    for number in (1, 2):
        write_kernel(copy)
        assert main.main(["reset"]) == 0
        assert copy.file.read_text() == blank
        assert OWN_BODY in copy.file.with_name(f"order.{number}.cu").read_text()


def test_hints_come_one_at_a_time(copy: Copy, capsys) -> None:
    hints = copy.exercise.facts.assignments[0].hints
    for number in [0, 1, 2, 2]:
        assert main.main(["hint"]) == 0
        out = capsys.readouterr().out
        assert [hint in out for hint in hints].count(True) == 1 and hints[number] in out
    assert marks.of("putInOrder").hints == 3


def test_a_hint_on_a_task_of_the_page(exercises, capsys) -> None:
    exercises("ch03/order", FACTS + '[hints]\n2 = "Count them."\n')
    assert main.main(["hint", "order", "2"]) == 0
    assert "Count them." in capsys.readouterr().out
    assert main.main(["hint", "order", "3"]) == 2
    assert "hints on tasks 2" in capsys.readouterr().err


def test_the_solution_is_the_difference_and_counts_as_seen(copy: Copy, capsys) -> None:
    write_kernel(copy)
    assert main.main(["solution"]) == 2  # there is nobody to ask
    assert not marks.of("putInOrder").seen and capsys.readouterr().out == ""
    assert main.main(["solution", "--yes"]) == 0
    out = capsys.readouterr().out
    assert "-    out[threadIdx.x] = 2 * in[threadIdx.x];" in out
    assert "+    out[threadIdx.x] = in[threadIdx.x];" in out
    assert marks.of("putInOrder").seen


def test_who_has_solved_it_may_look(copy: Copy) -> None:
    marks.record_points("putInOrder", 10)
    assert main.main(["solution"]) == 0
    assert marks.of("putInOrder").by_own_work


@pytest.mark.parametrize("command", ["watch", "hint", "solution", "reset"])
def test_without_a_copy_it_says_how_to_begin(original: Path, capsys, command: str) -> None:
    for names in ([], ["order"]):
        assert main.main([command, *names]) == 2
        assert "./lab start" in capsys.readouterr().err


def test_the_last_one_worked_on_is_meant(copy: Copy, exercises, capsys) -> None:
    other = exercises(
        "ch03/other", FACTS.replace("10", "20") + ASSIGNMENT.replace("putInOrder", "more")
    )
    other.write_text(SOURCE)
    assert main.main(["start", "other"]) == 0
    assert main.main(["hint"]) == 0
    assert marks.of("more").hints == 1
    write_kernel(copy)
    assert main.main(["hint"]) == 0
    assert marks.of("putInOrder").hints == 1
