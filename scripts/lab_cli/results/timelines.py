"""Whether a timeline, the CSV file of an exercise's --timeline=FILE, is one that a GPU can have had.

Times are in milliseconds since the first begin of a run; the last run of each row of the table is there.
streamConcurrency and issueOrder write a line for each kernel, blockScheduling for each block,
streamPriorities for each block on a few SMs, copyOverlap for each operation with a piece of its array, in
lanes that are its stages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from .csv_file import Row
from .numbers import TOLERANCE

Lane = tuple[str, ...]  # where things run one after the other
# Rows of which there is no timeline: kernels of one warp; those of blockScheduling on fewer SMs or with uneven
# work; a stage of copyOverlap by itself, and many pieces.
LEFT_OUT = (
    ["smallOneStream", "smallOwnStreams"]
    + ["fixedShares", "fixedUneven", "fromCounter"]
    + ["copyIn", "kernel", "copyOut", "bothWays", "bothInPieces", "hostSum"]
    + ["pageableIn", "pageableOut", "pipeline", "pipelineByStage"]
)
OF_KERNELS = ("kernels", "connections", "takes")  # what a row has in common with its kernels


def problems(
    spans: Sequence[Row], table: Sequence[Row], passed: float, microseconds: float
) -> list[str]:
    """What is wrong, a line each. The program took `passed` milliseconds in all, and each kernel of
    a stream had to take so many microseconds."""
    if not spans:
        return ["the timeline has no rows"]
    of_kernels, of_pieces = "stream" in spans[0], "piece" in spans[0]
    ends, found, left = 0.0, [], list(spans)
    for row in table:
        if row["kernel"] in LEFT_OUT:
            continue
        if of_pieces:
            mine = [span for span in left if span["mode"] == row["kernel"]]
            wrong = [*_pieces(mine, row)]
        elif of_kernels:
            mine = [
                s
                for s in left
                if s["mode"] == row["kernel"]
                and all(s[name] == row[name] for name in OF_KERNELS if name in s)
            ]
            wrong = [*_kernels(mine, row), *_shorter(mine, "kernel", 1e-3 * microseconds)]
        elif "mode" in spans[0]:
            key = (row["kernel"], row["length_us"])
            mine = [s for s in left if (s["mode"], s["microseconds"]) == key]
            wrong = [*_slots(mine, row)]
        else:
            mine = [
                s for s in left if (s["threads"], s["block_size"]) == (row["threads"], row["block"])
            ]
            wrong = [*_blocks(mine, row)]
        found += [f"timeline of {row['parameters']} {row['kernel']}: {each}" for each in wrong]
        taken = {id(span) for span in mine}
        left = [span for span in left if id(span) not in taken]
        ends += max((float(span["end_ms"]) for span in mine), default=0)
    if left:
        found.append(f"the timeline has {len(left)} rows of runs that the table does not have")
    if ends > passed:
        found.append(f"the timeline has {ends:g} ms, but the program took {passed:g} ms in all")
    return found


def _kernels(spans: Sequence[Row], row: Row) -> Iterator[str]:
    yield from _order(spans, "kernel", int(row["kernels"]), lambda span: (span["stream"],))
    if "streams" not in row:  # issueOrder
        streams_of = [int(span["stream"]) for span in spans]
        if streams_of != sorted(streams_of):
            yield "kernels of a stream have consecutive numbers"
        return
    streams = int(row["streams"])
    if any(int(span["stream"]) != int(span["kernel"]) % streams for span in spans):
        yield f"kernel k is in stream k modulo {streams}"


def _slots(spans: Sequence[Row], row: Row) -> Iterator[str]:
    """Of streamPriorities, whose SMs have room for a block; the first ones of a kernel may be shorter."""
    if row["kernel"] == "alone":
        yield from (["nobody else is there"] if spans else [])
        return
    if "u0" not in [span["block"] for span in spans]:
        yield "there is no urgent block"
    yield from _one_by_one(spans, lambda span: (span["sm"],))
    full = [s for s in spans if s["block"].isdigit() and int(s["block"]) >= int(row["slots"])]
    yield from _shorter(full, "block", 1e-3 * float(row["length_us"]))


STAGES = ["copy in", "kernel", "copy out", "host"]


def _pieces(spans: Sequence[Row], row: Row) -> Iterator[str]:
    """Each stage has all pieces, or the whole array at once, and a piece comes to a stage when the one before
    has done with it. Pieces of one stream come one after the other; and so do all on the host, whose clock is
    another one than that of the events."""
    if any(span["streams"] != row["streams"] for span in spans):
        yield "its streams are not those of the row"
    lanes = {lane: [span for span in spans if span["lane"] == lane] for lane in STAGES}
    if sum(len(stays) for stays in lanes.values()) != len(spans):
        yield f"a lane is none of {', '.join(STAGES)}"
    numbers = [str(number) for number in range(int(row["pieces"]))]
    for lane, stays in lanes.items():
        if [stay["piece"] for stay in stays] not in (numbers, ["all"]):
            yield f"{lane}: expected a row for each of {len(numbers)} pieces, in order"
        apart = 1 if lane == "host" or row["kernel"].endswith("ByStage") else int(row["streams"])
        for stream in range(apart):
            in_order = [
                float(stay[time])
                for stay in stays[stream::apart]
                for time in ("begin_ms", "end_ms")
            ]
            if in_order != sorted(in_order) or min(in_order, default=0) < 0:
                yield f"{lane}: two overlap, or one ends before it begins"
    ends: dict[str, float] = {}
    for lane in STAGES[:3]:
        for stay in lanes[lane]:
            before = ends.get(stay["piece"], ends.get("all", 0.0))
            if float(stay["begin_ms"]) < before:
                yield f"{lane} of piece {stay['piece']} begins before the stage before has ended"
        ends |= {stay["piece"]: float(stay["end_ms"]) for stay in lanes[lane]}


def _shorter(spans: Sequence[Row], number: str, milliseconds: float) -> Iterator[str]:
    for span in spans:
        end = float(span["end_ms"])
        length = end - float(span["begin_ms"])
        if length < milliseconds - 1e-8 * end:  # the file has 9 significant digits
            yield f"{number} {span[number]} took {length:g} ms, not {milliseconds:g} ms or more"


def _blocks(spans: Sequence[Row], row: Row) -> Iterator[str]:
    count = math.ceil(int(row["threads"]) / int(row["block"]))
    yield from _order(spans, "block", count, lambda span: (span["sm"], span["slot"]))
    if not spans:
        return
    sms, slots = int(spans[0]["sms"]), int(spans[0]["slots"])
    if str(slots) != row["blocks_per_sm"] or any(int(span["slot"]) >= slots for span in spans):
        yield f"slots: the table has {row['blocks_per_sm']} on an SM, the timeline {slots}"
    if not math.isclose(float(row["waves"]), count / (sms * slots), rel_tol=TOLERANCE):
        yield f"waves: {row['waves']}, not {count} / ({sms} x {slots})"
    for lane, stays in _lanes(spans, lambda span: (span["sm"], span["slot"])):
        if [int(stay["wave"]) for stay in stays] != list(range(1, len(stays) + 1)):
            yield f"SM and slot {' '.join(lane)}: the waves must be 1, 2, 3 ..."


def _order(
    spans: Sequence[Row], number: str, count: int, lane_of: Callable[[Row], Lane]
) -> Iterator[str]:
    """`count` spans in order, of which those of a lane do not overlap."""
    if [int(span[number]) for span in spans] != list(range(count)):
        yield f"expected a row for each {number} from 0 to {count - 1}, in order"
    if not spans:
        return
    if min(float(span["begin_ms"]) for span in spans) != 0:
        yield "its times do not count from the first begin"
    if any(float(span["end_ms"]) < float(span["begin_ms"]) for span in spans):
        yield f"a {number} ends before it begins"
    yield from _one_by_one(spans, lane_of)


def _one_by_one(spans: Sequence[Row], lane_of: Callable[[Row], Lane]) -> Iterator[str]:
    for lane, ones in _lanes(spans, lane_of):
        if any(
            float(later["begin_ms"]) < float(earlier["end_ms"])
            for earlier, later in zip(ones, ones[1:])
        ):
            yield f"two overlap where they run one after the other, in {' '.join(lane)}"


def _lanes(spans: Sequence[Row], lane_of: Callable[[Row], Lane]) -> list[tuple[Lane, list[Row]]]:
    """The spans of each lane, in the order in which they begin."""
    lanes: dict[Lane, list[Row]] = {}
    for span in sorted(spans, key=lambda span: (float(span["begin_ms"]), float(span["end_ms"]))):
        lanes.setdefault(lane_of(span), []).append(span)
    return sorted(lanes.items())
