"""./lab plot: names first, then a Python with matplotlib, the figures, and the pages' tables."""

from __future__ import annotations

import sys

import pytest
from lab_cli import main
from lab_cli.commands import plot
from lab_cli.machine import setup
from lab_cli.results import tables

FIGURES, TABLES = "figures", "tables"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, exercises) -> list[list[str]]:
    """What was done in this Python, which has matplotlib."""
    done: list[list[str]] = []

    def draw(specs: list, names: list[str], gpu: str) -> int:
        done.append([FIGURES, *names, gpu])
        return 0

    exercises("ch04_memory/transpose")
    exercises("ch05_performance/matmul")
    monkeypatch.setattr(setup, "python_for", lambda modules: sys.executable)
    monkeypatch.setattr(plot, "draw_figures", draw)
    monkeypatch.setattr(tables, "refresh", lambda: done.append([TABLES]) or [])
    return done


def test_figures_then_tables(ran: list[list[str]]) -> None:
    assert main.main(["plot"]) == 0
    assert ran == [[FIGURES, ""], [TABLES]]


def test_names_and_folder_are_passed_on(ran: list[list[str]]) -> None:
    assert main.main(["plot", "transpose", "matmul", "--gpu", "h200"]) == 0
    assert ran == [[FIGURES, "transpose", "matmul", "h200"], [TABLES]]


def test_another_python_that_has_matplotlib_does_it_all(ran, monkeypatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(setup, "python_for", lambda modules: "/python with " + modules[0])
    monkeypatch.setattr(plot, "run_shown", lambda command: commands.append(command) or 3)
    assert main.main(["plot", "transpose", "--gpu", "h200"]) == 3
    (command,) = commands
    assert command[0] == "/python with matplotlib"
    assert command[2].endswith("/lab")
    assert command[3:] == ["plot", "transpose", "--gpu=h200"]
    assert ran == []


def test_tables_are_left_alone_where_a_figure_fails(ran, monkeypatch) -> None:
    monkeypatch.setattr(plot, "draw_figures", lambda *arguments: ran.append([FIGURES]) or 1)
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
