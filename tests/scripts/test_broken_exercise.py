"""The judge of the ctest cases NAME/broken: a check that notices nothing must not pass."""

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


def texts_of(source: Path, changes: list[Broken]) -> dict[str, str]:
    """The changed files of a program of round 1."""
    return broken_exercise.alone(broken_exercise.changed(source, changes), 1).texts


def test_all_changes_are_made_in_their_files(tmp_path: Path) -> None:
    changes = [
        Broken("a = b", "a = -b", []),
        Broken("e = f", "e = 0", []),
        Broken("h", "i", [], "x.cuh"),
        Broken("k", "l", [], "of_chapter.h"),
        Broken("#pragma once", "", [], "lab.cuh"),
        Broken("d = b", "d = 1", [], round=2),
    ]
    texts = texts_of(sample(tmp_path, ""), changes)
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
    """NAME/broken finds that, too, but where the cpu back end cannot run NAME only on a GPU."""
    broken_exercise.changed(source, exercise_facts.load(facts_of(source)).broken)


SOURCE = """\
constexpr int kFirst = 1;
int sum() {
    return 1 + 2;
}
"""


@pytest.mark.parametrize(
    ("places", "together", "programs"),
    [
        (["1 +", "+ 2", "return"], True, [[1, 2, 3]]),
        (["1 +", "kFirst", "+ 2"], True, [[1, 3], [2]]),  # a constant cannot change in a run
        (["1 +", "kFirst"], True, [[1], [2]]),
        (["1 +", "+ 2"], False, [[1], [2]]),
    ],
)
def test_few_programs_have_all_rounds(
    tmp_path: Path, places: list[str], together: bool, programs: list[list[int]]
) -> None:
    source = sample(tmp_path, "")
    source.write_text(SOURCE)
    changes = [Broken(each, "0", [], round=number) for number, each in enumerate(places, 1)]
    copies = broken_exercise.copies(broken_exercise.changed(source, changes), together)
    assert [copy.rounds for copy in copies] == programs
    assert [copy.texts["x.cu"].count("labRound() ==") for copy in copies] == [
        len(each) if len(each) > 1 else 0 for each in programs
    ]


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
    """A program that prints a row; that of round 2 is ok."""
    rows = f"parameters,check\\nn=1 m=2,{verdict}\\n"
    return shell_program(
        folder / "program",
        f"""\
if [ "$LAB_ROUND" = 2 ]; then
    printf 'parameters,check\\nn=1,ok\\n'; exit 0
fi
printf '{rows}'
exit {status}""",
    )


def test_words_of_the_parameters_are_columns(tmp_path: Path) -> None:
    (row,) = broken_exercise.rows_of(program(tmp_path, "ok", 0), [], 1)
    assert row == {"n": "1", "m": "2", "parameters": "n=1 m=2", "check": "ok"}


@pytest.mark.parametrize(("verdict", "status"), [("ok", 1), ("WRONG", 0), ("WRONG", 139)])
def test_the_exit_status_says_the_same(tmp_path: Path, verdict: str, status: int) -> None:
    with pytest.raises(LabError, match=f"exit status {status}, expected"):
        broken_exercise.rows_of(program(tmp_path, verdict, status), [], 1)


class FakeCompiler(broken_exercise.Compiler):
    """Compiles no program of more than one round."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def compiled(self, texts: dict[str, str], folder: Path) -> tuple[Path | None, str]:
        if "labRound" in "".join(texts.values()):
            return None, "too much"
        return self._program, ""


def test_rounds_that_do_not_compile_together_are_compiled_alone(tmp_path: Path, capsys) -> None:
    """And each round is judged by its own rows."""
    source = sample(tmp_path, "")
    source.write_text(SOURCE)
    wrong = [{"n": "1"}]
    changes = [Broken("1 +", "0 +", wrong), Broken("+ 2", "+ 0", wrong, round=2)]
    files = broken_exercise.changed(source, changes)
    trial = broken_exercise.Trial(changes, [], FakeCompiler(program(tmp_path, "WRONG", 1)))
    trial.run(broken_exercise.copies(files, together=True), files)
    assert trial.lines.end() == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("ok ") and "round 1" in first
    assert second.startswith("FAILED ") and "round 2" in second and "check is ok" in second
    assert "round 2" in last


def test_rounds_are_made_one_after_the_other() -> None:
    first, second = Broken("a", "b", []), Broken("a", "c", [], round=2)
    other = Broken("d", "e", [])
    assert broken_exercise.rounds([second, first, other]) == [[first, other], [second]]


def test_a_round_may_have_options() -> None:
    plain, with_options = Broken("a", "b", []), Broken("c", "d", [], options="--m=4 --kernel='a b'")
    assert broken_exercise.options_of([plain]) == []
    assert broken_exercise.options_of([plain, with_options]) == ["--m=4", "--kernel=a b"]
