// New streams, events and graphs, for the programs that order work by them.
#pragma once

inline cudaStream_t newStream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, flags);
    return stream;
}

inline cudaEvent_t newEvent() {
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    return event;
}

// What `work` does in the stream that it gets.
template <typename Work>
cudaGraph_t graphOf(Work work) {
    const cudaStream_t stream = newStream();
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    work(stream);
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
    return graph;
}

inline cudaGraphExec_t executable(cudaGraph_t graph) {
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    return exec;
}
