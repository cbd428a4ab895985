"""./lab plot: names first, then a Python with matplotlib, the figures, and the READMEs' tables."""

from __future__ import annotations

import pytest
from lab_cli import main, plot, setup

FIGURES, TABLES = "plot.py", "readme_tables.py"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The scripts that were run, with their arguments."""
    commands: list[list[str]] = []

    def run(command: list[str]) -> int:
        script = next(i for i, word in enumerate(command) if word.endswith(".py"))
        commands.append([command[script].rsplit("/", 1)[-1], *command[script + 1 :]])
        return 0

    monkeypatch.setattr(plot, "run_shown", run)
    monkeypatch.setattr(setup, "python_for", lambda modules: "python with " + modules[0])
    return commands


def test_figures_then_tables(ran: list[list[str]]) -> None:
    assert main.main(["plot"]) == 0
    assert ran == [[FIGURES], [TABLES]]


def test_names_and_folder_are_passed_on(ran: list[list[str]]) -> None:
    assert main.main(["plot", "transpose", "matmul", "--gpu", "h200"]) == 0
    assert ran == [[FIGURES, "transpose", "matmul", "--gpu=h200"], [TABLES]]


def test_tables_are_left_alone_where_a_figure_fails(ran, monkeypatch) -> None:
    monkeypatch.setattr(plot, "run_shown", lambda command: ran.append(command) or 1)
    assert main.main(["plot"]) == 1
    assert len(ran) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["tranpose"], "did you mean transpose?"), (["--bogus"], "--bogus"), (["--", "x"], "x")],
)
def test_bad_usage_runs_nothing(ran, capfd, arguments: list[str], message: str) -> None:
    try:
        status = main.main(["plot", *arguments])
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert message in capfd.readouterr().err
    assert ran == []
