"""./lab plot: names first, then a Python with matplotlib, the figures, and the pages' tables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lab_cli import main
from lab_cli.commands import plot
from lab_cli.machine import setup
from lab_cli.paths import ROOT
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


def test_pages_that_changed_are_named(ran: list[list[str]], monkeypatch, capfd) -> None:
    pages = [ROOT / "ch04_memory" / "transpose" / "README.md", Path("/elsewhere/x.md")]
    monkeypatch.setattr(tables, "refresh", lambda: pages)
    assert main.main(["plot"]) == 0
    assert capfd.readouterr() == (
        "",
        "tables written: ch04_memory/transpose/README.md\ntables written: /elsewhere/x.md\n",
    )


def test_figures_then_tables(ran: list[list[str]]) -> None:
    assert main.main(["plot"]) == 0
    assert main.main(["plot", "transpose", "matmul", "--gpu", "h200"]) == 0
    assert ran == [[FIGURES, ""], [TABLES], [FIGURES, "transpose", "matmul", "h200"], [TABLES]]


def test_another_python_that_has_matplotlib_does_it_all(ran, monkeypatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(setup, "python_for", lambda modules: "/python with " + ", ".join(modules))
    monkeypatch.setattr(plot, "run_shown", lambda command: commands.append(command) or 3)
    assert main.main(["plot", "transpose", "--gpu", "h200"]) == 3
    assert main.main(["plot"]) == 3
    python = ["/python with matplotlib", "-B", str(ROOT / "lab"), "plot"]
    assert commands == [[*python, "transpose", "--gpu=h200"], python]
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
    assert main.main(["plot", *arguments]) == 2
    assert message in capfd.readouterr().err
    assert ran == []
