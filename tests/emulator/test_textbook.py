"""Right programs as textbooks and courses have them (check/textbook/): the check finds nothing
in them, and they are right in other orders of threads, too."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from check_report import run

SOURCES = Path(__file__).parent / "check" / "textbook"
PROGRAMS = [
    (file, name)
    for file in ("patterns", "hosts", "features", "exercises", "corners")
    for name in re.findall(
        r"^static bool (\w+)\(\) {", (SOURCES / f"{file}.cu").read_text("utf-8"), re.M
    )
]
# Where the check has a note, which is true.
NOTED = {
    "sumOfFractions": "the order of atomic additions",  # which changes its last digits
    "pageableMemory": "nothing has waited",  # which is right with memory of this kind only
    "partOfAWarp": "shuffle from a lane that takes no part",  # whose value the program does not use
}
# Where the results are right on any GPU, though CUDA leaves undefined what the program does. The
# check cannot tell these from programs that give wrong results.
RACES = {
    "bfsByLevels": "race in global memory",  # plain reads of levels that others write, beside them
    "floydWarshallByMinimum": "race in global memory",  # writes what was there before, in any case
    "bruteForceWithFlag": "volatile does not order",  # but whoever reads the old value does no harm
}

each_program = pytest.mark.parametrize("file, name", PROGRAMS, ids=[name for _, name in PROGRAMS])


def test_there_are_many():
    assert len(PROGRAMS) > 140


@each_program
def test_no_false_alarm(build, tmp_path, file, name):
    report = run(build / "tests" / f"textbook_{file}", tmp_path / "report", name)
    assert report.output.splitlines()[-1:] == ["right"]
    expected = {**NOTED, **RACES}.get(name)
    assert (report.hazards > 0) == (name in RACES), report.findings
    assert (report.findings != []) == (expected is not None), report.findings
    for finding in report.findings:
        assert expected in finding.title


@each_program
@pytest.mark.parametrize("seed", [1, 2])
def test_right_in_other_orders(build, file, name, seed):
    done = subprocess.run(
        [str(build / "tests" / f"textbook_{file}"), name],
        env={**os.environ, "CUDA_EMULATOR_SEED": str(seed)},
        stdout=subprocess.PIPE,
        timeout=120,
    )
    assert done.stdout.decode().splitlines()[-1:] == ["right"]
