#include "host_thread.h"

#include <cuda_runtime.h>

#include <system_error>

#include "check.cuh"
#include "fail.h"

namespace lab {

std::thread startThread(const std::function<void()>& work) {
    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    try {
        return std::thread([work, device] {
            CUDA_CHECK(cudaSetDevice(device));
            work();
        });
    } catch (const std::system_error& error) {
        quit(kExitFailure,
             "cannot start a thread of the host: %s; ask for fewer of them (--help), or raise the "
             "limits (ulimit -v, -u)",
             error.what());
    }
}

}  // namespace lab
