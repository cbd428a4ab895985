"""The page of a profile in a real browser, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browser
import cost_sample
import pytest
from browser import Browser
from lab_cli.counters.explanation import ByLine, Counted, Sentence
from lab_cli.counters.metric_table import MetricTable
from lab_cli.lines import page
from lab_cli.lines.model import GLOBAL, LOAD, Kernel, Sample, Step

TABLE = MetricTable([], [], "counted by hand")


def made(folder: Path) -> Path:
    file = cost_sample.written(folder)
    kernels = [make(file) for make in cost_sample.ALL_KERNELS]
    kernels += [divergent(file), computing(file)]
    path = folder / "page.html"
    page.write(cost_sample.profile(*kernels), TABLE, path, found(file, kernels))
    return path


HOSTILE = "</script><img src=x onerror=alert(1)> <b>bold</b> &amp;"


def found(file: Path, kernels: list[Kernel]) -> ByLine:
    """Beside the worst line (spread), in its place (odd), and where there is none (halve)."""
    lines = file.read_text().split("\n")

    def at(title: str, code: str = "") -> Sentence:
        number = next(n for n, text in enumerate(lines, 1) if code in text)
        where = f"{file}:{number}" if code else ""
        remedy = "Do less of it, with a_name_that_is_longer_than_any_line_of_a_telephone<is>(wide)."
        return Sentence(
            f"It takes 3 {HOSTILE}; 1 would do.", remedy, ["reduceInteger"], title, where, HOSTILE
        )

    of = {
        "spread": [at("late index", "const int i = threadIdx.x"), at("one block")],
        "odd": [at("split warps", "i % 2")],
        "halve": [at("half work", "out[i] = half"), at(HOSTILE, "include")],
    }
    counted = [Counted(("", "", ""), 1, of.get(kernel.name, [])) for kernel in kernels]
    return ByLine(counted, [at("tiny launches", "include")])


def divergent(file: Path) -> Kernel:
    """`odd` with a sampled warp."""
    kernel = cost_sample.odd(file)
    kernel.name = "sampled"
    lines = sorted(kernel.lines)
    steps = [Step(0xFFFFFFFF, lines[1]), Step(0xAAAAAAAA, lines[3]), Step(0xAAAAAAAA, lines[3])]
    kernel.samples = [Sample((0, 0, 0), warp, steps) for warp in (0, 1)]
    return kernel


def computing(file: Path) -> Kernel:
    made = cost_sample.Made(file, "computing", "void spread")
    made.line("out[32 * i]", 1, operations={"fp32": 640})
    made.access("out[32 * i]", LOAD, GLOBAL, 1, 4, 4)
    return made.kernel


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("profile"))


@pytest.fixture(scope="module")
def started(written: Path) -> Iterator[Browser]:
    program = browser.find()
    if program is None:
        pytest.skip("no Chromium: apt-get install chromium")
    found = Browser(program)
    try:
        found.look(1280)
        found.open(written)
        yield found
    finally:
        found.close()


@pytest.fixture
def opened(started: Browser, written: Path) -> Browser:
    started.look(1280)
    started.open(written)
    choose(started, "turn")
    return started


def choose(page: Browser, kernel: str) -> None:
    page.value(
        "(() => { const select = document.getElementById('kernel');"
        f"select.value = [...select.options].findIndex((o) => o.text.startsWith('{kernel}'));"
        "select.dispatchEvent(new Event('change')); })()"
    )


def text_of(page: Browser, selector: str) -> str:
    return str(page.value(f"document.querySelector({selector!r})?.innerText ?? ''"))


def row_of(page: Browser, code: str) -> str:
    """A selector of the row of the line that has this code."""
    number = page.value(
        "[...document.querySelectorAll('tr.counted')]"
        f".find((row) => row.querySelector('.code').textContent.includes({code!r})).dataset.row"
    )
    return f'tr[data-row="{number}"]'


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("kernel", ["turn", "spread", "halve", "count", "sampled", "computing"])
def test_nothing_is_beyond_the_edge(opened: Browser, kernel: str, width: int, scheme: str) -> None:
    opened.look(width, scheme)
    choose(opened, kernel)
    assert opened.value("document.documentElement.scrollWidth") <= width
    paper = opened.value("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(253, 253, 252)" if scheme == "light" else "rgb(21, 24, 27)")
    wide = opened.value(
        "[...document.querySelectorAll('svg, td, .panel')].filter((e) => e.getBoundingClientRect().right > innerWidth"
        " && e.getBoundingClientRect().width > 0).length"
    )
    assert wide == 0


def test_it_says_nothing_and_asks_for_nothing(opened: Browser, written: Path) -> None:
    for kernel in ("turn", "spread", "odd", "count", "halve", "sampled", "computing"):
        choose(opened, kernel)
    assert opened.said == []
    assert set(opened.asked) <= {written.as_uri(), "data:,"}


def test_the_worst_line_is_open_and_named_first(opened: Browser, written: Path) -> None:
    opened.open(written)
    assert opened.value("document.querySelector('#kernel').selectedOptions[0].text").startswith(
        "count"
    )
    assert "atomicAdd" in text_of(opened, "tr.open .code")
    choose(opened, "turn")
    assert "31 of 32 wavefronts" in text_of(opened, "#verdict")
    assert "tile[lane][row]" in text_of(opened, "tr.open .code")
    assert "32 wavefronts" in text_of(opened, "#map")


def test_findings_stand_beside_the_worst_line_or_in_its_place(opened: Browser) -> None:
    names = (
        "[...document.querySelectorAll('#findings p:first-child > b')].map((e) => e.textContent)"
    )
    choose(opened, "spread")
    assert opened.value(names) == ["Late index", "One block"]
    assert "The worst line" in text_of(opened, "#verdict")
    assert "3" in text_of(opened, "#findings") and "Do less of it" in text_of(opened, "#findings")
    choose(opened, "odd")
    assert opened.value(names) == ["Split warps"]
    assert text_of(opened, "#verdict") == ""
    choose(opened, "turn")
    assert opened.value(names) == [] and text_of(opened, "#verdict")
    host = "document.querySelectorAll('#host-findings li').length"
    assert opened.value(host) == 1
    assert "Tiny launches" in text_of(opened, "#host")


def test_the_button_of_a_finding_opens_its_line(opened: Browser) -> None:
    choose(opened, "spread")
    assert "out[32 * i]" in text_of(opened, "tr.open .code")
    opened.value("document.querySelector('#findings button').click()")
    assert "const int i = threadIdx.x" in text_of(opened, "tr.open .code")
    assert "late index" in text_of(opened, "tr.detail .panel")
    assert opened.value("document.activeElement.textContent") == "26"
    choose(opened, "halve")  # without a worst line, the first finding's is open
    assert "out[i] = half" in text_of(opened, "tr.open .code")
    assert opened.value("document.querySelector('tr.worst').classList.contains('open')") is True


def test_findings_stay_text(opened: Browser) -> None:
    choose(opened, "halve")
    for box in ("#findings", "#host"):
        assert HOSTILE in text_of(opened, box)
        assert opened.value(f"document.querySelectorAll('{box} img, {box} b b').length") == 0


def test_a_click_opens_the_map_of_a_line_and_another_closes_it(opened: Browser) -> None:
    row = row_of(opened, "tile[row][lane] = in")
    opened.value(f"document.querySelector('{row}').click()")
    assert "tile[row][lane]" in text_of(opened, "tr.open .code")
    assert "4 sectors of 1 cache line" in text_of(opened, "#map")
    button = f"document.querySelector('{row} button')"
    assert opened.value(f"{button}.getAttribute('aria-expanded')") == "true"
    opened.value(f"{button}.click()")
    assert opened.value("document.getElementById('map')") is None
    assert opened.value(f"{button}.getAttribute('aria-expanded')") == "false"


def test_arrow_keys_step_through_the_executions(opened: Browser) -> None:
    opened.value("document.getElementById('map').focus()")
    first = text_of(opened, ".addresses")
    assert text_of(opened, "#step") == "execution 1 of 8"
    cell = "Number(document.querySelector('.pair figure:last-child .more').getAttribute('x'))"
    before = opened.value(cell)
    opened.press("ArrowRight")
    opened.press("ArrowRight")
    assert text_of(opened, "#step") == "execution 3 of 8"
    assert opened.value(cell) > before
    opened.press("ArrowLeft")
    assert text_of(opened, "#step") == "execution 2 of 8"
    for _ in range(9):
        opened.press("ArrowLeft")
    assert text_of(opened, "#step") == "execution 1 of 8"
    assert text_of(opened, ".addresses") == first


def test_the_buttons_step_and_keep_the_focus(opened: Browser) -> None:
    after = "document.querySelector('[aria-label=\"next execution\"]')"
    opened.value(f"{after}.focus(); {after}.click(); {after}.click()")
    assert text_of(opened, "#step") == "execution 3 of 8"
    assert opened.value("document.activeElement.getAttribute('aria-label')") == "next execution"
    before = "document.querySelector('[aria-label=\"previous execution\"]')"
    opened.value(f"{before}.click(); {before}.click()")
    assert opened.value(f"{before}.disabled") is True


def test_the_picture_shows_the_banks(opened: Browser) -> None:
    """A column of the tile: 32 lanes in bank 0, each in a wavefront of its own."""
    cells = (
        "[...document.querySelectorAll('.pair figure:first-of-type svg [data-lanes]')].slice(32)"
    )
    assert opened.value(f"{cells}.length") == 32
    assert opened.value(f"new Set({cells}.map((c) => c.getAttribute('x'))).size") == 1
    assert opened.value(f"new Set({cells}.map((c) => c.getAttribute('y'))).size") == 32
    assert opened.value(f"{cells}.map((c) => c.dataset.lanes).join()") == ",".join(
        str(lane) for lane in range(32)
    )


def test_a_row_of_the_tile_lies_in_all_banks(opened: Browser) -> None:
    """In the picture of the wavefronts, and in that of the array: one cell to a bank, in the order of the lanes."""
    opened.value(f"document.querySelector('{row_of(opened, 'tile[row][lane] = in')}').click()")
    opened.value(
        "[...document.querySelectorAll('#map button')].find((b) => b.textContent.includes('tile')).click()"
    )
    for figure in ("first-of-type", "last-of-type"):
        cells = f"[...document.querySelectorAll('.pair figure:{figure} svg .used[data-lanes]')].slice(-32)"
        places = opened.value(
            f"{cells}.map((cell) => [cell.dataset.lanes, Number(cell.getAttribute('x'))])"
        )
        assert [lanes for lanes, _ in places] == [str(lane) for lane in range(32)]
        steps = {b - a for (_, a), (_, b) in zip(places, places[1:])}
        assert len(steps) == 1 and steps.pop() > 0
        assert opened.value(f"new Set({cells}.map((cell) => cell.getAttribute('y'))).size") == 1


def test_the_picture_shows_used_and_wasted_bytes(opened: Browser) -> None:
    choose(opened, "spread")
    sectors = "document.querySelectorAll('#map .wasted').length"
    assert opened.value(sectors) == 32
    assert "896 of 1,024 bytes are moved in vain" in text_of(opened, "#map")


def test_pointing_and_focus_explain_a_line(opened: Browser) -> None:
    row = row_of(opened, "tile[row][lane] = in")
    opened.value(f"document.querySelector('{row}').scrollIntoView({{block: 'center'}})")
    opened.point_at(f"{row} .code")
    assert "Line 12" in text_of(opened, "#explanation")
    opened.value(f"document.querySelector('{row_of(opened, '__syncthreads')} button').focus()")
    assert "barrier here once" in text_of(opened, "#explanation")


def test_up_and_down_go_from_line_to_line(opened: Browser) -> None:
    opened.value(
        f"document.querySelector('{row_of(opened, 'tile[row][lane] = in')} button').focus()"
    )
    opened.press("ArrowDown")
    assert opened.value("document.activeElement.textContent") == "14"
    opened.press("ArrowUp")
    opened.press("ArrowUp")
    assert opened.value("document.activeElement.textContent") == "11"
    opened.press("Enter")
    assert "row < 32" in text_of(opened, "tr.open .code")


def test_lines_sort_by_cost_and_by_column(opened: Browser) -> None:
    codes = "[...document.querySelectorAll('tr.counted .code')].map((c) => c.textContent.trim())"
    in_order = opened.value(codes)
    order = "const order = document.getElementById('order'); order.value = {}; order.dispatchEvent(new Event('change'))"
    opened.value("{ " + order.format(1) + " }")
    assert "tile[lane][row]" in opened.value(codes)[0]
    opened.value("{ " + order.format(2) + " }")  # executions
    assert all("row < 32" in code for code in opened.value(codes)[:2])
    opened.value("{ " + order.format(0) + " }")
    assert opened.value(codes) == in_order


def test_the_divergence_map_has_a_row_for_each_way(opened: Browser) -> None:
    choose(opened, "sampled")
    rows = "document.querySelectorAll('.way:not(.head)')"
    assert opened.value(f"{rows}.length") == 2  # the loop's line came twice with the same lanes
    assert opened.value(f"{rows}[0].querySelectorAll('rect').length") == 1
    assert opened.value(f"{rows}[1].querySelectorAll('rect').length") == 16
    assert opened.value(f"{rows}[1].querySelector('rect').getAttribute('x')") == "1"
    assert "2×" in text_of(opened, ".way:last-child")
    assert text_of(opened, "#warp").split("\n") == [
        "block (0, 0, 0), warp 0",
        "block (0, 0, 0), warp 1",
    ]


def test_the_roofline_is_as_wide_as_the_page(opened: Browser) -> None:
    choose(opened, "computing")
    if not opened.value("document.querySelectorAll('.roofline').length"):
        pytest.skip("the exercise that recorded the roofs has been removed")
    shown = "[...document.querySelectorAll('.roofline')].filter((e) => e.getBoundingClientRect().width > 0)"
    assert opened.value(f"{shown}.map((e) => e.getAttribute('width')).join()") == "720"
    opened.look(400)
    assert opened.value(f"{shown}.map((e) => e.getAttribute('width')).join()") == "340"


CONTRAST = """(() => {
  const light = (c) => { const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let least = 21, where = "";
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.data.trim() || !e.getClientRects().length || e.closest("svg, script, style, select, button:disabled")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color).slice(0, 3)), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least) [least, where] = [ratio, node.data.trim().slice(0, 40)];
  }
  return [least, where];
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kernel", ["turn", "halve", "sampled"])
def test_words_stand_out_from_their_ground(opened: Browser, kernel: str, scheme: str) -> None:
    """4.5 is what WCAG AA asks for."""
    opened.look(1280, scheme)
    choose(opened, kernel)
    least, where = opened.value(CONTRAST)
    assert least >= 4.5, where


def test_every_control_has_a_name(opened: Browser) -> None:
    nameless = (
        "[...document.querySelectorAll('button, select, a, [role=img]')].filter((e) => !(e.textContent.trim()"
        " || e.getAttribute('aria-label') || document.querySelector(`label[for='${e.id}']`))).length"
    )
    assert opened.value(nameless) == 0
