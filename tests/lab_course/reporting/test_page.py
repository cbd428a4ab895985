"""The page of a report: is it HTML, does it show what it should, and no more?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import report_sample
from lab_cli.paths import ROOT
from lab_course.reporting import facts
from lab_course.reporting.text import Text
from report_sample import EXERCISE, HOSTILE, MISSING, OWN, REPORT

pytest.importorskip("jinja2")
html5lib = pytest.importorskip("html5lib")

from lab_course.reporting import page  # noqa: E402

OUT = Path("/somewhere/report.html")
CSS = (page.FOLDER / "page.css").read_text(encoding="utf-8")


def parsed(text: str) -> ElementTree.Element:
    """Raises where it is not as HTML should be."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)


def render(report: facts.Report = REPORT, path: Path = OUT) -> ElementTree.Element:
    return parsed(page.render(report, path))


def text_of(element: ElementTree.Element) -> str:
    """With a space behind each cell."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: ElementTree.Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        yield from _pieces(child)
        yield child.tail or ""
    if element.tag in ("td", "th", "dt", "dd", "li"):
        yield " "


def section(root: ElementTree.Element, name: str) -> str:
    """What stands below the first heading of this name, up to the next."""
    text = text_of(root.find("body"))
    headings = [text_of(h) for h in root.iter() if h.tag in ("h2", "h3")]
    number = next(i for i, heading in enumerate(headings) if heading.startswith(name))
    begin = text.index(headings[number], text.index(headings[number - 1]) + 1)
    return text[begin : text.find(headings[number + 1], begin + 1)]


@pytest.mark.parametrize(
    "report",
    [REPORT, *(report_sample.of(program) for program in (EXERCISE, MISSING, OWN))],
    ids=["all", "exercise", "missing", "own"],
)
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_it_is_html(report: facts.Report, backend: str) -> None:
    root = render(replace(report, backend=backend, emulated=backend == "cpu"))
    assert root.get("lang") == "en"
    identifiers = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(identifiers) == len(set(identifiers))
    for element in root.iter():
        for name in ("aria-labelledby",):
            assert element.get(name) in [None, *identifiers]
        if element.tag == "a" and element.get("href", "").startswith("#"):
            assert element.get("href")[1:] in identifiers


def test_what_a_program_printed_is_text_and_no_more() -> None:
    text = page.render(REPORT, OUT)
    assert text.count("<script>") == 1 and "<b onclick" not in text
    root = parsed(text)
    flat = " ".join(HOSTILE.split())
    assert (
        text_of(root).count(flat) >= 6
    )  # of the run, a row, a test, a finding, a diff, the options
    assert [e for e in root.iter() if any(name.startswith("on") for name in e.attrib)] == []


def test_nothing_comes_from_elsewhere() -> None:
    root = render()
    for element in root.iter():
        assert element.tag not in ("link", "iframe", "img", "base", "object", "embed", "form")
        assert element.get("src") is None
        href = element.get("href") or element.get("{http://www.w3.org/1999/xlink}href") or "#"
        assert href.startswith(("#", "data:")), href
    assert "url(" not in CSS and "@import" not in CSS


def test_of_many_programs_the_title_has_their_number() -> None:
    assert page.title(report_sample.of(*[OWN] * 5)) == "Report on 5 exercises"


def test_headings_come_in_order() -> None:
    levels = [int(e.tag[1]) for e in render().iter() if re.fullmatch("h[1-6]", str(e.tag))]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(levels, levels[1:]))


def test_tables_have_heads_that_say_what_they_head() -> None:
    root = render()
    heads = [e for e in root.iter() if e.tag == "th"]
    assert len(heads) > 30 and {e.get("scope") for e in heads} == {"row", "col", "colgroup"}
    bodies = [*root.iter("tbody")]
    assert len(bodies) >= 4
    for row in (row for body in bodies for row in body):
        assert (row[0].tag, row[0].get("scope")) == ("th", "row")


def test_figures_and_what_scrolls_have_names() -> None:
    root = render()
    drawings = [e for e in root.iter() if str(e.tag).endswith("svg")]
    assert len(drawings) == 2 and all(
        e.get("role") == "img" and e.get("aria-label") for e in drawings
    )
    for element in root.iter():
        if element.get("tabindex"):
            assert element.get("role") == "region"
            assert element.get("aria-label") or element.get("aria-labelledby")
    caption = text_of(root.find(".//figcaption"))
    assert caption.startswith(
        "The reference, measured on NVIDIA H200, not in this run (2026-11-22)"
    )


def test_an_emulation_says_so_and_the_reference_says_where_it_was_measured() -> None:
    root = render(report_sample.of(EXERCISE))
    assert text_of(root).count("times say nothing about a GPU") == 1
    results = section(root, "Results")
    assert "this run, emulated on the CPU NVIDIA H200, reference" in results
    assert "Times are of an emulation" in results
    assert "0.2500" in results and "0.5000 4,281 GB/s 88.9" in results and "tile=8" in results
    assert "3 more rows are left out" in results
    on_gpu = text_of(render(report_sample.of(EXERCISE, backend="gpu")))
    assert "emulated" not in on_gpu and "say nothing" not in on_gpu
    table = report_sample.TABLE  # as it is without --host-times
    without = replace(table, columns=[each for each in table.columns if each.name != "median_ms"])
    program = replace(EXERCISE, run=replace(EXERCISE.run, table=without))
    assert "Times are of" not in text_of(render(report_sample.of(program)))


def test_verdicts_have_a_word_and_a_colour() -> None:
    chips = {
        (text_of(e), e.get("class"))
        for e in render().iter()
        if "chip" in e.get("class", "").split()
    }
    assert {
        ("ok", "chip good"), ("WRONG", "chip bad"), ("failed", "chip bad"), ("hazards", "chip bad"),
        ("late", "chip bad"), ("not known", "chip unknown"), ("2 failed", "chip bad"),
    } == chips  # fmt: skip


def test_what_is_missing_is_said_where_it_would_be() -> None:
    root = render(report_sample.of(MISSING))
    for name in ("Results", "Tests", "Metrics"):
        assert "only on the gpu back end" in section(root, name)
    assert "no figures" in section(root, "Figures")
    assert "git is not installed" in text_of(root)
    own = render(report_sample.of(OWN))
    assert "had not ended after 3 seconds" in section(own, "Results")
    assert "zig's compiler" in section(own, "Hazard check")
    headings = [text_of(e).split()[0] for e in own.iter() if e.tag == "h3"]
    assert headings == ["What", "Results", "Hazard", "Metrics"]


def test_what_is_not_all_right_stands_at_the_top_and_leads_to_its_part() -> None:
    root = render()
    identifiers = {e.get("id"): text_of(e) for e in root.iter() if e.get("id")}
    items = next(e for e in root.iter("ul"))
    found = [(identifiers[item[0].get("href")[1:]], text_of(item)) for item in items]
    assert found == [
        ("Results WRONG", f"transpose, results: WRONG in 1 of 4 rows: {HOSTILE}"),
        ("Tests failed", "transpose, tests: 2 of 5 failed: 2 about results"),
        ("Hazard check hazards", "transpose, hazard check: 1 hazard found"),
        ("Results not known", "wgmma, results: only on the gpu back end"),
        ("Results late", "mine.cu, results: had not ended after 3 seconds"),
        ("Hazard check not known", "mine.cu, hazard check: cannot be built with zig's compiler"),
    ]


def test_of_a_program_that_could_not_be_run_it_says_that_alone() -> None:
    failed = facts.Run(facts.FAILED, "it does not compile: make\n\n    make")
    unknown = facts.Check(facts.NOT_KNOWN, "the program could not be built")
    (remark,) = page.remarks(replace(EXERCISE, run=failed, check=unknown), 2)
    assert (remark.place, remark.words) == ("2-run", "it does not compile: make")
    failed = replace(failed, printed=Text("FAILED: x.o\nx.cu:3:1: error: no y\nx.cu:4:1: error: z"))
    (remark,) = page.remarks(replace(EXERCISE, run=failed, check=unknown), 2)
    assert remark.words == "it does not compile: x.cu:3:1: error: no y"


def test_remarks_on_a_check_that_failed_and_on_many_wrong_rows() -> None:
    check = facts.Check(
        facts.FAILED, "exit status 1", "no hazards found (3 kernel launches, 1 copy)"
    )
    rows = [report_sample.row(f"k{n // 2}", 1, facts.WRONG) for n in range(12)]
    run = replace(EXERCISE.run, table=replace(report_sample.TABLE, rows=rows))
    found = page.remarks(replace(EXERCISE, run=run, check=check), 1)
    assert found[0].words == "WRONG in 12 of 12 rows: k0, k1, k2, k3 and 2 more"
    assert found[-1].words == "exit status 1; no hazards found (3 kernel launches, 1 copy)"


def test_where_all_is_right_nothing_is_to_be_looked_at() -> None:
    fine = replace(
        EXERCISE,
        run=replace(EXERCISE.run, verdict=facts.OK),
        tests=facts.Tests(facts.OK),
        check=facts.Check(facts.OK, summary="no hazards found"),
    )
    assert page.remarks(fine, 1) == []
    assert "What to look at first" not in text_of(render(report_sample.of(fine)))


@pytest.mark.parametrize("more", [0, 6])
def test_of_many_columns_paper_lies(more: int) -> None:
    names = [f"c{number}" for number in range(more)]
    table = replace(
        report_sample.TABLE,
        columns=[*report_sample.TABLE.columns, *report_sample.columns(*names)],
        rows=[
            replace(row, shown={**row.shown, **dict.fromkeys(names, "x")})
            for row in report_sample.TABLE.rows
        ],
    )
    program = replace(EXERCISE, run=replace(EXERCISE.run, table=table))
    (panel,) = (
        e for e in render(report_sample.of(program)).iter("div")
        if e.get("aria-labelledby") == "1-results"
    )  # fmt: skip
    assert panel.get("class") == ("scroll wide" if more else "scroll")


def test_a_long_name_does_not_push_its_row_out_of_sight() -> None:
    kinds = {text_of(e): e.get("class") for e in render().iter("th") if e.get("scope") == "row"}
    assert (kinds["copy"], kinds[HOSTILE]) == ("word", "long")


def test_tests_and_metrics() -> None:
    root = render(report_sample.of(EXERCISE))
    tests = section(root, "Tests")
    assert "results 3 2 failed 0 are its results right" in tests
    assert "counts 0 0 1 does it do to memory" in tests
    assert "transpose --rows=4 and 5 more" in tests
    metrics = section(root, "Metrics")
    assert "gld_efficiency different bytes [%] ↑ higher is better" in metrics
    assert "divergent_branch branches in which a warp split ↓ lower is better" in metrics
    assert "k<4> 1 32 12.50 20 text" in metrics and "2 more launches" in metrics
    assert "k<4> 1 32 transpose.cu:42" in metrics and "takes 28 of 32 sectors." in metrics


def test_a_diff_shows_what_was_added_and_what_was_removed() -> None:
    kinds = [
        (e.get("class"), text_of(e)) for e in render(report_sample.of(EXERCISE)).iter()
        if e.get("class") in ("added", "removed", "place")
    ]  # fmt: skip
    assert ("removed", "-old") in kinds and kinds[-1][0] == "added"
    assert [kind for kind, _ in kinds].count("place") == 3


def test_the_link_to_the_page_is_there_within_the_checkout_alone() -> None:
    assert page.link(EXERCISE, OUT) == ""
    assert page.link(EXERCISE, ROOT / "report.html") == "ch04_memory/transpose/README.md"
    assert page.link(EXERCISE, ROOT / "mine" / "r.html") == "../ch04_memory/transpose/README.md"
    root = render(report_sample.of(EXERCISE), ROOT / "report.html")
    assert "ch04_memory/transpose/README.md" in [e.get("href") for e in root.iter("a")]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(4281.0, "4,281 GB/s"), (9.96, "10 GB/s"), (0.156, "0.16 GB/s"), (0, "0 GB/s"), (None, "")],
)
def test_a_rate_is_never_rounded_to_nothing(value: float | None, shown: str) -> None:
    assert page.rate(replace(report_sample.REFERENCE, rate=value)) == shown


def colours(scheme: str) -> dict[str, tuple[float, ...]]:
    """The variables of page.css, each the linear red, green and blue from 0 to 1."""
    light, dark = re.findall(r":root \{([^}]*)\}", CSS)[:2]
    found = {}
    for name, value in re.findall(
        r"--([\w-]+): *#([0-9a-f]{3,6})", light + (dark if scheme == "dark" else "")
    ):
        value = "".join(c * 2 for c in value) if len(value) == 3 else value
        parts = [int(value[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        found[name] = tuple(
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
    return found


def contrast(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """As WCAG 2 has it."""
    bright, dim = sorted(
        (0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] + 0.05 for c in (a, b)), reverse=True
    )
    return bright / dim


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(scheme: str) -> None:
    found = colours(scheme)
    pairs = [(ink, paper) for ink in ("ink", "soft", "link") for paper in ("paper", "shade")]
    pairs += [(kind, f"{kind}-paper") for kind in ("good", "bad", "unknown")]
    for ink, paper in pairs:
        assert contrast(found[ink], found[paper]) >= 4.5, (ink, paper)
