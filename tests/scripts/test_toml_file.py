"""TOML files: what they say, and what to do where this Python cannot read them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_cli import toml_file
from lab_cli.errors import LabError
from lab_cli.paths import ROOT


def test_toml(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text('[a]\nb = ["c"]\n')
    assert toml_file.load(file) == {"a": {"b": ["c"]}}
    file.write_text("[a]\nb = \n")
    with pytest.raises(LabError, match=r"x\.toml: .*line 2"):
        toml_file.load(file)
    with pytest.raises(LabError, match=r"none\.toml: No such file"):
        toml_file.load(tmp_path / "none.toml")


@pytest.fixture
def old_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A Python without a reader. Returns the list of the modules that it has."""
    there: list[str] = []

    def import_module(name: str) -> SimpleNamespace:
        if name not in there:
            raise ModuleNotFoundError(name)
        return SimpleNamespace(load=lambda file: {"read by": name})

    monkeypatch.setattr(toml_file.importlib, "import_module", import_module)
    monkeypatch.setattr(toml_file, "venvs", lambda: [tmp_path / "venv"])
    return there


def test_without_a_reader_the_error_says_what_to_do_and_nothing_is_made(
    old_python, tmp_path
) -> None:
    file = tmp_path / "x.toml"
    file.touch()
    with pytest.raises(LabError, match=r"takes Python 3\.11 .*\./lab run installs") as raised:
        toml_file.load(file)
    assert "\n" not in str(raised.value)
    assert raised.value.status == 1
    assert not (tmp_path / "venv").exists()


def test_looking_for_a_reader_leaves_the_path_as_it_was(old_python) -> None:
    before = [*sys.path]
    assert toml_file.reader() is None
    assert sys.path == before
    old_python.append("tomllib")
    assert toml_file.reader() is not None
    assert sys.path == before


def test_package_that_an_older_python_needs(monkeypatch) -> None:
    for version, packages in (((3, 9, 2), ["tomli"]), ((3, 10), ["tomli"]), ((3, 11), [])):
        monkeypatch.setattr(toml_file.sys, "version_info", version)
        assert toml_file.packages() == packages


def test_file_that_is_not_text(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(b"a = '\xff'\n")
    with pytest.raises(LabError, match=r"x\.toml: .*utf-8"):
        toml_file.load(file)


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


def test_all_problems_of_a_file_are_told() -> None:
    toml_file.refuse(Path("x.toml"), [])
    with pytest.raises(LabError) as raised:
        toml_file.refuse(ROOT / "ch" / "x.toml", ["a", "b"])
    assert str(raised.value) == "ch/x.toml: a\nch/x.toml: b"


def test_tomli_is_a_reader_too(old_python, tmp_path: Path) -> None:
    (tmp_path / "x.toml").touch()
    old_python.append("tomli")
    assert toml_file.load(tmp_path / "x.toml") == {"read by": "tomli"}


def test_tomli_of_the_virtual_environment_is_found(monkeypatch, tmp_path: Path) -> None:
    """Also where the set-up has made it since the last look."""
    packages = tmp_path / "lib" / "python{}.{}".format(*sys.version_info[:2]) / "site-packages"
    monkeypatch.setattr(toml_file, "venvs", lambda: [tmp_path / "none", tmp_path])
    monkeypatch.setattr(sys, "path", ["/of/others"])
    monkeypatch.setitem(sys.modules, "tomllib", None)  # as in Python 3.10
    monkeypatch.delitem(sys.modules, "tomli", raising=False)
    assert toml_file.reader() is None
    packages.mkdir(parents=True)
    (packages / "tomli.py").write_text("def load(file):\n    return {'of': 'venv'}\n")
    (tmp_path / "x.toml").touch()
    assert toml_file.load(tmp_path / "x.toml") == {"of": "venv"}
    assert sys.path == ["/of/others", str(packages)]
    monkeypatch.delitem(sys.modules, "tomli")
