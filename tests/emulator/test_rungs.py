"""The counts that ./lab run shows of each row are those of the launches that the row made."""

import csv
import re

from lab_cli.building import instrumented as programs
from lab_cli.counters import collect, raw_csv, rungs

LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
# Rows of one launch, of two, of none, and a second one with the name of the first; and launches that no row
# has made.
PROGRAM = """
#include <nvtx3/nvToolsExt.h>
#include <cstdio>
__device__ int data[4096];
__global__ void load(int* out) { *out = data[blockIdx.x * blockDim.x + threadIdx.x]; }
__global__ void other(int* out) { *out = data[threadIdx.x] + data[threadIdx.x + 1024]; }
int main() {
    int* out;
    cudaMalloc(&out, sizeof(int));
    other<<<9, 32>>>(out);
    std::puts("exercise,parameters,kernel");
    const auto row = [](const char* name, const char* parameters, auto launch) {
        nvtxRangePushA(name);
        launch();
        nvtxRangePop();
        std::printf("x,%s,%s\\n", parameters, name);
        std::puts("x: a note for the reader");
    };
    row("one", "offset=0", [=] { load<<<1, 32>>>(out); });
    row("two", "", [=] { load<<<2, 32>>>(out); other<<<3, 32>>>(out); });
    row("none", "", [] {});
    row("one", "offset=1", [=] { load<<<4, 64>>>(out); });
    other<<<5, 32>>>(out);
    return cudaDeviceSynchronize();
}
"""


def test_each_row_has_the_counts_of_its_launches(instrumented, tmp_path):
    (tmp_path / "x.cu").write_text(PROGRAM)
    program = [str(instrumented(tmp_path / "x.cu"))]
    outcome = programs.run(program, collect.VARIABLE, rungs.TRACE)
    assert outcome.status == 0
    lines = [line for line in outcome.output.splitlines() if re.match("exercise,|x,", line)]
    counts = raw_csv.parse(outcome.report)
    found = rungs.matched(list(csv.DictReader(lines)), counts, *outcome.others)
    assert found
    assert [(row["kernel"], row["parameters"]) for row in found.rows] == [
        ("one", "offset=0"),
        ("two", ""),
        ("one", "offset=1"),
    ]
    assert [launch.values[LOADS] for launch in found.counts.launches] == [1, 2 + 6, 8]
    # What ./lab profile shows of them.
    profiled = [launch.values[LOADS] for launch in counts.launches]
    assert profiled == [18, 1, 2, 6, 8, 10]
    assert found.counts.launches[2].values == counts.launches[4].values
