"""Which streams wait for which by themselves, to the hazard check: a kernel that reads in the second
stream what one has written in the first races with it, or does not (check/stream_pairs.cu)."""

from pathlib import Path

import check_report
import pytest

# In the order of the letters, those that wait for work that this one was given before. The CUDA
# Programming Guide, "Default Stream" and "Implicit Synchronization"; c is what cudaMemcpy() does, in the
# default stream that the program is compiled for.
LETTERS = "0LTBbNnc"
LEGACY = {
    "0": "0LTBb--c",
    "L": "0LTBb--c",
    "T": "0LT----c",
    "B": "0L-B---c",
    "b": "0L--b--c",
    "N": "-----N--",
    "n": "------n-",
    "c": "0LTBb--c",
}
PER_THREAD = {**LEGACY, "0": "0LT----c", "B": "-L-B----", "b": "-L--b---", "c": "0LT----c"}


PAIRS = Path(__file__).parent / "check" / "stream_pairs.cu"


def lines_of(kind, letters):
    return {check_report.line_of(PAIRS, f"{kind}-{letter}"): letter for letter in letters}


FIRST_OF = lines_of("write", LETTERS)
SECOND_OF = {**lines_of("read", LETTERS[:-1]), **dict.fromkeys(lines_of("copy", LETTERS), "c")}

PROGRAMS = pytest.mark.parametrize(
    "program, alone", [("stream_pairs", LEGACY), ("stream_pairs_per_thread", PER_THREAD)]
)


def races(build, tmp_path, program, way, firsts, seconds):
    """The pairs of letters whose work races."""
    report = check_report.run(build / "tests" / program, tmp_path / "report", way, firsts, seconds)
    pairs = set()
    for finding in report.findings:
        assert finding.title == "race between streams: read after write"
        written, read = finding.lines()
        pairs.add((FIRST_OF[written], SECOND_OF[read]))
    return pairs


@pytest.mark.parametrize("first", LETTERS)
@PROGRAMS
def test_who_waits_for_whom(build, tmp_path, program, alone, first):
    """In a process of its own, which begins with that stream."""
    found = races(build, tmp_path, program, "nothing", first, LETTERS)
    assert found == {(first, second) for second in LETTERS if second not in alone[first]}


def ordered_by_way(way, first, alone):
    """The streams that wait for the first one if that comes between."""

    def through(stream, then):
        return set(alone[first]) | (set(then) if stream in alone[first] else set())

    if way in ("event", "eventThroughAnother", "hostForEvent", "hostForFirst", "hostForDevice"):
        return set(LETTERS)
    if way == "hostForLegacy":  # which waits for those that the legacy stream waits for
        return through("L", LETTERS)
    if way == "workInLegacy":
        return through("L", alone["L"])
    if way == "workInThread":
        return through("T", alone["T"])
    return set(alone[first])  # what comes between has to do with other work


@pytest.mark.parametrize(
    "way",
    [
        "event", "earlyEvent", "eventOfAnother", "eventForAnother", "eventThroughAnother",
        "hostForEvent", "hostForEarlyEvent", "hostForFirst", "hostForSecond", "hostForAnother",
        "hostForLegacy", "hostForDevice", "workInLegacy", "workInThread", "workInAnother",
    ],
)  # fmt: skip
@PROGRAMS
def test_ways_of_waiting(build, tmp_path, program, alone, way):
    found = races(build, tmp_path, program, way, LETTERS, LETTERS)
    assert found == {
        (first, second)
        for first in LETTERS
        for second in set(LETTERS) - ordered_by_way(way, first, alone)
    }


@pytest.mark.parametrize("what", ["threads", "streams", "events", "graphs", "nodes"])
def test_what_is_gone_orders_nothing(build, tmp_path, what):
    """Nor does what is made where it was in memory (check/recycled.cu)."""
    report = check_report.run(build / "tests" / "recycled", tmp_path / "report", what)
    assert report.findings[0].title.startswith("race between streams: ")
