"""Which exercises there are: those of a made-up checkout, and those of the project."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from exercise_sample import ASSIGNMENT, FACTS
from lab_cli import catalogue, main
from lab_cli.catalogue import sentence_about
from lab_cli.errors import LONGEST, LabError, printable


@pytest.fixture
def checkout(exercises):
    exercises("ch03_execution_model/reduceInteger", FACTS.replace("10", "20"))
    exercises("ch03_execution_model/warpLayout", FACTS.replace("10", "3"))
    exercises("ch04_memory/transpose")
    exercises("ch09_tensor/wgmma", "gpu_only = true\n" + FACTS)
    return exercises


def names(found: list[catalogue.Exercise]) -> list[str]:
    return [exercise.name for exercise in found]


def problems_of(*asked: str) -> list[str]:
    """The lines of the LabError."""
    with pytest.raises(LabError) as raised:
        catalogue.exercises(asked)
    assert raised.value.status == (2 if "no exercise is named" in str(raised.value) else 1)
    return str(raised.value).splitlines()


def test_no_names_mean_all_by_chapter_and_order(checkout) -> None:
    found = catalogue.exercises()
    assert names(found) == ["warpLayout", "reduceInteger", "transpose", "wgmma"]
    assert [exercise.chapter for exercise in found[1:3]] == ["ch03_execution_model", "ch04_memory"]
    assert [exercise.facts.gpu_only for exercise in found] == [False, False, False, True]


def test_a_broken_file_stops_only_work_on_its_exercise_and_on_all(checkout) -> None:
    checkout("ch04_memory/transpose", "order = 'x'\n")
    checkout("ch09_tensor/wgmma", "[bench\n")
    assert names(catalogue.exercises(["reduceInteger"])) == ["reduceInteger"]
    assert problems_of("transpose") == problems_of()[:4]
    assert "ch04_memory/transpose/exercise.toml: order = 'x': expected" in problems_of()[0]
    assert "ch04_memory/transpose/exercise.toml: idea is missing" in problems_of()[1]
    assert "ch09_tensor/wgmma/exercise.toml: " in problems_of()[-1]


def test_a_missing_half_is_named(checkout) -> None:
    source = checkout("ch04_memory/stencil")
    source.unlink()
    (line,) = problems_of("stencil")
    assert "ch04_memory/stencil/stencil.cu is missing" in line
    assert names(catalogue.exercises(["transpose"])) == ["transpose"]
    source.with_name("exercise.toml").unlink()
    source.touch()
    (line,) = problems_of("stencil")
    assert re.search(r"stencil.cu is there, \S*stencil/exercise.toml is missing", line)


def test_a_program_of_ones_own_in_a_chapter_stops_nothing(checkout) -> None:
    source = checkout("ch04_memory/scratch")
    source.with_name("exercise.toml").unlink()
    assert len(catalogue.exercises()) == 4
    assert catalogue.at(str(source)) is None


def test_order_is_unique_in_a_chapter(checkout) -> None:
    checkout("ch04_memory/copy")
    checkout("ch04_memory/other", FACTS.replace("10", "11"))
    (line,) = problems_of()
    assert line.endswith("ch04_memory/transpose/exercise.toml: order = 10 is that of copy already")
    assert names(catalogue.exercises(["copy"])) == ["copy"]


def test_names_are_unique(checkout) -> None:
    checkout("ch09_tensor/transpose")
    (line,) = problems_of("transpose")
    assert re.search(r"ch09_tensor/\S*\.cu has the name of another: \S*ch04_memory/\S*\.cu", line)


def test_chapters_by_name_or_what_it_begins_with(checkout) -> None:
    assert names(catalogue.exercises(["ch03"])) == ["reduceInteger", "warpLayout"]
    assert names(catalogue.exercises(["ch04_memory/"])) == ["transpose"]
    assert names(catalogue.exercises(["warpLayout", "ch03"])) == ["warpLayout", "reduceInteger"]
    assert names(catalogue.exercises(["ch04_mem"])) == ["transpose"]
    for name in ("ch", "ch0", "memory", "/"):
        (line,) = problems_of(name)
        assert line.startswith(f"no exercise is named {name}")


def test_chapters_are_in_the_order_of_their_names(exercises, tmp_path) -> None:
    folders = ["z", "b", "y", "a", "m", "x", "c", "k"]
    for number, folder in enumerate(folders):
        exercises(f"{folder}/name{number}")
    for place in ("common", "emulator", "tests", "tests/program"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "CMakeLists.txt").touch()
    (tmp_path / "tests" / "program" / "program.cu").touch()
    assert [path.name for path in catalogue.chapters()] == sorted(folders)
    assert len(catalogue.exercises()) == len(folders)


def test_by_back_end(checkout) -> None:
    found = catalogue.exercises()
    assert names(catalogue.of_backend(found, "gpu", True)) == names(found)
    assert names(catalogue.of_backend(found, "cpu", False)) == names(found)[:3]
    assert names(catalogue.of_backend(found[:3], "cpu", True)) == names(found)[:3]
    checkout("ch09_tensor/copy", "gpu_only = true\n" + FACTS.replace("10", "20"))
    with pytest.raises(LabError, match="^wgmma, copy: only on the gpu back end$"):
        catalogue.of_backend(catalogue.exercises(), "cpu", True)


def test_one_is_not_a_chapter(checkout) -> None:
    transpose = catalogue.one("transpose")
    assert transpose.program(Path("out"), True) == Path("out/ch04_memory/transpose_instrumented")
    for call in (catalogue.one, catalogue.at):
        with pytest.raises(LabError, match="^ch03 is .*: reduceInteger, warpLayout$") as raised:
            call("ch03")
        assert raised.value.status == 2


def test_by_source_file(checkout, tmp_path) -> None:
    source = tmp_path / "ch04_memory" / "transpose" / "transpose.cu"
    assert names([catalogue.at(str(source))]) == ["transpose"]
    assert names([catalogue.at("transpose")]) == ["transpose"]
    own = tmp_path / "transpose.cu"
    own.touch()
    assert catalogue.at(str(own)) is None
    link = tmp_path / "deep" / "elsewhere" / "transpose.cu"
    link.parent.parent.mkdir()
    link.parent.symlink_to(source.parent)
    assert names([catalogue.at(str(link))]) == ["transpose"]


def test_what_is_no_source_file(checkout, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.cu").mkdir()
    os.mkfifo(tmp_path / "fifo.cu")
    (tmp_path / "loop.cu").symlink_to("loop.cu")
    (tmp_path / "secret.cu").touch()
    (tmp_path / "own.cu").touch()
    monkeypatch.setattr(catalogue.os, "access", lambda path, mode: path != "secret.cu")
    for path, problem in [
        ("none.cu", "there is no file none.cu"),
        ("loop.cu", "there is no file loop.cu"),
        ("folder.cu", "folder.cu is a folder"),
        ("fifo.cu", "fifo.cu is not a file"),
        ("secret.cu", "secret.cu cannot be read"),
        ("ch04_memory/wgmma.cu", "there is no file ch04_memory/wgmma.cu; the exercise is wgmma"),
        ("a\nb\x1b\udcff.cu", r"there is no file a\nb\x1b\xff.cu"),
        ("x" * 5000 + ".cu", f"there is no file {'x' * 157}..."),
    ]:
        for arguments in ([path], ["own.cu", path]):
            with pytest.raises(LabError) as raised:
                catalogue.at(*arguments)
            assert str(raised.value).startswith(problem)
            assert raised.value.status == 2


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("TRANSPOSE", "TRANSPOSE; did you mean transpose?"),
        ("tranpsose", "tranpsose; did you mean transpose?"),
        ("transpose/", "transpose/; did you mean transpose?"),
        ("ch04_memory/transpose.md", "ch04_memory/transpose.md; did you mean transpose?"),
        ("ch04_memry", "ch04_memry; did you mean ch04_memory?"),
        ("", "''; ./lab list shows them all"),
        ("zzz", "zzz; ./lab list shows them all"),
        ("zz\nz", "zz\\nz; ./lab list shows them all"),
        ("z" * 5000, "z" * 157 + "...; ./lab list shows them all"),
    ],
)
def test_a_name_that_none_has(checkout, name, hint) -> None:
    assert problems_of(name) == [f"no exercise is named {hint}"]


def test_the_name_of_an_assignment(exercises) -> None:
    exercises("ch03/order", FACTS + ASSIGNMENT.format(name="inOrder"))
    assert problems_of("inOrder") == ["no exercise is named inOrder: it is an assignment of order"]


def test_one_exercise_at_a_time(checkout) -> None:
    with pytest.raises(LabError, match="^wgmma: one .*transpose is an exercise$"):
        catalogue.check_at("transpose", "wgmma")


def test_sentence_spans_string_literals() -> None:
    source = 'int main() {\n    lab::Exercise exercise(\n        "x", "One, "\n        "two.");'
    assert sentence_about(source) == "One, two."
    assert sentence_about('lab::Exercise e("x", "A \\"b\\" c.");') == r"A \"b\" c."


def test_list_says_what_each_exercise_is(checkout, capsys) -> None:
    assert main.main(["list"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["ch03_execution_model"],
        ["warpLayout", "About", "warpLayout."],
        ["reduceInteger", "About", "reduceInteger."],
        [],
        ["ch04_memory"],
        ["transpose", "About", "transpose."],
        [],
        ["ch09_tensor"],
        ["wgmma", "About", "wgmma.", "(gpu", "only)"],
    ]


def test_source_without_its_sentence_is_named(checkout, tmp_path, capsys) -> None:
    (tmp_path / "ch04_memory" / "transpose" / "transpose.cu").write_text("int main() {}\n")
    assert main.main(["list"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(r"transpose/transpose\.cu: no sentence about the exercise", err)


def test_every_chapter_has_exercises() -> None:
    for chapter in catalogue.chapters():
        assert list(chapter.glob("*/exercise.toml")), f"{chapter.name} is no chapter"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "''"),
        ("a größe", "a größe"),
        ("a\nb\tc\rd\0e", r"a\nb\tc\rd\x00e"),
        ("\udcff\udc80", r"\xff\x80"),
        ("\ud800", r"\ud800"),
        ("\u202e", r"\u202e"),  # writes from right to left
        ("x" * LONGEST, "x" * LONGEST),
        ("x" * (LONGEST + 1), "x" * (LONGEST - 3) + "..."),
    ],
)
def test_what_somebody_typed_is_printable(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown
