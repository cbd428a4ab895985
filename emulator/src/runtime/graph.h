// Graphs, and the work that their nodes stand for.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "emu/runtime_types.h"

namespace emu {

using Work = std::function<cudaError_t()>;

// Nodes are shared with the executable graphs made of them, which may outlive their graph.
struct Node {
    cudaGraphNodeType type;
    Work work;
    std::vector<Node*> dependencies;
};

// Nodes in the order in which they were added. Dependencies point backwards only, so this is an
// order in which they may run.
using Nodes = std::vector<std::shared_ptr<Node>>;

// The handle of a new graph. Needs handleMutex().
cudaGraph_t makeGraph(Nodes nodes);

void destroyGraphs();

}  // namespace emu
