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


@pytest.mark.parametrize(
    "files",
    [[SOURCE], [f"ch04_memory/transpose/{SOURCE}", "ch04_memory/other/other.cu", "lab"]],
    ids=["alone", "in a workspace"],
)
def test_a_folder_of_one(tmp_path, files: list[str]) -> None:
    for file in files:
        put(tmp_path / "anna" / file, file)
    (found,) = submissions.find([str(tmp_path / "anna")], SOURCE)
    assert (found.name, found.file) == ("anna", tmp_path / "anna" / files[0])
    assert found.read() == files[0]


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
    for name, problem in {
        "pipe": "pipe.cu is not a file",
        "folder": "folder.cu is not a file",
        "large": "large.cu has more than 1 MiB",
    }.items():
        with pytest.raises(LabError, match=problem):
            submissions.Submission(name, tmp_path / f"{name}.cu").read()
    assert len(submissions.Submission("just", tmp_path / "just.cu").read()) == MOST_BYTES


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


def test_names_that_are_no_text(tmp_path) -> None:
    put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")) / SOURCE)
    put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe.cu")))
    assert names(tmp_path) == ["\\xfe", "\\xff"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([f"grades.csv/{SOURCE}"], "a submission is named grades.csv: give it another name"),
        (["anna.cu", f"anna/{SOURCE}"], "two submissions are named anna"),
        (["README.txt"], "no submissions in it"),
    ],
)
def test_folders_that_cannot_be_graded(tmp_path, files: list[str], problem: str) -> None:
    for file in files:
        put(tmp_path / file)
    with pytest.raises(LabError, match=problem):
        names(tmp_path)
