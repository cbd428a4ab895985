// Graphs that are built node by node.
#include <cstdint>
#include <string>
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
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&b_, graph_, nullptr, 0, &fill));
    fill = {device, 0, 5, 3, 4, 1};
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&b_, graph_, nullptr, 0, &fill));
    fill = {host, 0, 5, 4, 16, 1};
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&b_, graph_, nullptr, 0, &fill));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&b_, graph_, nullptr, 0, nullptr));
    EXPECT_FAILS(cudaErrorInvalidValue,
                 cudaGraphAddMemcpyNode1D(&b_, graph_, nullptr, 0, host, device, 65,
                                          cudaMemcpyDeviceToHost));
    EXPECT_FAILS(cudaErrorInvalidValue,
                 cudaGraphAddMemcpyNode1D(&b_, graph_, nullptr, 0, host, device, 64,
                                          cudaMemcpyHostToDevice));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&b_, graph_, nullptr, 0, nullptr));
    const cudaHostNodeParams nothing = {nullptr, nullptr};
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddHostNode(&b_, graph_, nullptr, 0, &nothing));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&b_, graph_, nullptr, 1));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddEmptyNode(nullptr, graph_, nullptr, 0));
    // A dependency on a node of another graph
    cudaGraph_t other;
    ASSERT_OK(cudaGraphCreate(&other, 0));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&b_, other, &a_, 1));
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
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphNodeGetType(a_, &type));
    EXPECT_OK(cudaGraphUpload(exec, nullptr));
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    EXPECT_EQ("a", text);
    EXPECT_OK(cudaGraphExecDestroy(exec));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphLaunch(exec, nullptr));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphExecDestroy(exec));
}

TEST_F(GraphTest, HandlesAndFlags) {
    cudaGraphExec_t exec;
    size_t count = 0;
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphCreate(nullptr, 0));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphCreate(&graph_, 1));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(nullptr, graph_, 0));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, nullptr, 0));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph_, 0x1000));
    EXPECT_FAILS(cudaErrorInvalidValue,  // only cudaGraphInstantiateWithParams() may upload
                 cudaGraphInstantiate(&exec, graph_, cudaGraphInstantiateFlagUpload));
    EXPECT_FAILS(cudaErrorNotSupported,
                 cudaGraphInstantiate(&exec, graph_, cudaGraphInstantiateFlagDeviceLaunch));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphGetNodes(nullptr, nullptr, &count));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphGetNodes(graph_, nullptr, nullptr));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphLaunch(nullptr, nullptr));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphUpload(nullptr, nullptr));
    char log[4] = "xyz";
    EXPECT_OK(cudaGraphInstantiate(&exec, graph_, &a_, log, sizeof(log)));  // the older form
    EXPECT_STREQ("", log);
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    EXPECT_FAILS(cudaErrorInvalidResourceHandle,
                 cudaGraphLaunch(exec, reinterpret_cast<cudaStream_t>(0x12345)));
    EXPECT_OK(cudaGraphDestroy(graph_));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphDestroy(graph_));
    ASSERT_OK(cudaDeviceReset());
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphLaunch(exec, nullptr));
}

// Two host nodes, the second behind the first if it is to wait for it.
cudaGraph_t pairOf(cudaHostFn_t first, cudaHostFn_t second, std::string* text, bool waits = true) {
    cudaGraph_t graph;
    cudaGraphNode_t a, b;
    const cudaHostNodeParams one = {first, text}, two = {second, text};
    EXPECT_OK(cudaGraphCreate(&graph, 0));
    EXPECT_OK(cudaGraphAddHostNode(&a, graph, nullptr, 0, &one));
    EXPECT_OK(cudaGraphAddHostNode(&b, graph, &a, waits ? 1 : 0, &two));
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

TEST_F(GraphTest, AnUpdateOfAnotherShapeIsRefused) {
    std::string text;
    cudaGraphExec_t exec;
    ASSERT_OK(cudaGraphInstantiate(&exec, pairOf(appendA, appendB, &text), 0));

    // A dependency less
    cudaGraphExecUpdateResultInfo info;
    cudaGraphNode_t nodes[2];
    size_t count = 2;
    const cudaGraph_t loose = pairOf(appendB, appendA, &text, false);
    ASSERT_OK(cudaGraphGetNodes(loose, nodes, &count));
    EXPECT_FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, loose, &info));
    EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, info.result);
    EXPECT_EQ(nodes[1], info.errorNode);
    // A node of another type
    const cudaHostNodeParams params = {appendB, &text};
    ASSERT_OK(cudaGraphAddEmptyNode(&a_, graph_, nullptr, 0));
    ASSERT_OK(cudaGraphAddHostNode(&b_, graph_, &a_, 1, &params));
    EXPECT_FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph_, &info));
    EXPECT_EQ(cudaGraphExecUpdateErrorNodeTypeChanged, info.result);
    EXPECT_EQ(a_, info.errorNode);
    // A node more, a node less
    const cudaGraph_t longer = pairOf(appendB, appendA, &text);
    ASSERT_OK(cudaGraphGetNodes(longer, nodes, &count));
    ASSERT_OK(cudaGraphAddHostNode(&c_, longer, &nodes[1], 1, &params));
    EXPECT_FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, longer, &info));
    EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, info.result);
    EXPECT_EQ(c_, info.errorNode);
    cudaGraph_t shorter;
    ASSERT_OK(cudaGraphCreate(&shorter, 0));
    ASSERT_OK(cudaGraphAddHostNode(&a_, shorter, nullptr, 0, &params));
    EXPECT_FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, shorter, &info));
    EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, info.result);
    EXPECT_EQ(nullptr, info.errorNode);

    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, shorter, nullptr));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, nullptr, &info));
    EXPECT_FAILS(cudaErrorInvalidValue, cudaGraphExecUpdate(nullptr, shorter, &info));
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    EXPECT_EQ("ab", text);  // as before
}

}  // namespace
