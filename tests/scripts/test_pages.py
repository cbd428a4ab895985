"""The pages of the project: each link leads somewhere, and each exercise has its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_cli import catalogue, exercise_facts
from lab_cli.catalogue import facts_of, page_of
from lab_cli.paths import ROOT
from lab_cli.results import csv_file, tables
from lab_fixtures import shipped
from page_files import results_file
from page_text import broken_links, long_lines, targets

PAGES = tables.pages()
SOURCES = list(catalogue.sources().values())  # NAME.cu of each exercise
MOST = 100  # characters of a line of an exercise's page

of_pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
of_exercises = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)


def text_of(page: Path) -> str:
    assert page.is_file(), f"{page.relative_to(ROOT)} is not there"
    return page.read_text(encoding="utf-8")


@of_pages
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, ROOT) == []


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
    )  # LAB_ACCEPT=1 ./lab test -R printed/ writes it
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
