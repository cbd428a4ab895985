"""Timelines: those that a GPU can have had pass, and each kind of lie is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.results import timelines
from lab_cli.results.csv_file import Row, parse, read_text
from lab_fixtures import shipped

KERNELS = """\
mode,kernels,stream,kernel,begin_ms,end_ms,sms
oneStream,2,0,0,0,0.1,1
oneStream,2,0,1,0.11,0.22,1
ownStreams,2,0,0,0.01,0.11,1
ownStreams,2,1,1,0,0.1,1
"""
OF_KERNELS = """\
parameters,kernel,kernels,streams
kernels=2,oneStream,2,1
kernels=2,ownStreams,2,2
small=2,smallOwnStreams,2,2
"""
QUEUES = """\
run,mode,connections,takes,kernels,stream,kernel,begin_ms,end_ms,sms
a,depthFirst,1,one,2,0,0,0,0.1,1
a,depthFirst,1,one,2,1,1,0.01,0.11,1
a,depthFirst,1,half,2,0,0,0,0.1,2
a,depthFirst,1,half,2,1,1,0.02,0.12,2
b,depthFirst,8,one,2,0,0,0,0.1,1
b,depthFirst,8,one,2,1,1,0.03,0.13,1
"""
OF_QUEUES = """\
parameters,kernel,connections,takes,kernels
connections=1,depthFirst,1,one,2
connections=1,depthFirst,1,half,2
connections=8,depthFirst,8,one,2
"""
# Two SMs with two slots each, and five blocks of which the last waits for block 1.
BLOCKS = """\
threads,block_size,sms,slots,block,sm,slot,wave,begin_ms,end_ms
1000,200,2,2,0,0,0,1,0,0.3
1000,200,2,2,1,1,0,1,0,0.1
1000,200,2,2,2,0,1,1,0,0.3
1000,200,2,2,3,1,1,1,0,0.3
1000,200,2,2,4,1,0,2,0.1,0.2
"""
OF_BLOCKS = """\
parameters,kernel,threads,block,blocks_per_sm,waves
threads=1000,busyBlocks,1000,200,2,1.25
"""
# Two pieces, of which the first is copied out while the second is in the kernel.
PIECES = """\
mode,pieces,streams,lane,piece,begin_ms,end_ms
twoWay,2,2,copy in,all,0,0.2
twoWay,2,2,kernel,0,0.21,0.3
twoWay,2,2,kernel,1,0.3,0.4
twoWay,2,2,copy out,0,0.31,0.39
twoWay,2,2,copy out,1,0.41,0.5
twoWay,2,2,host,0,0.48,0.49
twoWay,2,2,host,1,0.52,0.6
"""
OF_PIECES = """\
parameters,kernel,pieces,streams
pieces=1,copyIn,1,1
pieces=2,twoWay,2,2
"""

# Two SMs with a slot each, and four blocks, of which the first is short; the urgent one comes before
# the last.
SLOTS = """\
mode,microseconds,sm,block,begin_ms,end_ms
higher,100,0,u0,0.15,0.17
higher,100,0,0,0,0.05
higher,100,0,2,0.05,0.15
higher,100,1,1,0,0.1
higher,100,1,3,0.1,0.2
"""
OF_SLOTS = """\
parameters,kernel,length_us,slots
microseconds=100,alone,100,2
microseconds=100,higher,100,2
"""


def rows(text: str) -> list[Row]:
    return parse(text, Path("x.csv")).rows


def problems(spans: str, table: str) -> list[str]:
    return timelines.problems(rows(spans), rows(table), 10, 100)


RIGHT = {
    "kernels": (KERNELS, OF_KERNELS),
    "queues": (QUEUES, OF_QUEUES),
    "blocks": (BLOCKS, OF_BLOCKS),
    "slots": (SLOTS, OF_SLOTS),
    "pieces": (PIECES, OF_PIECES),
}


def test_timelines_of_a_gpu() -> None:
    assert {kind: problems(*both) for kind, both in RIGHT.items()} == dict.fromkeys(RIGHT, [])
    assert timelines.problems([], rows(OF_KERNELS), 10, 100) == ["the timeline has no rows"]


LIES = {
    "kernels": [
        ("0.01,0.11", "0.01,0.109", "kernel 0 took 0.099 ms, not 0.1 ms or more"),
        ("0.11,0.22", "0.09,0.22", "two overlap where they run one after the other, in 0"),
        ("0.11,0.22", "0.22,0.11", "a kernel ends before it begins"),
        ("0,1,0.11", "0,2,0.11", "expected a row for each kernel from 0 to 1, in order"),
        ("oneStream,2,0,1,0.11,0.22,1\n", "", "expected a row for each kernel from 0 to 1"),
        ("2,1,1,0,0.1", "2,1,1,0.001,0.102", "its times do not count from the first begin"),
        ("2,1,1,0,0.1", "2,0,1,0,0.1", "kernel k is in stream k modulo 2"),
        ("0.11,0.22", "0.11,22", "the timeline has 22.11 ms, but the program took 10 ms in all"),
        ("kernels=2,ownStreams,2,2\n", "", "2 rows of runs that the table does not have"),
        # A run without a timeline.
        ("oneStream,2,1\n", "oneStream,2,1\n,oneStream,3,1\n", "each kernel from 0 to 2, in order"),
    ],
    "queues": [
        ("0.03,0.13", "0.03,0.129", "connections=8 depthFirst: kernel 1 took 0.099 ms, not 0.1 ms"),
        ("a,depthFirst,1,half,2,1,1,", "a,depthFirst,1,half,2,0,1,", "two overlap where they run"),
        ("8,one,2,0,0,0,0.1", "8,one,2,2,0,0,0.1", "kernels of a stream have consecutive numbers"),
        (
            "connections=8,depthFirst,8,one,2\n",
            "",
            "the timeline has 2 rows of runs that the table",
        ),
    ],
    "blocks": [
        ("0,2,0.1,0.2", "0,1,0.1,0.2", "SM and slot 1 0: the waves must be 1, 2, 3 ..."),
        ("1,0,1,0,0.1", "1,0,0,0,0.1", "SM and slot 1 0: the waves must be 1, 2, 3 ..."),
        ("0.1,0.2", "0.05,0.2", "two overlap where they run one after the other, in 1 0"),
        ("1,1,1,0,0.3", "1,2,1,0,0.3", "slots: the table has 2 on an SM, the timeline 2"),
        ("200,2,1.25", "200,3,1.25", "slots: the table has 3 on an SM, the timeline 2"),
        ("2,1.25", "2,0.8", "waves: 0.8, not 5 / (2 x 2)"),
        ("1000,200,2,2,4,1,0,2,0.1,0.2\n", "", "expected a row for each block from 0 to 4"),
        ("2,1.25\n", "2,1.25\n,b,601,200,2,1\n", "expected a row for each block from 0 to 3"),
    ],
    "slots": [
        ("0,2,0.05,0.15", "0,2,0.05,0.14", "block 2 took 0.09 ms, not 0.1 ms or more"),
        ("1,3,0.1,0.2", "1,3,0.09,0.2", "two overlap where they run one after the other, in 1"),
        ("u0", "0", "there is no urgent block"),
        ("100,higher", "100,equal", "there is no urgent block"),
        ("higher,100,0,u0", "alone,100,0,u0", "nobody else is there"),
    ],
    "pieces": [
        ("twoWay,2,2\n", "twoWay,2,3\n", "its streams are not those of the row"),
        ("2,2,host,1", "2,2,hast,1", "a lane is none of copy in, kernel, copy out, host"),
        ("host,1,0.52", "host,2,0.52", "host: expected a row for each of 2 pieces, in order"),
        ("twoWay,2,2,kernel,1,0.3,0.4\n", "", "kernel: expected a row for each of 2 pieces"),
        ("0.48,0.49", "0.48,0.53", "host: two overlap, or one ends before it begins"),
        ("0.41,0.5", "0.41,0.4", "copy out: two overlap, or one ends before it begins"),
        ("copy in,all,0,0.2", "copy in,all,-1,0.2", "copy in: two overlap, or one ends before"),
        ("copy in,all,0,0.2", "copy in,all,0,0.22", "kernel of piece 0 begins before the stage"),
        ("0.31,0.39", "0.29,0.39", "copy out of piece 0 begins before the stage before has ended"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "old", "new", "message"),
    [(kind, *lie) for kind, lies in LIES.items() for lie in lies],
)
def test_a_lie_is_found(kind: str, old: str, new: str, message: str) -> None:
    spans, table = RIGHT[kind]
    assert (spans + table).count(old) == 1
    lies = problems(spans.replace(old, new), table.replace(old, new))
    assert any(message in lie for lie in lies), lies


def test_a_timeline_may_take_all_the_time_that_passed() -> None:
    for passed, right in ((0.22 + 0.11, True), (0.329, False)):
        found = timelines.problems(rows(KERNELS), rows(OF_KERNELS), passed, 100)
        assert (found == []) is right


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.1,0.2", "0.1,0.1"),  # a block that took no time
        (  # the last block before one that began later
            "1,1,0,1,0,0.1\n1000,200,2,2,2,0,1,1,0,0.3\n1000,200,2,2,3,1,1,1,0,0.3\n"
            "1000,200,2,2,4,1,0,2,0.1,0.2",
            "1,1,0,2,0.1,0.2\n1000,200,2,2,2,0,1,1,0,0.3\n1000,200,2,2,3,1,1,1,0,0.3\n"
            "1000,200,2,2,4,1,0,1,0,0.1",
        ),
    ],
)
def test_other_timelines_of_blocks(old: str, new: str) -> None:
    assert BLOCKS.count(old) == 1
    assert problems(BLOCKS.replace(old, new), OF_BLOCKS) == []


def test_timeline_of_one_block() -> None:
    spans = "".join(BLOCKS.splitlines(keepends=True)[:2]).replace("1000,", "200,")
    table = OF_BLOCKS.replace("1000", "200").replace("1.25", "0.25")
    assert problems(spans, table) == []


def test_lengths_are_as_exact_as_the_file() -> None:
    """9 significant digits: of times near a second, 10 ns."""

    def length(begin: str, end: str) -> list[str]:
        late = f"ownStreams,2,1,1,{begin},{end},1"
        spans = KERNELS.replace("ownStreams,2,1,1,0,0.1,1", late).replace(",0.01,0.11", ",0,0.1")
        return timelines.problems(rows(spans), rows(OF_KERNELS), 1e4, 100)

    assert length("999.900005", "1000") == []
    (problem,) = length("999.90002", "1000")
    assert problem.endswith(": kernel 1 took 0.09998 ms, not 0.1 ms or more")


@pytest.mark.parametrize(
    "name", ["streamConcurrency", "issueOrder", "blockScheduling", "streamPriorities"]
)
def test_the_measured_timelines_are_right(name: str) -> None:
    paths = [*shipped(name).results.glob("*/timeline.csv")]
    assert paths
    for path in paths:
        table = path.with_name("table.csv")
        spans = parse(read_text(path), path).rows
        assert timelines.problems(spans, parse(read_text(table), table).rows, 1e6, 0) == []
