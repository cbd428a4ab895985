"""What Slurm's programs are asked, and what is made of what they say; fakes on PATH stand for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_course.cluster import slurm
from lab_course.cluster.slurm import NoAnswer

DIRECTIVES = {"job-name": "lab-run", "partition": "gpu", "time": "5", "no-requeue": ""}
REFUSED = "slurm_load_jobs error: Invalid job id specified"
AWAY = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"


@pytest.mark.parametrize("printed", ["12", "12;cluster", "welcome to 3 nodes\n12"])
def test_the_number_of_a_job(fake_tool, tmp_path, capfd, printed: str) -> None:
    fake_tool("sbatch", f'echo "$*" > {tmp_path}/asked; echo "{printed}"; echo a warning >&2')
    assert slurm.submit(tmp_path / "job.sh", DIRECTIVES) == "12"
    assert (tmp_path / "asked").read_text() == f"--parsable {tmp_path}/job.sh\n"
    assert capfd.readouterr().err == f"+ sbatch --parsable {tmp_path}/job.sh\na warning\n"


def test_no_end(fake_tool, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(slurm, "PATIENCE", 0.05)
    fake_tool("sbatch", "while :; do :; done")
    with pytest.raises(slurm.Unsure, match="timed out.*; squeue --me says whether there is a job"):
        slurm.submit(tmp_path / "job.sh", DIRECTIVES)


def test_variables_that_would_override_the_script_are_left_out(
    fake_tool, tmp_path, monkeypatch
) -> None:
    names = "PARTITION TIMELIMIT NO_REQUEUE REQUEUE ARRAY_INX WAIT ACCOUNT".split()
    for name in names:
        monkeypatch.setenv(f"SBATCH_{name}", "theirs")
    values = " ".join(f"${{SBATCH_{name}-none}}" for name in names)
    fake_tool("sbatch", f'echo "{values}" > {tmp_path}/seen; echo 1')
    slurm.submit(tmp_path / "job.sh", DIRECTIVES)
    assert (tmp_path / "seen").read_text() == f"{'none ' * 6}theirs\n"


def test_what_sbatch_does_not_take(fake_tool, tmp_path) -> None:
    fake_tool("sbatch", "echo 'sbatch: error: Invalid job array specification' >&2; exit 1")
    with pytest.raises(LabError, match="Invalid job array specification; .* an array of 0-2000"):
        slurm.submit(tmp_path / "job.sh", {"array": "0-2000"})


def test_states(fake_tool, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SQUEUE_USERS", "nobody")
    lines = (
        "N/A|PENDING|Resources",
        "3|RUNNING|None",
        "12|PENDING|ReqNodeNotAvail, UnavailableNodes:a,b",
        "4|SPECIAL_EXIT|",
    )
    text = "\\n".join(lines)
    fake_tool("squeue", f'printf "{text}\\n"; echo "$* $SQUEUE_USERS" > {tmp_path}/asked')
    found = slurm.states("7")
    assert {index: str(state) for index, state in found.items()} == {
        "": "pending (Resources)",
        "3": "running",
        "12": "pending (ReqNodeNotAvail, UnavailableNodes:a,b)",
        "4": "special exit",
    }
    asked = "--jobs=7 --states=all --array --noheader --format=%K|%T|%r \n"
    assert (tmp_path / "asked").read_text() == asked
    fake_tool("squeue", f"echo '{REFUSED}' >&2; exit 1")  # it has forgotten the job
    assert slurm.states("7") == {}


def test_no_answer(fake_tool, monkeypatch) -> None:
    with pytest.raises(NoAnswer, match="No such file"):
        slurm.states("7")
    fake_tool("squeue", f"echo '{AWAY}' >&2; exit 1")
    with pytest.raises(NoAnswer, match="Unable to contact"):
        slurm.states("7")
    monkeypatch.setattr(slurm, "PATIENCE", 0.05)
    fake_tool("squeue", "while :; do :; done")
    with pytest.raises(NoAnswer, match="timed out"):
        slurm.states("7")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("", "job 7 is cancelled\n"),
        ("echo 'scancel: error: Kill job error: Invalid job id specified' >&2; exit 1", "job 7 is cancelled\n"),
        ("echo 'scancel: error: Kill job error on job id 7: Job/step already completing or completed' >&2; exit 1", "job 7 is cancelled\n"),
        (f"echo '{AWAY}' >&2; exit 1", f"job 7 goes on: {AWAY}. To cancel it: scancel 7\n"),
    ],
)  # fmt: skip
def test_cancelling(fake_tool, tmp_path: Path, capfd, script: str, said: str) -> None:
    fake_tool("scancel", f'echo "$*" > {tmp_path}/asked\n{script}')
    slurm.cancel("7")
    assert (tmp_path / "asked").read_text() == "7\n"
    assert capfd.readouterr().err == said
