"""What the profiler counts by line: which line has which accesses, how their addresses lie, what a few
warps did in turn, and what the host called."""

import json
from pathlib import Path

import pytest
from lab_cli.lines import recorded
from lab_cli.lines.model import (
    ATOMIC,
    CONSTANT,
    COPY,
    GLOBAL,
    IRREGULAR,
    LOAD,
    SHARED,
    STORE,
)
from program import run_noting

SOURCE = r"""
#include <cuda_pipeline.h>

#include <cstdio>

__constant__ float table[64];
struct Point { float x, y, z; };
template <class T>
__device__ T twice(const T* p, int i) {
    return p[i] + p[i];  // #load in a function
}
__global__ void many(const Point* points, float* out, int* counters, int n) {
    __shared__ float tile[32][32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x % 32][threadIdx.x / 32] = points[i].x;  // #strided
    __syncthreads();  // #barrier
    float sum = twice(&tile[0][0], threadIdx.x);  // #call
    if (threadIdx.x % 2 == 0) {  // #parity
        sum += table[i % 64];  // #constant
    }
    for (int k = 0; k < 4; ++k) {  // #loop
        out[i] += sum / (k + counters[1] + 1);  // #accumulate
    }
    atomicAdd(&counters[0], 1);  // #atomic
    sum = sum * 0.1 + (i / (n - 1));  // #double
    out[i] = sum * 2.0f + sinf(sum);  // #float
}
__global__ void copies(const float* in) {
    __shared__ float own[64];
    __pipeline_memcpy_async(&own[threadIdx.x], &in[2 * threadIdx.x], 4);  // #copy
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
int main() {
    const int n = 256;
    Point* points;
    float *out, *in, host[64] = {}, *pinned;
    int* counters;
    cudaMalloc(&points, n * sizeof(Point));
    cudaMalloc(&out, n * 4);
    cudaMalloc(&in, n * 4);
    cudaMalloc(&counters, 8);
    cudaMallocHost(&pinned, 256);
    cudaMemset(points, 0, n * sizeof(Point));
    cudaMemset(out, 0, n * 4);
    cudaMemset(counters, 0, 8);
    for (int k = 0; k < 3; ++k) {
        many<<<4, 64>>>(points, out, counters, n);  // #launch
        cudaDeviceSynchronize();  // #wait
    }
    many<<<2, 64>>>(points, out, counters, n);
    copies<<<1, 64>>>(in);
    for (int k = 0; k < 5; ++k) cudaMemcpyAsync(in + k, host, 4, cudaMemcpyHostToDevice);  // #pageable
    cudaMemcpyAsync(in, pinned, 256, cudaMemcpyHostToDevice);  // #pinned
    cudaMemcpy(host, in, 256, cudaMemcpyDeviceToHost);  // #back
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""
LAUNCHES, BLOCKS, WARPS = 3, 4, 2  # of many<<<4, 64>>>
ALL = LAUNCHES * BLOCKS * WARPS  # warps


def line_of(mark: str) -> int:
    return next(i for i, text in enumerate(SOURCE.splitlines(), 1) if text.endswith(f"// #{mark}"))


@pytest.fixture
def profile(instrumented, tmp_path):
    source = tmp_path / "many.cu"
    source.write_text(SOURCE)
    done, notes = run_noting([str(instrumented(source))], recorded.VARIABLE)
    assert done.returncode == 0, done.stderr
    json.loads(notes)
    return recorded.parse(notes, "here", Path.cwd())


def at(kernel, mark):
    found = [line for place, line in kernel.lines.items() if place.line == line_of(mark)]
    assert len(found) == 1
    return found[0]


def only(accesses, kind, space):
    found = [each for each in accesses if (each.kind, each.space) == (kind, space)]
    assert len(found) == 1
    return found[0]


def test_lines(profile):
    many, smaller, copies = profile.kernels
    assert (many.name, many.grid, many.block, many.launches) == ("many", (4, 1, 1), (64, 1, 1), 3)
    assert (smaller.grid, smaller.launches, copies.name) == ((2, 1, 1), 1, "copies")
    assert many.shared == 4096 and many.blocks_per_sm == 32

    strided = at(many, "strided")
    load = only(strided.accesses, LOAD, GLOBAL)
    assert (load.requests, load.lanes, load.size) == (ALL, 32 * ALL, 4)
    assert (load.units, load.least, load.bytes) == (12 * ALL, 4 * ALL, 128 * ALL)
    assert load.strides == {12: ALL}
    store = only(strided.accesses, STORE, SHARED)
    assert (store.units, store.least, store.conflicts) == (32 * ALL, ALL, 31 * ALL)
    assert store.strides == {128: ALL}

    assert at(many, "barrier").barriers == ALL
    assert sum(line.barriers for line in many.lines.values()) == ALL

    inside = only(at(many, "load in a function").accesses, LOAD, SHARED)
    assert [place.line for place in inside.callers] == [line_of("call")]
    assert at(many, "call").called == [inside] and not at(many, "call").accesses

    parity = at(many, "parity")
    assert (parity.branches, parity.divergent, parity.lanes) == (ALL, ALL, 32 * ALL)
    constant = at(many, "constant")
    assert (constant.executions, constant.lanes) == (ALL, 16 * ALL)
    read = only(constant.accesses, LOAD, CONSTANT)
    assert (read.requests, read.units, read.least) == (ALL, 16 * ALL, ALL)
    assert read.strides == {4: ALL}

    assert at(many, "loop").executions == 5 * ALL
    grown = at(many, "accumulate")
    kept = only(grown.accesses, STORE, GLOBAL)
    assert kept.requests == 4 * ALL
    # The first two blocks and the last, of the first launch: 64 threads each.
    assert (kept.sampled_lanes, kept.repeats) == (3 * 64 * 4, 3 * 64 * 3)
    assert kept.sampled_elements == 3 * 64
    same = [
        access for access in grown.accesses if access.kind == LOAD and access.alike == access.lanes
    ]
    assert [access.strides for access in same] == [{0: 4 * ALL}]

    atomic = only(at(many, "atomic").accesses, ATOMIC, GLOBAL)
    assert (atomic.alike, atomic.lanes, atomic.addresses) == (32 * ALL, 32 * ALL, 1)

    double = at(many, "double").operations
    assert (double["to_double"], double["division"]) == (32 * ALL, 32 * ALL)
    assert double["fp64"] == 2 * 32 * ALL and "fp32" not in double
    assert at(many, "accumulate").operations == {
        "fp32": 2 * 4 * 32 * ALL
    }  # of a sum and a quotient
    assert "division" not in at(many, "constant").operations  # by 64, a constant
    assert at(many, "float").operations == {"fp32": 2 * 32 * ALL, "special": 32 * ALL}
    copy = only(at(copies, "copy").accesses, COPY, GLOBAL)
    assert (copy.requests, copy.units, copy.least, copy.size) == (2, 16, 8, 4)


def test_strides_and_lanes(instrumented, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text("""
__global__ void k(int* p) {
    p[threadIdx.x * threadIdx.x] = 1;
    if (threadIdx.x % 3 == 0) p[threadIdx.x] = 1;
    if (threadIdx.x == 5) p[threadIdx.x] = 1;
    if (threadIdx.x < 4) {
        p[0] = 2;
    } else {
        p[1] = 3;
    }
}
int main() {
    int* p;
    cudaMalloc(&p, 4096);
    k<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
""")
    done, notes = run_noting([str(instrumented(source))], recorded.VARIABLE)
    assert done.returncode == 0
    (kernel,) = recorded.parse(notes, "", tmp_path).kernels
    strides = [access.strides for access in kernel.accesses]
    assert strides == [{IRREGULAR: 1}, {4: 1}, {}, {0: 1}, {0: 1}]
    lanes = {place.line: line.lanes for place, line in kernel.lines.items()}
    assert (lanes[6], lanes[7], lanes[9]) == (32, 4, 28)


def test_samples(profile):
    many = profile.kernels[0]
    assert {sample.block for sample in many.samples} == {(0, 0, 0), (1, 0, 0), (3, 0, 0)}
    first = next(each for each in many.samples if each.block == (1, 0, 0) and each.warp == 1)
    made = [step for step in first.steps if step.access is not None]
    load = next(
        step
        for step in made
        if step.place.line == line_of("strided") and many.memories[step.memory].space == GLOBAL
    )
    assert many.memories[load.memory].parameter == 0
    assert load.offsets == tuple(12 * (64 + 32 + lane) for lane in range(32))
    store = next(
        step for step in made if step.place.line == line_of("strided") and step is not load
    )
    tile = many.memories[store.memory]
    assert (tile.name, tile.space, tile.size, tile.shift % 4) == ("tile", SHARED, 4096, 0)
    assert store.offsets == tuple(128 * lane + 4 for lane in range(32))
    half = [step.lanes for step in first.steps if step.place.line == line_of("constant")]
    assert set(half) == {0x55555555}
    lines = [step.place.line for step in first.steps]
    assert lines.index(line_of("barrier")) < lines.index(line_of("parity"))


def test_what_the_host_calls(profile):
    def calls(mark):
        (found,) = [
            each for each in profile.host if each.place and each.place.line == line_of(mark)
        ]
        return found

    assert (calls("launch").what, calls("launch").kernel, calls("launch").calls) == (
        "launch",
        "many",
        3,
    )
    assert (calls("wait").what, calls("wait").calls, calls("wait").after_launch) == (
        "synchronize",
        3,
        3,
    )
    pageable = calls("pageable")
    assert (pageable.what, pageable.calls, pageable.bytes) == ("copy", 5, 20)
    assert pageable.asynchronous and pageable.pageable and pageable.direction == "host to device"
    assert calls("pinned").asynchronous and not calls("pinned").pageable
    assert (calls("back").asynchronous, calls("back").direction) == (False, "device to host")


def test_kernels_with_deduced_arguments_are_known_by_their_code(instrumented, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text("""
template <class T>
__global__ void one(T* p) { p[threadIdx.x] = 1; }
__global__ void two(int* p) { p[2 * threadIdx.x] = 2; }
template <class Kernel, class T>
void launch(Kernel kernel, T* p) {
    kernel<<<1, 32>>>(p);
}
int main() {
    void* p;
    cudaMalloc(&p, 4096);
    one<<<1, 32>>>(static_cast<int*>(p));
    one<<<1, 32>>>(static_cast<double*>(p));
    for (int k = 0; k < 2; ++k) launch(two, static_cast<int*>(p));
    launch(one<int>, static_cast<int*>(p));
    return cudaDeviceSynchronize();
}
""")
    done, notes = run_noting([str(instrumented(source))], recorded.VARIABLE)
    assert done.returncode == 0
    kernels = recorded.parse(notes, "", tmp_path).kernels
    assert [(kernel.name, kernel.launches) for kernel in kernels] == [
        ("one<int>", 2),
        ("one<double>", 1),
        ("two", 2),
    ]
    two = kernels[2]
    assert two.definition is not None and two.definition.line == 4
    assert two.accesses[0].sampled_lanes == 32 and len(two.samples) == 1
