"""The pages of the project: each link leads somewhere, each exercise has its page, each table and each
figure its source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_cli import catalogue, exercise_facts
from lab_cli.counters import diagnosis
from lab_cli.paths import ROOT
from lab_cli.results import csv_file, figures, tables
from page_text import broken_links, long_lines, targets

RESULTS = ROOT / "results"
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
    names = {source.stem for source in SOURCES}
    named = re.findall(r"\[`?(\w+)`?\]\(([^)#]+)\.md\)", text_of(page))
    assert [link for link in named if link[0] in names and Path(link[1]).name != link[0]] == []


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
def test_tables_have_their_source(page: Path) -> None:
    text = text_of(page)
    blocks = tables.BLOCK.findall(text)
    assert len(blocks) == text.count("<!-- table "), "the marks of a table are not as they must be"
    for block in blocks:
        for name in block[1].split(","):
            source = ROOT / name.strip()
            folders = {RESULTS, ROOT / "emulator" / "results"} & set(source.parents)
            assert source == diagnosis.FILE or folders, name
            assert source.is_file(), name


@of_pages
def test_figures_of_results_have_their_source(page: Path) -> None:
    drawn_from = {
        spec.file(folder): spec.source(folder)
        for spec in figures.of(catalogue.exercises())
        for folder in RESULTS.iterdir()
    }
    for target in targets(text_of(page)):
        path = (page.parent / target).resolve()
        if path.suffix in (".svg", ".png") and RESULTS in path.parents:
            assert path in drawn_from, f"{target}: no exercise has this figure"
            assert path.is_file() and drawn_from[path].is_file(), target


@of_exercises
def test_exercise_has_its_three_files(source: Path) -> None:
    for suffix in (".cu", ".toml", ".md"):
        path = source.with_suffix(suffix)
        assert path.is_file(), f"{path.relative_to(ROOT)} is not there"


@of_exercises
def test_what_an_exercise_prints_is_known(source: Path) -> None:
    if exercise_facts.load(source.with_suffix(".toml")).gpu_only:
        return  # nobody but a GPU can print it
    path = ROOT / "tests" / "printed" / f"{source.stem}.txt"
    assert path.is_file(), (
        f"LAB_ACCEPT=1 ./lab test -R printed/{source.stem} writes {path.relative_to(ROOT)}"
    )


@of_exercises
def test_page_is_linked_from_its_chapter(source: Path) -> None:
    linked = [target.split("#")[0] for target in targets(text_of(source.parent / "README.md"))]
    assert f"{source.stem}.md" in linked


@of_exercises
def test_lines_of_a_page_are_short(source: Path) -> None:
    assert long_lines(text_of(source.with_suffix(".md")), MOST) == []


def test_every_exercise_is_registered_with_cmake() -> None:
    for source in SOURCES:
        lists = (source.parent / "CMakeLists.txt").read_text()
        assert re.search(rf"^ *lab_add_exercise\(\s*{source.stem}\b", lists, re.MULTILINE)


def test_rows_of_device_query_are_those_of_its_results() -> None:
    """Those that its page has, which are too few for a table that is written from all."""
    path = RESULTS / "h200" / "deviceQuery.csv"
    results = csv_file.parse(csv_file.read_text(path), path).rows
    columns = ["property", "value", "unit", "meaning"]
    known = [[row[column] for column in columns] for row in results]
    page = text_of(ROOT / "ch03_execution_model" / "deviceQuery.md")
    table = page.partition("| --- | ---: | --- | --- |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert rows
    assert [row for row in rows if row not in known] == []


@of_pages
def test_keys_of_facts_are_such(page: Path) -> None:
    """`key = value` for a NAME.toml, as the module of its keys explains them."""
    known = re.findall(r"\w+", exercise_facts.__doc__ or "")
    for key in re.findall(r"`(\w+) = [^`]+` in\s+`?NAME\.toml", text_of(page)):
        assert key in known, key
    for table in re.findall(r"`\[+(\w+)\]", text_of(page)):
        assert table in known, table


@of_exercises
def test_tasks_hints_and_answers_belong_together(source: Path) -> None:
    text = text_of(source.with_suffix(".md"))

    def numbers(pattern: str, heading: str) -> list[int]:
        section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        return [int(number) for number in re.findall(pattern, section, re.MULTILINE)]

    tasks = numbers(r"^(\d+)\. ", "Tasks")
    assert tasks == list(range(1, len(tasks) + 1)) and tasks
    assert numbers(r"<summary>Answer (\d+)</summary>", "Answers") == tasks
    hints = numbers(r"^- Task (\d+)", "Hints")
    assert hints == sorted(set(hints)) and set(hints) <= set(tasks)
