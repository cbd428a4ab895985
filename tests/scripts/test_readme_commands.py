"""CI runs the README's commands as they stand there."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from lab_cli.paths import ROOT

SPEC = importlib.util.spec_from_file_location(
    "readme_commands", ROOT / ".ci" / "readme_commands.py"
)
assert SPEC and SPEC.loader
readme_commands = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(readme_commands)


def test_commands_of_the_readme() -> None:
    commands = readme_commands.commands_of((ROOT / "README.md").read_text(encoding="utf-8"))
    words = [command.partition("#")[0].split() for command in commands]
    for wanted in (
        ["./lab", "run"],
        ["./lab", "test"],
        ["./lab", "check", "transpose"],
        ["cmake", "-S", ".", "-B", "build"],
        ["ctest", "--test-dir", "build", "-L", "reduceInteger"],
    ):
        assert wanted in words
    assert not any("clone" in command for command in words)


def test_they_run_in_order_until_one_fails(tmp_path: Path, monkeypatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "A page\n\n    echo one   # a remark\n    git clone <this>\n\ntext\n\n    ls mine.cu\n    exit 3\n"
        "    echo four\n"
    )
    assert readme_commands.main("page.md") == 3
    out, err = capfd.readouterr()
    assert out.splitlines() == [
        "", "==== echo one   # a remark", "one", "", "==== ls mine.cu", "mine.cu", "", "==== exit 3"
    ]  # fmt: skip
    assert err == "page.md: exit 3: exit status 3\n"
    assert not (tmp_path / "mine.cu").exists()


def test_a_page_without_commands_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n")
    with pytest.raises(SystemExit, match="no commands"):
        readme_commands.main(str(page))
