// Graphs that are built node by node.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"

namespace {

void appendA(void* text) {
    static_cast<std::string*>(text)->push_back('a');
}
void appendB(void* text) {
    static_cast<std::string*>(text)->push_back('b');
}

class GraphTest : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        ASSERT_OK(cudaGraphCreate(&graph_, 0));
    }

    cudaError_t run() {
        cudaGraphExec_t exec;
        const cudaError_t error = cudaGraphInstantiate(&exec, graph_, 0);
        return error != cudaSuccess ? error : cudaGraphLaunch(exec, nullptr);
    }

    cudaGraph_t graph_ = nullptr;
    cudaGraphNode_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

TEST_F(GraphTest, NodesRunInOrder) {
    std::string text;
    const cudaHostNodeParams first = {appendA, &text}, second = {appendB, &text};
    ASSERT_OK(cudaGraphAddHostNode(&a_, graph_, nullptr, 0, &first));
    ASSERT_OK(cudaGraphAddEmptyNode(&b_, graph_, &a_, 1));
    ASSERT_OK(cudaGraphAddHostNode(&c_, graph_, &b_, 1, &second));
    EXPECT_EQ("", text);
    EXPECT_OK(run());
    EXPECT_EQ("ab", text);

    size_t count = 99;
    EXPECT_OK(cudaGraphGetNodes(graph_, nullptr, &count));
    EXPECT_EQ(3u, count);
    cudaGraphNode_t nodes[5];
    count = 2;
    EXPECT_OK(cudaGraphGetNodes(graph_, nodes, &count));
    EXPECT_EQ(2u, count);
    EXPECT_EQ(a_, nodes[0]);
    count = 5;
    EXPECT_OK(cudaGraphGetNodes(graph_, nodes, &count));
    EXPECT_EQ(3u, count);
    EXPECT_EQ(c_, nodes[2]);
    EXPECT_EQ(nullptr, nodes[4]);
    cudaGraphNodeType type;
    EXPECT_OK(cudaGraphNodeGetType(b_, &type));
    EXPECT_EQ(cudaGraphNodeTypeEmpty, type);
}

TEST_F(GraphTest, CopiesAndFills) {
    std::vector<uint16_t> host(16, 0);
    auto* device = deviceArray<uint16_t>(16);
    const cudaMemsetParams fill = {device, 8, 0x12345, 2, 3, 4};  // 4 rows of 3, 8 bytes apart
    ASSERT_OK(cudaMemset(device, 0, 32));
    ASSERT_OK(cudaGraphAddMemsetNode(&a_, graph_, nullptr, 0, &fill));
    ASSERT_OK(cudaGraphAddMemcpyNode1D(&b_, graph_, &a_, 1, host.data(), device, 32,
                                       cudaMemcpyDeviceToHost));
    EXPECT_OK(run());
    for (int i = 0; i < 16; ++i) EXPECT_EQ(i % 4 < 3 ? 0x2345 : 0, host[i]) << i;

    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(device, 8, 8, 4);
    box.dstPtr = make_cudaPitchedPtr(host.data(), 8, 8, 4);
    box.extent = make_cudaExtent(2, 4, 1);
    box.kind = cudaMemcpyDeviceToHost;
    host.assign(16, 7);
    ASSERT_OK(cudaGraphAddMemcpyNode(&c_, graph_, nullptr, 0, &box));
    cudaGraphNodeType type;
    EXPECT_OK(cudaGraphNodeGetType(c_, &type));
    EXPECT_EQ(cudaGraphNodeTypeMemcpy, type);
}

TEST_F(GraphTest, NodeErrors) {
    int host[16] = {}, *device = deviceArray<int>(16);
    cudaMemsetParams fill = {device, 0, 5, 4, 16, 1};
    EXPECT_OK(cudaGraphAddMemsetNode(&a_, graph_, nullptr, 0, &fill));
    fill.width = 17;
    EXPECT_INVALID(cudaGraphAddMemsetNode(&b_, graph_, nullptr, 0, &fill));
    fill = {device, 0, 5, 3, 4, 1};
    EXPECT_INVALID(cudaGraphAddMemsetNode(&b_, graph_, nullptr, 0, &fill));
    fill = {host, 0, 5, 4, 16, 1};
    EXPECT_INVALID(cudaGraphAddMemsetNode(&b_, graph_, nullptr, 0, &fill));
    EXPECT_INVALID(cudaGraphAddMemsetNode(&b_, graph_, nullptr, 0, nullptr));
    EXPECT_INVALID(cudaGraphAddMemcpyNode1D(&b_, graph_, nullptr, 0, host, device, 65,
                                            cudaMemcpyDeviceToHost));
    EXPECT_INVALID(cudaGraphAddMemcpyNode1D(&b_, graph_, nullptr, 0, host, device, 64,
                                            cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaGraphAddMemcpyNode(&b_, graph_, nullptr, 0, nullptr));
    const cudaHostNodeParams nothing = {nullptr, nullptr};
    EXPECT_INVALID(cudaGraphAddHostNode(&b_, graph_, nullptr, 0, &nothing));
    EXPECT_INVALID(cudaGraphAddEmptyNode(&b_, graph_, nullptr, 1));
    EXPECT_INVALID(cudaGraphAddEmptyNode(nullptr, graph_, nullptr, 0));
    // A dependency on a node of another graph
    cudaGraph_t other;
    ASSERT_OK(cudaGraphCreate(&other, 0));
    EXPECT_INVALID(cudaGraphAddEmptyNode(&b_, other, &a_, 1));
}

TEST_F(GraphTest, AnExecutableGraphOutlivesItsGraph) {
    std::string text;
    const cudaHostNodeParams params = {appendA, &text};
    cudaGraphExec_t exec;
    cudaGraphNodeType type;
    ASSERT_OK(cudaGraphAddHostNode(&a_, graph_, nullptr, 0, &params));
    ASSERT_OK(cudaGraphInstantiateWithFlags(&exec, graph_, 0));
    ASSERT_OK(cudaGraphAddHostNode(&b_, graph_, nullptr, 0, &params));  // too late for exec
    ASSERT_OK(cudaGraphDestroy(graph_));
    EXPECT_INVALID(cudaGraphNodeGetType(a_, &type));
    EXPECT_OK(cudaGraphUpload(exec, nullptr));
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    EXPECT_EQ("a", text);
    EXPECT_OK(cudaGraphExecDestroy(exec));
    EXPECT_INVALID(cudaGraphLaunch(exec, nullptr));
    EXPECT_INVALID(cudaGraphExecDestroy(exec));
}

TEST_F(GraphTest, HandlesAndFlags) {
    cudaGraphExec_t exec;
    size_t count = 0;
    EXPECT_INVALID(cudaGraphCreate(nullptr, 0));
    EXPECT_INVALID(cudaGraphCreate(&graph_, 1));
    EXPECT_INVALID(cudaGraphInstantiate(nullptr, graph_, 0));
    EXPECT_INVALID(cudaGraphInstantiate(&exec, nullptr, 0));
    EXPECT_INVALID(cudaGraphInstantiate(&exec, graph_, 0x1000));
    EXPECT_INVALID(  // only cudaGraphInstantiateWithParams() may upload
        cudaGraphInstantiate(&exec, graph_, cudaGraphInstantiateFlagUpload));
    EXPECT_FAILS(cudaErrorNotSupported,
                 cudaGraphInstantiate(&exec, graph_, cudaGraphInstantiateFlagDeviceLaunch));
    EXPECT_INVALID(cudaGraphGetNodes(nullptr, nullptr, &count));
    EXPECT_INVALID(cudaGraphGetNodes(graph_, nullptr, nullptr));
    EXPECT_INVALID(cudaGraphLaunch(nullptr, nullptr));
    EXPECT_INVALID(cudaGraphUpload(nullptr, nullptr));
    char log[4] = "xyz";
    EXPECT_OK(cudaGraphInstantiate(&exec, graph_, &a_, log, sizeof(log)));  // the older form
    EXPECT_STREQ("", log);
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    EXPECT_NO_HANDLE(cudaGraphLaunch(exec, reinterpret_cast<cudaStream_t>(0x12345)));
    EXPECT_OK(cudaGraphDestroy(graph_));
    EXPECT_INVALID(cudaGraphDestroy(graph_));
    ASSERT_OK(cudaDeviceReset());
    EXPECT_INVALID(cudaGraphLaunch(exec, nullptr));
}

// Two host nodes, the second behind the first.
cudaGraph_t pairOf(cudaHostFn_t first, cudaHostFn_t second, std::string* text) {
    cudaGraph_t graph;
    cudaGraphNode_t a, b;
    const cudaHostNodeParams one = {first, text}, two = {second, text};
    EXPECT_OK(cudaGraphCreate(&graph, 0));
    EXPECT_OK(cudaGraphAddHostNode(&a, graph, nullptr, 0, &one));
    EXPECT_OK(cudaGraphAddHostNode(&b, graph, &a, 1, &two));
    return graph;
}

TEST_F(GraphTest, AnUpdateChangesWhatTheNextLaunchRuns) {
    std::string text;
    cudaGraphExec_t exec;
    ASSERT_OK(cudaGraphInstantiate(&exec, pairOf(appendA, appendB, &text), 0));
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));

    const cudaGraph_t other = pairOf(appendB, appendA, &text);
    cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateError, a_, a_};
    EXPECT_OK(cudaGraphExecUpdate(exec, other, &info));
    EXPECT_EQ(cudaGraphExecUpdateSuccess, info.result);
    EXPECT_EQ(nullptr, info.errorNode);
    EXPECT_EQ(nullptr, info.errorFromNode);
    EXPECT_EQ("ab", text);  // nothing runs before the launch
    ASSERT_OK(cudaGraphDestroy(other));
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    EXPECT_EQ("abba", text);
}

using Shape = std::vector<std::vector<size_t>>;  // of each node, which ones it depends on

std::vector<cudaGraphNode_t> addHostNodes(cudaGraph_t graph, const Shape& shape,
                                          std::string* text) {
    const cudaHostNodeParams params = {appendA, text};
    std::vector<cudaGraphNode_t> nodes;
    for (const std::vector<size_t>& places : shape) {
        std::vector<cudaGraphNode_t> before;
        for (const size_t place : places) before.push_back(nodes[place]);
        nodes.emplace_back();
        EXPECT_OK(
            cudaGraphAddHostNode(&nodes.back(), graph, before.data(), before.size(), &params));
    }
    return nodes;
}

TEST_F(GraphTest, AnUpdateOfAnotherShapeIsRefused) {
    std::string text;
    constexpr int kNone = -1;
    // Gives the nodes of `then` that are told, if the update of `now` by it is refused.
    const auto refused = [&](const Shape& now, const Shape& then) {
        cudaGraph_t first, second;
        cudaGraphExec_t exec;
        EXPECT_OK(cudaGraphCreate(&first, 0));
        EXPECT_OK(cudaGraphCreate(&second, 0));
        addHostNodes(first, now, &text);
        const std::vector<cudaGraphNode_t> nodes = addHostNodes(second, then, &text);
        EXPECT_OK(cudaGraphInstantiate(&exec, first, 0));
        cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateError, a_, a_};
        EXPECT_FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, second, &info));
        EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, info.result);
        const auto place = [&](cudaGraphNode_t node) {
            const auto found = std::find(nodes.begin(), nodes.end(), node);
            EXPECT_EQ(node == nullptr, found == nodes.end());
            return node == nullptr ? kNone : static_cast<int>(found - nodes.begin());
        };
        return std::make_pair(place(info.errorNode), place(info.errorFromNode));
    };
    const auto told = [](int node, int from) { return std::make_pair(node, from); };
    const Shape chain = {{}, {0}, {1}}, pairAndOne = {{}, {}, {0}};

    // As an H200 answers
    EXPECT_EQ(told(kNone, kNone), refused(chain, {{}, {0}, {1}, {2}}));
    EXPECT_EQ(told(kNone, kNone), refused(chain, {{}, {0}}));
    EXPECT_EQ(told(1, kNone), refused(chain, {{}, {}, {}}));
    EXPECT_EQ(told(0, kNone), refused(pairAndOne, {{}, {}, {}}));
    EXPECT_EQ(told(kNone, kNone), refused(pairAndOne, {{}, {}, {0, 1}}));
    // As it is described
    EXPECT_EQ(told(2, kNone), refused(chain, {{}, {}, {0, 1}}));
    EXPECT_EQ(told(2, 1), refused({{}, {0}, {0}, {1, 2}}, {{}, {0}, {1}, {1, 2}}));
    EXPECT_EQ("", text);
}

TEST_F(GraphTest, AnUpdateMayHaveTheNodesInAnotherOrder) {  // as on an H200
    std::string text;
    cudaGraph_t other;
    cudaGraphExec_t exec;
    ASSERT_OK(cudaGraphCreate(&other, 0));
    addHostNodes(graph_, {{}, {}, {0}}, &text);
    addHostNodes(other, {{}, {}, {1}}, &text);
    ASSERT_OK(cudaGraphInstantiate(&exec, graph_, 0));
    cudaGraphExecUpdateResultInfo info;
    EXPECT_OK(cudaGraphExecUpdate(exec, other, &info));
    EXPECT_EQ(cudaGraphExecUpdateSuccess, info.result);
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    EXPECT_EQ("aaa", text);
}

TEST_F(GraphTest, AnUpdateThatIsRefusedChangesNothing) {
    std::string text;
    cudaGraphExec_t exec;
    ASSERT_OK(cudaGraphInstantiate(&exec, pairOf(appendA, appendB, &text), 0));
    // A node of another type
    cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateError, a_, a_};
    const cudaHostNodeParams params = {appendB, &text};
    ASSERT_OK(cudaGraphAddEmptyNode(&a_, graph_, nullptr, 0));
    ASSERT_OK(cudaGraphAddHostNode(&b_, graph_, &a_, 1, &params));
    EXPECT_FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph_, &info));
    EXPECT_EQ(cudaGraphExecUpdateErrorNodeTypeChanged, info.result);
    EXPECT_EQ(a_, info.errorNode);
    EXPECT_EQ(nullptr, info.errorFromNode);
    // Not even what is told, of what is no graph: as on an H200
    info = {cudaGraphExecUpdateErrorNotSupported, b_, a_};
    EXPECT_INVALID(cudaGraphExecUpdate(exec, nullptr, &info));
    EXPECT_INVALID(cudaGraphExecUpdate(nullptr, graph_, &info));
    EXPECT_EQ(cudaGraphExecUpdateErrorNotSupported, info.result);
    EXPECT_EQ(b_, info.errorNode);
    EXPECT_EQ(a_, info.errorFromNode);
    EXPECT_INVALID(cudaGraphExecUpdate(exec, graph_, nullptr));

    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    EXPECT_EQ("ab", text);  // as before
}

}  // namespace
