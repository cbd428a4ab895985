"""measure_answers.py and try_answers.py: what they build and run where, without a GPU."""

from __future__ import annotations

from pathlib import Path

import measure_answers
import page_files
import pytest
import try_answers
from lab_cli import catalogue
from lab_cli.errors import LabError
from lab_cli.results import csv_file
from lab_fixtures import shell_program
from page_answers import Change, Run, Variant
from page_files import results_file

SOURCE = catalogue.exercises()[0].source
CHANGE = Change("replaces `int main(` by `int /* changed */ main(`")
VARIANT = Variant("6", "changed", changes=[CHANGE], measured=["--m=1K"])


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(measure_answers, "COPY", tmp_path)
    return tmp_path


def fake_lab(copy: Path, check: str, status: int = 0) -> None:
    rows = f'echo "kernel,check,given"\necho "first,{check},$*"'
    shell_program(copy / "lab", f"{rows}\nexit {status}")


def test_a_row_names_its_answer(copy: Path) -> None:
    fake_lab(copy, "ok")
    (row,) = measure_answers.rows_of("matmul", VARIANT, "--m=1K --n=2")
    given = "run --backend gpu matmul -- --m=1K --n=2 --reps=20 --csv"
    assert [*row.values()] == ["6", "changed", "first", "ok", given]


@pytest.mark.parametrize(
    ("check", "status", "says"), [("WRONG", 0, "wrong: first"), ("ok", 3, "status 3")]
)
def test_a_wrong_result_is_none(copy: Path, check: str, status: int, says: str) -> None:
    fake_lab(copy, check, status)
    with pytest.raises(LabError, match=f"matmul, answer 6, changed, --m=1K: {says}"):
        measure_answers.rows_of("matmul", VARIANT, "--m=1K")


def test_the_copy_has_the_answer_while_it_is_measured(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure_answers.copy_the_checkout()
    file = measure_answers.copy_of(SOURCE)
    seen = []

    def rows_of(name: str, variant: Variant, options: str) -> list[dict[str, str]]:
        seen.append((variant.answer, options, "/* changed */" in file.read_text()))
        return [{"answer": variant.answer}]

    monkeypatch.setattr(measure_answers, "rows_of", rows_of)
    without_code = Variant("5", measured=["--m=2K"])  # nothing of the checkout to compare with
    rows = measure_answers.measure(SOURCE, [without_code, VARIANT])
    assert seen == [("0", "--m=1K", False), ("5", "--m=2K", False), ("6", "--m=1K", True)]
    assert [row["answer"] for row in rows] == ["0", "5", "6"]
    assert file.read_bytes() == SOURCE.read_bytes()


def test_the_copy_is_newer_than_what_was_built_of_an_answer(copy: Path) -> None:
    measure_answers.copy_the_checkout()
    built = copy / "out" / "program.o"
    built.parent.mkdir()
    built.touch()
    measure_answers.copy_the_checkout()
    assert measure_answers.copy_of(SOURCE).stat().st_mtime_ns > built.stat().st_mtime_ns


def test_columns_that_a_row_lacks_are_empty() -> None:
    rows = [{"answer": "0", "a": "1"}, {"answer": "2", "a": "3", "b": "4,5"}]
    assert measure_answers.table(rows) == 'answer,a,b\n0,1,\n2,3,"4,5"\n'


@pytest.mark.parametrize("name", measure_answers.measured())
def test_what_is_measured_is_in_the_results(name: str) -> None:
    if not results_file(name).is_file():
        pytest.skip(f"nothing of {name} has been measured")
    path = results_file(name, "answers")
    rows = csv_file.parse(csv_file.read_text(path), path).rows
    _, variants = measure_answers.measured()[name]
    as_shipped = {("0", "") for variant in variants if variant.changes}
    answers = {(variant.answer, variant.name) for variant in variants}
    assert {(row["answer"], row["variant"]) for row in rows} == as_shipped | answers
    assert {row["check"] for row in rows} == {"ok"}


# ---- try_answers.py ----


def program(folder: Path, prints: str, status: int) -> Path:
    return shell_program(folder / "program", f"printf '{prints}'\nexit {status}")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of an exercise whose program is one line."""
    source = tmp_path / "mine" / "mine.cu"
    source.parent.mkdir()
    source.write_text("int main() {}\n")
    page = source.with_name("README.md")
    monkeypatch.setattr(page_files, "_sources", lambda: {page: source})
    return page


def test_answers_and_programs_are_tried(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []

    def build(source: Path) -> Path:
        seen.append(source.read_text())
        return program(source.parent, "the sum is 140\\n", 0)

    whole = Variant("4", program="void whole() {}", runs=[Run("", ["the sum is 140"])])
    variants = [Variant("2", changes=[CHANGE], runs=[Run("--size=7")]), whole]
    monkeypatch.setattr(try_answers, "answers", lambda: {page: variants})
    assert try_answers.try_all(["mine"], build)
    assert ["/* changed */" in seen[0], "whole" in seen[1], len(seen)] == [True, True, 2]
    out = capsys.readouterr().out
    assert out == "mine, 1: answer 2: ok\nmine, 2: answer 4: ok\n"
    whole.runs[0].prints[0] = "another sum"
    assert not try_answers.try_all(["mine"], build)


def tried(page: Path, variant: Variant, prints: str, status: int) -> str:
    """What is wrong with the answer, if its program prints this and ends so."""
    return try_answers.try_answer(
        page, variant, lambda source: program(source.parent, prints, status), page.parent
    )


@pytest.mark.parametrize(
    ("prints", "status", "right"),
    [("the sum\\n is 140", 0, True), ("the sum is 140", 1, False), ("the sum is 14", 0, False)],
)
def test_a_program_prints_what_the_page_says(
    page: Path, prints: str, status: int, right: bool
) -> None:
    answer = Variant("4", program="int main() {}", runs=[Run("", ["the sum", "is 140"])])
    said = tried(page, answer, prints, status)
    assert said == "" if right else said.startswith(f"status {status}\nthe sum")


def test_a_status_that_is_not_0_may_be_right(page: Path) -> None:
    answer = Variant("2", changes=[CHANGE], runs=[Run("--size=7", ["5"], status=1)])
    assert tried(page, answer, "", 0) != ""
    assert tried(page, answer, "", 1) == ""


def test_races_on_purpose_are_not_tried() -> None:
    race, none = Run("", finds="race"), Run("", finds="no kernel was launched")
    assert try_answers.sure_runs(Variant("1", runs=[race, none])) == [none]


@pytest.mark.parametrize("names", [[], ["nobody"]])
def test_names_without_answers_are_refused(names: list[str]) -> None:
    assert try_answers.main(names) == 2
