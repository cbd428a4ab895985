"""What the profiler calls kernels, and what it counts accesses as."""

from lab_cli.counters.raw_csv import parse
from program import run_noting

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
ATOMICS = """
__global__ void k(unsigned* p) {
    p += threadIdx.x;
    __nv_atomic_store_n(p, 1, __NV_ATOMIC_RELEASE);
    __nv_atomic_store_n(p, 2, __NV_ATOMIC_RELAXED);
    __nv_atomic_store_n(p, __nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE), __NV_ATOMIC_SEQ_CST);
    __nv_atomic_add(p, 1, __NV_ATOMIC_RELAXED);
    __nv_atomic_exchange_n(p, 1, __NV_ATOMIC_RELAXED);
}
int main() {
    unsigned* p;
    cudaMalloc(&p, 32 * sizeof(*p));
    k<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
"""


def test_atomic_loads_and_stores_are_loads_and_stores(instrumented, tmp_path):
    (tmp_path / "k.cu").write_text(ATOMICS)
    done, notes = run_noting([str(instrumented(tmp_path / "k.cu"))], "CUDA_EMULATOR_PROFILE")
    assert done.returncode == 0
    (launch,) = parse(notes).launches
    kinds = {"ld": 1, "st": 3, "atom": 2}
    counts = {kind: launch.values[REQUESTS.format(kind)] for kind in kinds}
    assert counts == kinds


TEMPLATES = """
template <unsigned n, bool first, bool second>
__global__ void k() {}
int main() {
    k<16, true, false><<<1, 1>>>();
    k<0, false, true><<<1, 1>>>();
    return cudaDeviceSynchronize();
}
"""


def test_template_arguments_are_written_as_ncu_does(instrumented, tmp_path):
    (tmp_path / "k.cu").write_text(TEMPLATES)
    done, notes = run_noting([str(instrumented(tmp_path / "k.cu"))], "CUDA_EMULATOR_PROFILE")
    assert done.returncode == 0
    names = [launch.kernel for launch in parse(notes).launches]
    assert names == ["k<16, 1, 0>", "k<0, 0, 1>"]
