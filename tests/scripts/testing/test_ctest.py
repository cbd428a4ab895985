"""How ctest is run: what it is told to run, and what is kept of what passed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import pytest
from lab_cli.building import presets
from lab_cli.testing import ctest, inputs, passed
from lab_cli.testing.listing import CTest
from lab_cli.testing.summary import RUN, Case
from testing_sample import listed

TESTS = listed("common/tests", "x/results", "x/options", "x/broken")
ALL = [test.name for test in TESTS]


class FakeCtest:
    """Stands in for ctest: notes how it was called, and says of each test what `outcomes` have."""

    def __init__(self) -> None:
        self.outcomes = {test.name: "run" for test in TESTS}
        self.commands: list[list[str]] = []
        self.told: list[str] = []  # the names of the tests that each was told to run
        self.tests = TESTS
        self.ended = False  # by a signal

    def __call__(self, command: Sequence[str], each: Callable[[str], None]) -> int:
        self.commands.append([*command])
        selected = [test for test in self.tests if self._selects(command, test)]
        self.told.append(" ".join(test.name for test in selected))
        if self.ended:
            return 9
        junit = Path(command[command.index("--output-junit") + 1])
        junit.write_text(f"<testsuite>{''.join(map(self._element, selected))}</testsuite>")
        each("a line\n")
        return 8 if any(self.outcomes[test.name] == "fail" for test in selected) else 0

    def _selects(self, command: Sequence[str], test: CTest) -> bool:
        if "-R" in command:
            return bool(re.search(command[command.index("-R") + 1], test.name))
        numbers = Path(command[command.index("-I") + 1]).read_text().split(",")
        assert numbers[:3] == ["0", "0", "0"]
        return str(test.number) in [number.strip() for number in numbers[3:]]

    def _element(self, test: CTest) -> str:
        status = self.outcomes[test.name]
        said = "" if status == "notrun" else f"ok      {test.name} --size=1"
        printed = f"<system-out>{said}</system-out>"
        return f'<testcase name="{test.name}" status="{status}">{printed}</testcase>'


@pytest.fixture
def fake(monkeypatch, exercises) -> FakeCtest:
    exercises("ch04_memory/x")
    fake = FakeCtest()
    monkeypatch.setattr(presets, "ctest_beside", lambda cmake: "ctest")
    monkeypatch.setattr(ctest, "run_lines", fake)
    monkeypatch.setattr(ctest.os, "sched_getaffinity", lambda process: {1, 2, 5})
    monkeypatch.setattr(inputs, "digest", lambda test, folder: f"inputs of {test.name}")
    return fake


@pytest.fixture
def run(fake: FakeCtest, tmp_path: Path) -> Callable[..., tuple[ctest.Ran, list[str]]]:
    """run(names, ...): what came of it, and what each ctest was told to run."""
    folder = tmp_path / "cpu"
    folder.mkdir()

    def run_tests(
        *names: str, fresh: bool = False, options: Sequence[str] = ()
    ) -> tuple[ctest.Ran, list[str]]:
        fake.told.clear()
        chosen = [test for test in fake.tests if test.name in names]
        ran = ctest.run("cmake", folder, fake.tests, chosen, options, lambda line: None, fresh)
        return ran, [*fake.told]

    return run_tests


def test_quick_tests_come_first(run, fake: FakeCtest) -> None:
    ran, told = run(*ALL)
    assert told == ["x/results x/options", "common/tests x/broken"]
    assert (ran.status, ran.kept, ran.complete) == (0, 0, True)
    for command in fake.commands:
        assert command[command.index("-j") + 1] == "3"


def test_with_options_of_ctest_all_go_to_one_ctest(run, fake: FakeCtest) -> None:
    """They may choose among the tests, and what is left must not be nothing."""
    run("x/results")
    assert run(*ALL, options=["-LE", "counts"])[1] == [" ".join(ALL)]
    assert fake.commands[-1][-2:] == ["-LE", "counts"]


def test_few_tests_are_selected_by_name_and_many_by_number(run, fake: FakeCtest) -> None:
    fake.tests = listed(*(f"{letter}/results" for letter in "abcdefgh"))
    fake.outcomes = {test.name: "run" for test in fake.tests}
    assert run("b/results", "d/results")[1] == ["b/results d/results"]
    assert "-I" not in fake.commands[-1]
    names = [test.name for test in fake.tests[1:]]
    assert run(*names, fresh=True)[1] == [" ".join(names)]
    assert "-R" not in fake.commands[-1]


def test_what_passed_is_not_run_again_until_something_has_changed(run, monkeypatch) -> None:
    assert run("x/results", "x/options")[1] == ["x/results x/options"]
    ran, told = run("x/results", "x/options", "x/broken")
    assert (told, ran.kept) == (["x/broken"], 2)
    assert [(case.name, case.outcome) for case in ran.cases[:2]] == [
        ("x/results --size=1", RUN),
        ("x/options --size=1", RUN),
    ]
    monkeypatch.setattr(inputs, "digest", lambda test, folder: f"new inputs of {test.name}")
    assert run("x/results")[1] == ["x/results"]


def test_what_was_said_of_a_test_is_said_again(tmp_path: Path) -> None:
    (test,) = listed("x/counts")
    passed.record(tmp_path, [Case("a", test, RUN, notes=("yours", "2"))], {test.name: "inputs"})
    cases = passed.cases_of(test, "inputs", passed.read(tmp_path))
    assert cases and [case.notes for case in cases] == [("yours", "2")]


def test_fresh_runs_all(run) -> None:
    run("x/results")
    ran, told = run("x/results", fresh=True)
    assert (told, ran.kept) == (["x/results"], 0)


@pytest.mark.parametrize("status", ["fail", "notrun", "timeout"])
def test_what_did_not_pass_runs_again(run, fake: FakeCtest, status: str) -> None:
    run("x/results", "x/options")
    fake.outcomes["x/results"] = status
    run("x/results", fresh=True)
    assert run("x/results", "x/options")[1] == ["x/results"]


def test_the_worst_status_counts(run, fake: FakeCtest) -> None:
    fake.outcomes["x/results"] = "fail"
    assert run(*ALL)[0].status == 8


def test_what_depends_on_nobody_knows_what_runs_again(run, monkeypatch) -> None:
    monkeypatch.setattr(inputs, "digest", lambda test, folder: "")
    run("x/results")
    assert run("x/results")[1] == ["x/results"]


def test_a_ctest_that_is_ended_says_nothing(run, fake: FakeCtest) -> None:
    fake.ended = True
    ran, told = run(*ALL)
    assert (ran.status, ran.cases, ran.complete) == (9, [], False)
    assert told == ["x/results x/options"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b'{"x/results": 3}',
        b'{"x/results": {"inputs": "inputs of x/results"}}',
        b'{"x/results": {"inputs": "inputs of x/results", "cases": ["a"]}}',
    ],
)
def test_a_file_of_something_else_says_nothing(run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cpu" / passed.FILE).write_bytes(content)
    assert run("x/results")[1] == ["x/results"]
    assert run("x/results")[1] == []
