"""Into which streams exercises put their work. Results are right in any; but in one nothing overlaps."""

import csv
import os
from pathlib import Path

import pytest
from program import run_noting

ROOT = Path(__file__).resolve().parents[2]


def streams_of_work(exercise, *options, name=""):
    """Of each kernel and copy with `name` in its name, in the order of the calls: 0 for the first
    stream that has any, 1 for the next ..."""
    folder = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
    program = folder / "streams" / exercise
    if not program.exists():
        pytest.skip(f"{program} is not built: ./lab test builds it")
    done, recording = run_noting([str(program), "--profile", *options], "CUDA_EMULATOR_TRACE")
    assert done.returncode == 0, done.stderr
    lines = recording.splitlines()
    rows = csv.DictReader(lines[: lines.index("")])
    found = [row["Strm"] for row in rows if name in row["Name"] and "memset" not in row["Name"]]
    order = list(dict.fromkeys(found))
    return [order.index(stream) for stream in found]


PIECES = ("--size=1000", "--pieces=4", "--streams=2")


def test_pieces_take_turns_or_stages_have_a_stream():
    assert streams_of_work("copyOverlap", *PIECES, "--kernel=fourWay") == [
        *[0, 0, 0, 1, 1, 1] * 2,
        *[0, 1, 2] * 4,  # fourWayByStage
    ]


def test_what_is_copied_at_once_is_in_the_default_stream():
    streams = streams_of_work("copyOverlap", *PIECES, "--kernel=twoWay")
    assert streams == [0, *[1, 1, 2, 2] * 2]


def test_copies_in_both_directions_have_a_stream_each():
    streams = streams_of_work("copyOverlap", *PIECES, "--kernel=bothInPieces")
    assert streams == [0, *[1, 2] * 4, 0]  # between what makes the input and what checks the output


@pytest.mark.parametrize(
    "kernel, streams",
    [
        ("oneStream", [[0], [0] * 2, [0] * 4]),
        ("ownStreams", [[0], [0, 1], [0, 1, 2, 3]]),
        ("smallOneStream", [[0], [0] * 2, [0] * 3]),
        ("smallOwnStreams", [[0], [0, 1], [0, 1, 2]]),
    ],
)
def test_kernels_share_a_stream_or_have_their_own(kernel, streams):
    options = ("--kernels=4", "--small=3", "--microseconds=1", f"--kernel={kernel}")
    found = streams_of_work("streamConcurrency", *options, name="occupyHalf")
    assert found == sum(streams, [])


@pytest.mark.parametrize(
    "kernel, streams", [("depthFirst", [0, 0, 1, 1]), ("breadthFirst", [0, 1, 0, 1])]
)
def test_kernels_are_issued_in_their_order(kernel, streams):
    options = ("--streams=2", "--depth=2", "--microseconds=1", f"--kernel={kernel}")
    found = streams_of_work("issueOrder", *options, name="passTime")
    assert found == 3 * streams  # for one SM, half of them, all
