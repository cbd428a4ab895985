"""Which files are submissions, and of whom."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_course.grading import submissions
from lab_course.grading.gate import MOST_BYTES

SOURCE = "transpose.cu"


def put(path: Path, text: str = "kernel") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(*paths: Path) -> list[str]:
    return [found.name for found in submissions.find([*map(str, paths)], SOURCE)]


def test_a_file(tmp_path) -> None:
    (found,) = submissions.find([str(put(tmp_path / "anna.cu"))], SOURCE)
    assert (found.name, found.read()) == ("anna", "kernel")


def test_a_folder_of_one(tmp_path) -> None:
    put(tmp_path / "anna" / SOURCE)
    assert names(tmp_path / "anna") == ["anna"]


def test_a_workspace_of_one(tmp_path) -> None:
    put(tmp_path / "anna" / "ch04_memory" / "transpose" / SOURCE)
    put(tmp_path / "anna" / "ch04_memory" / "other" / "other.cu")
    put(tmp_path / "anna" / "lab")
    (found,) = submissions.find([str(tmp_path / "anna")], SOURCE)
    assert found.name == "anna"
    assert found.file == tmp_path / "anna" / "ch04_memory" / "transpose" / SOURCE


def test_a_folder_of_many(tmp_path) -> None:
    put(tmp_path / "carl" / "work" / "ch04_memory" / "transpose" / SOURCE)
    put(tmp_path / "carl" / "work" / "ch04_memory" / "other" / "other.cu")
    put(tmp_path / "anna.cu")
    put(tmp_path / "bert" / "mine.cu")
    put(tmp_path / "dora" / "a.cu")
    put(tmp_path / "dora" / "b.cu")
    put(tmp_path / "emil" / "notes.txt")
    put(tmp_path / ".hidden" / SOURCE)
    put(tmp_path / "README.txt")
    found = {each.name: each for each in submissions.find([str(tmp_path)], SOURCE)}
    assert [*found] == ["anna", "bert", "carl", "dora", "emil"]
    assert found["carl"].read() == "kernel"
    assert found["dora"].problem == "2 files could be meant"
    assert found["emil"].problem == f"there is no {SOURCE} in it"
    with pytest.raises(LabError, match="2 files could be meant"):
        found["dora"].read()


def test_files_of_many_and_one_that_kept_its_name(tmp_path) -> None:
    put(tmp_path / "anna.cu")
    put(tmp_path / SOURCE)
    assert names(tmp_path) == ["anna", "transpose"]
    put(tmp_path / "exercise.toml")  # the exercise's folder, with programs beside it
    assert names(tmp_path) == [tmp_path.name]


def test_a_chapters_folder_is_of_one(tmp_path) -> None:
    """Not one for each of its exercises."""
    chapter = tmp_path / "ch04_memory"
    for name in ("transpose", "other"):
        put(chapter / name / f"{name}.cu", name)
        put(chapter / name / "exercise.toml")
    put(chapter / "CMakeLists.txt")
    (found,) = submissions.find([str(chapter)], SOURCE)
    assert (found.name, found.read()) == ("ch04_memory", "transpose")


def test_links_are_not_followed(tmp_path) -> None:
    """They could lead to a neighbour's file, or to one that only the teacher can read."""
    secret = put(tmp_path / "secret" / SOURCE, "secret")
    folder = tmp_path / "all"
    put(folder / "anna" / "notes.txt")
    (folder / "anna" / SOURCE).symlink_to(secret)
    (folder / "bert").symlink_to(secret.parent)
    (folder / "carl.cu").symlink_to(secret)
    for found in submissions.find([str(folder)], SOURCE):
        with pytest.raises(LabError):
            found.read()
    (found,) = submissions.find([str(folder / "anna")], SOURCE)
    with pytest.raises(LabError):
        found.read()


def test_what_is_no_file_or_too_large(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "folder.cu").mkdir()
    put(tmp_path / "large.cu", "x" * (MOST_BYTES + 1))
    put(tmp_path / "just.cu", "x" * MOST_BYTES)
    found = {
        each.name: each
        for each in map(
            lambda path: submissions.Submission(path.stem, path), sorted(tmp_path.iterdir())
        )
    }
    with pytest.raises(LabError, match="pipe.cu is not a file"):
        found["pipe"].read()
    with pytest.raises(LabError, match="folder.cu is not a file"):
        found["folder"].read()
    with pytest.raises(LabError, match="large.cu has more than 1 MiB"):
        found["large"].read()
    assert len(found["just"].read()) == MOST_BYTES


def test_bytes_that_are_no_text(tmp_path) -> None:
    path = tmp_path / "anna.cu"
    path.write_bytes(b"// \xff\r\nint a;\r\n")
    (found,) = submissions.find([str(path)], SOURCE)
    assert found.read() == "// \ufffd\nint a;\n"


def test_a_folder_that_cannot_be_read(tmp_path, monkeypatch) -> None:
    """It is the affair of its owner alone."""
    put(tmp_path / "anna" / SOURCE)
    put(tmp_path / "bert" / "closed" / SOURCE)
    really = Path.iterdir

    def iterdir(path: Path) -> Iterator[Path]:
        if path.name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    anna, bert = submissions.find([str(tmp_path)], SOURCE)
    assert anna.read() == "kernel"
    with pytest.raises(LabError, match="a folder in it cannot be read: Permission denied"):
        bert.read()


def test_a_name_that_is_no_text(tmp_path) -> None:
    put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")) / SOURCE)
    put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe.cu")))
    assert names(tmp_path) == ["\\xfe", "\\xff"]


def test_the_name_of_the_table(tmp_path) -> None:
    put(tmp_path / "grades.csv" / SOURCE)
    with pytest.raises(LabError, match="a submission is named grades.csv: give it another name"):
        names(tmp_path)


def test_two_of_one_name(tmp_path) -> None:
    put(tmp_path / "anna.cu")
    put(tmp_path / "anna" / SOURCE)
    with pytest.raises(LabError, match="two submissions are named anna"):
        names(tmp_path)


def test_nothing_there(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LabError, match="there is no file or folder"):
        names(tmp_path / "nowhere")
    with pytest.raises(LabError, match="no submissions in it"):
        names(tmp_path / "empty")
