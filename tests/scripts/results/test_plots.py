"""Figures from small tables: what those of the project do not show, and what is wrong with a table. The figures
of the project are compared as a whole, in test_readme_figures.py."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from exercise_sample import FACTS
from lab_cli import catalogue, exercise_facts
from lab_cli.commands import plot
from lab_cli.errors import LabError
from lab_cli.results import figures
from lab_cli.results.csv_file import Row
from lab_cli.results.figures import Spec
from lab_cli.results.images import Image
from lab_cli.results.plots import draw, style
from lab_cli.results.plots.curves import Curves, spread
from lab_cli.results.plots.footprint import in_bytes
from lab_cli.results.plots.heatmap import HeatMap
from lab_cli.results.plots.ladder import Ladder
from lab_cli.results.plots.picture import Picture
from lab_cli.results.plots.roofline import Roofline
from lab_cli.results.plots.waves import Waves
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

pytestmark = pytest.mark.draws

GPU = "h200"  # whose results the project has


def row(kernel: str, gbps: float, peak: float = 2000, library: bool = False, **more: str) -> dict:
    shape = "-" if library else "8"
    percent = str(100 * gbps / peak) if peak else ""
    return {
        "kernel": kernel,
        "grid": shape,
        "block": shape,
        "gbps": str(gbps),
        "percent_peak": percent,
        **more,
    }


LADDER = [row("slow", 100), row("better", 400), row("best", 1600), row("lib", 1900, library=True)]


def drawn(chart, rows, title: str = "title") -> Figure:
    with style.settings():
        figure = chart.draw(rows, title)
        figure.draw_without_rendering()
    return figure


# ---- ladder ----


def test_nothing_of_a_ladder_is_cut_off_or_covered() -> None:
    figure = drawn(Ladder("gbps"), [*LADDER, row("aKernelWithQuiteALongNameOfItsOwn", 1300)])
    axes = figure.axes[0]
    canvas = figure.bbox
    labels = [*axes.texts, *axes.get_yticklabels(), axes.xaxis.label, figure.legends[0]]
    for label in labels:
        box = label.get_window_extent()
        assert canvas.x0 <= box.x0 and box.x1 <= canvas.x1, label
        assert canvas.y0 <= box.y0 and box.y1 <= canvas.y1, label
    at_limit = axes.transData.transform((2000, 0))[0]
    values = [text for text in axes.texts if "%" in text.get_text()]
    assert len(values) == 5
    for text in values:
        box = text.get_window_extent()
        assert not box.x0 < at_limit < box.x1, text


# ---- curves ----


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.3, 200, ["1", "10", "100"]),
        (90, 5000, ["100", "200", "500", "1,000", "2,000", "5,000"]),
        (5e-5, 20, [f"$10^{{{power}}}$" for power in range(-4, 2)]),
    ],
)
def test_a_logarithmic_axis_has_one_form_of_numbers(
    low: float, high: float, shown: list[str]
) -> None:
    rows = [row("k", gbps, 0, size=size) for gbps, size in ((low, "1"), (high, "2"))]
    axes = drawn(Curves("size", "n", "gbps", log=True), rows).axes[0]
    low, high = axes.get_ylim()
    ticks = zip(axes.get_yticks(), axes.get_yticklabels())
    assert [label.get_text() for at, label in ticks if low <= at <= high] == shown


@pytest.mark.parametrize(
    ("places", "gap", "expected"),
    [
        ([], 0.1, []),
        ([0.8, 0.2, 0.22], 0.1, [0.8, 0.16, 0.26]),
        ([0.0, 0.0, 0.0], 0.1, [0.0, 0.1, 0.2]),
        ([1.0, 0.99], 0.1, [1.0, 0.9]),
        ([-3.0, 5.0], 0.1, [0.0, 1.0]),
        ([0.5] * 5, 0.5, [0, 0.25, 0.5, 0.75, 1]),  # there is no room for all
    ],
)
def test_spread(places: list[float], gap: float, expected: list[float]) -> None:
    assert spread(places, gap, 0, 1) == pytest.approx(expected)


def test_sizes_in_bytes() -> None:
    shown = [in_bytes(size) for size in (1000, 1024, 228 << 10, 1 << 44)]
    assert shown == ["1000 B", "1 KiB", "228 KiB", "16384 GiB"]


# ---- heat map ----


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"block": "32x8x2", "gbps": "1"}], "'32x8x2' in column block"),
        ([{"block": "-", "gbps": "1"}], "'-' in column block"),
        ([{"block": "8", "gbps": "1"}, {"block": "8x1", "gbps": "1"}], "more than one row"),
    ],
)
def test_heat_map_of_what_is_none(rows: list[dict[str, str]], message: str) -> None:
    with pytest.raises(LabError, match=message):
        HeatMap("gbps").draw(rows, "title")


# ---- waves ----


def block_row(number: int, **columns: str) -> Row:
    """The block of this number is that of wave number + 1, one behind the other."""
    place = {"block_size": "1024", "sms": "2", "slots": "2", "sm": "0", "slot": "0"}
    names = ("block", "wave", "begin_ms", "end_ms")
    times = dict(zip(names, map(str, (number, number + 1, number, number + 1))))
    return {**place, **times, **columns}


WAVES = Waves("block_size", "{block_size} threads, room for {slots}", 0, 1)


def test_many_waves_repeat_the_colours_and_the_legend_says_so() -> None:
    figure = drawn(WAVES, [block_row(number) for number in range(8)])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[:3] == ["wave 1, 7", "wave 2, 8", "wave 3"]
    boxes = figure.axes[0].patches
    blue = [box for box in boxes if to_hex(box.get_facecolor()).upper() == style.BLUE]
    assert sum(len(box.get_path().vertices) for box in blue) == 2 * 5  # each ends where it begins


@pytest.mark.parametrize(("column", "value"), [("wave", "x"), ("sm", "1.5"), ("slot", "-1")])
def test_waves_of_what_are_none(column: str, value: str) -> None:
    with pytest.raises(LabError, match=f"column {column}"):
        drawn(WAVES, [block_row(0, **{column: value})])
    with pytest.raises(LabError, match="panel_title = '{threads}': KeyError"):
        drawn(Waves("block_size", "{threads}", 0, 1), [block_row(0)])


# ---- picture ----


def test_without_a_name_the_largest_value_is_one_of_the_scale() -> None:
    figure = drawn(Picture("dwell"), Image({}, 2, 1, 9, b"\0\t"))
    assert figure.axes[0].images[0].get_array().tolist() == [[1, 10]]
    assert figure.axes[0].get_legend() is None


def test_a_value_without_a_name() -> None:
    with pytest.raises(LabError, match="^value 2 has no name: there are 2$"):
        drawn(Picture("", names=["a", "b"]), Image({}, 1, 1, 3, b"\2"))


def roofline_rows(rate: str) -> list[Row]:
    peaks = {"peak_gbps": "4", "peak_gflops": "64", "peak_tensor_gflops": "1000"}
    rows = [{"kernel": "memory", "intensity": "", "gflops": "", "gbps": "9"}]
    rows.append({"kernel": "product", "intensity": "32", "gflops": rate, "gbps": ""})
    return [{**row, **peaks} for row in rows]


@pytest.mark.parametrize(("rate", "tops"), [("60", [64]), ("70", [64, 1000])])
def test_flat_roofs_up_to_one_above_all_points(rate: str, tops: list[int]) -> None:
    axes = drawn(Roofline({"memory": "L2 cache"}), roofline_rows(rate)).axes[0]
    found = [line.get_ydata() for line in axes.lines]
    assert [ends[0] for ends in found if len(ends) == 2 and ends[0] == ends[1]] == tops
    assert [text.get_text() for text in axes.texts][0] == "product"


# ---- all charts ----


def of_project(kind: str) -> tuple[draw.Chart, list[Row]]:
    """A chart of this kind that an exercise has, and the rows that it shows."""
    specs = figures.of(catalogue.exercises())
    spec = next((spec for spec in specs if spec.entry["chart"] == kind), None)
    if spec is None:
        pytest.skip(f"no exercise has a {kind}")
    results = draw.parse(spec.text(spec.results / GPU), spec.source(spec.results / GPU))
    return draw.chart_of(spec), spec.select(results.rows)


def test_an_image_as_it_is() -> None:
    grey = drawn(Picture(shades=True), Image({}, 2, 1, 255, b"\0\xff")).axes[0].images[0]
    assert (grey.get_array().tolist(), grey.get_clim()) == ([[0, 1]], (0, 1))
    data = Image({}, 1, 2, 255, b"\xff\0\0\0\xff\0", 3)
    colours = drawn(Picture(colour=True), data).axes[0].images[0].get_array()
    assert colours.tolist() == [[[1, 0, 0]], [[0, 1, 0]]]


@pytest.mark.parametrize("kind", sorted({*draw.CHARTS} - {"image"}))
def test_what_a_chart_needs_is_what_it_names(kind: str) -> None:
    """With these columns alone it can be drawn."""
    chart, rows = of_project(kind)
    drawn(chart, [{column: row[column] for column in chart.columns()} for row in rows])


@pytest.mark.parametrize("kind", ["saturation", "predicted", "roofline"])
def test_a_kernel_without_rows_is_named(kind: str) -> None:
    chart, rows = of_project(kind)
    kernel = chart.curve if kind == "roofline" else chart.panels[0]["kernel"]
    with pytest.raises(LabError, match=f"no row of kernel {kernel}"):
        chart.draw([row for row in rows if row["kernel"] != kernel], "title")

    if kind == "roofline":
        with pytest.raises(LabError, match="no row of kernel gone"):
            dataclasses.replace(chart, measured={"gone": "L2"}).draw(rows, "title")


@pytest.mark.parametrize("kind", ["saturation", "predicted", "footprint", "roofline"])
def test_what_an_emulation_leaves_empty_is_named(kind: str) -> None:
    chart, rows = of_project(kind)
    column = "gflops" if kind == "roofline" else chart.value
    with pytest.raises(LabError, match=f"no .*number in column {column}"):
        chart.draw([{**row, column: ""} for row in rows], "title")


# ---- from file to file ----

NOWHERE = Path("/nowhere")  # the results of a figure that is not drawn

CSV = """# gpu: NVIDIA X1
exercise,parameters,kernel,grid,block,gbps,percent_peak
sum,size=1048576 block=32,a,4,32,10,1
sum,size=4194304 block=32,a,4,32,20,2
sum,size=4194304 block=32,b,4,32,30,3
"""
FIGURE = """
[figures.ladder]
chart = "ladder"
value = "gbps"
"""


@pytest.fixture
def results(tmp_path: Path, exercises) -> Path:
    exercises("ch/sum", FACTS + FIGURE + 'title = "{size} integers"\nlargest = "size"\n')
    exercises("ch/other", FACTS.replace("10", "20") + FIGURE + 'title = "t"\n')
    exercises("ch/plain", FACTS.replace("10", "30"))
    folder = tmp_path / "ch"
    for name in ("sum", "other"):
        (folder / name / "results" / "x1").mkdir(parents=True)
    (folder / "sum" / "results" / "cpu").mkdir()
    for gpu in ("x1", "cpu"):
        table(folder, "sum", gpu).write_text(CSV)
    return folder


def table(chapter: Path, name: str, gpu: str = "x1") -> Path:
    return chapter / name / "results" / gpu / "table.csv"


def ladder(chapter: Path, name: str, gpu: str = "x1") -> Path:
    return table(chapter, name, gpu).with_name("ladder.svg")


def draw_all(names: list[str], gpu: str = "") -> int:
    return plot.draw_figures(figures.of(catalogue.exercises(names)), names, gpu)


def test_emulation_is_drawn_if_asked_for(results: Path) -> None:
    assert draw_all(["sum"], "cpu") == 0
    assert ladder(results, "sum", "cpu").exists()
    assert not ladder(results, "sum").exists()


def test_title() -> None:
    sizes = Spec("sum", "x", {"title": "{size} integers"}, NOWHERE)
    shown = sizes.title({"size": "4194304"}, "none, CPU emulation on Y")
    assert shown == "sum: 4M integers, CPU emulation on Y"
    with pytest.raises(LabError, match="no column size, which the title names"):
        sizes.title({}, "X")
    for title in ("{", "{}", "{0}", "{size!x}"):
        with pytest.raises(LabError, match="^title: "):
            Spec("sum", "x", {"title": title}, NOWHERE).title({"size": "1"}, "X")


def test_other_exercises_of_a_figure_may_be_gone_but_not_their_results(results: Path) -> None:
    folder = table(results, "sum").parent
    assert Spec("sum", "x", {"also": ["removed"]}, NOWHERE).text(folder) == CSV
    with pytest.raises(LabError, match="plain/results/x1/table.csv: No such file"):
        Spec("sum", "x", {"also": ["plain"]}, NOWHERE).text(folder)


def test_a_figure_of_the_rows_of_another_exercise(results: Path, exercises) -> None:
    for name, rows in (("plain", "sum"), ("more", "removed")):
        exercises(f"ch/{name}", FACTS + FIGURE + f'title = "{{size}}"\nrows_of = "{rows}"\n')
        (results / name / "results" / "x1").mkdir(parents=True)
    assert draw_all(["plain"]) == 0
    assert ladder(results, "plain").exists()
    assert figures.of(catalogue.exercises(["more"])) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "other/results/x1/table.csv: no CSV in it"),
        ("kernel,grid\na,1\n", "table.csv, figure ladder: no column gbps; there are kernel, grid"),
        ("kernel,grid,gbps\na,1,fast\n", "figure ladder: a has no number in column gbps: 'fast'"),
        ("kernel,grid,gbps,percent_peak\na,1,5,0\n", "no positive number in column percent_peak"),
    ],
)
def test_bad_data_are_named_and_leave_no_figure(results, capfd, text, message: str) -> None:
    table(results, "other").write_text(text)
    assert draw_all(["other"], "x1") == 1
    err = capfd.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not ladder(results, "other").exists()


def test_one_bad_file_does_not_keep_the_others_from_being_drawn(results: Path) -> None:
    table(results, "other").write_text("")
    assert draw_all([]) == 1
    assert ladder(results, "sum").exists()


def test_unknown_folder_and_exercise_without_figures(results: Path) -> None:
    with pytest.raises(LabError, match="no results/y2 of an exercise; there are cpu, x1") as raised:
        draw_all([], "y2")
    assert raised.value.status == 2
    with pytest.raises(LabError, match=r"plain: no \[figures\] in exercise\.toml") as raised:
        draw_all(["plain"])
    assert raised.value.status == 2
    table(results, "sum").unlink()
    with pytest.raises(LabError, match="./lab bench measures them"):
        draw_all([])


def test_a_missing_file_is_passed_over_where_nobody_asked_for_its_exercise(
    results: Path, capfd
) -> None:
    """What an emulation has measured is never drawn."""
    assert draw_all([]) == 0
    assert [ladder(results, "sum", gpu).exists() for gpu in ("x1", "cpu")] == [True, False]
    assert capfd.readouterr() == (
        "",
        f"drawn: {ladder(results, 'sum')}\n"
        f"{table(results, 'other')} is not there: figure ladder is left out\n",
    )
    assert draw_all(["other", "sum"], "x1") == 1
    assert capfd.readouterr().err.startswith(f"lab: {table(results, 'other')}: No such file")


def test_every_chart_takes_the_keys_that_a_file_may_have() -> None:
    charts = {**draw.CHARTS, "warps": draw.Warps}
    assert set(charts) == set(exercise_facts.CHARTS)
    for name, chart in charts.items():
        rules = exercise_facts.CHARTS[name]
        needed = {field.name for field in dataclasses.fields(chart) if not has_default(field)}
        assert {field.name for field in dataclasses.fields(chart)} == set(rules)
        assert needed == {key for key, rule in rules.items() if rule.required}


def has_default(field: dataclasses.Field) -> bool:
    return {field.default, field.default_factory} != {dataclasses.MISSING}


def test_same_data_give_the_same_bytes_whatever_a_user_has_set(results: Path) -> None:
    import matplotlib

    draw_all(["sum"], "x1")
    before = ladder(results, "sum").read_bytes()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black"}):
        draw_all(["sum"], "x1")
    assert ladder(results, "sum").read_bytes() == before
    assert b"<dc:date>" not in before
