"""TOML files: what they say, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_cli import toml_file
from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from lab_cli.vendor import tomli


@pytest.mark.parametrize(
    ("content", "problem"), [(b"[a]\nb = \n", "line 2"), (b"a = '\xff'\n", "utf-8")]
)
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(content)
    with pytest.raises(LabError, match=rf"x\.toml: .*{problem}"):
        toml_file.load(file)
    with pytest.raises(LabError, match=r"none\.toml: No such file"):
        toml_file.load(tmp_path / "none.toml")


def test_the_reader_that_comes_with_lab(tmp_path: Path) -> None:
    """Which Pythons before 3.11 take."""
    text = 'a = 1.5\n[[b]]\nc = \'x\'\nd = [true, "\\u00e9"]\n[b.e]\n"f g" = """\nh"""\n'
    assert tomli.loads(text) == {"a": 1.5, "b": [{"c": "x", "d": [True, "é"], "e": {"f g": "h"}}]}
    for path in ROOT.glob("*/*/exercise.toml"):
        with path.open("rb") as file:
            assert tomli.load(file) == toml_file.load(path)


VALUES: dict[str, Any] = {
    "text": "a",
    "number": 1.5,
    "whole": 1,
    "flag": True,
    "nothing": [],
    "texts": ["a", ""],
    "mixed": ["a", 1],
    "tables": [{}, {"a": 1}],
    "table": {},
}


@pytest.mark.parametrize(
    ("rule", "fitting"),
    [
        (toml_file.TEXT, "text"),
        (toml_file.WHOLE, "whole"),
        (toml_file.NUMBER, "number whole"),
        (toml_file.FLAG, "flag"),
        (toml_file.TEXTS, "nothing texts"),
        (toml_file.LIST, "nothing texts mixed tables"),
        (toml_file.TABLE, "table"),
        (toml_file.tables_of({}), "nothing tables"),
        (toml_file.one_of(["b", "a"]), "text"),
        (toml_file.one_of(["b"]), ""),
    ],
    ids=lambda value: getattr(value, "expected", None),
)
def test_what_fits(rule: toml_file.Rule, fitting: str) -> None:
    assert [name for name, value in VALUES.items() if rule.fits(value)] == fitting.split()
    assert rule.required and not rule.or_nothing().required
    assert rule.or_nothing().expected == rule.expected


def test_names_that_are_like_it() -> None:
    known = ["Largest", "where", "title"]
    assert toml_file.did_you_mean("largst", known) == "; did you mean Largest?"
    assert toml_file.did_you_mean("TITEL", known) == "; did you mean title?"
    assert toml_file.did_you_mean("wh", known) == "; did you mean where?"
    assert toml_file.did_you_mean("w", known) == ""
    assert toml_file.did_you_mean("branch", ["BRANCH"]) == "; did you mean BRANCH?"
