// For test_stream_pairs.py: a kernel writes, then another one reads, and nothing orders them; but
// the second has a stream, or whatever else may order work, that may be where that of the first
// was in memory.
//
//   recycled threads|streams|events|graphs|nodes
#include <string>
#include <thread>

#include "handles.cuh"

constexpr int kCount = 256;

__global__ void write(int* d) {
    d[threadIdx.x] = 1;
}
__global__ void read(const int* d, int* out) {
    out[threadIdx.x] = d[threadIdx.x];
}

__global__ void addOne(int* d) {
    d[threadIdx.x] += 1;
}

static int *d, *out;
static void writeIn(cudaStream_t stream) {
    write<<<1, kCount, 0, stream>>>(d);
}
static void readIn(cudaStream_t stream) {
    read<<<1, kCount, 0, stream>>>(d, out);
}

static void addIn(cudaStream_t stream) {
    addOne<<<1, kCount, 0, stream>>>(d);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::string what = argv[1];
    cudaMalloc(&d, kCount * sizeof(int));
    cudaMalloc(&out, kCount * sizeof(int));
    cudaMemset(d, 0, kCount * sizeof(int));
    cudaDeviceSynchronize();
    const cudaStream_t first = newStream(), second = newStream();
    if (what == "threads") {
        std::thread([] { writeIn(cudaStreamPerThread); }).join();
        std::thread([] { readIn(cudaStreamPerThread); }).join();
    } else if (what == "streams") {
        const cudaStream_t before = newStream();
        writeIn(before);
        cudaStreamDestroy(before);
        readIn(newStream());
    } else if (what == "events") {
        writeIn(first);
        const cudaEvent_t before = newEvent();
        cudaEventRecord(before, first);
        cudaEventDestroy(before);
        cudaStreamWaitEvent(second, newEvent());  // that stands for nothing
        readIn(second);
    } else if (what == "graphs") {
        const cudaGraph_t writes = graphOf(writeIn), reads = graphOf(readIn);
        const cudaGraphExec_t before = executable(writes);
        cudaGraphLaunch(before, first);
        cudaGraphExecDestroy(before);
        cudaGraphExecDestroy(executable(reads));  // the next one has the place of the first
        cudaGraphLaunch(executable(reads), second);
    } else if (what == "nodes") {  // of one graph, in two executable ones
        const cudaGraph_t both = graphOf(addIn);
        const cudaGraphExec_t one = executable(both), other = executable(both);
        cudaGraphLaunch(one, first);
        cudaGraphLaunch(other, second);
    } else {
        return 2;
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
