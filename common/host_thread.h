#pragma once
// Threads of the host in programs that use CUDA.

#include <functional>
#include <thread>

namespace lab {

// A thread that runs `work` with the caller's device. (By itself, each begins with device 0.) Ends
// the program if the system gives no more threads. The caller has to join it.
std::thread startThread(const std::function<void()>& work);

}  // namespace lab
