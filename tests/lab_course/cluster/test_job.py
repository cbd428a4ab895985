"""Commands as jobs, from the command line to the exit status; fakes on PATH stand for Slurm."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from lab_cli import main
from lab_course.cluster import folder, job, script, settings

SUBMITS = """
echo "$*" >> {home}/submitted
. {home}/job
echo 7
"""


@pytest.fixture
def home(tmp_path, fake_tool, exercises, monkeypatch) -> Path:
    """Of sbatch, which does at once what the shell script home/job says, with $folder that of the job."""
    exercises("chapter/one")
    monkeypatch.setattr(folder, "JOBS", tmp_path / "out" / "slurm")
    monkeypatch.setattr(settings, "ROOT", tmp_path)
    monkeypatch.delenv("LAB_BUILD_DIR", raising=False)
    monkeypatch.setattr(script, "LAB", Path("/lab"))
    monkeypatch.setattr(job, "time", SimpleNamespace(sleep=lambda seconds: None))
    fake_tool("sbatch", f'folder="${{2%/job.sh}}"{SUBMITS.format(home=tmp_path)}')
    fake_tool("squeue", 'echo "squeue: error: x" >&2; exit 1')
    fake_tool("scancel", f'echo "$*" >> {tmp_path}/cancelled')
    return tmp_path


@pytest.mark.parametrize("command", ["run", "test", "bench"])
def test_what_it_prints_and_its_status(home, fake_tool, capfdbinary, command: str) -> None:
    fake_tool("squeue", "echo 'N/A|FAILED|NonZeroExitCode'")
    (home / "job").write_text(
        "printf 'a\\n\\377\\303' > $folder/output; echo note > $folder/errors; echo 3 > $folder/status"
    )
    assert main.main([command, "one", "--slurm"]) == 3
    out, errors = capfdbinary.readouterr()
    assert out == b"a\n\xff\xc3"
    assert errors.splitlines()[1:] == [b"note"]
    script = (home / "out" / "slurm" / "1" / "job.sh").read_text()
    assert script.endswith(f"\n/lab {command} one\nend $?\n")
    assert not (home / "cancelled").exists()


def test_dry_run(home, capfd) -> None:
    assert main.main(["profile", "one", "--slurm", "--time=5", "--dry-run", "--csv"]) == 0
    out, errors = capfd.readouterr()
    assert errors == ""
    assert out.startswith("#!/bin/bash\n#SBATCH --job-name=lab-profile\n")
    assert "#SBATCH --time=5\n" in out
    assert out.endswith("\n/lab profile one --csv\nend $?\n")
    assert not (home / "out").exists()
    assert not (home / "submitted").exists()


@pytest.mark.parametrize("command", ["run", "test", "bench", "profile", "compare"])
def test_what_cannot_be_takes_no_turn_in_the_queue(home, capfd, command: str) -> None:
    assert main.main([command, "noe", "--slurm"]) == 2
    assert "no exercise is named noe; did you mean one?" in capfd.readouterr().err
    assert not (home / "submitted").exists()


def test_without_slurm(home, capfd) -> None:
    os.remove(home / "bin" / "sbatch")
    assert main.main(["run", "one", "--slurm"]) == 2
    assert "there is no sbatch on this machine" in capfd.readouterr().err
    assert not (home / "out").exists()


def test_nothing_is_left_of_a_job_that_was_not_submitted(home, capfd) -> None:
    (home / "job").write_text("echo no >&2; exit 1")
    assert main.main(["run", "one", "--slurm"]) == 1
    assert "lab: no job was submitted: no\n" in capfd.readouterr().err
    assert list((home / "out" / "slurm").iterdir()) == []


def test_what_a_job_needs_is_left_where_there_may_be_one(home, capfd) -> None:
    (home / "job").write_text(": > $folder/output; echo welcome; exit 0")
    assert main.main(["run", "one", "--slurm"]) == 1
    assert "squeue --me says whether there is a job all the same\n" in capfd.readouterr().err
    assert {path.name for path in (home / "out" / "slurm" / "1").iterdir()} == {"job.sh", "output"}


def test_a_job_that_slurm_ends(home, fake_tool, capfd) -> None:
    (home / "job").write_text("echo 143 > $folder/status; echo begun > $folder/output")
    fake_tool("squeue", "echo 'N/A|OUT_OF_MEMORY|OutOfMemory'")
    assert main.main(["run", "one", "--slurm"]) == 1
    out, errors = capfd.readouterr()
    assert out == "begun\n"
    assert errors.endswith("lab: job 7: OUT_OF_MEMORY: it took more memory than it may\n")


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (BrokenPipeError, 1)])
def test_what_ends_lab_ends_the_job(home, monkeypatch, error, status: int) -> None:
    (home / "job").write_text("")

    def interrupted(_: float) -> None:
        raise error

    monkeypatch.setattr(job, "time", SimpleNamespace(sleep=interrupted))
    monkeypatch.setattr(main, "drop", lambda number: None)
    assert main.main(["run", "one", "--slurm"]) == status
    assert (home / "cancelled").read_text() == "7\n"


def test_ctrl_c_amid_the_submission(home) -> None:
    """No job is left whose number nobody knows, whichever thread gets the signal: in the one that masks it
    it waits, in any other it does not."""
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        for _ in range(5):
            (home / "cancelled").unlink(missing_ok=True)
            (home / "job").write_text("kill -INT $PPID")
            assert main.main(["run", "one", "--slurm"]) == 130
            assert (home / "cancelled").read_text() == "7\n"
    finally:
        ended.set()
        thread.join()


def test_a_file_that_begins_anew(tmp_path, capfd) -> None:
    """Of a job that was put back into the queue by somebody."""
    path = tmp_path / "output"
    stream = job.Growing(path, sys.stdout)
    stream.show()
    for text in ("first", "first and more", "anew"):
        path.write_text(text)
        stream.show()
    stream.show()
    assert capfd.readouterr().out == "first and moreanew"


def test_jobs_have_folders_of_their_own(home) -> None:
    assert [folder.make().path.name for _ in range(3)] == ["1", "2", "3"]
    (home / "out" / "slurm" / "9").mkdir()
    (home / "out" / "slurm" / "notes").touch()
    assert folder.following().path.name == "10"


def test_folders_that_are_not_listed_yet(home, monkeypatch) -> None:
    folder.make()
    monkeypatch.setattr(folder, "following", iter([folder.Folder(folder.JOBS / "1")]).__next__)
    assert folder.make().path.name == "2"
