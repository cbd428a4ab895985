"""The JSON of a report is as report.schema.json says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import report_sample
import structure
from lab_cli.paths import SCRIPTS
from lab_course.reporting import facts

SCHEMA = json.loads(
    (SCRIPTS / "lab_course" / "reporting" / "report.schema.json").read_text(encoding="utf-8")
)


def problems(value: Any) -> list[str]:
    return list(structure.problems(value, SCHEMA, SCHEMA))


def as_json() -> dict[str, Any]:
    return json.loads(json.dumps(report_sample.REPORT.as_json(), allow_nan=False))


def test_a_report_is_as_the_schema_says() -> None:
    assert problems(as_json()) == []


def test_what_is_for_people_alone_is_not_in_it() -> None:
    assert '"shown"' not in json.dumps(as_json())


def places(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Of all values in it."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else [])
    )
    for key, item in items:
        yield from places(item, (*path, key))


FREE = ("machine", "cells")  # names that the schema does not know


def test_whatever_is_missing_or_added_or_of_another_type_is_noticed() -> None:
    whole = as_json()
    looked_at = 0
    for path in places(whole):
        if not path or any(name in path for name in FREE):
            continue
        for change in ("without", "other", "more"):
            changed = copy.deepcopy(whole)
            inside = changed
            for key in path[:-1]:
                inside = inside[key]
            if change == "other":
                inside[path[-1]] = {"no": "such thing"}
            elif isinstance(inside, list):
                continue
            elif change == "without":
                del inside[path[-1]]
            else:
                inside["more"] = 1
            looked_at += 1
            assert problems(changed), (path, change)
    assert looked_at > 400


def test_every_verdict_is_known() -> None:
    words = SCHEMA["$defs"]["verdict"]["enum"]
    assert words == [
        facts.OK,
        facts.WRONG,
        facts.FAILED,
        facts.HAZARDS,
        facts.LATE,
        facts.REFUSED,
        facts.NOT_KNOWN,
    ]
    assert SCHEMA["properties"]["schema"]["const"] == SCHEMA["$id"] == facts.SCHEMA


def undescribed(schema: dict[str, Any], place: str) -> Iterator[str]:
    for name, own in schema.get("properties", {}).items():
        ref = own.get("$ref", "").removeprefix("#/$defs/")
        about = own.get("description") or SCHEMA["$defs"].get(ref, {}).get("description")
        enough = about or name in SELF_EVIDENT or own.get("type") == "array"
        if not enough:
            yield f"{place}.{name}"
        yield from undescribed(own.get("items", own), f"{place}.{name}")


SELF_EVIDENT = {
    "schema", "kind", "name", "about", "kernel", "grid", "block", "meaning", "numeric", "passed", "failed",
    "skipped", "rows_left_out", "launches_left_out", "median_ms", "rate", "reference", "figures", "changes",
}  # fmt: skip


def test_every_field_is_described() -> None:
    found = [*undescribed(SCHEMA, "$")]
    for name, schema in SCHEMA["$defs"].items():
        found += undescribed(schema, name)
    assert found == []


def test_the_validator_of_the_schemas_makers_agrees() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(as_json())


@pytest.mark.parametrize(
    ("run", "tests", "check", "status"),
    [
        ("ok", "ok", "ok", 0),
        ("ok", "not known", "not known", 0),
        ("not known", "not known", "not known", 1),
        ("WRONG", "ok", "ok", 1),
        ("failed", "ok", "ok", 1),
        ("late", "ok", "ok", 1),
        ("ok", "failed", "ok", 1),
        ("ok", "ok", "hazards", 1),
        ("ok", "ok", "late", 1),
        ("refused", "ok", "refused", 2),
        ("refused", "failed", "refused", 1),
        ("ok", "ok", "refused", 2),
    ],
)
def test_exit_status(run: str, tests: str, check: str, status: int) -> None:
    good = report_sample.MISSING
    program = replace(
        good,
        run=facts.Run(run),
        tests=facts.Tests(tests),
        check=facts.Check(check),
    )
    fine = replace(good, run=facts.Run("ok"), tests=None)
    assert report_sample.of(fine, program).status == status
    assert report_sample.of(fine).status == 0


def test_the_sample_is_written_for_this(tmp_path: Path) -> None:
    """All kinds of parts are in it: each definition of the schema is used."""
    text = json.dumps(as_json())
    for word in (
        '"reference": {',
        '"counts": [{',
        '"files": [{',
        '"figures": [{',
        '"launches": [{',
    ):
        assert word in text
