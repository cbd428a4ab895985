"""Which streams wait for which by themselves, to the hazard check: a kernel that reads in the second
stream what one has written in the first races with it, or does not (check/stream_pairs.cu)."""

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
PER_THREAD = {
    "0": "0LT----c",
    "L": "0LTBb--c",
    "T": "0LT----c",
    "B": "-L-B----",
    "b": "-L--b---",
    "N": "-----N--",
    "n": "------n-",
    "c": "0LT----c",
}


@pytest.mark.parametrize("first", LETTERS)
@pytest.mark.parametrize(
    "program, expected", [("stream_pairs", LEGACY), ("stream_pairs_per_thread", PER_THREAD)]
)
def test_who_waits_for_whom(build, tmp_path, program, expected, first):
    waiting = ""
    for second in LETTERS:
        report = check_report.run(build / "tests" / program, tmp_path / "report", first, second)
        titles = [finding.title for finding in report.findings]
        assert titles in ([], ["race between streams: read after write"])
        waiting += "-" if titles else second
    assert waiting == expected[first]


@pytest.mark.parametrize("what", ["threads", "streams", "events", "graphs", "nodes"])
def test_what_is_gone_orders_nothing(build, tmp_path, what):
    """Nor does what is made where it was in memory (check/recycled.cu)."""
    report = check_report.run(build / "tests" / "recycled", tmp_path / "report", what)
    assert report.findings[0].title.startswith("race between streams: ")
