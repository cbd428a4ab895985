"""Recordings of what ran when: data/nsys/ has what Nsight Systems 2025.3.1 exported on an H200, of four
streams with copies, a graph and managed memory; of 3000 tiny kernels; of kernels that launch kernels."""

from __future__ import annotations

import re

import pytest
from lab_cli.counters import nsys, recording
from lab_cli.counters.recording import DEFAULT_STREAM, MOST_STREAMS, Range, Recording
from lab_cli.errors import LabError
from recordings import of_nsys, rows_of_nsys, work

HEADER = "Generating SQLite file a.sqlite from a.nsys-rep\nProcessing [a.sqlite] with [b.py]...\n"


def recorded(name: str) -> Recording:
    """As ./lab trace reads it: behind the lines of nsys."""
    work, ranges = (
        f"{HEADER}\n{of_nsys(name, report)}\n" for report in (recording.WORK, recording.RANGES)
    )
    return recording.read(
        nsys.parse(work, recording.FIRST_OF_WORK), nsys.parse(ranges, recording.FIRST_OF_RANGES)
    )


def row(**values: str) -> dict[str, str]:
    return {"Start (ns)": "10", "Duration (ns)": "5", "Strm": "13", "Name": "k(int)", **values}


def a_range(name: str, start: str = "0", projected: str = "10") -> dict[str, str]:
    return {
        "Name": name,
        "Projected Start (ns)": projected,
        "Projected Duration (ns)": "5",
        "Orig Start (ns)": start,
    }


@pytest.mark.parametrize(
    "name", ["two\n\nlines", "two\r\n\r\nlines", "two\x01\tlines", "two\x00\x1clines"]
)
def test_names_have_no_control_characters(name: str) -> None:
    text = f'Start (ns),Name\r\n1,"{name}, ""quoted"""\r\n2,\x85k\r\n\r\n3,other\n'
    assert nsys.parse(text, "Start (ns)") == [
        {"Start (ns)": "1", "Name": 'two  lines, "quoted"'},
        {"Start (ns)": "2", "Name": "\x85k"},
    ]


def test_a_table_ends_with_an_empty_line() -> None:
    text = "Start (ns),Name\n1,k\n\nName,Start (ns)\nother,2\n"
    assert nsys.parse(text, "Start (ns)") == [{"Start (ns)": "1", "Name": "k"}]
    assert nsys.parse(text, "Name") == [{"Start (ns)": "2", "Name": "other"}]


@pytest.mark.parametrize(("name", "count"), [("streams", 273), ("many", 3002), ("nested", 5)])
def test_nothing_is_lost(name: str, count: int) -> None:
    recorded_rows = rows_of_nsys(name, recording.WORK)
    found = recorded(name)
    assert len(found.work) == len(recorded_rows) == count
    for item, expected in zip(found.work, recorded_rows):
        assert item.begin == int(expected["Start (ns)"])
        assert item.end - item.begin == int(expected["Duration (ns)"])
        assert item.kernel == bool(expected["GrdX"])
        stream = f"stream {expected['Strm']}" if expected["Strm"] else ""
        if item.kernel:
            assert item.lane.partition(" (")[0] == stream
            assert item.lane.endswith("(default)") == (expected["Strm"] == DEFAULT_STREAM)
            assert item.name.partition("<")[0] in expected["Name"]
            assert not re.search(r"[(*]|^void", item.name)
        else:
            assert item.name == stream
            direction = item.lane.removeprefix("pages, ").replace(" ", "-")
            direction = direction.replace("fill", "memset")
            assert direction in expected["Name"].lower()
            assert item.lane.startswith("pages") == ("Unified" in expected["Name"])
    assert found.device == "NVIDIA H200"


def test_lanes_from_the_streams_to_the_pages() -> None:
    work = recorded("streams").work
    assert [lane for _, lane in sorted({(item.place, item.lane) for item in work})] == [
        "stream 7 (default)",
        *(f"stream {number}" for number in (13, 14, 15, 16, 18)),  # 18: of a branch of the graph
        *("host to device", "device to host", "device to device", "fill"),
        *("pages, host to device", "pages, device to host"),
    ]
    names = {item.name for item in work if item.kernel}
    assert names == {"addOne", "scale<float, 16>", "scale<float, 1>"}


def test_kernels_of_kernels_are_not_in_a_recording() -> None:
    assert [item.name for item in recorded("nested").work if item.kernel] == ["parent"] * 3


def test_ranges_in_the_order_of_the_host_with_the_times_of_the_gpu() -> None:
    ranges = recorded("streams").ranges
    names = ["inOrder", *["repetition"] * 3, "overlapped", *["repetition"] * 3, "graph", "managed"]
    assert [item.name for item in ranges[1:]] == names
    assert ranges[0].name.startswith("fills, ")  # nsys does not double the quotation marks in it
    overlapped, last = ranges[5], ranges[8]
    assert (last.begin, last.end - last.begin) == (977778182, 272254)
    assert last.within(overlapped) and not overlapped.within(last) and not last.within(last)
    turned = recording.read(
        [row()], [a_range("b", "3", "30"), a_range("c", "4", "20"), a_range("a", "2", "40")]
    )
    assert [item.name for item in turned.ranges] == ["a", "b", "c"]


def test_the_whole_of_a_recording() -> None:
    panel = recording.whole(recorded("streams"))
    assert panel.length == 1005060327 + 2496 - 972788815
    assert panel.work[0].begin == 0
    assert max(item.end for item in panel.work) == panel.length
    assert (panel.title, len(panel.ranges)) == ("", 11)


def test_of_a_rung_with_repetitions_the_last() -> None:
    in_order, overlapped, graph = recording.rungs(recorded("streams"), "r")
    assert in_order.title == "inOrder, the last of 3 repetitions"
    assert overlapped.title == "overlapped, the last of 3 repetitions"
    assert (overlapped.length, len(overlapped.work), overlapped.ranges) == (272254, 13, [])
    assert (graph.title, len(graph.work)) == ("graph", 12)


def test_what_reaches_into_a_part_is_cut() -> None:
    of_run = Recording(
        [work(0, 5), work(4, 12), work(11, 30), work(25, 40), work(41, 42)],
        [Range("rung", 10, 30), Range("inner", 12, 20), Range("outer", 0, 40)],
    )
    (panel,) = recording.rungs(of_run, "rung")
    assert [(item.begin, item.end) for item in panel.work] == [(0, 2), (1, 20), (15, 20)]
    assert panel.ranges == [Range("inner", 2, 10)]
    assert panel.length == 20


@pytest.mark.parametrize(
    ("ranges", "known"),
    [([], "none"), (["a", "repetition", "b", "a"], "a, b")],
)
def test_unknown_rung(ranges: list[str], known: str) -> None:
    of_run = Recording([work(0, 1)], [Range(name, 0, 1) for name in ranges])
    with pytest.raises(LabError) as error:
        recording.rungs(of_run, "petition")
    assert error.value.status == 2
    assert str(error.value).startswith("--rung petition: ")
    assert str(error.value).endswith(f": {known}")


@pytest.mark.parametrize(
    ("name", "lane"),
    [
        ("[CUDA memcpy HtoD]", "host to device"),  # until 2023
        ("[CUDA memcpy Host-to-Host]", "host to host"),
        ("[CUDA memcpy Peer-to-Peer]", "device to device"),
        ("[CUDA Unified Memory memcpy DtoH]", "pages, device to host"),
        ("[CUDA something new]", "CUDA something new"),
    ],
)
def test_names_of_copies_in_the_versions_of_nsys(name: str, lane: str) -> None:
    (item,) = recording.read([row(Name=name)], []).work
    assert (item.lane, item.kernel, item.name) == (lane, False, "stream 13")


def test_lanes_of_two_devices() -> None:
    found = recording.read(
        [row(Device="A (0)"), row(Device="A (1)"), row(Device="A (1)", Name="[CUDA memset]")], []
    )
    lanes = ["stream 13 of A (0)", "stream 13 of A (1)", "fill of A (1)"]
    assert [item.lane for item in found.work] == lanes


def test_a_kernel_without_a_stream_and_numbers_with_commas() -> None:
    (item,) = recording.read([row(Strm="", **{"Start (ns)": "1,000"})], []).work
    assert (item.lane, item.begin, item.end) == ("no stream", 1000, 1005)


@pytest.mark.parametrize(
    ("work", "ranges", "problem"),
    [
        ([], [], "neither a kernel nor a copy was recorded"),
        ([{"Start (ns)": "1"}], [], r"cuda_gpu_trace has no column Duration \(ns\), Strm, Name; "),
        ([row()], [{"Name": "a"}], "nvtx_gpu_proj_trace has no column Projected Start"),
        *(
            ([row(**{"Duration (ns)": value})], [], rf"Duration \(ns\) = {shown} for k\(int\): ")
            for value, shown in (("soon", "soon"), ("", "nothing"), ("nan", "nan"))
        ),
    ],
)
def test_what_is_no_recording_is_named(work: list, ranges: list, problem: str) -> None:
    with pytest.raises(LabError, match=problem):
        recording.read(work, ranges)


def test_many_streams_share_a_lane() -> None:
    of_run = Recording([work(0, 1, stream=stream) for stream in range(100, 102 + MOST_STREAMS)])
    lanes = [item.lane for item in recording.whole(of_run).work]
    assert lanes == [f"stream {100 + k}" for k in range(MOST_STREAMS)] + ["2 more streams"] * 2
    of_run = Recording(of_run.work[:MOST_STREAMS])
    assert "more streams" not in str(recording.whole(of_run).work)


def test_what_overlaps_has_rows_of_its_own() -> None:
    items = [work(0, 10), work(10, 20), work(5, 15), work(12, 13), work(21, 22), work(0, 3)]
    found = [[(item.begin, item.end) for item in row] for row in recording.rows_of(items)]
    assert found == [[(0, 10), (10, 20), (21, 22)], [(0, 3), (5, 15)], [(12, 13)]]
    assert len(recording.rows_of(items[:2] + [work(19, 25)], slack=1)) == 1
