"""Options of jobs on the command line, and the command line without them."""

from __future__ import annotations

import shlex

import pytest
from lab_cli import main
from lab_course.cluster import options

COMMANDS = ["run", "test", "bench", "profile transpose", "grade"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "option", ["--partition=x", "--gres=gpu:1", "--account=x", "--time=5", "--dry-run"]
)
def test_they_go_with_slurm(command: str, option: str, capfd) -> None:
    assert main.main([*command.split(), option]) == 2
    assert capfd.readouterr() == ("", f"lab: {option.partition('=')[0]} goes with --slurm\n")


@pytest.mark.parametrize("value", ["", " ", "a\nb", " a"])
def test_values_are_words(value: str, capfd) -> None:
    assert main.main(["run", "--slurm", "--account", value]) == 2
    assert "expected a word" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "without"),
    [
        ("run --slurm", "run"),
        ("run x --partition p --gres=gpu:1 -v --slurm --dry-run -- --slurm --time=3", "run x -v -- --slurm --time=3"),
        ("test --time 5 -R ^a$ x y --slurm --backend=cpu", "test -R ^a$ x y --backend=cpu"),
        ("grade a b --also --size=3 --slurm -o out --account x", "grade a b --also --size=3 -o out"),
        ('grade "it\'s in" --also "--size=3 --x" --slurm', 'grade "it\'s in" --also "--size=3 --x"'),
        ("profile x --metrics a,b --slurm --output=-", "profile x --metrics a,b --output=-"),
    ],
)  # fmt: skip
def test_what_the_job_runs(words: str, without: str) -> None:
    assert options.words_without(shlex.split(words)) == shlex.split(without)
