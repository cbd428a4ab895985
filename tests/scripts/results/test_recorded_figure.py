"""The figure of a recording: bars, lanes and labels of the SVG beside the rows that nsys exported."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("matplotlib")

from lab_cli.counters import recording
from lab_cli.counters.recording import Panel, Recording, Work
from lab_cli.results.plots import recorded, style
from recordings import rows_of_nsys, work

pytestmark = pytest.mark.draws

SVG = "{http://www.w3.org/2000/svg}"


def of_nsys(name: str) -> Recording:
    return recording.read(rows_of_nsys(name, recording.WORK), rows_of_nsys(name, recording.RANGES))


def svg(panels: list[Panel], note: str = "") -> str:
    with style.settings():
        figure = recorded.draw(panels, "title", note)
    return style.svg(figure, "test", "./lab trace").decode()


def extents(group: ET.Element) -> list[tuple[float, float]]:
    """Left and right of each shape in a group, in the SVG's units."""
    shapes = {path.get("id"): path.get("d", "") for path in group.iter(f"{SVG}path")}
    found = [(path.get("d", ""), 0.0) for path in group.iter(f"{SVG}path") if not path.get("id")]
    for use in group.iter(f"{SVG}use"):
        link = use.get("{http://www.w3.org/1999/xlink}href", "")[1:]
        found.append((shapes[link], float(use.get("x", 0))))
    result = []
    for data, offset in found:
        places = [float(x) for x in re.findall(r"[ML] (-?[\d.]+) ", data)]
        result.append((min(places) + offset, max(places) + offset))
    return result


class Drawn:
    """An SVG: `lanes[panel][label]` are the begins and ends of the bars of a lane's rows."""

    def __init__(self, text: str, length: float) -> None:
        self.text = text
        self.labels = re.findall(r"<!-- (.*?) -->", text)
        root = ET.fromstring(text)
        groups = {group.get("id", ""): group for group in root.iter(f"{SVG}g")}
        margin = recorded.MARGIN * length / recorded.PIXELS
        self.lanes: dict[int, dict[str, list[list[tuple[float, float]]]]] = {}
        for name, group in groups.items():
            match = re.fullmatch(r"(\d+): (.*), row (\d+)", name)
            if not match:
                continue
            panel = int(match.group(1))
            ((left, right),) = extents(groups[f"{panel}: time"])
            scale = (length + 2 * margin) / (right - left)
            bars = [
                ((begin - left) * scale - margin, (end - left) * scale - margin)
                for begin, end in extents(group)
            ]
            of_lane = self.lanes.setdefault(panel, {}).setdefault(match.group(2), [])
            assert len(of_lane) == int(match.group(3))
            of_lane.append(sorted(bars))


def drawn(panels: list[Panel], note: str = "") -> Drawn:
    return Drawn(svg(panels, note), max(panel.length for panel in panels))


def panel_of(items: list[Work], length: float = 0) -> Panel:
    return Panel("", length or max(item.end for item in items), items, [])


def test_bars_are_where_the_work_was() -> None:
    """The last repetition of `overlapped`: four streams, each with a copy, a kernel and a copy back."""
    (panel,) = recording.rungs(of_nsys("streams"), "overlapped")
    expected: dict[str, list[tuple[float, float]]] = {}
    for item in panel.work:
        expected.setdefault(item.lane, []).append((item.begin, item.end))
    assert {len(bars) for bars in expected.values()} == {1, 4}
    picture = drawn([panel])
    assert picture.lanes[0].keys() == expected.keys()
    for lane, bars in expected.items():
        places = [pytest.approx(bar, abs=0.001 * panel.length) for bar in sorted(bars)]
        assert picture.lanes[0][lane] == [places], lane


def test_what_is_written_on_it() -> None:
    picture = drawn(recording.rungs(of_nsys("streams"), "overlapped"), "A note\nof two lines")
    lanes = ["stream 7 (default)", *(f"stream {k}" for k in range(13, 17))]
    lanes += ["host to device", "device to host"]
    assert [label for label in picture.labels if label in lanes] == lanes  # from the top
    assert "overlapped, the last of 3 repetitions: 272.3 us" in picture.labels
    assert "time [us]" in picture.labels
    assert picture.labels.count("addOne") == 5  # four bars and the legend
    assert [label for label in picture.labels if label in ("13", "14", "15", "16")] == [
        *("15", "16", "13", "14"),  # the streams of the copies in the order of time
        *("15", "16", "13", "14"),
    ]
    assert "scale&lt;float, 16&gt;" in picture.labels or "scale<float, 16>" in picture.labels
    for text in ("A note", "of two lines", "./lab trace"):
        assert text in picture.text
    assert not any("pale" in label for label in picture.labels)


def test_the_whole_shows_ranges_above_the_streams() -> None:
    panel = recording.whole(of_nsys("streams"))
    picture = drawn([panel])
    outer, inner = picture.lanes[0][recorded.RANGES]
    assert len(inner) == 6  # repetitions
    rungs = [item for item in panel.ranges if item.name != recording.REPETITION]
    assert len(outer) == len(rungs) == 5
    for bar, item in zip(outer, rungs):
        least = recorded.LEAST * panel.length / recorded.PIXELS
        expected = item.begin, max(item.end, item.begin + least)
        assert bar == pytest.approx(expected, abs=0.001 * panel.length)
    assert "inOrder" in picture.labels
    assert "time [ms]" in picture.labels


def test_thousands_of_kernels_become_a_few_bars_that_say_how_many() -> None:
    panel = recording.whole(of_nsys("many"))
    picture = drawn([panel])
    assert len(picture.text) < 200_000
    lanes = recorded.lanes_of(panel, panel.length / recorded.PIXELS)[1:]
    for lane, name, count in zip(lanes, ("stream 13", "stream 14"), (2250, 750)):
        (bars,) = lane.rows
        assert sum(bar.count for bar in bars) == count
        assert len(picture.lanes[0][name][0]) == len(bars) < 20
        for bar in bars:
            assert bar.count <= 100 or f"{bar.count} x tiny" in picture.labels
    assert "pale: several, too close to tell apart" in picture.labels


def test_the_largest_recordings_stay_small() -> None:
    """Many streams, in which each kernel and each gap is just wide enough not to be merged."""
    pixel = 1000
    step = (recorded.NARROW + 1.1) * pixel
    items = [
        work(k * step, k * step + (recorded.NARROW + 0.05) * pixel, f"kernel{k % 12}", stream)
        for k in range(int(recorded.PIXELS * pixel / step))
        for stream in range(13, 13 + recording.MOST_STREAMS)
    ]
    assert len(items) > recorded.MOST_BARS
    panel = panel_of(items, length=recorded.PIXELS * pixel)
    picture = drawn([panel])
    assert sum(len(row) for rows in picture.lanes[0].values() for row in rows) <= recorded.MOST_BARS
    assert "other kernels" in picture.labels
    for text in (picture.text, svg([panel] * 8)):
        assert len(text) < 1_000_000


def test_only_what_is_narrow_and_near_is_merged() -> None:
    row = [
        *(work(0, 100), work(101, 102), work(103, 104), work(104.5, 105)),
        *(work(120, 121), work(122.5, 123), work(123.5, 200), work(201, 202, "other")),
        work(202.5, 204),
    ]
    bars = [(bar.begin, bar.end, bar.name, bar.count) for bar in recorded.bars_of(row, 1.2)]
    assert bars == [
        (0, 100, "k", 1),
        (101, 105, "k", 3),
        (120, 121, "k", 1),
        (122.5, 123, "k", 1),
        (123.5, 200, "k", 1),
        (201, 204, "", 2),
    ]


def test_a_bar_of_several_kernels_has_no_name_and_no_colour_of_one() -> None:
    items = [work(k, k + 0.9, f"k{k % 2}") for k in range(5000)]
    picture = drawn([panel_of(items)])
    assert "5000 x" in picture.labels
    assert picture.lanes[0]["stream 13"] == [[pytest.approx((0, 4999.9), abs=5)]]


def test_what_overlaps_in_a_lane_is_drawn_below_each_other() -> None:
    picture = drawn([panel_of([work(0, 60), work(30, 90), work(60, 100), work(95, 99)])])
    assert picture.lanes[0]["stream 13"] == [
        [pytest.approx((0, 60), abs=0.1), pytest.approx((60, 100), abs=0.1)],
        [pytest.approx((30, 90), abs=0.1), pytest.approx((95, 99), abs=0.1)],
    ]
    many = drawn([panel_of([work(k, 100) for k in range(30)])])
    assert len(many.lanes[0]["stream 13"]) == recorded.MOST_ROWS


def test_panels_have_one_scale() -> None:
    panels = [
        Panel("short", 10e6, [work(0, 10e6)], []),
        Panel("long", 40e6, [work(0, 20e6), work(20e6, 40e6, "l", 14)], []),
    ]
    picture = drawn(panels)
    assert picture.lanes[0]["stream 13"] == [[pytest.approx((0, 10e6), abs=4e4)]]
    assert picture.lanes[1]["stream 14"] == [[pytest.approx((20e6, 40e6), abs=4e4)]]
    assert [label for label in picture.labels if ":" in label] == ["short: 10 ms", "long: 40 ms"]


def test_something_very_short_is_still_seen() -> None:
    picture = drawn([panel_of([work(0, 1e9), work(5e8, 5e8 + 10, stream=14)])])
    ((left, right),) = picture.lanes[0]["stream 14"][0]
    assert right - left == pytest.approx(recorded.LEAST * 1e9 / recorded.PIXELS, rel=0.1)
    assert "time [ms]" in picture.labels
    assert drawn([panel_of([work(5, 5)], length=0)]).lanes[0]["stream 13"]


@pytest.mark.parametrize(
    ("length", "unit"), [(900, "us"), (1.9e6, "us"), (2e6, "ms"), (1.9e9, "ms"), (2e9, "s")]
)
def test_units(length: float, unit: str) -> None:
    assert f"time [{unit}]" in drawn([panel_of([work(0, length)])]).labels


def test_long_names_and_dollars() -> None:
    long = "aKernelWithANameThatIsMuchLongerThanALegendShouldBe"
    picture = drawn([panel_of([work(0, 1, "$a$b"), work(1, 100, long)])])
    assert long in picture.labels  # on its bar
    assert long[: recorded.LEGEND_CHARACTERS - 3] + "..." in picture.labels
    assert "$a$b" in picture.labels
    assert "Oblique" not in picture.text  # no formula


def test_labels_fit_into_their_bars() -> None:
    found = of_nsys("streams")
    for panel in [recording.whole(found), *recording.rungs(found, "r")]:
        with style.settings():
            figure = recorded.draw([panel], "title")
            figure.draw_without_rendering()
        axes = figure.axes[0]
        bars = [
            path.get_extents(collection.get_transform())
            for collection in axes.collections
            for path in collection.get_paths()
        ]
        assert axes.texts
        for text in axes.texts:
            (left, bottom), (right, top) = text.get_window_extent().get_points()
            assert any(
                bar.x0 <= left and right <= bar.x1 and bar.y0 <= bottom and top <= bar.y1
                for bar in bars
            ), text


def test_nothing_is_covered_or_cut_off() -> None:
    panels = recording.rungs(of_nsys("streams"), "r")
    with style.settings():
        figure = recorded.draw(panels, "title", "A note\nof two lines\nor three")
        figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    for axes in figure.axes:
        box = axes.get_tightbbox()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert legend.y1 <= box.y0
    assert figure.bbox.y0 <= legend.y0
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["addOne", "scale<float, 16>"]


def test_how_long_an_emulation_took_is_not_said() -> None:
    panels = [Panel("a rung", 3e6, [work(0, 3e6)], [])]
    texts = {}
    for emulated in (False, True):
        with style.settings():
            figure = recorded.draw(panels, "title", emulated=emulated)
        texts[emulated] = [figure.axes[0].get_title(loc="left"), figure.axes[-1].get_xlabel()]
    assert texts[False] == ["a rung: 3 ms", "time [ms]"]
    assert texts[True][0] == "a rung" and texts[True][1] != "time [ms]"
