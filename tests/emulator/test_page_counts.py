"""The counts in the answers of the pages that a command of the page makes on the cpu back end."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from lab_cli import toml_file
from lab_cli.counters.raw_csv import parse
from lab_cli.paths import ROOT
from program import run_noting

# A command that asks for counts, as it stands: "..., with kSector = 32" is another program.
COMMAND = re.compile(r"\./lab profile (\w+) --backend cpu -- ([^,]*)")
NUMBER = re.compile(r"\d[\d,]*(?:\.(\d+))?")


def counted() -> list[tuple[Path, str, str, str]]:
    """The file of each sentence, the sentence, the exercise and its options."""
    found = []
    for path in sorted((ROOT / "tests" / "pages").rglob("*.toml")):
        for given in toml_file.load(path).get("given", []):
            command = COMMAND.fullmatch(given["by"])
            if command:
                found.append((path, given["text"], command[1], command[2]))
    return found


@pytest.mark.parametrize(("path", "text", "exercise", "options"), counted())
def test_counts(path: Path, text: str, exercise: str, options: str, build) -> None:
    program = build / path.parent.name / f"{exercise}_instrumented"
    command = [str(program), "--profile", *shlex.split(options)]
    done, profile = run_noting(command, "CUDA_EMULATOR_PROFILE")
    assert done.returncode == 0, done.stdout + done.stderr
    launches = parse(profile).launches
    counts = {value for launch in launches for value in launch.values.values()}
    for number in NUMBER.finditer(text):
        value, digits = float(number[0].replace(",", "")), len(number[1] or "")
        assert any(round(count, digits) == value for count in counts), number[0]


def test_there_are_some() -> None:
    assert counted()
