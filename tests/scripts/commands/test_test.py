"""What ./lab test sets up, builds and runs, for each way to choose tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lab_cli import main
from lab_cli.building import presets
from lab_cli.commands import test as test_command
from lab_cli.machine import backend, setup, zig
from lab_cli.paths import ROOT
from lab_cli.testing import affected, checkout, ctest
from lab_cli.testing.inputs import RUN_PYTEST
from lab_cli.testing.listing import CTest
from lab_cli.testing.summary import Case
from testing_sample import listed

PYTEST = ["pytest", "jinja2", "html5lib"]


class Done:
    """What ./lab test did: set up (back end, modules, tests of its own?), built and ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tests = listed(
            "common/tests", "reduceInteger/results", "transpose/broken", "transpose/results"
        )
        self.steps: list[Any] = []
        self.ran: dict[str, Any] = {}
        self.cases: list[Case] = []

    def ensure(self, backend: str, modules: Sequence[str] = (), tests: bool = False) -> str:
        self.steps.append((backend, [*modules], tests))
        return "cmake"

    def build(self, cmake: str, *targets: str) -> Path:
        self.steps.append(" ".join(["build", *targets]))
        return self.folder

    def run(
        self, cmake: str, folder: Path, tests: Any, chosen: Sequence[CTest], *rest: Any
    ) -> ctest.Ran:
        options, each, fresh = rest
        self.steps.append(" ".join(["test", *(test.name for test in chosen)]))
        self.ran = {"options": options, "fresh": fresh}
        each("1/1 Test\n")
        return ctest.Ran(8, self.cases)


@pytest.fixture
def done(faked: Path, monkeypatch: pytest.MonkeyPatch) -> Done:
    """The checkout has the exercises transpose (ch04) and reduceInteger (ch03)."""
    done = Done(faked)
    monkeypatch.setattr(setup, "ensure", done.ensure)
    monkeypatch.setattr(presets, "build", done.build)
    monkeypatch.setattr(test_command, "tests_in", lambda cmake, folder: done.tests)
    monkeypatch.setattr(ctest, "run", done.run)
    monkeypatch.setattr(backend, "pick", lambda request: request)
    return done


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        (
            "transpose",
            [([], False), " transpose transpose_instrumented", " transpose/results"],
        ),
        (
            "transpose ch03",
            [
                ([], False),
                " transpose transpose_instrumented reduceInteger reduceInteger_instrumented",
                " reduceInteger/results transpose/results",
            ],
        ),
        (
            "transpose ch03 -R red",
            [
                ([], False),
                " transpose transpose_instrumented reduceInteger reduceInteger_instrumented",
                " reduceInteger/results",
            ],
        ),
        ("--backend=gpu transpose", [([], False), " transpose", " transpose/results"]),
        ("", [([], True), " quick_tests", " reduceInteger/results transpose/results"]),
        ("--backend=gpu", [([], True), " quick_tests", " reduceInteger/results transpose/results"]),
        (
            "--all",
            [
                (PYTEST, True),
                "",
                " common/tests reduceInteger/results transpose/broken transpose/results",
            ],
        ),
        ("--all -R trans", [(PYTEST, True), "", " transpose/broken transpose/results"]),
    ],
)
def test_what_tests_take(done: Done, arguments: str, steps: list[Any]) -> None:
    assert main.main(["test", "--backend=cpu", *arguments.split()]) == 8
    chosen = "gpu" if "gpu" in arguments else "cpu"
    set_up, built, ran = steps
    assert done.steps == [(chosen, *set_up), f"build {chosen}{built}", f"test{ran}"]


def test_names_that_match_build_what_their_commands_name(done: Done) -> None:
    program = done.folder / "ch04_memory" / "transpose"
    done.tests[3] = CTest(4, "transpose/results", ("python3", str(program)), frozenset({"quick"}))
    assert main.main(["test", "--backend=cpu", "-R", "^transpose/results"]) == 8
    assert done.steps[1:] == [
        "build cpu build.ninja",
        "build cpu ch04_memory/transpose",
        "test transpose/results",
    ]
    # Any program may be what a test of pytest needs.
    done.tests[2] = CTest(3, "transpose/broken", (str(RUN_PYTEST),), frozenset({"full"}))
    assert main.main(["test", "--backend=cpu", "-R", "trans"]) == 8
    assert done.steps[-2] == "build cpu"


def test_tests_for_files_and_for_what_has_changed(done: Done, monkeypatch, tmp_path, capfd) -> None:
    file = ROOT / "LICENSE"
    wanted: list[Any] = []

    def noticing(files: Sequence[Path], tests: Sequence[CTest], folder: Path) -> list[CTest]:
        wanted.append(files)
        return [*tests[2:3]]

    monkeypatch.setattr(affected, "tests_for", noticing)
    monkeypatch.setattr(checkout, "changed", lambda: [tmp_path / "b"])
    assert main.main(["test", "--backend=cpu", "--for", str(file)]) == 8
    assert done.steps == [("cpu", PYTEST, True), "build cpu", "test transpose/broken"]
    assert main.main(["test", "--backend=cpu", "--changed"]) == 8
    assert wanted == [[file], [tmp_path / "b"]]
    monkeypatch.setattr(affected, "tests_for", lambda *_: [])
    assert main.main(["test", "--backend=cpu", "--changed"]) == 1
    monkeypatch.setattr(checkout, "changed", lambda: [])
    assert main.main(["test", "--backend=cpu", "--changed"]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        "transpose --all",
        "--all --changed",
        "--for nosuch.py",
        "--for /",
        "--for /etc/passwd",
        "--for",
        "-R (",
        "-V",
        "transpose x",
    ],
)
def test_what_cannot_be_meant_starts_nothing(done: Done, arguments: str, capfd) -> None:
    assert (main.main(["test", *arguments.split()]), done.steps) == (2, [])
    assert capfd.readouterr().err


def test_no_test_is_an_error(done: Done, capfd) -> None:
    assert main.main(["test", "--backend=cpu", "-R", "nosuch"]) == 1
    assert "nosuch" in capfd.readouterr().err


def test_options_and_fresh_are_handed_on(done: Done) -> None:
    main.main(["test", "--backend=cpu", "transpose", "--fresh", "--", "-V", "-j1"])
    assert (done.ran["options"], done.ran["fresh"]) == (["-V", "-j1"], True)
    main.main(["test", "--backend=cpu", "transpose"])
    assert (done.ran["options"], done.ran["fresh"]) == ([], False)


def test_with_zig_nothing_is_instrumented(done: Done, monkeypatch, capfd) -> None:
    monkeypatch.setattr(zig, "is_compiler", lambda path: True)
    for names in (["transpose"], ["--all"]):
        assert main.main(["test", "--backend=cpu", *names]) == 8
    assert done.steps[:2] == [("cpu", [], False), "build cpu transpose"]
    assert done.steps[3:5] == [("cpu", [], True), "build cpu"]
    assert capfd.readouterr().err.count("note: ") == 2
    for command in (["check", "transpose"], ["profile", "transpose", "--backend=cpu"]):
        assert main.main(command) == 1
        assert "cannot be built with zig's compiler: install g++" in capfd.readouterr().err


def test_the_summary_ends_it(done: Done, capfd) -> None:
    done.cases = [Case("transpose --rows=3", done.tests[3], "run")]
    main.main(["test", "--backend=cpu", "transpose"])
    head = "exercise              results        hazards        counts         options"
    line = "transpose             1 ok           -              -              -"
    assert capfd.readouterr().out == f"1/1 Test\n\n{head}\n{line}\n"
