"""Result files: all or nothing."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from lab_cli import files, process
from lab_cli.building import cmake
from lab_cli.errors import LabError


@pytest.mark.parametrize("content", ["größe\n", b"\x89PNG\r\n"])
def test_writes_and_replaces(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "x.csv"
    files.write(path, "old\n")
    files.write(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert os.listdir(tmp_path) == ["x.csv"]


@pytest.mark.parametrize(
    ("failure", "raises"),
    [
        (OSError(28, "No space left on device"), LabError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_failure_leaves_the_old_text_and_nothing_else(
    tmp_path: Path, monkeypatch, failure: BaseException, raises: type[BaseException]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old\n")

    def fails(*_: object) -> None:
        raise failure

    monkeypatch.setattr(files.os, "replace", fails)
    with pytest.raises(raises, match="x.csv: No space left on device: make room$|^$"):
        files.write(path, "new\n")
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["x.csv"]


def test_standard_output_is_no_file_to_replace(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda path: True)  # as with ./lab ... > file
    with pytest.raises(LabError, match="/dev/stdout: it is not a file"):
        files.check_writable(Path("/dev/stdout"))


def test_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    files.write(link, "new\n")
    assert link.is_symlink()
    assert (tmp_path / "target").read_text() == "new\n"


def test_what_cannot_be_written_is_said_before(tmp_path: Path) -> None:
    files.check_writable(tmp_path / "x.csv")
    (tmp_path / "x.csv").touch()
    files.check_writable(tmp_path / "x.csv")
    files.check_writable(Path("x.csv"))
    (tmp_path / "loop").symlink_to("loop")
    for path, reason in [
        (tmp_path, "it is a folder"),
        (Path("/"), "cannot write /: it is a folder"),
        (Path("/dev/null"), "not a file"),
        (tmp_path / "no" / "x.csv", "there is no folder"),
        (tmp_path / "a\nb\x1b\udcff" / "x.csv", r"no folder /.*/a\\nb\\x1b\\xff$"),
        (tmp_path / ("x" * 300), r"xxx\.\.\.: File name too long$"),
        (tmp_path / "loop", "loop: Too many levels of symbolic links$"),
    ]:
        with pytest.raises(LabError, match=reason) as raised:
            files.check_writable(path)
        assert raised.value.status == 2


def test_the_folder_of_a_link_is_that_of_its_target(tmp_path: Path, monkeypatch) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "no" / "x.csv")
    with pytest.raises(LabError, match=f"there is no folder {tmp_path / 'no'}"):
        files.check_writable(link)
    (tmp_path / "no").mkdir()
    monkeypatch.setattr(files.os, "access", lambda folder, _: folder == tmp_path / "no")
    files.check_writable(link)


def test_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch) -> None:
    asked: list[tuple[Path, int]] = []
    monkeypatch.setattr(files.os, "access", lambda *question: asked.append(question))
    with pytest.raises(LabError, match=f"x.csv: the folder {tmp_path} cannot be") as raised:
        files.check_writable(tmp_path / "x.csv")
    assert raised.value.status == 2
    assert asked == [(tmp_path, os.W_OK)]


def test_a_failure_is_named_with_its_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files, "OUT", tmp_path)
    error = OSError(30, "Read-only file system", str(tmp_path / "a\nb"))
    assert files.reason(error) == f"{tmp_path}/a\\nb: Read-only file system{files.ELSEWHERE}"
    full = "/x: No space left on device: make room"
    assert files.reason(OSError(28, "No space left on device", b"/x")) == full
    quota = OSError(122, "Disk quota exceeded", str(tmp_path / "x"))
    assert files.reason(quota).endswith(f"x: Disk quota exceeded: make room{files.ELSEWHERE}")
    assert files.reason(OSError(28, "No space left on device")) == "No space left on device"
    assert files.reason(OSError("odd")) == "odd"
    with pytest.raises(LabError, match="Is a directory; LAB_BUILD_DIR=FOLDER in the environment"):
        (tmp_path / "folder").mkdir()
        files.write(tmp_path / "folder", "text")


@pytest.mark.parametrize(
    ("free", "printed", "said"),
    [
        (10**9, "x.cu:3: error: no space", ""),
        (10**9, "a\nas: y.o: No space left on device\n", "No space left on device, of a file that"),
        (10**9, "cp: x: Disk quota exceeded", "Disk quota exceeded, of a file that is named above"),
        (3 * 10**6, "y.o: Auf dem Gerät ist kein Speicherplatz mehr verfügbar", "{} has 3 MB left"),
        (3 * 10**6, "No space left on device", "{} has 3 MB left"),
    ],
)
def test_a_full_disk_is_named(
    tmp_path: Path, monkeypatch, free: int, printed: str, said: str
) -> None:
    monkeypatch.setattr(files, "OUT", tmp_path)
    usage = SimpleNamespace(free=free)
    monkeypatch.setattr(files.shutil, "disk_usage", lambda asked: {tmp_path: usage}[asked])
    text = files.about_space(printed)
    assert text.startswith(f". {said.format(tmp_path)}" if said else "")
    assert text.endswith(f": make room{files.ELSEWHERE}" if said else "")
    assert bool(text) is bool(said)


def test_a_full_disk_is_named_where_a_step_fails(monkeypatch) -> None:
    monkeypatch.setattr(process, "about_space", lambda printed: f" {printed!r}")
    script = ["sh", "-c", "echo a; exit 1"]
    with pytest.raises(LabError, match=r"; the reason is above 'a\\n'$"):
        process.step(script, "working", lambda line, progress: None)
    with pytest.raises(LabError, match=r"; the reason is above 'a'$"):
        cmake.configure(script)
    with pytest.raises(LabError, match=r"; the reason is above 'a\\n'$"):
        cmake.build(script)


def test_who_may_not_write_a_file_of_a_build_can_build_elsewhere(
    tmp_path: Path, monkeypatch
) -> None:
    """Another user's, in a LAB_BUILD_DIR of two."""
    path = tmp_path / "lab.lock"
    path.touch()
    monkeypatch.setattr(files, "OUT", tmp_path)
    monkeypatch.setattr(files.os, "access", lambda asked, _: asked != path)
    with pytest.raises(LabError, match=f"{path}: it is write-protected{files.ELSEWHERE}$"):
        files.check_writable(path)


def test_a_build_folder_can_be_written_to(tmp_path: Path, monkeypatch) -> None:
    files.make_build_folder(tmp_path)
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    with pytest.raises(LabError, match=f"{tmp_path} cannot be written to{files.ELSEWHERE}$"):
        files.make_build_folder(tmp_path)


def test_folders_are_made_with_those_above(tmp_path: Path) -> None:
    files.make_folder(tmp_path / "a" / "b")
    files.make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "x"
    with pytest.raises(LabError, match=f"make the folder {folder}: {tmp_path}/file is a file$"):
        files.make_folder(folder)
    with pytest.raises(LabError, match="file is a file; LAB_BUILD_DIR=FOLDER in the environment"):
        files.make_build_folder(folder)
