"""TOML files: what they say, and what to do where this Python cannot read them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from lab_cli import toml_file
from lab_cli.errors import LabError


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
    monkeypatch.setattr(toml_file, "VENV", tmp_path / "venv")
    return there


def test_without_a_reader_the_error_says_what_to_do_and_nothing_is_made(
    old_python, tmp_path
) -> None:
    file = tmp_path / "x.toml"
    file.touch()
    with pytest.raises(LabError, match=r"takes Python 3\.11 .*\./lab run installs") as raised:
        toml_file.load(file)
    assert "\n" not in str(raised.value)
    assert not toml_file.VENV.exists()


def test_tomli_is_a_reader_too(old_python, tmp_path: Path) -> None:
    (tmp_path / "x.toml").touch()
    old_python.append("tomli")
    assert toml_file.load(tmp_path / "x.toml") == {"read by": "tomli"}


def test_tomli_of_the_virtual_environment_is_found(monkeypatch, tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python{}.{}".format(*sys.version_info[:2]) / "site-packages"
    packages.mkdir(parents=True)
    (packages / "tomli.py").write_text("def load(file):\n    return {'of': 'venv'}\n")
    monkeypatch.setattr(toml_file, "VENV", tmp_path)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setitem(sys.modules, "tomllib", None)  # as in Python 3.10
    monkeypatch.delitem(sys.modules, "tomli", raising=False)
    (tmp_path / "x.toml").touch()
    assert toml_file.load(tmp_path / "x.toml") == {"of": "venv"}
    monkeypatch.delitem(sys.modules, "tomli")
