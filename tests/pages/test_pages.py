"""The pages of the project: each link leads somewhere, each exercise has its page, and tables, figures and
drawings stand there as they are made."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from pathlib import Path

import compare_sample
import pytest
from lab_cli import assignment_catalogue, catalogue, exercise_facts, main
from lab_cli.assignments import Assignment
from lab_cli.catalogue import Exercise, facts_of, page_of
from lab_cli.paths import ROOT
from lab_cli.results import csv_file, figures, tables
from lab_course.handouts import pages
from lab_course.reporting import figures as report_figures
from lab_fixtures import shipped
from page_files import results_file
from page_text import broken_links, long_lines, repeated, targets

PAGES = tables.pages()
ASSIGNMENTS = list(assignment_catalogue.assignments().values())
SOURCES = list(catalogue.sources().values())  # NAME.cu of each exercise
DRAWINGS = sorted([*ROOT.glob("*/drawing*.svg"), *ROOT.glob("*/*/drawing*.svg")])
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
COMPARED = re.compile(r"<!-- compared (\w+) (\w+) -->\n\n((?:    .*\n)+)")
MOST = 100  # characters of a line of an exercise's page
LONG = 12  # words of a sentence

of_pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
of_exercises = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
of_assignments = pytest.mark.parametrize(
    ("exercise", "assignment"), ASSIGNMENTS, ids=[assignment.name for _, assignment in ASSIGNMENTS]
)
of_drawings = pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.parent.name)


def text_of(page: Path) -> str:
    assert page.is_file(), f"{page.relative_to(ROOT)} is not there"
    return page.read_text(encoding="utf-8")


@of_pages
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, ROOT) == []


@of_pages
def test_no_long_sentence_stands_twice(page: Path) -> None:
    """A paragraph that was edited, and is still there as it was before."""
    assert repeated(text_of(page), LONG) == []


@of_pages
def test_a_link_that_names_an_exercise_leads_to_its_page(page: Path) -> None:
    page_of_name = {source.stem: page_of(source) for source in SOURCES}
    for name, target in re.findall(r"\[`?(\w+)`?\]\(([^)#]+\.md)\)", text_of(page)):
        if name in page_of_name:
            assert (page.parent / target).resolve() == page_of_name[name], name


@of_pages
def test_a_link_that_names_a_file_leads_to_it(page: Path) -> None:
    named = re.findall(r"\[`?([\w./-]+\.(?:cuh?|h|toml|py|cpp|csv))`?\]\(([^)#]+)\)", text_of(page))
    assert [link for link in named if Path(link[0]).name != Path(link[1]).name] == []


@of_pages
def test_a_link_that_names_a_word_of_the_guide_leads_to_it(page: Path) -> None:
    headings = re.findall(r"^### (.+)$", text_of(ROOT / "GUIDE.md").lower(), re.MULTILINE)
    for text, anchor in re.findall(r"\[([^\]]+)\]\([./]*GUIDE\.md#([\w-]+)\)", text_of(page)):
        word = " ".join(text.lower().split())
        for heading in {word, re.sub("s$", "", word)} & set(headings):
            assert anchor == re.sub(r"[^\w -]", "", heading).replace(" ", "-"), text


@of_pages
def test_marks_of_tables_are_as_they_must_be(page: Path) -> None:
    text = text_of(page)
    assert len(tables.BLOCK.findall(text)) == text.count("<!-- table ")


@of_exercises
def test_exercise_has_its_files(source: Path) -> None:
    """An exercise that runs on a GPU alone has no printed.txt."""
    printed = (
        source.parent / "tests" / "printed.txt"
    )  # LAB_ACCEPT=1 ./lab test -R /printed writes it
    of_gpu = exercise_facts.load(facts_of(source)).gpu_only
    for path in (source, page_of(source), *([] if of_gpu else [printed])):
        assert path.is_file(), f"{path.relative_to(ROOT)} is not there"


@of_exercises
def test_page_is_linked_from_its_chapter(source: Path) -> None:
    chapter = ROOT / source.relative_to(ROOT).parts[0]
    linked = [chapter / target.split("#")[0] for target in targets(text_of(chapter / "README.md"))]
    assert page_of(source) in linked


@of_exercises
def test_lines_of_a_page_are_short(source: Path) -> None:
    assert long_lines(text_of(page_of(source)), MOST) == []


def test_rows_of_device_query_are_those_of_its_results() -> None:
    """Those that its page has, which are too few for a table that is written from all."""
    page = text_of(page_of(shipped("deviceQuery").source))
    path = results_file("deviceQuery")
    results = csv_file.parse(csv_file.read_text(path), path).rows
    columns = ["property", "value", "unit", "meaning"]
    known = [[row[column] for column in columns] for row in results]
    table = page.partition("| --- | ---: | --- | --- |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert rows
    assert [row for row in rows if row not in known] == []


@of_exercises
def test_tasks_hints_and_answers_belong_together(source: Path) -> None:
    text = text_of(page_of(source))

    def numbers(pattern: str, heading: str) -> list[int]:
        section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        return [int(number) for number in re.findall(pattern, section, re.MULTILINE)]

    tasks = numbers(r"^(\d+)\. ", "Tasks")
    assert tasks == list(range(1, len(tasks) + 1)) and tasks
    assert numbers(r"<summary>Answer (\d+)</summary>", "Answers") == tasks
    hints = numbers(r"^- Task (\d+)", "Hints")
    assert hints == sorted(set(hints)) and set(hints) <= set(tasks)


@of_drawings
def test_drawing_stands_on_the_page_of_its_exercise(path: Path) -> None:
    page = text_of(path.with_name("README.md"))
    alternative = re.search(rf"!\[([^\]]*)\]\({path.name}\)", page)
    assert alternative and len(alternative[1]) > 80, "an image, with words that tell what is drawn"


def test_version_is_the_newest_one_in_the_changelog(capfd) -> None:
    versions = re.findall(r"^## \[(\d.*)\] - ", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert main.main(["--version"]) == 0
    assert capfd.readouterr().out == f"lab {versions[0]}\n"


def test_each_file_of_common_has_its_line() -> None:
    readme = text_of(ROOT / "common" / "README.md")
    lines = re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\) \| [^|]+ \|$", readme, re.MULTILINE)
    assert all(name == target for name, target in lines)
    files = {path.name for path in (ROOT / "common").iterdir()} - {"README.md"}
    assert Counter(name for name, _ in lines) == Counter(files)


def test_the_guide_shows_how_versions_differ() -> None:
    ((before, after, block),) = COMPARED.findall(text_of(ROOT / "GUIDE.md"))
    lines = textwrap.dedent(block).splitlines()
    places = [
        re.match(r" +(?:before|after) +transpose\.cu:(\d+)  (.*) \.\.\.$", line) for line in lines
    ]
    said = [line for line, place in zip(lines, places) if not place]
    assert "\n".join(said) == compare_sample.first_difference("transpose", before, after, 100)
    code = text_of(catalogue.sources()["transpose"]).splitlines()
    shown = [(int(place[1]), place[2]) for place in places if place]
    assert len(shown) == 2
    assert [text for number, text in shown if not code[number - 1].strip().startswith(text)] == []


def test_tables_of_the_pages_are_up_to_date() -> None:
    found = 0
    for page in PAGES:
        text = text_of(page)
        assert tables.with_tables(text, page.parent) == text, f"{page}: run ./lab plot"
        found += len(tables.BLOCK.findall(text))
    assert found >= 6, "the marks of the tables are no longer found"


def test_pages_show_figures_that_exist_and_say_what_is_to_be_seen() -> None:
    shown = 0
    for page in PAGES:
        for about, target in IMAGE.findall(text_of(page)):
            shown += 1
            assert (page.parent / target).is_file(), f"{page}: no file {target}"
            assert len(about.split()) >= 8, f"{page}: {target} needs a text that describes it"
    assert shown >= 8, "the figures are no longer found"


def test_every_figure_of_an_exercise_is_shown_somewhere() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for _, target in IMAGE.findall(text_of(page))
    }
    for spec in figures.of(catalogue.exercises()):
        folder = spec.results / "h200"
        assert not spec.source(folder).is_file() or spec.file(folder) in shown, spec.name


@of_assignments
def test_its_section_and_its_answer_are_on_the_page(
    exercise: Exercise, assignment: Assignment
) -> None:
    before, _, after = text_of(exercise.page).partition("\n## Tasks\n")
    assert f"\n## Assignment: {assignment.name} {'★' * assignment.stars}\n" in before
    assert f"<summary>Answer to {assignment.name}</summary>" in after


@of_assignments
def test_no_other_answer_has_its_kernels(exercise: Exercise, assignment: Assignment) -> None:
    gone = {assignment.name, *map(str, assignment.answers)}
    seen: set[str] = set()
    for answer in pages.ANSWER.finditer(text_of(exercise.page)):
        words = {*answer["title"].split()}
        seen |= words
        for name in assignment.kernels:
            assert words & gone or not re.search(rf"__global__[^;{{]*\b{name}\(", answer[0]), words
    assert gone <= seen


@pytest.mark.parametrize("exercise", catalogue.exercises(), ids=lambda exercise: exercise.name)
def test_figures_of_a_report_have_the_text_of_the_page(exercise: Exercise) -> None:
    found = report_figures.of(exercise, "h200")
    assert bool(found.problem) == (not found.figures)
    for figure in found.figures:
        assert figure.gpu == "NVIDIA H200" and not figure.this_machine and figure.date
        assert len(figure.text) > 40, figure.name  # of the exercise's page
        text = report_figures.markup(figure, f"{figure.name}-")
        known = set(re.findall(r' id="([^"]*)"', text))
        used = set(re.findall(r'(?:href="|url\()#([^")]*)', text))
        assert used <= known
        original = (ROOT / figure.file).read_text()
        assert text.count("<path") == original.count("<path")
        assert text.count("<use") == original.count("<use")
