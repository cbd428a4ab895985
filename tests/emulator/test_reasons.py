"""Where a call fails and nobody looks at the error, the hazard check says why, with the numbers
(check/reasons.cu)."""

from pathlib import Path

import pytest
from check_report import line_of, run

SOURCE = Path(__file__).parent / "check" / "reasons.cu"
# By what fails: the error, and what the sentence says.
REASONS = {
    "product": ("cudaErrorInvalidConfiguration", ["40 x 30 = 1,200 threads", "1,024"]),
    "one": ("cudaErrorInvalidConfiguration", ["1,025 threads", "1,024"]),
    "depth": ("cudaErrorInvalidConfiguration", ["block.z is 65", "64"]),
    "rows": ("cudaErrorInvalidConfiguration", ["grid.y is 70,000", "65,535"]),
    "noBlocks": ("cudaErrorInvalidConfiguration", ["grid.x is 0", "(n + size - 1) / size"]),
    "noThreads": ("cudaErrorInvalidConfiguration", ["block.x is 0"]),
    "negative": ("cudaErrorInvalidConfiguration", ["grid.x is -5"]),
    "bounds": ("cudaErrorInvalidValue", ["112 threads", "96", "__launch_bounds__"]),
    "dynamic": ("cudaErrorInvalidValue", ["50,000 bytes", "49,152", "cudaFuncSetAttribute"]),
    "both": ("cudaErrorInvalidValue", ["46,000 bytes", "45,152", "4,000 bytes of its own"]),
    "tooMuch": ("cudaErrorInvalidValue", ["300,000 bytes", "232,448 at most"]),
    "child": ("cudaErrorInvalidConfiguration", ["1,200 threads", "1,024"]),
    "cooperative": ("cudaErrorCooperativeLaunchTooLarge", ["5,000 blocks", "4 fit", "2 of"]),
    "stream": ("cudaErrorInvalidResourceHandle", ["stream", "destroyed"]),
    "back": ("cudaErrorInvalidValue", ["destination is memory of the host", "DeviceToHost"]),
    "there": ("cudaErrorInvalidValue", ["source is memory of the host", "HostToDevice"]),
    "swapped": ("cudaErrorInvalidValue", ["swap"]),
    "hostOnly": ("cudaErrorInvalidValue", ["both memory of the host"]),
    "beyond": ("cudaErrorInvalidValue", ["destination", "160 bytes", "200"]),
    "whole": ("cudaErrorInvalidValue", ["source", "400 bytes", "4,000"]),
    "null": ("cudaErrorInvalidValue", ["destination is a null pointer"]),
    "pitch": ("cudaErrorInvalidPitchValue", ["40 bytes", "destination", "10 bytes"]),
    "variable": ("cudaErrorInvalidValue", ["destination", "cudaMemcpyToSymbol()"]),
    "string": ("cudaErrorInvalidSymbol", ["string"]),
    "pointer": ("cudaErrorInvalidSymbol", ["cudaMemcpy()"]),
    "long": ("cudaErrorInvalidValue", ["24 bytes", "28"]),
    "offset": ("cudaErrorInvalidValue", ["24 bytes", "16 from byte 12"]),
    "symbolBack": ("cudaErrorInvalidMemcpyDirection", ["cudaMemcpyHostToDevice"]),
    "fill": ("cudaErrorInvalidValue", ["memory of the host"]),
    "fillBeyond": ("cudaErrorInvalidValue", ["400 bytes", "404"]),
    "large": ("cudaErrorMemoryAllocation", ["1,152,921,504,606,846,976 bytes", "free"]),
    "freeHost": ("cudaErrorInvalidValue", ["no allocation"]),
    "freeMiddle": ("cudaErrorInvalidValue", ["12 bytes into"]),
    "freePinned": ("cudaErrorInvalidValue", ["cudaMallocHost()", "cudaFreeHost()"]),
    "freeDevice": ("cudaErrorInvalidValue", ["cudaMalloc()", "cudaFree()"]),
    "prefetch": ("cudaErrorInvalidValue", ["no managed memory"]),
    "mapped": ("cudaErrorInvalidValue", ["no page-locked memory"]),
    "device": ("cudaErrorInvalidDevice", ["device 1", "number 0"]),
    "event": ("cudaErrorInvalidResourceHandle", ["event", "destroyed"]),
    "elapsed": ("cudaErrorInvalidResourceHandle", ["first event", "never recorded"]),
    "limit": ("cudaErrorInvalidValue", ["1,048,576 bytes", "524,288"]),
}


@pytest.fixture
def report(build, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_EMULATOR_SMS", "2")
    return lambda what: run(build / "tests" / "reasons", tmp_path / "report", what)


@pytest.mark.parametrize("what", REASONS)
def test_reason(report, what):
    error, texts = REASONS[what]
    (finding,) = report(what).findings
    assert finding.title.startswith("error that nobody looked at: ")
    assert f" returned {error} (" in finding.title
    assert finding.lines()[-1] == line_of(SOURCE, what)
    for text in texts:
        assert text in finding.why


def test_the_first_failure_comes_first(report):
    findings = report("overflow").findings
    assert "cudaMalloc() returned cudaErrorMemoryAllocation" in findings[0].title
    assert findings[0].lines() == [line_of(SOURCE, "overflow")]
    # 50000 * 50000 as an int is -1794967296.
    assert "18,446,744,066,529,682,432 bytes" in findings[0].why
    assert "-7,179,869,184" in findings[0].why
    assert findings[1].title == "kernel failed: a null pointer is used"


def test_errors_that_are_looked_at_are_not_told(report):
    assert report("looked").findings == []


def test_no_reason_of_an_earlier_call(report):
    (finding,) = report("stale").findings
    assert finding.lines() == [line_of(SOURCE, "stale")]
    assert "grid" not in finding.why and "block" not in finding.why
