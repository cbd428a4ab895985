"""What the hazard check notes about floats that threads add up by atomics (check/float_sums.cu): the sums
whose last digits depend on the order, and no others. They are no hazards."""

import re
from pathlib import Path

import pytest
from check_report import line_of, run

SOURCE = Path(__file__).parent / "check" / "float_sums.cu"


@pytest.fixture
def check(build, tmp_path, monkeypatch):
    # One OS thread: with several, the check sees some sums in pieces that are too short.
    monkeypatch.setenv("CUDA_EMULATOR_SMS", "1")
    return lambda name: run(build / "tests" / "float_sums", tmp_path / "report", name)


@pytest.mark.parametrize("name", ["threads", "doubles", "shared", "vectors", "functions"])
def test_sums_that_depend_on_the_order(check, name):
    report = check(name)
    (note,) = report.findings
    assert note.title.startswith("note: ")
    assert note.kernel == name
    assert note.lines() == [line_of(SOURCE, name)]
    assert (report.hazards, report.launches) == (0, 1)
    one, other = (float(text) for text in re.findall(r"\d+\.\d+", note.title)[:2])
    assert one != other
    assert one == pytest.approx(other, rel=1e-6 if name != "doubles" else 1e-15)


@pytest.mark.parametrize(
    "name",
    "wholeNumbers halves sameTerms twoTerms oneThread elementsOfTheirOwn betweenBarriers "
    "betweenSyncwarps betweenGridSyncs infinite inItsTurn".split(),
)
def test_sums_that_do_not(check, name):
    report = check(name)
    assert report.findings == []
    assert report.launches > 0
    assert "cudaSuccess" in report.output
