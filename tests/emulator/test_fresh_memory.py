"""Fresh device memory that a program copies to the host: a line at its end says how much of which
allocation, and nothing else changes. CUDA_EMULATOR_FRESH=zero shows what it is with zeros."""

import os
import re
import subprocess

import cc
import pytest

PROGRAM = r"""
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>
constexpr size_t kPatterned = 16 << 20;  // bytes of an allocation
char host[2 * kPatterned];
int* ints(size_t count, size_t written) {
    int* p;
    cudaMalloc(&p, count * sizeof(int));
    cudaMemset(p, 1, written * sizeof(int));
    return p;
}
void toHost(const void* from, size_t bytes) {
    cudaMemcpy(host, from, bytes, cudaMemcpyDeviceToHost);
}
void pitched(bool whole) {
    char* p;
    size_t pitch;
    cudaMallocPitch(&p, &pitch, 100, 3);
    cudaMemset2D(p, pitch, 1, 100, 3);
    if (whole) toHost(p, 3 * pitch);
    else cudaMemcpy2D(host, 100, p, pitch, 100, 3, cudaMemcpyDeviceToHost);
}
__global__ void fill(int* p, int count) { for (int i = 0; i < count; ++i) p[i] = 7; }
__global__ void fresh(int* p, int* out) {
    *out = *p;
    int* own = new int;
    out[1] = *own;
    delete own;
}
int main(int argc, char** argv) {
    const std::string what = argv[1];
    if (argc > 2) fill<<<1, 1>>>(ints(1, 1), 1);  // from then on the hazard check looks on
    if (what == "part") toHost(ints(8, 5), 32);
    if (what == "odd") toHost(ints(2, 0), 7);
    if (what == "three") for (int i = 0; i < 3; ++i) toHost(ints(4, 2 * i), 16);
    if (what == "twice") {
        const int* p = ints(4, 2);
        toHost(p, 16);
        toHost(p, 16);
    }
    if (what == "asynchronous") {
        int* p;
        cudaMallocAsync(&p, 16, 0);
        cudaMemcpyAsync(host, p, 16, cudaMemcpyDeviceToHost, 0);
    }
    if (what == "padding") pitched(true);
    if (what == "rows") {
        int* p = ints(12, 0);
        cudaMemset2D(p, 16, 1, 8, 3);
        cudaMemcpy2D(host, 12, p, 16, 12, 3, cudaMemcpyDeviceToHost);
    }
    if (what == "no padding") pitched(false);
    if (what == "all") toHost(ints(8, 8), 32);
    if (what == "by a kernel") {
        int* p = ints(8, 0);
        fill<<<1, 1>>>(p, 8);
        toHost(p, 32);
    }
    if (what == "within the device") {
        int* p = ints(8, 0);
        cudaMemcpy(ints(8, 0), p, 32, cudaMemcpyDeviceToDevice);
    }
    if (what == "behind the pattern") {
        toHost(ints(2 * kPatterned / 4, kPatterned / 4), 2 * kPatterned);
    }
    if (what == "never copied") ints(8, 0);
    if (what == "freed and again") {
        for (int i = 0; i < 2; ++i) {
            int* p = ints(8, i == 0 ? 8 : 7);
            toHost(p, 32);
            cudaFree(p);
        }
    }
    if (what == "values") {
        int* out = ints(2, 2);
        fresh<<<1, 1>>>(ints(1, 0), out);
        toHost(out, 8);
        int values[2];
        std::memcpy(values, host, 8);
        std::printf("%d %d\n", values[0], values[1]);
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 5 : 1;
}
"""


@pytest.fixture(scope="module")
def run(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh")
    library = str(build / "emulator" / "libcuda_emulator.a")
    (folder / "fresh.cu").write_text(PROGRAM)
    command = ["-g", str(folder / "fresh.cu"), "-o", str(folder / "fresh"), "--emulator", library]
    assert cc.main(command) == 0

    def start(what, **environment):
        done = subprocess.run(
            [folder / "fresh", what],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 5, done.stderr
        return done

    return start


def line_of(text):
    """The line of the source that holds this text."""
    return PROGRAM[: PROGRAM.index(text)].count("\n") + 1


# Fresh bytes and all bytes of the copy, and number and bytes of the allocation.
SEEN = [
    ("part", (12, 32, 1, 32)),
    ("odd", (4, 7, 1, 8)),
    ("twice", (8, 16, 1, 16)),
    ("asynchronous", (16, 16, 1, 16)),
    ("padding", (3 * 412, 3 * 512, 1, 3 * 512)),
    ("rows", (12, 36, 1, 48)),
    ("freed and again", (4, 32, 2, 32)),
]


@pytest.mark.parametrize("what, numbers", SEEN)
def test_fresh_memory_that_is_copied_to_the_host(run, what, numbers):
    (line,) = run(what).stderr.splitlines()
    assert line.startswith("emulator: ") and "more allocation" not in line
    found = re.search(r"(\d+) of the (\d+) bytes .* allocation (\d+) \((\d+) bytes\)", line)
    assert tuple(map(int, found.groups())) == numbers
    assert "CUDA_EMULATOR_FRESH=zero" in line and "./lab check" in line
    assert run(what, CUDA_EMULATOR_FRESH="zero").stderr == ""


def test_the_line_names_the_place(run):
    assert f"fresh.cu:{line_of('cudaMemcpyAsync(')} " in run("asynchronous").stderr


def test_several_allocations(run):
    (line,) = run("three").stderr.splitlines()
    assert "16 of the 16 bytes" in line and re.search(r"\b1 more allocation\b", line)


@pytest.mark.parametrize(
    "what",
    [
        "no padding", "all", "by a kernel", "within the device", "behind the pattern",
        "never copied",
    ],
)  # fmt: skip
def test_no_line_without_reason(run, what):
    assert run(what).stderr == ""


def test_the_hazard_check_does_not_pass_over_them(instrumented, tmp_path):
    (tmp_path / "fresh.cu").write_text(PROGRAM)
    program, report = instrumented(tmp_path / "fresh.cu"), tmp_path / "report"
    for what in ("part", "rows", "asynchronous", "no padding", "all"):
        done = subprocess.run(
            [program, what, "launch"],
            env={**os.environ, "CUDA_EMULATOR_CHECK": str(report)},
            capture_output=True,
        )
        assert done.stderr == b"", what
        text = report.read_text()
        assert ("none of which was written" in text) == (what == "asynchronous"), what


def test_zeros_in_place_of_the_pattern(run):
    assert run("values").stdout == "-17118498 -17118498\n"
    done = run("values", CUDA_EMULATOR_FRESH="zero")
    assert (done.stdout, done.stderr) == ("0 0\n", "")
