"""The JSON of a report is as report.schema.json says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import report_sample
import structure
from lab_cli.paths import SCRIPTS
from lab_course.reporting import facts

SCHEMA = json.loads(
    (SCRIPTS / "lab_course" / "reporting" / "report.schema.json").read_text(encoding="utf-8")
)


def as_json() -> dict[str, Any]:
    return json.loads(json.dumps(report_sample.REPORT.as_json(), allow_nan=False))


def problems(value: Any) -> list[str]:
    return list(structure.problems(value, SCHEMA, SCHEMA))


def test_a_report_is_as_the_schema_says() -> None:
    assert problems(as_json()) == []


def test_the_validator_of_the_schemas_makers_agrees() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(as_json())


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
    names = ("OK", "WRONG", "FAILED", "HAZARDS", "LATE", "REFUSED", "NOT_KNOWN")
    assert SCHEMA["$defs"]["verdict"]["enum"] == [getattr(facts, name) for name in names]
    assert SCHEMA["properties"]["schema"]["const"] == SCHEMA["$id"] == facts.SCHEMA


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
    parts = {"run": facts.Run(run), "tests": facts.Tests(tests), "check": facts.Check(check)}
    fine = replace(good, run=facts.Run("ok"), tests=None)
    assert report_sample.of(fine, replace(good, **parts)).status == status
    assert report_sample.of(fine).status == 0
