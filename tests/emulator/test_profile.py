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


CRITICAL_PATH = "emulator__critical_path.max"
STREAMS = """
#include <vector>
__global__ void k() {}
int main() {
    cudaStream_t a, b, blocking;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaStreamCreate(&blocking);
    cudaEvent_t event;
    cudaEventCreate(&event);
    const auto launch = [](cudaStream_t stream) { k<<<1, 1, 0, stream>>>(); };
    launch(a);         // 1: the first
    launch(a);         // 2: behind it in its stream
    launch(b);         // 1: of another stream
    launch(nullptr);   // 1: non-blocking streams and the default stream do not wait for each other
    launch(blocking);  // 2: this one waits for it
    launch(nullptr);   // 3: and it for this one
    cudaEventRecord(event, a);
    launch(a);         // 3
    cudaStreamWaitEvent(b, event);
    launch(b);         // 3: behind the two before the event
    cudaStreamSynchronize(b);
    launch(blocking);  // 4: behind what the host has waited for
    launch(b);         // 4
    cudaDeviceSynchronize();
    launch(a);         // 5: behind what the host has waited for, in other streams
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    launch(a);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event);
    launch(a);
    launch(b);
    cudaEventRecord(event, b);
    cudaStreamWaitEvent(a, event);
    launch(a);
    cudaGraph_t graph;
    cudaStreamEndCapture(a, &graph);
    cudaGraphExec_t executable;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, b);  // 5, two of 6, 7
    launch(b);                       // 8
    return cudaDeviceSynchronize();
}
"""


def test_the_critical_path_follows_streams_events_graphs_and_the_host(instrumented, tmp_path):
    (tmp_path / "k.cu").write_text(STREAMS)
    done, notes = run_noting([str(instrumented(tmp_path / "k.cu"))], "CUDA_EMULATOR_PROFILE")
    assert done.returncode == 0
    found = [launch.values[CRITICAL_PATH] for launch in parse(notes).launches]
    assert found == [1, 2, 1, 1, 2, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8]


CHILDREN = """
__global__ void child() {}
__global__ void parent() { child<<<1, 1>>>(); child<<<1, 1>>>(); }
int main() {
    parent<<<1, 1>>>();
    parent<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
"""


def test_what_kernels_launch_is_not_on_the_critical_path(instrumented, tmp_path):
    (tmp_path / "k.cu").write_text(CHILDREN)
    done, notes = run_noting([str(instrumented(tmp_path / "k.cu"))], "CUDA_EMULATOR_PROFILE")
    assert done.returncode == 0
    assert [launch.values[CRITICAL_PATH] for launch in parse(notes).launches] == [1, 2]
