"""Into which streams exercises put their work. Results are right in any; but in one nothing overlaps."""

import csv

import pytest
from program import run_noting


def streams_of_work(build, exercise, *options, name=""):
    """Of each kernel and copy with `name` in its name, in the order of the calls: 0 for the first
    stream that has any, 1 for the next ..."""
    program = build / "streams" / exercise
    if not program.exists():
        pytest.skip(f"{program} is not built: ./lab test builds it")
    done, recording = run_noting([str(program), "--profile", *options], "CUDA_EMULATOR_TRACE")
    assert done.returncode == 0, done.stderr
    lines = recording.splitlines()
    rows = csv.DictReader(lines[: lines.index("")])
    found = [row["Strm"] for row in rows if name in row["Name"] and "memset" not in row["Name"]]
    order = list(dict.fromkeys(found))
    return [order.index(stream) for stream in found]


PIECES = "copyOverlap --size=1000 --pieces=4 --streams=2 --kernel="
KERNELS = "streamConcurrency --kernels=4 --small=3 --microseconds=1 --kernel="
CHAINS = "issueOrder --streams=2 --depth=2 --microseconds=1 --kernel="


@pytest.mark.parametrize(
    "command, name, streams",
    [
        # pieces take turns; fourWayByStage, for which the name stands, too, has one for each stage
        (PIECES + "fourWay", "", [*[0, 0, 0, 1, 1, 1] * 2, *[0, 1, 2] * 4]),
        # what is copied at once is in the default stream
        (PIECES + "twoWay", "", [0, *[1, 1, 2, 2] * 2]),
        # between what makes the input and what checks the output
        (PIECES + "bothInPieces", "", [0, *[1, 2] * 4, 0]),
        # one kernel, two, all
        (KERNELS + "oneStream", "occupyHalf", [0, 0, 0, 0, 0, 0, 0]),
        (KERNELS + "ownStreams", "occupyHalf", [0, 0, 1, 0, 1, 2, 3]),
        (KERNELS + "smallOneStream", "occupyHalf", [0, 0, 0, 0, 0, 0]),
        (KERNELS + "smallOwnStreams", "occupyHalf", [0, 0, 1, 0, 1, 2]),
        # for one SM, half of them, all
        (CHAINS + "depthFirst", "passTime", 3 * [0, 0, 1, 1]),
        (CHAINS + "breadthFirst", "passTime", 3 * [0, 1, 0, 1]),
    ],
)
def test_streams_of_work(build, command, name, streams):
    assert streams_of_work(build, *command.split(), name=name) == streams
