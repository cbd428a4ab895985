"""The judge of the ctest cases broken/NAME: a check that notices nothing must not pass."""

from __future__ import annotations

from pathlib import Path

import broken_exercise
import pytest
from exercise_sample import FACTS
from lab_cli import catalogue, exercise_facts
from lab_cli.catalogue import facts_of
from lab_cli.errors import LabError
from lab_cli.exercise_facts import Broken
from lab_fixtures import shell_program


def sample(folder: Path, facts: str) -> Path:
    """An exercise x with these facts, and a header."""
    own = folder / "ch" / "x"
    own.mkdir(parents=True)
    (own / "x.cu").write_text("a = b + c; d = b + c; e = f;")
    (own / "x.cuh").write_text("g = h;")
    (own.parent / "of_chapter.h").write_text("j = k;")
    (own / "exercise.toml").write_text(FACTS + facts)
    return own / "x.cu"


def test_all_changes_are_made_in_their_files(tmp_path: Path) -> None:
    changes = [
        Broken("a = b", "a = -b", []),
        Broken("e = f", "e = 0", []),
        Broken("h", "i", [], "x.cuh"),
        Broken("k", "l", [], "of_chapter.h"),
        Broken("#pragma once", "", [], "lab.cuh"),
    ]
    texts = broken_exercise.changed(sample(tmp_path, ""), changes)
    assert "#include" in texts.pop("lab.cuh")  # of common/
    assert texts == {
        "x.cu": "a = -b + c; d = b + c; e = 0;",
        "x.cuh": "g = i;",
        "of_chapter.h": "j = l;",
    }


@pytest.mark.parametrize(("text", "times"), [("gone", 0), ("b + c", 2)])
def test_a_text_must_stand_there_once(tmp_path: Path, text: str, times: int) -> None:
    changes = [Broken("a", "b", []), Broken(text, "", [])]
    message = rf"exercise.toml: \[\[broken\]\], entry 2: stands {times} times in x.cu"
    with pytest.raises(LabError, match=message):
        broken_exercise.changed(sample(tmp_path, ""), changes)


@pytest.mark.parametrize("source", catalogue.sources().values(), ids=lambda source: source.stem)
def test_what_an_exercise_has_changed_stands_in_it(source: Path) -> None:
    """broken/NAME finds that, too, but where the cpu back end cannot run NAME only on a GPU."""
    changes = exercise_facts.load(facts_of(source)).broken
    for together in broken_exercise.rounds(changes):
        broken_exercise.changed(source, together)


def test_an_exercise_needs_a_change(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"exercise.toml has no \[\[broken\]\]"):
        broken_exercise.changes_of(sample(tmp_path, ""))


ROWS = [
    {"kernel": "add", "size": "1", "check": "WRONG"},
    {"kernel": "add", "size": "2", "check": "ok"},
    {"kernel": "race", "size": "1", "check": "lucky"},
]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ([{"kernel": "add", "size": "1"}], []),
        ([{"kernel": "add"}], ["check is ok, expected WRONG: add,2,ok"]),
        ([{"size": "1"}], ["check is lucky, expected WRONG: race,1,lucky"]),
        ([], ["check is WRONG, expected ok: add,1,WRONG"]),
        (
            [{"kernel": "add", "size": "1"}, {"kernel": "gone"}],
            ["there is no row {'kernel': 'gone'}"],
        ),
    ],
)
def test_just_the_rows_that_are_named_are_wrong(
    named: list[dict[str, str]], said: list[str]
) -> None:
    changes = [Broken("a", "b", [row]) for row in named]
    assert broken_exercise.problems(ROWS, changes) == said


def program(folder: Path, verdict: str, status: int) -> Path:
    rows = f"parameters,check\\nn=1 m=2,{verdict}\\n"
    return shell_program(folder / "program", f"printf '{rows}'\nexit {status}")


def test_words_of_the_parameters_are_columns(tmp_path: Path) -> None:
    (row,) = broken_exercise.rows_of(program(tmp_path, "ok", 0), [])
    assert row == {"n": "1", "m": "2", "parameters": "n=1 m=2", "check": "ok"}


@pytest.mark.parametrize(("verdict", "status"), [("ok", 1), ("WRONG", 0), ("WRONG", 139)])
def test_the_exit_status_says_the_same(tmp_path: Path, verdict: str, status: int) -> None:
    with pytest.raises(LabError, match=f"exit status {status}, expected"):
        broken_exercise.rows_of(program(tmp_path, verdict, status), [])


def test_rounds_are_made_one_after_the_other() -> None:
    first, second = Broken("a", "b", []), Broken("a", "c", [], round=2)
    other = Broken("d", "e", [])
    assert broken_exercise.rounds([second, first, other]) == [[first, other], [second]]


def test_a_round_may_have_options() -> None:
    plain, with_options = Broken("a", "b", []), Broken("c", "d", [], options="--m=4 --kernel='a b'")
    assert broken_exercise.options_of([plain]) == []
    assert broken_exercise.options_of([plain, with_options]) == ["--m=4", "--kernel=a b"]
