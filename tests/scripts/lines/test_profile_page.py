"""The page of a profile: what stands in it, from kernels that are made by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import cost_sample
import pytest
from lab_cli import catalogue
from lab_cli.counters.explanation import ByLine, Counted, Sentence
from lab_cli.counters.metric_table import MetricTable, Row
from lab_cli.errors import LabError
from lab_cli.lines import page
from lab_cli.lines.model import GLOBAL, LOAD, Kernel, Line, LineProfile, Place
from lab_cli.lines.page import data, links, roofline, samples
from lab_cli.metrics import Metric
from lab_cli.paths import ROOT

NO_TABLE = MetricTable([], [], "counted by hand")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return cost_sample.written(tmp_path)


def shown(
    profile: LineProfile, table: MetricTable = NO_TABLE, found: ByLine | None = None
) -> dict[str, Any]:
    """The data of the page."""
    text = page.html(profile, table, None, found)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    value: dict[str, Any] = json.loads(found[1])
    return value


def kernel_of(kernel: Kernel) -> dict[str, Any]:
    found: dict[str, Any] = shown(cost_sample.profile(kernel))["kernels"][0]
    return found


def line_of(kernel: Kernel, made: dict[str, Any], code: str) -> dict[str, Any]:
    text = kernel.definition.file.read_text().split("\n")
    return next(line for line in made["lines"] if code in text[line["line"] - 1])


def cell_of(made: dict[str, Any], line: dict[str, Any], title: str) -> Any:
    titles = [column["title"] for column in made["columns"]]
    return line["cells"][titles.index(title)]


# ---- the page as a file


HOSTILE = "// </script><script>alert('x')</script> <!-- & \" ' {{data}} ]]> Grüße \U0001f600"


def test_a_hostile_line_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(f"{HOSTILE}\n__global__ void k() {{}}\n", encoding="utf-8")
    place = Place(path, 1)
    kernel = Kernel("k<'</script>'>", (1, 1, 1), (32, 1, 1), 1, 0, 32, Place(path, 2), {}, [])
    kernel.lines[place] = Line(place, 1, 32)
    profile = LineProfile([kernel], source="</script><b>")
    text = page.html(profile, NO_TABLE)
    assert text.count("<script") == text.count("</script") == 2
    assert "alert('x')</" not in text
    assert "<b>" not in text.replace("<b>${", "")
    found = shown(profile)
    assert found["files"][0]["lines"][0] == HOSTILE
    assert found["kernels"][0]["name"] == kernel.name


def test_json_ends_no_script_and_is_still_the_same() -> None:
    value = {"<!--</script>&": ["\u2028\u2029", 1.5, None]}
    text = page.as_json(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == value


def test_it_takes_nothing_from_elsewhere(file: Path) -> None:
    text = page.html(
        cost_sample.profile(*(make(file) for make in cost_sample.ALL_KERNELS)), NO_TABLE
    )
    without_names = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(
        r"https?:|//[a-z]+\.[a-z]|@import|url\((?!#)", without_names.replace("// ", "")
    )
    assert str(file.parent) not in text  # no path of the machine
    assert "{{" not in text


def test_it_is_html_as_it_should_be(file: Path) -> None:
    html5lib = pytest.importorskip("html5lib")
    text = page.html(cost_sample.profile(cost_sample.turn(file)), NO_TABLE)
    html5lib.HTMLParser(strict=True).parse(text)  # raises where it is not


def test_write_writes_what_html_gives(file: Path, tmp_path: Path) -> None:
    profile, path = cost_sample.profile(cost_sample.turn(file)), tmp_path / "page.html"
    page.write(profile, NO_TABLE, path)
    assert path.read_text(encoding="utf-8") == page.html(profile, NO_TABLE, path)
    with pytest.raises(LabError, match="no/page.html"):
        page.write(profile, NO_TABLE, tmp_path / "no" / "page.html")


def test_the_footer_says_what_was_counted(file: Path) -> None:
    profile = cost_sample.profile(cost_sample.turn(file))
    table = MetricTable([], [], "by the table", notes=["a note"])
    counted = page.html(profile, table)
    for words in (profile.source, "by the table", "a note"):
        assert words in counted.partition("<footer>")[2]
    of_ncu = page.html(replace(profile, exact=False), NO_TABLE)
    assert page.WITHOUT_GPU in counted and page.WITHOUT_GPU not in of_ncu
    assert page.WITHOUT_SAMPLES in of_ncu


def test_a_profile_without_kernels_and_one_without_anything_but_lines(file: Path) -> None:
    assert shown(LineProfile([]))["kernels"] == []
    bare = replace(cost_sample.turn(file), accesses=[], memories=[], samples=[], definition=None)
    bare.lines = {place: Line(place, 5, 100) for place in bare.lines}
    made = kernel_of(bare)
    assert [column["title"] for column in made["columns"]] == ["executions", "active lanes"]
    assert made["samples"] == []


# ---- the numbers


def test_cells_have_the_counts_of_the_line(file: Path) -> None:
    kernel = cost_sample.turn(file)
    made = kernel_of(kernel)
    read = line_of(kernel, made, "tile[lane][row]")
    assert cell_of(made, read, "executions")[0] == "32"
    assert cell_of(made, read, "wavefronts")[:3] == ["32 / 1", 0.0312, 0.9688]
    assert cell_of(made, read, "conflicts")[0] == f"{31 * 32:,}"
    assert cell_of(made, read, "sectors")[0] == "4"
    loop = line_of(kernel, made, "row < 32")
    assert cell_of(made, loop, "executions")[:3] == ["33", 1, 0]
    assert cell_of(made, loop, "wavefronts") is None


def test_columns_without_anything_to_show_are_left_out(file: Path) -> None:
    of_turn = kernel_of(cost_sample.turn(file))
    assert "divergent" not in [column["title"] for column in of_turn["columns"]]
    of_spread = kernel_of(cost_sample.spread(file))
    titles = [column["title"] for column in of_spread["columns"]]
    assert titles == ["executions", "active lanes", "sectors"]
    of_odd = kernel_of(cost_sample.odd(file))
    assert "divergent" in [column["title"] for column in of_odd["columns"]]
    kernel = cost_sample.odd(file)
    for line in kernel.lines.values():
        line.divergent = 0
    assert kernel_of(kernel)["without"] == ["divergent branches"]


def test_divergence_and_idle_lanes(file: Path) -> None:
    kernel = cost_sample.odd(file)
    made = kernel_of(kernel)
    split = line_of(kernel, made, "i % 2")
    assert cell_of(made, split, "divergent")[:3] == ["50 %", 0, 0.5]
    assert cell_of(made, line_of(kernel, made, "+= k"), "active lanes")[:3] == ["16", 0.5, 0.5]
    says = " ".join(each["text"] for each in split["says"])
    assert "100 of them (50 %)" in says and "200 times" in says


def test_atomics_that_collide(file: Path) -> None:
    kernel = cost_sample.count(file)
    made = kernel_of(kernel)
    line = line_of(kernel, made, "atomicAdd")
    assert cell_of(made, line, "atomics")[:3] == ["32 lanes", 0.0312, 0.9688]
    (bad,) = (each for each in line["says"] if each.get("bad"))
    assert "one address" in bad["text"] and f"{64 * 32:,}" in bad["text"]
    assert line["accesses"] == [1, 0]  # the atomic before the load: it costs more


def test_sentences_have_the_numbers_of_the_access(file: Path) -> None:
    kernel = cost_sample.turn(file)
    line = line_of(kernel, kernel_of(kernel), "tile[lane][row]")
    (load,) = (each for each in line["says"] if "load from tile" in each["text"])
    for words in ("32 wavefronts", "1 would do", "992 of 1,024", "97 %", "128 bytes apart"):
        assert words in load["text"], words
    assert load["bad"] and load["link"]["command"] == "./lab start sharedBanks"
    (store,) = (each for each in line["says"] if "store to out" in each["text"])
    assert "bad" not in store and "link" not in store
    linked = [each for each in line["says"] if "link" in each]
    assert len(linked) == 1  # the conflicts have the same remedy


def test_the_worst_line_is_named_and_opened_first(file: Path) -> None:
    kernels = [cost_sample.halve(file), cost_sample.turn(file), cost_sample.spread(file)]
    made = shown(cost_sample.profile(*kernels))
    assert made["kernels"][made["first"]]["name"] == "turn"
    turn = made["kernels"][1]
    code = cost_sample.SOURCE.split("\n")[turn["lines"][turn["worst"]]["line"] - 1]
    assert "tile[lane][row]" in code
    assert "31 of 32 wavefronts" in turn["verdict"]["text"]
    assert turn["worst"] == max(range(len(turn["lines"])), key=lambda i: turn["lines"][i]["cost"])
    assert made["kernels"][0]["worst"] == -1


def test_accesses_of_one_name_are_numbered(file: Path) -> None:
    kernel = cost_sample.turn(file)
    again = kernel.accesses[0]
    kernel.accesses.append(again)
    kernel.lines[again.place].accesses.append(again)
    made = kernel_of(kernel)
    titles = [access["title"] for access in made["accesses"]]
    assert titles[0] == "load from in (1)" and titles[4] == "load from in (2)"
    assert titles[1] == "store to tile"
    text = [each["text"] for each in line_of(kernel, made, "tile[row][lane]")["says"]]
    assert len(text) == len(set(text))


def test_whole_functions_are_shown(file: Path) -> None:
    made = kernel_of(cost_sample.halve(file))
    lines = cost_sample.SOURCE.split("\n")
    (part,) = made["parts"]
    shown_lines = [lines[n - 1] for first, last in part["ranges"] for n in range(first, last + 1)]
    assert "__device__ float half(const float* in, int i) {" in shown_lines
    assert "__global__ void halve(const float* in, float* out) {" in shown_lines
    assert not any("void spread" in line for line in shown_lines)


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([], []),
        ([(5, 7), (1, 2)], [[1, 7]]),
        ([(1, 2), (6, 9)], [[1, 2], [6, 9]]),
        ([(1, 9), (2, 3)], [[1, 9]]),
    ],
)
def test_ranges_that_touch_are_joined(
    ranges: list[tuple[int, int]], expected: list[list[int]]
) -> None:
    assert data.joined(ranges) == expected


def test_totals_are_those_of_the_kernels_row(file: Path) -> None:
    metric = Metric("gld_requests", nsight="x", unit="", meaning="loads")
    rows = [
        Row("other", "1", "32", [7.0]),
        Row("turn", "1", "32", [1234.0]),
        Row("turn", "2", "32", [9.0]),
    ]
    table = MetricTable([metric], rows, "by hand")
    made = shown(cost_sample.profile(cost_sample.turn(file)), table)
    assert made["kernels"][0]["totals"] == [["gld_requests", "1,234", "loads"]]


# ---- what was found


def at(kernel: Kernel, code: str) -> str:
    """FILE:LINE."""
    file = kernel.definition.file
    lines = file.read_text().split("\n")
    return f"{file}:{next(n for n, text in enumerate(lines, 1) if code in text)}"


def finding(title: str, where: str = "", *exercises: str) -> Sentence:
    return Sentence(
        f"{title} counts 3; 1 would do.", "Do less.", exercises, title, where, "code();"
    )


def found_in(kernel: Kernel, *findings: Sentence) -> dict[str, Any]:
    by_line = ByLine([Counted(("", "", ""), 1, findings)])
    (made,) = shown(cost_sample.profile(kernel), found=by_line)["kernels"]
    return made


def test_findings_have_their_line_and_the_exercise(file: Path) -> None:
    kernel = cost_sample.turn(file)
    exercise = next(iter(catalogue.sources()))
    made = found_in(
        kernel,
        finding("a few blocks", "", exercise, "another"),
        finding("far loads", at(kernel, "tile[row][lane] = in")),
        finding("wide stores", at(kernel, "include")),
    )
    blocks, loads, stores = made["findings"]
    assert blocks["name"] == "A few blocks" and "counts 3; 1 would do" in blocks["text"]
    assert blocks["remedy"] == "Do less." and blocks["link"]["command"] == f"./lab start {exercise}"
    assert "line" not in blocks and "where" not in blocks
    assert made["lines"][loads["line"]] == line_of(kernel, made, "tile[row][lane] = in")
    assert stores["where"] == f"{file.name}:1" and stores["code"] == "code();"  # it costs nothing
    assert made["short"] == "a few blocks"


def test_a_line_names_what_was_found_there_and_no_other_remedy(file: Path) -> None:
    kernel = cost_sample.turn(file)
    where = at(kernel, "tile[lane][row]")
    made = found_in(kernel, finding("one", where), finding("two", where))
    line = line_of(kernel, made, "tile[lane][row]")
    assert "one and two" in line["says"][0]["text"] and line["says"][0]["bad"]
    assert not any("link" in each for each in line["says"])
    other = line_of(kernel, made, "tile[row][lane] = in")
    assert not any("one" in each["text"].split() for each in other["says"][:1])


def test_the_worst_line_is_said_unless_it_is_found(file: Path) -> None:
    kernel = cost_sample.turn(file)
    assert found_in(kernel, finding("it", at(kernel, "tile[lane][row]")))["verdict"] is None
    assert "31 of 32" in found_in(kernel, finding("it"))["verdict"]["text"]
    fine = cost_sample.halve(file)
    assert found_in(fine, finding("it"))["verdict"] is None
    assert found_in(fine)["verdict"]["text"]


def test_the_hosts_findings_stand_once_and_name_no_folder(file: Path) -> None:
    kernels = [cost_sample.halve(file), cost_sample.halve(file)]
    nothing = Counted(("", "", ""), 1, ())
    found = ByLine([nothing, nothing], [finding("launches", f"{file}:3")])
    made = shown(cost_sample.profile(*kernels), found=found)
    assert [each["where"] for each in made["host"]] == [f"{file.name}:3"]
    assert str(file.parent) not in json.dumps(made)


def test_the_first_kernel_without_a_worst_line_is_one_with_a_finding(file: Path) -> None:
    kernels = [cost_sample.halve(file), cost_sample.halve(file)]
    found = ByLine([Counted(("", "", ""), 1, each) for each in ((), (finding("it"),))])
    assert shown(cost_sample.profile(*kernels), found=found)["first"] == 1
    assert shown(cost_sample.profile(*kernels))["first"] == 0


def test_registers_are_not_missing_where_ptxas_told_them(file: Path) -> None:
    profile = cost_sample.profile(cost_sample.halve(file))
    footers = [
        " ".join(page.footer(profile, NO_TABLE, ByLine([], (), known))) for known in (True, False)
    ]
    assert ["registers" in each for each in footers] == [False, True]


# ---- samples


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [((), []), ((8,), "8:0"), ((0, 4, 8), "0:4"), ((8, 4, 0), "8:-4"), ((0, 4, 12), [0, 4, 12])],
)
def test_offsets_are_packed(offsets: tuple[int, ...], expected: object) -> None:
    assert samples.packed(offsets) == expected


def test_steps_keep_lanes_offsets_and_wavefronts(file: Path) -> None:
    made = kernel_of(cost_sample.turn(file))
    (sample,) = made["samples"]
    reads = [step for step in sample["steps"] if len(step) > 2 and step[2] == 2]
    assert len(reads) == 8
    line, lanes, _, memory, offsets, wavefronts = reads[3]
    assert lanes == "ffffffff" and offsets == "12:128"
    assert made["memories"][memory]["name"] == "tile"
    assert wavefronts == [[32 * lane + 3] for lane in range(32)]
    assert len(made["lines"]) > line


def test_an_array_behind_bank_0_keeps_its_shift(file: Path) -> None:
    kernel = cost_sample.turn(file)
    kernel.memories[1] = replace(kernel.memories[1], shift=8)
    made = kernel_of(kernel)
    assert [memory["shift"] for memory in made["memories"]] == [0, 8, 0]
    read = next(step for step in made["samples"][0]["steps"] if len(step) > 2 and step[2] == 2)
    assert read[5] == [[32 * lane + 2] for lane in range(32)]


def test_a_large_page_leaves_samples_out_but_not_the_first(file: Path) -> None:
    kernel = cost_sample.turn(file)
    (sample,) = kernel.samples
    kernel.samples = [replace(sample, block=(b, 0, 0), warp=w) for b in (2, 0, 1) for w in (1, 0)]
    profile = cost_sample.profile(kernel)
    whole = data.of(profile, NO_TABLE, None)["kernels"][0]
    assert [(s["block"][0], s["warp"]) for s in whole["samples"]] == [
        (b, w) for b in range(3) for w in range(2)
    ]
    few = data.of(profile, NO_TABLE, None, limit=len(json.dumps(whole)) // 2)["kernels"][0]
    assert 1 <= len(few["samples"]) < 6 and few["left_out"] == 6 - len(few["samples"])
    assert {s["warp"] for s in few["samples"]} == {0}
    least = data.of(profile, NO_TABLE, None, limit=1)["kernels"][0]
    assert [(s["block"], s["warp"]) for s in least["samples"]] == [([0, 0, 0], 0)]


# ---- links


def test_links_begin_at_the_page(tmp_path: Path) -> None:
    name, source = next(iter(catalogue.sources().items()))
    inside = links.to(name, ROOT / "out" / "page.html")
    assert inside and inside.address == f"../{source.parent.relative_to(ROOT).as_posix()}/README.md"
    outside = links.to(name, tmp_path / "page.html")
    assert outside and outside.address == "" and outside.command == f"./lab start {name}"
    assert links.to(name, None) == outside
    assert links.to("noSuchExercise", None) is None


# ---- the roofline


ROOFS = roofline.Roofs(
    "A GPU", "its/table.csv", {"device memory, peak": 1000.0, "L2 cache, measured": 4000.0}, 20000.0
)


def computing(file: Path, operations: int, sectors: int) -> Kernel:
    made = cost_sample.Made(file, "spread", "void spread")
    made.line("out[32 * i]", 1, operations={"fp32": operations, "division": 5})
    made.access("out[32 * i]", LOAD, GLOBAL, 1, sectors, 4)
    return made.kernel


def test_intensity_is_operations_by_bytes_of_sectors(file: Path) -> None:
    spot = roofline.place(computing(file, 640, 10))
    assert (spot.operations, spot.moved, spot.requested, spot.intensity) == (640, 320, 128, 2.0)
    words = roofline.words(spot, ROOFS)
    assert (
        "640 floating-point" in words
        and "320 bytes" in words
        and "2.0 operations per byte" in words
    )
    assert "2,000 GFLOP/s" in words  # 2 operations per byte at 1,000 GB/s
    assert "no point" in words


def test_a_time_gives_a_point_where_the_axes_say_so(file: Path) -> None:
    spot = roofline.measured(roofline.place(computing(file, 10**6, 10**4)), 1e-6, {})
    assert spot.gflops == pytest.approx(1000)
    drawing = roofline.svg(spot, ROOFS)
    x = {
        float(m[1]): float(m[2].replace(",", ""))
        for m in re.finditer(r'class="tick" x="([\d.]+)"[^>]*"middle">([\d.,]+)<', drawing)
    }
    (left, low), (right, high) = min(x.items()), max(x.items())
    circle = re.search(r'<circle class="mine" cx="([\d.]+)"', drawing)
    assert circle
    share = (float(circle[1]) - left) / (right - left)
    assert low * (high / low) ** share == pytest.approx(spot.intensity, rel=0.02)
    assert "<circle" not in roofline.svg(replace(spot, seconds=None), ROOFS)


def test_a_kernel_that_computes_nothing_has_no_drawing(file: Path) -> None:
    made = kernel_of(cost_sample.turn(file))
    assert "wide" not in made["roofline"]
    assert "0" in made["roofline"]["says"]


def test_the_time_of_all_launches_counts(file: Path) -> None:
    kernel = replace(computing(file, 640, 10), launches=3)
    metric = Metric("duration", nsight="gpu__time_duration.sum", unit="us")
    rows = [Row("spread", "1", "32", [us]) for us in (1.0, 3.0, 2.0)]
    made = shown(cost_sample.profile(kernel), MetricTable([metric], rows, "a GPU"))
    if "wide" not in made["kernels"][0]["roofline"]:
        pytest.skip("the exercise that recorded the roofs has been removed")
    assert "It reaches 0 GFLOP/s" in made["kernels"][0]["roofline"]["says"]  # 640 in 6 us
    assert "<circle" in made["kernels"][0]["roofline"]["narrow"]


def test_a_gpu_counts_operations_by_instruction(file: Path) -> None:
    kernel = computing(file, 640, 10)
    metrics = [Metric(name, nsight=name) for name in roofline.METRICS]
    table = MetricTable(metrics, [Row("spread", "1", "32", [1.0, 100.0, 20.0, 200.0])], "a GPU")
    profile = replace(cost_sample.profile(kernel), exact=False)
    assert "520 floating-point" in shown(profile, table)["kernels"][0]["roofline"]["says"]
    without = shown(profile)["kernels"][0]["roofline"]
    assert "flop_count_sp_fma" in without["says"] and "wide" not in without


def test_what_a_gpu_does_not_count_is_not_said(file: Path) -> None:
    kernel = cost_sample.count(file)
    bare = [replace(access, alike=0, addresses=None) for access in kernel.accesses]
    kernel.accesses[:] = bare
    (line,) = (line for line in kernel.lines.values() if line.accesses)
    line.accesses[:] = bare
    made = shown(replace(cost_sample.profile(kernel), exact=False))["kernels"][0]
    says = " ".join(each["text"] for each in line_of(kernel, made, "atomicAdd")["says"])
    assert "instructions of this line 64 times" in says
    assert "addresses" not in says and "atomics" not in [c["title"] for c in made["columns"]]


def test_the_recorded_roofs_are_those_of_the_exercise() -> None:
    found = roofline.recorded()
    if found is None:
        pytest.skip("the exercise roofline has been removed")
    rows = (ROOT / found.file).read_text().splitlines()
    header = next(row for row in rows if not row.startswith("#")).split(",")
    first = dict(zip(header, rows[rows.index(",".join(header)) + 1].split(",")))
    assert found.peak == float(first["peak_gflops"])
    assert found.memories["device memory, peak"] == float(first["peak_gbps"])
    assert found.memories["L2 cache, measured"] > found.memories["device memory, peak"]
