"""From a program to the text that ./lab profile --source and --map print: the profiler writes counts by line,
which are read, added up and shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_cli.lines import access_map, listing, recorded, worst
from lab_cli.lines.access_map import Wanted
from lab_cli.lines.model import LineProfile
from program import run_noting

SOURCE = """\
__global__ void turn(const float* in, float* out) {
    __shared__ float tile[32][32];
    for (unsigned j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(threadIdx.y + j) * 32 + threadIdx.x];
    __syncthreads();
    for (unsigned j = 0; j < 32; j += 8)
        out[(threadIdx.y + j) * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];  // #banks
}

__device__ float heavy(float x) {
    for (int k = 0; k < 50; ++k) {
        x = 2 * x + 1;
    }
    return x;
}

__global__ void odd(float* out) {
    if (threadIdx.x % 2) {  // #parity
        out[threadIdx.x] = heavy(1);
    }
}

__global__ void count(int* sum) {
    atomicAdd(sum, 1);  // #atomic
}

struct Point {
    float x, y, z, w;
};

__global__ void move(Point* p) {
    p[blockIdx.x * blockDim.x + threadIdx.x].x = 1;  // #struct
}

int main() {
    float *in, *out;
    Point* points;
    cudaMalloc(&in, 4096);
    cudaMalloc(&out, 4096);
    cudaMalloc(&points, 128 * sizeof(Point));
    cudaMemset(in, 0, 4096);
    cudaMemset(out, 0, 4096);
    turn<<<1, dim3(32, 8)>>>(in, out);
    odd<<<1, 64>>>(out);
    count<<<4, 64>>>(reinterpret_cast<int*>(in));
    move<<<2, 64>>>(points);
    return cudaDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "mine.cu"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def profile(file: Path, instrumented) -> LineProfile:
    done, notes = run_noting([str(instrumented(file))], recorded.VARIABLE)
    assert done.returncode == 0
    return recorded.parse(notes, "counted here", file.parent)


def line(mark: str) -> int:
    return next(i for i, text in enumerate(SOURCE.split("\n"), 1) if f"#{mark}" in text)


def test_the_worst_lines_and_their_access_maps(file: Path, profile: LineProfile) -> None:
    kernels = {kernel.name: kernel for kernel in profile.kernels}
    found = {name: worst.of(kernel) for name, kernel in kernels.items()}
    expected = {
        "turn": (
            line("banks"),
            "sharedBanks",
            "32 requests take 1,024 wavefronts, and 32 would do",
        ),
        "odd": (line("parity"), "simpleDivergence", "16 of 32 lanes"),
        "count": (line("atomic"), "sharedReduction", "8 atomics, 32 of the 32"),
        "move": (line("struct"), "stridedAccess", "4 requests take 64 sectors, and 16 would do"),
    }
    for name, (number, exercise, words) in expected.items():
        of_kernel = found[name]
        assert of_kernel is not None, name
        assert (of_kernel.place.line, of_kernel.exercise) == (number, exercise), name
        assert words in of_kernel.reason
        assert of_kernel.place.file == file

    shown = listing.text(profile, 200, chosen=[kernels["turn"], kernels["odd"]])
    marked = [text.split()[1] for text in shown.splitlines() if text.startswith(">")]
    assert marked[-2:] == [str(line("banks")), str(line("parity"))]
    (banks,) = [text for text in shown.splitlines() if "#banks" in text]
    assert {"32", "4/4", "32/1", "992"} < set(banks.split())
    assert "heavy(), called" in shown

    store = access_map.text(profile, Wanted(line("struct"), block=(1, 0, 0), warp=1), 80)
    assert "store of 4 bytes by 32 lanes, p (global memory)" in store
    assert "16 sectors in 4 cache lines, 4 would do: 128 of 512 bytes are used" in store
    assert re.search(r"1,536  0\.\.\.1\.\.\.\|2\.\.\.3\.\.\.\|", store)
    banks_of_turn = access_map.text(profile, Wanted(line("banks"), step=2), 80)
    assert "tile (shared memory)" in banks_of_turn and "32 wavefronts, 1 would do" in banks_of_turn
