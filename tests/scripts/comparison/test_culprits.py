"""The line that makes a difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.comparison import culprits, differences
from lab_cli.comparison.culprits import Culprits
from lab_cli.comparison.versions import Version
from lab_cli.lines.model import GLOBAL, LOAD, SHARED, STORE
from version_sample import access, kernel, line, strided_stores, values, version

TEXT = "same(a);\nout[32 * i] = 1;  // far\nout[i] = 1;\nif (i % 2) f();\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "k.cu"
    path.write_text(TEXT)
    return path


def found(before: Version, after: Version, number: int = 0) -> Culprits:
    comparison = differences.compare(before, after)
    return culprits.of(comparison.differences[number], before, after)


def test_in_each_version(file: Path) -> None:
    before = kernel(line(file, 2, access(STORE, GLOBAL, 32000)))
    after = kernel(line(file, 3, access(STORE, GLOBAL, 4000)))
    pair = found(version(strided_stores(), lines=[before]), version(values(), lines=[after]))
    assert pair.before and pair.after
    assert (pair.before.place.line, pair.before.text, pair.before.cost) == (
        2,
        "out[32 * i] = 1;",
        32000,
    )
    assert (pair.after.place.line, pair.after.text, pair.after.cost) == (3, "out[i] = 1;", 4000)


def test_a_line_that_both_have_is_not_the_reason(file: Path) -> None:
    """It costs most, and the same in both."""
    same = line(file, 1, access(STORE, GLOBAL, 50000))
    before = kernel(same, line(file, 2, access(STORE, GLOBAL, 32000)))
    after = kernel(same, line(file, 3, access(STORE, GLOBAL, 4000)))
    pair = found(version(strided_stores(), lines=[before]), version(values(), lines=[after]))
    assert pair.before and pair.before.place.line == 2
    assert pair.after and pair.after.place.line == 3


def test_accesses_of_another_kind_do_not_count(file: Path) -> None:
    others = (access(LOAD, GLOBAL, 99999), access(STORE, SHARED, 99999))
    before = kernel(line(file, 1, *others), line(file, 2, access(STORE, GLOBAL, 32000)))
    pair = found(version(strided_stores(), lines=[before]), version(values(), lines=[kernel()]))
    assert pair.before and pair.before.place.line == 2
    assert pair.after is None


def test_conflicts_and_where_the_other_version_does_the_same(file: Path) -> None:
    shared = values(shared_load_requests=1000, shared_load_transactions=1000)
    conflicts = {**shared, "shared_load_transactions": 32000.0, "shared_ld_bank_conflict": 31000.0}
    before = kernel(line(file, 2, access(LOAD, SHARED, 32000, conflicts=31000)))
    after = kernel(line(file, 3, access(LOAD, SHARED, 1000)))
    pair = found(version(conflicts, lines=[before]), version(shared, lines=[after]))
    assert pair.before and (pair.before.place.line, pair.before.cost) == (2, 31000)
    assert pair.after and pair.after.place.line == 3


def test_lanes_behind_a_condition_on_the_same_line(file: Path) -> None:
    """The line runs with all lanes, its access with half of them."""
    half = access(STORE, GLOBAL, 4000, requests=1000)
    half = type(half)(**{**half.__dict__, "lanes": 16000})
    before = kernel(line(file, 4, half, executions=1000, lanes=32000))
    split = values(active_threads_per_instruction=24)
    pair = found(version(split, lines=[before]), version(values(), lines=[kernel()]))
    assert pair.before and (pair.before.place.line, pair.before.cost) == (4, 16000)


def test_without_lines_there_is_none() -> None:
    assert found(version(strided_stores()), version(values())) == Culprits()
