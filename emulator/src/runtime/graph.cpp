// Graphs of recorded or added work, and their launch.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "copy.h"
#include "emu/api/graphs.h"
#include "engine/watcher.h"
#include "error.h"
#include "graph.h"
#include "handles.h"
#include "stream.h"

namespace emu {
namespace {

struct Graph {
    Nodes nodes;
    std::vector<cudaGraphNode_t> handles;  // of `nodes`, in their order
};

// What an instantiated graph runs. It shares the nodes, so that the graph may change or go. An
// update puts others in their place (with handleMutex()): what has been launched keeps its own.
struct GraphExec {
    std::shared_ptr<const Nodes> nodes;
    uint64_t number = nextNumber();
};

using GraphTable = HandleTable<cudaGraph_t, Graph>;
using NodeTable = HandleTable<cudaGraphNode_t, Node>;
using ExecTable = HandleTable<cudaGraphExec_t, GraphExec>;

GraphTable& graphs() {
    static GraphTable& table = *new GraphTable;
    return table;
}
NodeTable& nodes() {
    static NodeTable& table = *new NodeTable;
    return table;
}
ExecTable& execs() {
    static ExecTable& table = *new ExecTable;
    return table;
}

cudaGraphNode_t addNode(Graph& graph, std::shared_ptr<Node> node) {
    graph.handles.push_back(nodes().insert(node));
    graph.nodes.push_back(std::move(node));
    return graph.handles.back();
}

cudaError_t addNode(cudaGraphNode_t* handle, cudaGraph_t graphHandle,
                    const cudaGraphNode_t* dependencies, size_t count, cudaGraphNodeType type,
                    Work work) {
    if (handle == nullptr || (dependencies == nullptr && count > 0)) return cudaErrorInvalidValue;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Graph> graph = graphs().find(graphHandle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    const auto node = std::make_shared<Node>(Node{type, std::move(work), {}});
    for (size_t i = 0; i < count; ++i) {
        const auto& known = graph->handles;
        const auto found = std::find(known.begin(), known.end(), dependencies[i]);
        if (found == known.end()) return cudaErrorInvalidValue;
        node->dependencies.push_back(
            graph->nodes[static_cast<size_t>(found - known.begin())].get());
    }
    *handle = addNode(*graph, node);
    return cudaSuccess;
}

// Adds a copy or a fill: checked now as CUDA does, and again at each launch.
template <typename Transfer>
cudaError_t addTransfer(cudaGraphNode_t* handle, cudaGraph_t graph,
                        const cudaGraphNode_t* dependencies, size_t count, cudaGraphNodeType type,
                        const Transfer& transfer) {
    const cudaError_t error = check(transfer);
    if (error != cudaSuccess) return error;
    return addNode(handle, graph, dependencies, count, type,
                   [transfer] { return checkAndRun(transfer); });
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t handle, unsigned long long flags) {
    constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                          cudaGraphInstantiateFlagDeviceLaunch |
                                          cudaGraphInstantiateFlagUseNodePriority;
    if (exec == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) return cudaErrorNotSupported;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Graph> graph = graphs().find(handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = anyCapture() ? refuseUnsafe() : cudaSuccess;
    if (error != cudaSuccess) return error;
    *exec = execs().insert(
        std::make_shared<GraphExec>(GraphExec{std::make_shared<const Nodes>(graph->nodes)}));
    return cudaSuccess;
}

struct Found {
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<const Nodes> nodes;  // that it has now
};

Found findExec(cudaGraphExec_t handle) {
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<GraphExec> exec = execs().find(handle);
    return {exec, exec == nullptr ? nullptr : exec->nodes};
}

// Why a graph cannot take the place of another one: a node of it, if one is told, and one that this
// depends on.
struct Change {
    cudaGraphExecUpdateResult result;
    const Node* node = nullptr;
    const Node* from = nullptr;
};

// Nodes that no other one depends on.
std::vector<const Node*> exitsOf(const Nodes& nodes) {
    std::unordered_set<const Node*> before;
    for (const auto& node : nodes) {
        before.insert(node->dependencies.begin(), node->dependencies.end());
    }
    std::vector<const Node*> exits;
    for (const auto& node : nodes) {
        if (before.count(node.get()) == 0) exits.push_back(node.get());
    }
    return exits;
}

// As NVIDIA describes it for cudaGraphExecUpdate(): exits are paired, then what the nodes of a pair
// depend on, in the order in which that was told. (An H200 pairs the exits from the last one on.)
Change firstChange(const Nodes& now, const Nodes& then) {
    constexpr auto kTopology = cudaGraphExecUpdateErrorTopologyChanged;
    if (now.size() != then.size()) return {kTopology};
    const std::vector<const Node*> nowExits = exitsOf(now), thenExits = exitsOf(then);
    if (thenExits.size() < nowExits.size()) return {kTopology};
    const size_t more = thenExits.size() - nowExits.size();
    if (more > 0) return {kTopology, thenExits[more - 1]};

    std::unordered_map<const Node*, const Node*> thenOf, nowOf;
    std::vector<std::pair<const Node*, const Node*>> pairs;  // to look at, the next at the end
    const auto pair = [&](const Node* a, const Node* b) {
        const auto [ofA, isNew] = thenOf.emplace(a, b);
        const auto [ofB, isNewToo] = nowOf.emplace(b, a);
        if (isNew && isNewToo) pairs.emplace_back(a, b);
        return ofA->second == b && ofB->second == a;
    };
    for (size_t i = 0; i < nowExits.size(); ++i) pair(nowExits[i], thenExits[i]);
    while (!pairs.empty()) {
        const auto [a, b] = pairs.back();
        pairs.pop_back();
        if (a->type != b->type) return {cudaGraphExecUpdateErrorNodeTypeChanged, b};
        if (a->dependencies.size() != b->dependencies.size()) return {kTopology, b};
        for (size_t i = 0; i < b->dependencies.size(); ++i) {
            const Node* const from = b->dependencies[i];
            if (!pair(a->dependencies[i], from)) return {kTopology, b, from};
        }
    }
    return {cudaGraphExecUpdateSuccess};
}

// nullptr for none.
cudaGraphNode_t handleOf(const Graph& graph, const Node* node) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        if (graph.nodes[i].get() == node) return graph.handles[i];
    }
    return nullptr;
}

cudaError_t updateExec(cudaGraphExec_t handle, cudaGraph_t graphHandle,
                       cudaGraphExecUpdateResultInfo* info) {
    if (info == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<GraphExec> exec = execs().find(handle);
    const std::shared_ptr<Graph> graph = graphs().find(graphHandle);
    if (exec == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    const Change change = firstChange(*exec->nodes, graph->nodes);
    *info = {change.result, handleOf(*graph, change.node), handleOf(*graph, change.from)};
    if (change.result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
    exec->nodes = std::make_shared<const Nodes>(graph->nodes);
    return cudaSuccess;
}

cudaError_t runNodes(const GraphExec& exec, const Nodes& nodes) {
    if (watcher != nullptr) watcher->graphRuns(exec.number, true);
    cudaError_t error = cudaSuccess;
    for (const std::shared_ptr<Node>& node : nodes) {
        if (watcher != nullptr) {
            watcher->graphNodeRuns(node.get(),
                                   {node->dependencies.begin(), node->dependencies.end()});
        }
        error = node->work();
        if (error != cudaSuccess) break;
    }
    if (watcher != nullptr) watcher->graphRuns(exec.number, false);
    return error;
}

}  // namespace

cudaGraph_t makeGraph(Nodes recorded) {
    const auto graph = std::make_shared<Graph>();
    for (std::shared_ptr<Node>& node : recorded) addNode(*graph, std::move(node));
    return graphs().insert(graph);
}

void destroyGraphs() {
    const std::lock_guard<std::mutex> lock(handleMutex());
    graphs().clear();
    nodes().clear();
    execs().clear();
}

}  // namespace emu

using namespace emu;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
    return hostApi(__func__, [&] {
        if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
        const std::lock_guard<std::mutex> lock(handleMutex());
        *graph = makeGraph({});
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
    return hostApi(__func__, [&] {
        const std::lock_guard<std::mutex> lock(handleMutex());
        const std::shared_ptr<Graph> graph = graphs().remove(handle);
        if (graph == nullptr) return cudaErrorInvalidValue;
        for (const cudaGraphNode_t node : graph->handles) nodes().remove(node);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
    return hostApi(__func__, [&] {
        return addNode(node, graph, dependencies, count, cudaGraphNodeTypeEmpty,
                       [] { return cudaSuccess; });
    });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* params) {
    return hostApi(__func__, [&] {
        if (params == nullptr || params->fn == nullptr) return cudaErrorInvalidValue;
        return addNode(node, graph, dependencies, count, cudaGraphNodeTypeHost, [host = *params] {
            const HostFunctionScope scope;
            host.fn(host.userData);
            return cudaSuccess;
        });
    });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* params) {
    return hostApi(__func__, [&] {
        Fill fill;
        const cudaError_t error = toFill(params, &fill);
        if (error != cudaSuccess) return error;
        return addTransfer(node, graph, dependencies, count, cudaGraphNodeTypeMemset, fill);
    });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* params) {
    return hostApi(__func__, [&] {
        Copy copy;
        const cudaError_t error = toCopy(params, &copy);
        if (error != cudaSuccess) return error;
        return addTransfer(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, copy);
    });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count, void* dst,
                                     const void* src, size_t bytes, cudaMemcpyKind kind) {
    return hostApi(__func__, [&] {
        return addTransfer(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy,
                           linearCopy(dst, src, bytes, kind));
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* result, size_t* count) {
    return hostApi(__func__, [&] {
        if (count == nullptr) return cudaErrorInvalidValue;
        const std::lock_guard<std::mutex> lock(handleMutex());
        const std::shared_ptr<Graph> graph = graphs().find(handle);
        if (graph == nullptr) return cudaErrorInvalidValue;
        const size_t available = graph->handles.size();
        if (result == nullptr) {
            *count = available;
            return cudaSuccess;
        }
        const size_t copied = std::min(available, *count);
        std::copy_n(graph->handles.begin(), copied, result);
        std::fill_n(result + copied, *count - copied, nullptr);
        *count = copied;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
    return hostApi(__func__, [&] {
        const std::lock_guard<std::mutex> lock(handleMutex());
        const std::shared_ptr<Node> node = nodes().find(handle);
        if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
        *type = node->type;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
    return hostApi(__func__, [&] { return instantiate(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 cudaGraphNode_t* errorNode, char* log, size_t logSize) {
    return hostApi(__func__, [&] {
        if (errorNode != nullptr) *errorNode = nullptr;
        if (log != nullptr && logSize > 0) *log = '\0';
        return instantiate(exec, graph, 0);
    });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
    return hostApi(__func__, [&] { return instantiate(exec, graph, flags); });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
    return hostApi(__func__, [&] { return updateExec(exec, graph, result); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    return hostApi(__func__, [&] {
        if (findExec(exec).exec == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = refuseCapturing(stream);
        if (error != cudaSuccess) return error;
        return submit(stream, [] { return cudaSuccess; });
    });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
    return hostApi(__func__, [&] {
        const auto [exec, nodes] = findExec(handle);
        if (exec == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = refuseCapturing(stream);
        if (error != cudaSuccess) return error;
        return submit(stream, [exec = exec, nodes = nodes] { return runNodes(*exec, *nodes); });
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    return hostApi(__func__, [&] {
        const std::lock_guard<std::mutex> lock(handleMutex());
        return execs().remove(exec) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
    });
}
