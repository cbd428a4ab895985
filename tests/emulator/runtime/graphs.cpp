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

}  // namespace
