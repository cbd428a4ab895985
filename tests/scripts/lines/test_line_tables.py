"""Costs of lines as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import cost_sample as sample
import pytest
from lab_cli.lines import tables
from lab_cli.lines.model import HostCall


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return sample.written(tmp_path)


def csv_rows(*kernels) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tables.csv_text(sample.profile(*kernels)))))


def test_csv_has_a_row_for_each_kernel_and_line(file: Path) -> None:
    found = csv_rows(sample.turn(file), sample.spread(file))
    assert [(row["kernel"], row["line"]) for row in found] == [
        *(("turn", line) for line in "8 10 11 12 14 20 21".split()),
        *(("spread", line) for line in "25 26 27".split()),
    ]
    read = found[6]
    assert read["source"] == "out[row * 32 + lane] = tile[lane][row];"
    assert (read["executions"], read["active_lanes"]) == ("32", "1024")
    assert (read["shared_load_requests"], read["shared_load_wavefronts"]) == ("32", "1024")
    assert (read["shared_load_least"], read["bank_conflicts"]) == ("32", "992")
    assert (read["global_store_sectors"], read["global_store_least"]) == ("128", "128")
    assert read["global_load_requests"] == "" and found[4]["barriers"] == "1"


def test_sums_over_the_rows_are_those_of_the_kernel(file: Path) -> None:
    """What a line calls is counted once."""
    kernel = sample.halve(file)
    rows = csv_rows(kernel)
    loads = sum(int(row["global_load_sectors"] or 0) for row in rows)
    assert loads == sum(access.units for access in kernel.accesses if access.kind == "load") > 0


def test_csv_of_lanes_that_wait(file: Path) -> None:
    row = csv_rows(sample.count(file))[-1]
    assert (row["global_atomic_requests"], row["colliding_lanes"]) == ("64", str(64 * 31))
    (split,) = [row for row in csv_rows(sample.odd(file)) if row["divergent_branches"]]
    assert (split["branches"], split["divergent_branches"]) == ("200", "100")


def test_json(file: Path) -> None:
    profile = sample.profile(sample.turn(file), sample.halve(file))
    found = json.loads(tables.json_text(profile))
    turn, halve = found["kernels"]
    assert turn["kernel"] == "turn" and turn["grid"] == [1, 1, 1] and turn["launches"] == 1
    assert turn["worst_line"]["line"] == 21 and "31 of 32" in turn["worst_line"]["sentence"]
    assert halve["worst_line"] is None
    (read,) = [line for line in turn["lines"] if line["line"] == 21]
    load = next(access for access in read["accesses"] if access["kind"] == "load")
    assert load["memory"] == "shared" and load["units"] == 1024 and load["least_units"] == 32
    assert load["requests_by_stride"] == {"128": 32}
    (calls,) = [line for line in halve["lines"] if line["accesses_in_calls"]]
    assert calls["line"] == 45 and calls["accesses_in_calls"][0]["line"] == 4
    assert calls["accesses_in_calls"][0]["called_from"][0]["line"] == 45


def test_json_of_the_host(file: Path) -> None:
    kernel = sample.turn(file)
    profile = sample.profile(kernel)
    call = HostCall("copy", None, 3, bytes=96, direction="host to device", pageable=True)
    found = json.loads(tables.json_text(type(profile)([kernel], [call], "counted")))
    (host,) = found["host_calls"]
    assert host["call"] == "copy" and host["bytes"] == 96 and host["pageable"] is True
    assert host["place"] is None


def test_csv_has_lines_that_were_not_executed_but_have_accesses(file: Path) -> None:
    kernel = sample.spread(file)
    for line in kernel.lines.values():
        line.executions = 0
    assert [row["line"] for row in csv_rows(kernel)] == ["27"]
