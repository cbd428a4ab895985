// Why a kernel ends with an error.
#pragma once

namespace emu {

// Those failures that a Watcher has to tell apart; it has seen the first two coming.
enum class Failure {
    DivergentBarrier,  // the threads of a block are at two barriers
    MisalignedAccess,
    IllegalAccess,
    Other,
};

}  // namespace emu
