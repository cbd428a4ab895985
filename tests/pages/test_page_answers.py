"""How the code in the answers of the pages is read, and put into the exercises (page_answers.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.errors import LabError
from page_answers import Change, Run, Variant, variants_of, with_answer


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("before `int i`", "stands 2 times in the exercise, expected once: before"),
        ("replaces function padded", "stands 0 times"),
        ("in function second, behind `first`", "stands 0 times"),
        ("instead of `1`", "instead of `1`: no place for code"),
    ],
)
def test_a_place_that_is_not_there_is_named(place: str, problem: str) -> None:
    source = "void first() {\n    int i;\n}\nvoid second() {\n    int i;\n}\n"
    with pytest.raises(LabError, match=problem):
        Change(place, "NEW\n").applied(source)


ANSWER = """

It is

<!-- code: behind `a` -->
```cpp
int b;
```

<!-- change: in x.h, replaces `c` by `d` -->
<!-- variant: small -->
<!-- run: --size=1
prints: 2 of  2
prints: ok
finds: race
status: 1
counts: divergent_branch 1, 2
multiprocessors: 3
-->
<!-- variant: large -->
<!-- experiment: it is wrong at other sizes -->
<!-- change: before `e`
    int f;
    int g;
-->
<!-- run: -->
<!-- measure: --size=1G -->
<!-- measure: -->

"""


def test_comments_of_an_answer() -> None:
    both = [Change("behind `a`", "int b;\n"), Change("in x.h, replaces `c` by `d`")]
    counts = {"divergent_branch": [1, 2]}
    small = Run("--size=1", ["2 of 2", "ok"], "race", 1, counts, "3")
    large = Change("before `e`", "    int f;\n    int g;\n")
    assert variants_of("4", ANSWER) == [
        Variant("4", "small", changes=both, runs=[small]),
        Variant(
            "4",
            "large",
            changes=[*both, large],
            runs=[Run("")],
            measured=["--size=1G", ""],
            experiment="it is wrong at other sizes",
        ),
    ]
    assert variants_of("4", "\nOnly words.\n") == []


@pytest.mark.parametrize(
    ("variant", "right"),
    [
        (Variant(runs=[Run("")], changes=[Change("before `a`")]), True),
        (
            Variant(runs=[Run("", finds="no kernel was launched")], changes=[Change("before `a`")]),
            True,
        ),
        (Variant(runs=[Run(""), Run("", status=1)], changes=[Change("before `a`")]), False),
        (Variant(runs=[Run("", finds="race")], changes=[Change("before `a`")]), False),
        (Variant(runs=[Run("")], changes=[Change("before `a`")], experiment="why"), False),
        (Variant(runs=[Run("")]), False),
    ],
)
def test_which_answers_are_meant_to_be_right(variant: Variant, right: bool) -> None:
    assert variant.is_meant_to_be_right == right


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```cpp\nint a;\n```\n", "answer 4: code without a place above it"),
        ("<!-- code: before `a` -->\n\n```cpp\nint a;\n```\n", "answer 4: code without"),
        ("<!-- runs: --size=1 -->\n", "answer 4: .* a comment of another form"),
        (
            "<!-- code: program -->\n```cpp\na\n```\n<!-- code: before `a` -->\n```cpp\na\n```\n",
            "answer 4: a program of its own, and code",
        ),
        ("<!-- run: --size=1\nprint: 1\n-->\n", "print: 1: no line of a run"),
        ("<!-- run: -->\n<!-- variant: a -->\n", "answer 4: a run before the first variant"),
    ],
)
def test_what_is_wrong_in_an_answer_is_named(text: str, problem: str) -> None:
    with pytest.raises(LabError, match=problem):
        variants_of("4", text)


def test_changes_add_up(tmp_path: Path) -> None:
    source, header = tmp_path / "x.cu", tmp_path / "x.h"
    source.write_text("a\n")
    header.write_text("c\n")
    changes = [
        Change("behind `a`", "b\n"),
        Change("replaces `b` by `d`"),
        Change("in x.h, before `c`", "b\n"),
    ]
    changed = with_answer(source, Variant("1", changes=changes))
    assert changed == {source: "a\nd\n", header: "b\nc\n"}
    with pytest.raises(LabError, match="x, answer 1: stands 0 times"):
        with_answer(source, Variant("1", changes=[Change("behind `z`", "b\n")]))
