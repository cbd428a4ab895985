// For test_causes.py: the programs beside this one, each in a namespace of its own.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace alignBatch {
#include "alignBatch.cu"
}
namespace boxBlur {
#include "boxBlur.cu"
}
namespace darkImage {
#include "darkImage.cu"
}
namespace dockingEnergy {
#include "dockingEnergy.cu"
}
namespace gammaTable {
#include "gammaTable.cu"
}
namespace lastWave {
#include "lastWave.cu"
}
namespace manySteps {
#include "manySteps.cu"
}
namespace nearestFew {
#include "nearestFew.cu"
}
namespace oddEven {
#include "oddEven.cu"
}
namespace pairsInShared {
#include "pairsInShared.cu"
}
namespace redChannel {
#include "redChannel.cu"
}
namespace rightFilter {
#include "rightFilter.cu"
}
namespace rightOrbits {
#include "rightOrbits.cu"
}
namespace rightSaxpy {
#include "rightSaxpy.cu"
}
namespace rightSum {
#include "rightSum.cu"
}
namespace rightTranspose {
#include "rightTranspose.cu"
}
namespace ringBuffer {
#include "ringBuffer.cu"
}
namespace rowByRow {
#include "rowByRow.cu"
}
namespace rowNorms {
#include "rowNorms.cu"
}
namespace runningCounts {
#include "runningCounts.cu"
}
namespace shiftedCopy {
#include "shiftedCopy.cu"
}
namespace tooManyRegisters {
#include "tooManyRegisters.cu"
}
namespace twoOperations {
#include "twoOperations.cu"
}
namespace twoStreams {
#include "twoStreams.cu"
}
namespace weightedSums {
#include "weightedSums.cu"
}

int main(int, char** argv) {
    using Program = int (*)();
    const struct {
        const char* name;
        Program program;
    } programs[] = {
        {"alignBatch", alignBatch::main},
        {"boxBlur", boxBlur::main},
        {"darkImage", darkImage::main},
        {"dockingEnergy", dockingEnergy::main},
        {"gammaTable", gammaTable::main},
        {"lastWave", lastWave::main},
        {"manySteps", manySteps::main},
        {"nearestFew", nearestFew::main},
        {"oddEven", oddEven::main},
        {"pairsInShared", pairsInShared::main},
        {"redChannel", redChannel::main},
        {"rightFilter", rightFilter::main},
        {"rightOrbits", rightOrbits::main},
        {"rightSaxpy", rightSaxpy::main},
        {"rightSum", rightSum::main},
        {"rightTranspose", rightTranspose::main},
        {"ringBuffer", ringBuffer::main},
        {"rowByRow", rowByRow::main},
        {"rowNorms", rowNorms::main},
        {"runningCounts", runningCounts::main},
        {"shiftedCopy", shiftedCopy::main},
        {"tooManyRegisters", tooManyRegisters::main},
        {"twoOperations", twoOperations::main},
        {"twoStreams", twoStreams::main},
        {"weightedSums", weightedSums::main},
    };
    for (const auto& one : programs) {
        if (std::strcmp(argv[1], one.name) == 0) return one.program();
    }
    return 2;
}
